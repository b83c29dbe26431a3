"""Record files that were changed, cut, or hold no record at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from arena.cli.exits import Exit
from arena.cli.stored import DATABASE
from arena.cli.verify import against_plan
from arena.store.database import Database
from arena.store.runs import Run
from tests.cli.calling import Caller
from tests.fake_games import fake_plan, fake_record
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


def test_what_is_named_twice_counts_once(arena: Caller, tmp_path: Path, line: str) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(line)
    (tmp_path / "link").symlink_to(file)
    with Database(tmp_path / DATABASE) as database:
        run = database.begin(fake_plan(2, deals=1))
        specs = list(run.plan.specs())
        for spec in specs:
            database.add_record(run, fake_record(spec))
    game = specs[0].game
    for words, checked in (
        ((file, file, tmp_path / "link"), 1),
        ((game[:9], game[:7], f"{run.id}/{game}"), 1),
        ((game, run.id), 2),
        ((file, run.id, game, run.id[:6], file), 3),
    ):
        called = arena("verify", *words, "--data", tmp_path, "--json")
        assert called.json["checked"] == checked


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
    deep = "[" * 100_000 + "]" * 100_000  # how much is too much goes by the version of Python
    file.write_text(line.replace('"plies":[', f'"plies":[{deep},', 1))
    called = arena("verify", file)
    assert called.code == Exit.USAGE
    assert "nested too deeply" in called.stderr


@pytest.mark.parametrize("text", ["games.jsonl", "z9", ""])
def test_word_that_is_no_file_and_no_id_is_refused(
    arena: Caller, tmp_path: Path, text: str
) -> None:
    called = arena("verify", text, "--data", tmp_path)
    assert called.code == Exit.USAGE
    assert f"{text!r} is no file, and no beginning of a run's or a game's id." in called.stderr


def test_file_without_a_vector_is_refused(arena: Caller, tmp_path: Path) -> None:
    file = tmp_path / "v.jsonl"
    file.write_text("\n")
    called = arena("verify", "--vectors", file)
    assert called.code == Exit.USAGE
    assert f"{file}: holds no vector" in called.stderr


def test_record_is_held_to_its_place_in_the_plan() -> None:
    """Bots by name and version too: the hash is of what was staged alone."""
    run = Run(
        key=1, id="0" * 10, state="over", created="", touched="", finished="", plan=fake_plan()
    )  # fmt: skip
    record = fake_record(run.plan.spec(1))
    assert list(against_plan(record, run)) == []
    core = record.core
    for changes, says in (
        ({"mister_x": msgspec.structs.replace(core.mister_x, name="other")}, "played mister_x"),
        ({"detectives": msgspec.structs.replace(core.detectives, version="2")}, "detectives"),
        ({"detectives": msgspec.structs.replace(core.detectives, hash="00")}, "detectives"),
        ({"game_key": "00" * 32}, "`game_key` differs from the plan's game 1"),
        ({"index": 99}, "the plan has no game 99"),
    ):
        other = msgspec.structs.replace(record, core=msgspec.structs.replace(core, **changes))
        [found] = against_plan(other, run)
        assert says in found
