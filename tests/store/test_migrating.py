"""Schema files: each once, in order, and never by two at a time."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from arena.errors import ConfigError, StoreError
from arena.store import migrating
from arena.store.database import Database
from tests.fake_games import fake_plan, fake_record

SECOND = "CREATE TABLE added (a TEXT DEFAULT 'x;y');\nINSERT INTO added (a) VALUES ('it; is');\n"


def test_migrations_are_numbered_without_a_gap() -> None:
    numbers = [number for number, _ in migrating.migrations()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(script.strip().endswith(";") for _, script in migrating.migrations())


def test_a_file_of_an_older_arena_is_brought_up_and_keeps_its_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arena.sqlite3"
    with Database(path) as database:
        run = database.begin(fake_plan())
        database.add_record(run, fake_record(run.plan.spec(0)))
    steps = [*migrating.migrations(), (len(migrating.migrations()) + 1, SECOND)]
    monkeypatch.setattr(migrating, "migrations", lambda: steps)
    for _ in range(2):  # the second time there is nothing to do
        with Database(path) as database:
            assert database.rows("SELECT a FROM added") == [("it; is",)]
            assert database.rows("PRAGMA user_version") == [(len(steps),)]
            assert len(list(database.records(run))) == 1


def test_games_stored_before_they_told_their_ruleset_have_that_of_their_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arena.sqlite3"
    steps = migrating.migrations()
    monkeypatch.setattr(migrating, "migrations", lambda: steps[:3])
    with Database(path) as database:
        database.begin(fake_plan(ruleset="london-classic"))
    with closing(sqlite3.connect(path)) as old, old:
        old.execute(
            "INSERT INTO game SELECT 1, run.key, 'a1', 0, 0, x.key, d.key, NULL, 'void', NULL,"
            " NULL, 1, '2026-01-01', 0.5, 'host', '' FROM run JOIN bot AS x ON x.number = 0"
            " JOIN bot AS d ON d.number = 1"
        )
    monkeypatch.setattr(migrating, "migrations", lambda: steps)
    with Database(path) as database:
        assert database.rows("SELECT game, ruleset FROM games") == [("a1", "london-classic")]


def test_a_migration_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arena.sqlite3"
    first = migrating.migrations()
    broken = [*first, (len(first) + 1, SECOND + "DROP TABLE nowhere;\n")]
    monkeypatch.setattr(migrating, "migrations", lambda: broken)
    with pytest.raises(StoreError, match="nowhere"):
        Database(path)
    monkeypatch.setattr(migrating, "migrations", lambda: first)
    with Database(path) as database, pytest.raises(StoreError, match="no such table"):
        database.rows("SELECT * FROM added")


def test_a_file_of_a_newer_arena_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "arena.sqlite3"
    Database(path).close()
    with closing(sqlite3.connect(path)) as newer, newer:
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(ConfigError, match=r"has schema 99, this arena knows up to \d+"):
        Database(path)


@pytest.mark.slow
def test_many_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    def open_and_close(number: int) -> int:
        with Database(tmp_path / "arena.sqlite3") as database:
            database.begin(fake_plan(deals=number + 1))
            return len(database.rows("SELECT name FROM sqlite_master"))

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(open_and_close, range(8)))) == 1
