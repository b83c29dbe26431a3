"""Stored runs, played by real workers: killed at any moment, they come out the same."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from arena.errors import HostFault, StoreError
from arena.store.database import Database
from arena.store.playing import play_run
from arena.tournament.benching import Benched, Judged, VoidGame
from arena.tournament.executors.executor import Finished, Job, encode_record
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.packed import PackedGame, unpack
from arena.tournament.tournament import Event, Stop, Summary
from tests.fake_games import fake_bot, fake_plan, fake_record
from tests.fake_table import FAKE_TABLE, let_workers_import_tests
from tests.play_fake_run import the_plan

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _tests_on_the_workers_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    let_workers_import_tests(monkeypatch, tmp_path)


def drive(path: Path, jobs: int = 2) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.play_fake_run", str(path), str(jobs)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def to_the_end(path: Path, jobs: int = 2) -> str:
    with drive(path, jobs) as process:
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return out


def come_to(path: Path) -> dict[str, Any]:
    """Return all that must be equal: cores and results in plan order, and who was benched.

    Whether a game that benching decides was played first is chance; its result is not.
    """
    with Database(path, create=False) as database:
        run = database.find_run()
        assert run.state == "over"
        judged = list(database.judged(run))
        decided = {
            game.index
            for game in judged
            if "benched" in (game.mister_x_fault, game.detectives_fault)
        }
        return {
            "judged": [msgspec.structs.replace(game, is_played=True) for game in judged],
            "cores": [
                core
                for core in database.cores(run)
                if msgspec.json.decode(core)["index"] not in decided
            ],
            "bots": database.rows("SELECT * FROM bots"),
            "void": [
                place
                for (place,) in database.rows(
                    "SELECT DISTINCT place FROM voids WHERE is_final ORDER BY place"
                )
                if place not in decided
            ],
        }


def check_whole(path: Path) -> int:
    """Check that every stored game is stored whole and once; return their number."""
    with Database(path) as database:
        counts = {
            table: database.rows(f"SELECT count(*) FROM {table}")[0][0]  # noqa: S608 - our own names
            for table in ("game", "record", "remainder", "seat")
        }
        games = counts["game"]
        assert counts == {"game": games, "record": games, "remainder": games, "seat": 2 * games}
        assert database.rows("SELECT count(DISTINCT id) FROM game") == [(games,)]
        assert database.rows("PRAGMA integrity_check") == [("ok",)]
    return int(games)


@pytest.fixture
def unbroken(tmp_path: Path) -> tuple[dict[str, Any], float]:
    """What the run comes to when nobody breaks it off, and the seconds that it takes."""
    path = tmp_path / "unbroken.sqlite3"
    began = time.monotonic()
    assert to_the_end(path) == f"{the_plan().count} of {the_plan().count}\n"
    return come_to(path), time.monotonic() - began


def test_killed_at_twenty_moments_it_comes_out_as_if_it_had_not_been(
    tmp_path: Path, unbroken: tuple[dict[str, Any], float]
) -> None:
    wanted, took_s = unbroken
    path = tmp_path / "killed.sqlite3"
    dice = random.Random(20)
    kills = 0
    stored = 0
    while kills < 20:
        with drive(path) as process:
            try:
                # Mostly short, so that there is something left to be broken off.
                process.wait(dice.uniform(0.1, 0.3) * took_s)
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
        if path.exists():
            now = check_whole(path)
            assert now >= stored
            stored = now
            if process.returncode == 0:  # it came to its end: from here on nothing is added
                assert come_to(path) == wanted
                path.rename(tmp_path / f"ended{kills}.sqlite3")
                stored = 0
    to_the_end(path)
    check_whole(path)
    assert come_to(path) == wanted
    assert to_the_end(path).startswith(str(the_plan().count))
    assert come_to(path) == wanted


@pytest.mark.parametrize("jobs", [1, 4, 9])
def test_the_number_of_jobs_changes_nothing(
    tmp_path: Path, unbroken: tuple[dict[str, Any], float], jobs: int
) -> None:
    path = tmp_path / "jobs.sqlite3"
    to_the_end(path, jobs)
    assert come_to(path) == unbroken[0]


def play(
    database: Database,
    *bots: str,
    deals: int = 3,
    stop: Stop | None = None,
    on_stored: Callable[[Event], None] | None = None,
    on_judged: Callable[[Judged], None] | None = None,
) -> Summary:
    run = database.begin(fake_plan([fake_bot(name) for name in bots], deals=deals))
    executor = LocalExecutor(3, table=FAKE_TABLE)

    async def main() -> Summary:
        with trio.fail_after(120):
            return await play_run(
                database, run, executor, stop=stop, on_stored=on_stored, on_judged=on_judged
            )

    return trio.run(main)


def test_what_is_told_is_what_is_stored(tmp_path: Path) -> None:
    told: list[Event] = []
    judged: list[Judged] = []
    with Database(tmp_path / "arena.sqlite3") as database:
        summary = play(
            database, "a", "void", "faulty", deals=8, on_stored=told.append, on_judged=judged.append
        )
        run = database.find_run()
        games = sorted(
            (event for event in told if isinstance(event, PackedGame)), key=attrgetter("index")
        )
        assert list(database.records(run)) == [unpack(game) for game in games]
        voids = [event for event in told if isinstance(event, VoidGame)]
        assert len(database.rows("SELECT * FROM voids")) == len(voids)
        assert tuple(event for event in told if isinstance(event, Benched)) == summary.benched
        assert [(bot.bot, bot.index) for bot in summary.benched] == [
            (number, first)
            for number, first in database.rows("SELECT number, benched_from FROM bots")
            if first is not None
        ]
        assert list(database.judged(run)) == judged
        assert run.state == "over"


def test_a_game_that_kills_three_workers_is_listed_with_its_bots(tmp_path: Path) -> None:
    with Database(tmp_path / "arena.sqlite3") as database:
        summary = play(database, "a", "killer", "b", deals=1)
        assert summary.is_over
        listed = database.rows("SELECT mister_x, detectives, why, is_final FROM voids")
        assert len(listed) == 4
        assert all("killer" in row[:2] for row in listed)
        assert {row[2:] for row in listed} == {("3 worker processes died with it", 1)}
        again = play(database, "a", "killer", "b", deals=1)
        assert again.played == 0
        assert again.is_over


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    stop = Stop()
    seen: list[Event] = []

    def hold_up(event: Event) -> None:
        seen.append(event)
        if len(seen) == 10:
            stop.hard()

    with Database(tmp_path / "arena.sqlite3") as database:
        first = play(database, "a", "b", "c", deals=20, stop=stop, on_stored=hold_up)
        run = database.find_run()
        assert run.state == "open"
        assert 10 <= first.played < first.planned
        assert len(first.stopped) <= 3
        assert database.voids(run) == {}  # a stop is nobody's fault
        told = database.rows("SELECT DISTINCT why, is_final FROM voids")
        assert told in ([("the run was stopped", 0)], [])
        rest = play(database, "a", "b", "c", deals=20)
        assert rest.is_over
        assert first.played + rest.played == rest.planned


def test_of_a_changed_bot_only_its_games_are_played(tmp_path: Path) -> None:
    with Database(tmp_path / "arena.sqlite3") as database:
        assert play(database, "a", "b", "c", deals=2).played == 12
        assert play(database, "a", "b", "c", deals=2).played == 0
        changed = [fake_bot("a"), fake_bot("b"), fake_bot("c", content="new")]
        run = database.begin(fake_plan(changed, deals=2))
        executor = LocalExecutor(2, table=FAKE_TABLE)
        summary = trio.run(lambda: play_run(database, run, executor))
        assert summary.played == 8
        assert summary.is_over


def test_a_run_that_is_being_played_is_not_played_twice(tmp_path: Path) -> None:
    path = tmp_path / "arena.sqlite3"
    with Database(path) as database, Database(path) as other:
        run = database.begin(fake_plan(2))
        with (
            other.claim(run),
            pytest.raises(StoreError, match="is being played by another process"),
        ):
            trio.run(lambda: play_run(database, run, LocalExecutor(1, table=FAKE_TABLE)))


def test_a_database_that_becomes_locked_ends_the_run_cleanly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.store.connection._BUSY_MS", 50)
    path = tmp_path / "arena.sqlite3"
    before = children()
    other: list[sqlite3.Connection] = []

    def lock(_event: Event) -> None:
        if not other:
            other.append(sqlite3.connect(path, isolation_level=None))
            other[0].execute("BEGIN IMMEDIATE")

    with Database(path) as database:
        with pytest.raises(StoreError, match="holds the database locked"):
            play(database, "a", "b", "c", on_stored=lock)
        other[0].close()
        assert len(database.rows("SELECT * FROM games")) == 1
        assert children() <= before
        rest = play(database, "a", "b", "c")
        assert rest.is_over
        assert rest.played == rest.planned - 1


def test_a_disk_that_becomes_full_ends_the_run_cleanly(tmp_path: Path) -> None:
    before = children()
    with Database(tmp_path / "arena.sqlite3") as database:

        def fill(_event: Event) -> None:
            (pages,) = database.rows("PRAGMA page_count")[0]
            database.rows(f"PRAGMA max_page_count = {pages}")

        with pytest.raises(StoreError, match="disk is full"):
            play(database, "a", "b", "c", deals=20, on_stored=fill)
        assert children() <= before
        database.rows("PRAGMA max_page_count = 1000000")
        assert play(database, "a", "b", "c", deals=20).is_over


def test_an_executor_that_fails_is_told_as_it_is(tmp_path: Path) -> None:
    class Broken:
        reach = in_play = 0

        async def run(
            self, jobs: trio.MemoryReceiveChannel[Job], results: trio.MemorySendChannel[Finished]
        ) -> None:
            del results
            await jobs.receive()
            raise HostFault("no worker starts")

    with Database(tmp_path / "arena.sqlite3") as database:
        run = database.begin(fake_plan())
        with pytest.raises(HostFault, match="no worker starts"):
            trio.run(lambda: play_run(database, run, Broken()))
        assert database.find_run().state == "open"


def test_a_database_that_refuses_is_told_whatever_fails_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = fake_plan()

    class Untidy:
        reach = in_play = 0

        async def run(
            self, jobs: trio.MemoryReceiveChannel[Job], results: trio.MemorySendChannel[Finished]
        ) -> None:
            try:
                async for job in jobs:
                    record = encode_record(fake_record(plan.spec(job.number)))
                    await results.send(Finished(job.number, record))
            finally:
                raise OSError(5, "a pipe of ours")

    def refuse(*_: object) -> None:
        raise StoreError("the disk is full")

    with Database(tmp_path / "arena.sqlite3") as database:
        run = database.begin(plan)
        monkeypatch.setattr(database, "add_packed", refuse)
        with pytest.raises(StoreError, match="the disk is full"):
            trio.run(play_run, database, run, Untidy())


def children() -> set[str]:
    """Our children; what earlier tests left behind them may still stand there, dead."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
