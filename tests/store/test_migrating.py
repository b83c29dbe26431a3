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
from arena.tournament.plan import Plan, encode_plan
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


GAME_OF_OLD = (
    "INSERT INTO game SELECT NULL, run.key, ?, 0, 0, x.key, d.key, NULL, 'void', NULL, NULL, 1, ?,"
    " 0.5, 'host', '' FROM run JOIN bot AS x ON x.number = ? JOIN bot AS d ON d.number = 1"
)


def insert_run(old: sqlite3.Connection, plan: Plan) -> None:
    """Store a run as the first releases did."""
    row = {
        "id": plan.run_id,
        "identity": plan.identity,
        "created": "2026-01-01",
        "touched": "2026-01-01",
        "arena": "0",
        "kind": plan.kind,
        "ruleset": plan.ruleset,
        "behaviour": plan.behaviour,
        "deals": plan.deals,
        "planned": plan.count,
        "pairs": plan.pairs,
        "commitment": plan.commitment,
        "plan": encode_plan(plan),
    }
    old.execute(
        f"INSERT INTO run ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",  # noqa: S608 - our own names
        tuple(row.values()),
    )
    for number, bot in enumerate(plan.entrants):
        old.execute(
            "INSERT INTO bot SELECT NULL, key, ?, ?, '', ?, 1, NULL FROM run",
            (number, bot.name, bot.hash),
        )


def test_games_stored_before_they_told_their_ruleset_have_that_of_their_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arena.sqlite3"
    steps = migrating.migrations()
    monkeypatch.setattr(migrating, "migrations", lambda: steps[:3])
    with Database(path):
        pass
    with closing(sqlite3.connect(path)) as old, old:
        insert_run(old, fake_plan(ruleset="london-classic"))
        old.execute(GAME_OF_OLD, ("a1", "2026-01-01", 0))
    monkeypatch.setattr(migrating, "migrations", lambda: steps)
    with Database(path) as database:
        assert database.rows("SELECT game, ruleset FROM games") == [("a1", "london-classic")]


@pytest.mark.parametrize(
    ("finished", "public"),
    [
        (None, [("a1", 0), ("a2", 0), ("a3", 0)]),
        ("2026-01-02T12:00:00", [("a1", 0), ("a2", 1), ("a3", 0)]),
    ],
)
def test_games_stored_before_the_secret_was_minded_go_by_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: str, public: list[tuple[str, int]]
) -> None:
    path = tmp_path / "arena.sqlite3"
    steps = migrating.migrations()
    monkeypatch.setattr(migrating, "migrations", lambda: steps[:3])
    with Database(path):
        pass
    with closing(sqlite3.connect(path)) as old, old:
        insert_run(old, fake_plan())
        for game, started, mister_x in (
            ("a1", "2026-01-02T11:59:59.5", 0),
            ("a2", "2026-01-03T00:00:00.5", 2),
            ("a3", "2026-01-03T00:00:00.5", 0),
        ):
            old.execute(GAME_OF_OLD, (game, started, mister_x))
        old.execute("UPDATE run SET finished = ?", (finished,))
    monkeypatch.setattr(migrating, "migrations", lambda: steps)
    with Database(path) as database:
        rows = database.rows("SELECT game, deal_was_public FROM games ORDER BY game")
        assert rows == public


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
