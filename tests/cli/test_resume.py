"""`arena resume --again`: a game whose record is damaged is played anew, and no other."""

from __future__ import annotations

import shlex
import sqlite3
import zlib
from pathlib import Path

import pytest

from arena.cli import resume, run
from arena.cli.exits import Exit
from arena.cli.human import human_spec
from arena.cli.stored import DATABASE
from arena.errors import ConfigError, HostFault
from arena.store.database import Database
from tests.cli.calling import Caller
from tests.fake_games import fake_bot, fake_plan, fake_record


def damage(
    data: Path,
    place: int,
    table: str = "record",
    column: str = "core",
    *,
    run: str = "",
    value: bytes = b"\0",
) -> str:
    """Spoil one half of the record at a place of a run, by default the last; return its game."""
    connection = sqlite3.connect(data / DATABASE)
    with connection:
        key, game = connection.execute(
            "SELECT game.key, game.id FROM game JOIN run ON run.key = game.run WHERE place = ?"
            " AND ? IN ('', run.id) ORDER BY run.key DESC",
            (place, run),
        ).fetchone()
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE game = ?", (value, key))  # noqa: S608 - our own names
    connection.close()
    return str(game)


def last_run(data: Path) -> str:
    with Database(data / DATABASE) as database:
        return database.find_run().id


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a run of two games that is over, and a later one."""
    with Database(tmp_path / DATABASE) as database:
        for deals in (1, 2):
            run = database.begin(fake_plan(2, deals=deals), afresh=True)
            for spec in run.plan.specs():
                database.add_record(run, fake_record(spec))
            database.finish(run)
    return tmp_path


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, list[int]]]:
    """What is then played: the run, its state, the places of the missing games."""
    seen: list[tuple[str, str, list[int]]] = []

    def carry_on(*given: object) -> int:
        _, database, run, *_ = given
        assert isinstance(database, Database)
        now = database.find_run(run.id)  # type: ignore[attr-defined]
        seen.append((now.id, now.state, list(database.missing(now))))
        return Exit.DONE

    monkeypatch.setattr(resume, "carry_on", carry_on)
    monkeypatch.setattr(resume, "sandboxing_of", lambda *_: None)
    return seen


@pytest.mark.parametrize("half", [("record", "core"), ("remainder", "text")])
def test_damaged_games_are_missing_then_and_stand_until_they_are_played(
    arena: Caller, data: Path, played: list[tuple[str, str, list[int]]], half: tuple[str, str]
) -> None:
    games = [damage(data, place, *half) for place in (1, 3)]
    again = ("--again", games[0], "--again", games[1][:9], "--again", games[1])
    called = arena("resume", *again, "--data", data)
    assert called.code == 0, called.stderr
    assert "Stored already: 2 games." in called.stderr
    with Database(data / DATABASE) as database:
        run = database.find_run()
        assert len(list(database.stored_games(run))) == 4
    assert played == [(run.id, "over", [1, 3])]


def test_the_run_is_that_of_the_game(
    arena: Caller, data: Path, played: list[tuple[str, str, list[int]]]
) -> None:
    """The same game, by its plan, may stand in several: the last one is meant, or RUN/GAME."""
    with Database(data / DATABASE) as database:
        last, first = database.runs()
    game = damage(data, 0)
    damage(data, 0, run=first.id)
    assert arena("resume", last.id, "--again", f"{first.id}/{game}", "--data", data).code == 2
    assert arena("resume", "--again", game, "--data", data).code == 0
    told = arena("export", first.id, "--format", "csv", "--data", data).stderr
    cure = told.split("`")[1].removeprefix("arena ").split()
    assert cure == ["resume", "--again", f"{first.id}/{game}", "--data", str(data)]
    assert arena(*cure).code == 0
    assert played == [(last.id, "over", [0]), (first.id, "over", [0])]


def test_games_that_do_not_replay_are_played_anew(
    arena: Caller, data: Path, played: list[tuple[str, str, list[int]]]
) -> None:
    """Their records decode, and nobody could have played so."""
    told = arena("verify", "--data", data)
    assert told.code == Exit.NO
    cure = told.stderr.split("Next: arena ")[1].split("   ")[0].split()
    assert arena(*cure).code == 0
    assert played == [(last_run(data), "over", [0, 1, 2, 3])]


def test_a_game_that_is_well_stands(
    arena: Caller,
    data: Path,
    played: list[tuple[str, str, list[int]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And so does a damaged one that is named with it."""
    with Database(data / DATABASE) as database:
        well = next(database.stored_games(database.find_run())).game
    bad = damage(data, 1)
    passes = lambda _database, _run, ref: ["damaged"] if ref.game == bad else []  # noqa: E731
    monkeypatch.setattr(resume, "check_stored", passes)
    called = arena("resume", "--again", bad, "--again", well, "--data", data)
    assert called.code == Exit.USAGE
    assert f"game {well} of run" in called.stderr
    assert f"passes `arena verify --data {data}`: what is stored stands" in called.stderr
    assert played == []
    assert arena("games", "--data", data, "--json").json["total"] == 4


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ConfigError("none"), HostFault("none")])
def test_what_breaks_off_leaves_the_damaged_game_for_the_same_command(
    arena: Caller, data: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def break_off(*_: object) -> None:
        raise error

    games = [damage(data, place) for place in (1, 3)]
    last = last_run(data)
    words = ("--again", games[1], "--again", games[0], "--data", data)
    monkeypatch.setattr(resume, "sandboxing_of", lambda *_: None)
    monkeypatch.setattr(run, "play_missing", break_off)
    for _ in range(2):
        called = arena("resume", *words)
        if not isinstance(error, ConfigError):
            goes_on = shlex.join(["arena", "resume", last, *map(str, words)])
            assert called.stderr.endswith(f"Go on with: {goes_on}\n")
        with Database(data / DATABASE) as database:
            found = database.find_run()
            assert (found.state, len(list(database.stored_games(found)))) == ("over", 4)


def test_nobody_plays_a_persons_game_again(arena: Caller, tmp_path: Path) -> None:
    with Database(tmp_path / DATABASE) as database:
        bots = [fake_bot("b"), human_spec("london-2013")]
        made = database.begin(fake_plan(bots, deals=1, rated=False))
        for spec in made.plan.specs():
            database.add_record(made, fake_record(spec))
        database.finish(made)
    game = damage(tmp_path, 0)
    called = arena("resume", "--again", game, "--data", tmp_path)
    assert called.code == Exit.USAGE
    assert "put back a copy of the data folder" in called.stderr
    with Database(tmp_path / DATABASE) as database:
        assert len(list(database.stored_games(made))) == 2


def test_the_cure_works_on_the_same_folder(arena: Caller, data: Path) -> None:
    game = damage(data, 3)
    cure = f"arena resume --again {last_run(data)}/{game} --data {data}"
    assert f"`{cure}` plays it anew" in arena("export", "--format", "csv", "--data", data).stderr
    called = arena("verify", game, "--data", data)
    assert f"`{cure}` plays it anew" in called.stdout
    assert f"Next: {cure}   (plays it anew)\n" in called.stderr
    assert cure in arena("verify", game, "--data", data, "--json").json["failed"][0]["what"]


@pytest.mark.slow
def test_a_game_that_is_played_anew_is_the_same(arena: Caller, tmp_path: Path) -> None:
    words = ("random", "greedy", "--deals", "1", "--seed", "s", "--sandbox", "none")
    assert arena("run", *words, "--data", tmp_path).code == 0
    with Database(tmp_path / DATABASE) as database:
        before = list(database.cores(database.find_run()))
    forged = before[0].replace(b'"taxi"', b'"metro"', 1)
    assert forged != before[0]
    damage(tmp_path, 0, value=zlib.compress(forged))
    told = arena("verify", "--data", tmp_path)
    assert told.code == Exit.NO
    assert arena(*told.stderr.split("Next: arena ")[1].split("   ")[0].split()).code == 0
    game = damage(tmp_path, 1)
    called = arena("resume", "--data", tmp_path)
    assert called.code == Exit.USAGE
    cure = called.stderr.split("`")[1].removeprefix("arena ").split()
    assert cure[:2] == ["resume", "--again"]
    assert cure[2].endswith(f"/{game}")
    assert arena(*cure).code == 0
    with Database(tmp_path / DATABASE) as database:
        run = database.find_run()
        assert (run.state, list(database.cores(run))) == ("over", before)
