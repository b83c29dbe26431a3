"""Position vectors: 300 of 300, and a change in any of them is found."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.errors import ConfigError
from arena.rules.vectors import Checked, check
from tests.load import vector_file

FILE = vector_file("london-legal.jsonl")


def changed(folder: Path, edit: Callable[[dict[str, Any]], None], line: int = 0) -> Path:
    """A file of one vector, changed."""
    vector = msgspec.json.decode(FILE.read_bytes().splitlines()[line])
    edit(vector)
    file = folder / "changed.jsonl"
    file.write_bytes(msgspec.json.encode(vector) + b"\n\n")
    return file


def test_all_300_positions_agree() -> None:
    assert check(FILE) == Checked(checked=300, passed=300, differences=())


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda v: v["x_single_moves"].pop(), "Mister X's single steps: the rules give "),
        (lambda v: v["x_single_moves"].reverse(), "Mister X's single steps"),
        (lambda v: v.update(x_double_moves=51), "double moves: the rules give 52, the vector says"),
        (lambda v: v.update(x_double_paths=17), "double paths: the rules give 16"),
        (lambda v: v["detective_moves"][3].pop(), "steps of d4: "),
        (lambda v: v["detective_moves"].pop(), "5 figures and steps of 4"),
        (lambda v: v["assume"].update(detectives_block_x=False), "it assumes other rules"),
        (lambda v: v["x"]["tickets"].update(black=0), "Mister X's single steps"),
        (lambda v: v["detectives"][2]["tickets"].update(taxi=1), "steps of d3"),
    ],
)
def test_a_difference_is_told_with_its_id(
    tmp_path: Path, edit: Callable[[dict[str, Any]], None], what: str
) -> None:
    result = check(changed(tmp_path, edit))
    assert (result.checked, result.passed) == (1, 0)
    assert {difference.id for difference in result.differences} == {"L-0000"}
    assert any(what in difference.what for difference in result.differences)


def test_figures_may_stand_in_any_order(tmp_path: Path) -> None:
    """A Bobby before a detective keeps its own steps."""

    def turn_around(vector: dict[str, Any]) -> None:
        assert {piece["kind"] for piece in vector["detectives"]} == {"detective", "bobby"}
        vector["detectives"].reverse()
        vector["detective_moves"].reverse()

    assert check(changed(tmp_path, turn_around, line=1)).passed == 1


def test_tickets_of_null_are_unlimited(tmp_path: Path) -> None:
    def unlimited(vector: dict[str, Any]) -> None:
        piece = vector["detectives"][2]  # on 94, with bus tickets alone
        piece["tickets"] = {"taxi": None, "bus": 0, "metro": None}
        vector["detective_moves"][2] = [["taxi", 75], ["taxi", 93], ["taxi", 95]]

    assert check(changed(tmp_path, unlimited)).differences == ()


def test_classic_positions_have_classics_link(tmp_path: Path) -> None:
    def classic(vector: dict[str, Any]) -> None:
        vector["assume"]["map"] = "london-classic (199 stations, 468 links)"
        vector["detectives"] = [
            {"kind": "detective", "station": 13, "tickets": {"taxi": 1, "bus": 0, "metro": 0}}
        ]
        vector["detective_moves"] = [[["taxi", 4], ["taxi", 14], ["taxi", 23], ["taxi", 24]]]

    differences = check(changed(tmp_path, classic)).differences
    assert not any("steps of d1" in difference.what for difference in differences)


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda v: v.pop("x"), "this is no vector: Object missing required field `x`"),
        (lambda v: v["x"].update(station=200), "no station 200 on the board of london-2013"),
        (lambda v: v["detectives"][0].update(station=111), "where another figure stands"),
        (lambda v: v["detectives"].append(v["detectives"][0]), "5 detectives and 0 Bobbies|where"),
        (lambda v: v["assume"].update(map="paris"), "no edition 'paris'"),
        (lambda v: v["detectives"][0].update(kind="inspector"), "this is no vector"),
    ],
)
def test_what_is_no_position_is_named_by_file_and_line(
    tmp_path: Path, edit: Callable[[dict[str, Any]], None], says: str
) -> None:
    file = changed(tmp_path, edit)
    if says.startswith("5 detectives"):  # a sixth figure without steps differs before it is set up
        assert "6 figures" in check(file).differences[0].what
        return
    with pytest.raises(ConfigError, match=rf"{re.escape(str(file))}:1: .*{re.escape(says)}"):
        check(file)


def test_more_figures_than_there_are_names_is_refused(tmp_path: Path) -> None:
    def crowd(vector: dict[str, Any]) -> None:
        vector["detectives"].append({"kind": "detective", "station": 1, "tickets": None})
        vector["detective_moves"].append([])

    with pytest.raises(ConfigError, match="6 detectives and 0 Bobbies are too many"):
        check(changed(tmp_path, crowd))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.jsonl: these vectors can't be read"):
        check(tmp_path / "gone.jsonl")
