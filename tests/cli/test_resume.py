"""`arena resume --again`: a game whose record is damaged is played anew, and no other."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from arena.cli import resume
from arena.cli.exits import Exit
from arena.cli.stored import DATABASE
from arena.store.database import Database
from tests.cli.calling import Caller
from tests.fake_games import fake_plan, fake_record


def damage(
    data: Path, place: int, table: str = "record", column: str = "core", *, run: str = ""
) -> str:
    """Spoil one half of the record at a place of a run, by default the last; return its game."""
    connection = sqlite3.connect(data / DATABASE)
    with connection:
        key, game = connection.execute(
            "SELECT game.key, game.id FROM game JOIN run ON run.key = game.run WHERE place = ?"
            " AND ? IN ('', run.id) ORDER BY run.key DESC",
            (place, run),
        ).fetchone()
        connection.execute(f"UPDATE {table} SET {column} = x'00' WHERE game = ?", (key,))  # noqa: S608 - our own names
    connection.close()
    return str(game)


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
def test_damaged_games_are_missing_then(
    arena: Caller, data: Path, played: list[tuple[str, str, list[int]]], half: tuple[str, str]
) -> None:
    games = [damage(data, place, *half) for place in (1, 3)]
    again = ("--again", games[0], "--again", games[1][:9], "--again", games[1])
    called = arena("resume", *again, "--data", data)
    assert called.code == 0, called.stderr
    assert "Stored already: 2 games." in called.stderr
    with Database(data / DATABASE) as database:
        run = database.find_run()
        assert [game.index for game in database.stored_games(run)] == [0, 2]
    assert played == [(run.id, "open", [1, 3])]


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
    assert cure == ["resume", "--again", f"{first.id}/{game}"]
    assert arena(*cure, "--data", data).code == 0
    assert played == [(last.id, "open", [0]), (first.id, "open", [0])]


def test_a_game_that_is_well_stands(
    arena: Caller, data: Path, played: list[tuple[str, str, list[int]]]
) -> None:
    with Database(data / DATABASE) as database:
        game = next(database.stored_games(database.find_run())).game
    called = arena("resume", "--again", game, "--data", data)
    assert called.code == Exit.USAGE
    assert "is not damaged: what is stored stands" in called.stderr
    assert played == []
    assert arena("games", "--data", data, "--json").json["total"] == 4


@pytest.mark.slow
def test_a_game_that_is_played_anew_is_the_same(arena: Caller, tmp_path: Path) -> None:
    words = ("random", "greedy", "--deals", "1", "--seed", "s", "--sandbox", "none")
    assert arena("run", *words, "--data", tmp_path).code == 0
    with Database(tmp_path / DATABASE) as database:
        before = list(database.cores(database.find_run()))
    game = damage(tmp_path, 1)
    called = arena("resume", "--data", tmp_path)
    assert called.code == Exit.USAGE
    cure = called.stderr.split("`")[1].removeprefix("arena ").split()
    assert cure[:2] == ["resume", "--again"]
    assert cure[2].endswith(f"/{game}")
    assert arena(*cure, "--data", tmp_path).code == 0
    with Database(tmp_path / DATABASE) as database:
        run = database.find_run()
        assert (run.state, list(database.cores(run))) == ("over", before)
