"""A database of a million games opens, lists and resumes at once, and is read in seconds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import trio

from arena.cli.stored import DATABASE, open_data
from arena.store.playing import play_run
from arena.tournament.executors.local import LocalExecutor
from tests.at_scale.simulated import simulate, simulated_plan
from tests.fake_table import FAKE_TABLE, let_workers_import_tests

AT_ONCE_S = 5.0  # what reads a few games; generous: it is the start of Python mostly
MISSING = 100  # games
READ_S = 60.0  # what reads all of them


def arena(data: Path, *words: str) -> str:
    """Run a command on a data folder; return its answer."""
    done = subprocess.run(
        [sys.executable, "-m", "arena", *words, "--data", str(data)],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return done.stdout


@pytest.mark.slow
def test_simulated_games_are_games(tmp_path: Path) -> None:
    run = simulate(tmp_path / DATABASE, simulated_plan(4, 3))
    assert run.state == "over"
    verified = json.loads(arena(tmp_path, "verify", "--json"))
    assert (verified["checked"], verified["passed"]) == (36, 36)
    with open_data(tmp_path) as database:
        assert {game.winner for game in database.judged(run)} == {"mister_x", "detectives"}


def resume(data: Path, missing: int) -> None:
    """Play what is missing of the last run with fakes, to its end."""
    with open_data(data) as database:
        run = database.find_run()
        executor = LocalExecutor(2, table=FAKE_TABLE)
        summary = trio.run(lambda: play_run(database, run, executor))
        assert (summary.played, summary.is_over) == (missing, True)
        assert database.find_run().state == "over"


@pytest.mark.slow
def test_a_run_that_lacks_its_last_games_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_workers_import_tests(monkeypatch, tmp_path)
    run = simulate(tmp_path / DATABASE, simulated_plan(4, 3), missing=5)
    assert run.state == "open"
    resume(tmp_path, 5)


@pytest.mark.long
@pytest.mark.parametrize(("bots", "deals"), [(50, 41), (100, 101)], ids=["100_000", "1_000_000"])
def test_a_large_database_is_read_in_seconds(
    bots: int, deals: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_workers_import_tests(monkeypatch, tmp_path)
    run = simulate(tmp_path / DATABASE, simulated_plan(bots, deals), missing=MISSING)
    took_s: dict[str, float] = {}
    began = time.monotonic()

    def note(what: str) -> None:
        nonlocal began
        took_s[what] = time.monotonic() - began
        began = time.monotonic()

    note("start")
    with open_data(tmp_path) as database:
        game = database.find_game().game
        note("open")
        assert sum(1 for _ in database.judged(run)) == run.plan.count - MISSING
        note("judge")
        assert len(list(database.missing(run))) == MISSING
        note("missing")
        assert sum(1 for _ in database.stored_games(run)) == run.plan.count - MISSING
        note("times")
    resume(tmp_path, MISSING)
    note("resume")
    arena(tmp_path, "games", "--limit", "20")
    note("games")
    arena(tmp_path, "verify", game)
    note("verify")
    arena(tmp_path, "plan", "random", "greedy", "--deals", "2")
    note("plan")
    sys.stdout.write(f"{run.plan.count:,} games, seconds: {took_s}\n")
    assert max(took_s["open"], took_s["games"], took_s["verify"]) <= AT_ONCE_S
    assert max(took_s.values()) <= READ_S
