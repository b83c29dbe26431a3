"""`arena rulesets --check`: what stands in a typed-in board, or the one sentence that mends it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from arena.cli import answers
from arena.rules.europe.board import board_hash, load_board
from tests.cli.calling import Caller

OWN = Path(str(resources.files("arena.rules.europe") / "data" / "board.json"))


def own() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(OWN.read_text(encoding="utf-8"))
    return content


def written(folder: Path, content: dict[str, Any]) -> Path:
    file = folder / "mine.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def test_what_stands_in_a_sound_board_is_told(arena: Caller) -> None:
    called = arena("rulesets", "--check", OWN)
    assert called.code == 0
    assert called.stderr == (
        f"Next: ARENA_BOARDS={OWN.parent} arena run --ruleset europe-2009:board=board\n"
    )
    lines = [line.split() for line in called.stdout.splitlines()]
    assert called.stdout.startswith(f"{OWN}: a sound board, Europe\n")
    assert "not Ravensburger's board" in called.stdout
    assert ["cities", "by", "kind", "21", "68", "21", "110"] in lines
    assert ["links", "204", "121", "29", "354"] in lines
    assert ["tickets", "56", "40", "24", "120"] in lines
    assert ["tickets", "with", "double", "14", "10", "6", "30"] in lines
    assert ["yellow", "6", "6"] in lines
    assert "275 pairs of cities joined, 15 start cards" in called.stdout
    assert board_hash(load_board()) in called.stdout


def test_the_same_is_told_as_json(arena: Caller) -> None:
    called = arena("rulesets", "--check", OWN, "--json")
    assert called.code == 0
    schema = Path(answers.__file__).with_name("schema") / "answers.schema.json"
    jsonschema.validate(called.json, json.loads(schema.read_text(encoding="utf-8")))
    assert called.json["schema"] == "arena.board/1"
    assert called.json["board"] == board_hash(load_board())
    assert called.json["links"] == {"car": 204, "rail": 121, "air": 29}
    assert called.json["joined"] == 275
    assert called.json["missions"]["green"] == {"starts": 6, "targets": 6}
    assert called.json["tickets"]["air"] == dict.fromkeys(
        ("double", "hidden", "investigate", "special"), 6
    )
    assert called.json["warnings"] == []


def test_a_likely_slip_is_a_warning(arena: Caller, tmp_path: Path) -> None:
    content = own()
    content["cities"][0]["kind"] = "air"
    file = written(tmp_path, content)
    slip = "cities[0] (Tromsø) is of kind air, but no air link ends there"
    called = arena("rulesets", "--check", file)
    assert called.code == 0
    assert called.stderr.startswith(f"warning: {file}: {slip}\nNext: ARENA_BOARDS={tmp_path} ")
    assert arena("rulesets", "--check", file, "--json").json["warnings"] == [slip]


def test_options_are_listed_by_the_board_and_a_typed_in_one_is_not_called_our_own(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = own()
    content["name"] = "The printed one"
    content["missions"] = {"violet": content["missions"]["green"]}
    content["tickets"][0]["count"] += 5
    written(tmp_path, content)
    monkeypatch.setenv("ARENA_BOARDS", str(tmp_path))
    called = arena("rulesets", "europe-2009:board=mine", "europe-2009:board=mine,players=2")
    assert called.code == 0
    lines = [" ".join(line.split()) for line in called.stdout.splitlines()]
    about = "Mister X: Flucht durch Europa, on a typed-in board, The printed one: missions, hands"
    assert f"europe-2009:board=mine 100 {about}, 125 tickets" in lines
    missions = [line for line in lines if line.startswith("europe-2009:mission ")]
    assert [line.partition(" his")[0] for line in missions] == [
        "europe-2009:mission choose, balanced, violet"
    ]
    assert "europe-2009:board own, mine" in called.stdout.replace("  ", "")


@pytest.mark.parametrize("name", ["Mein Brett.json", "own.json", "board.txt"])
def test_a_file_that_is_called_otherwise_is_told_a_name_to_be_played_by(
    arena: Caller, tmp_path: Path, name: str
) -> None:
    file = written(tmp_path, own()).rename(tmp_path / name)
    called = arena("rulesets", "--check", file)
    assert called.code == 0
    assert called.stderr.startswith("To play on it call the file NAME.json, ")


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["people", "json"])
def test_a_mistake_is_one_sentence_and_exit_code_2(
    arena: Caller, tmp_path: Path, how: tuple[str, ...]
) -> None:
    content = own()
    content["links"]["rail"].append([1, 2])
    file = written(tmp_path, content)
    called = arena("rulesets", "--check", file, *how)
    assert (called.code, called.stdout) == (2, "")
    assert called.stderr == (
        f"error: {file}: links.rail[121] (1-2): no rail link can end at 1 (Tromsø), "
        "which is of kind car\n"
    )


def test_a_missing_file_and_rulesets_beside_a_board_are_refused(
    arena: Caller, tmp_path: Path
) -> None:
    called = arena("rulesets", "--check", tmp_path / "gone.json")
    assert called.code == 2
    assert "gone.json: this map can't be read (No such file" in called.stderr
    called = arena("rulesets", "london-2013", "--check", OWN)
    assert called.code == 2
    assert "--check looks at a board alone" in called.stderr
