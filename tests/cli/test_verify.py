"""Record files that were changed, cut, or hold no record at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from arena.cli.exits import Exit
from tests.cli.calling import Caller
from tests.referee.games import honest, play_fakes


@pytest.fixture(scope="module")
def line() -> str:
    """An honest game as a bare record."""
    record, _ = trio.run(play_fakes, honest, honest)
    return msgspec.json.encode(record).decode()


def changed(line: str, **core: Any) -> str:
    """The record with other values in its core."""
    record = json.loads(line)
    record["core"].update(core)
    return json.dumps(record)


def test_honest_record_passes(arena: Caller, tmp_path: Path, line: str) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(f"{line}\n\n{line}\n")
    called = arena("verify", file, "--json")
    assert (called.code, called.json["checked"], called.json["passed"]) == (0, 2, 2)


def test_records_that_differ_are_counted_one_by_one(
    arena: Caller, tmp_path: Path, line: str
) -> None:
    """Also where they say they are one game."""
    file = tmp_path / "games.jsonl"
    file.write_text("\n".join((changed(line, rounds=77), line, changed(line, winner=None))))
    called = arena("verify", file, "--json")
    assert called.code == Exit.NO
    assert (called.json["checked"], called.json["passed"]) == (3, 1)


@pytest.mark.parametrize("field", ["game_key", "deal_seed"])
def test_key_that_is_none_is_a_difference(
    arena: Caller, tmp_path: Path, line: str, field: str
) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(changed(line, **{field: "zz"}))
    called = arena("verify", file)
    assert called.code == Exit.NO
    assert f"`{field}` is not" in called.stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no record"),
        ("\n\n", "holds no record"),
        ("deal,mister_x\n", ":1: this is no record"),
        ("5\n", ":1: this is no record"),
        ('{"schema": "arena.game/2"}', ":1: this is no record"),
        ("[" * 100_000, ":1: this is no record"),
    ],
)
def test_file_without_a_record_is_refused(
    arena: Caller, tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(text)
    called = arena("verify", file)
    assert called.code == Exit.USAGE
    assert says in called.stderr


def test_plies_nested_without_end_are_refused(arena: Caller, tmp_path: Path, line: str) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(line.replace('"plies":[', '"plies":[' + "[" * 5000 + "]" * 5000 + ",", 1))
    called = arena("verify", file)
    assert called.code == Exit.USAGE
    assert "nested too deeply" in called.stderr
