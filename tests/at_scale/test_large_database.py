"""A database of a million games opens, lists and resumes at once, and is reported in a minute."""

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
from arena.store.runs import Run
from arena.tournament.executors.local import LocalExecutor
from tests.at_scale.simulated import simulate, simulated_plan
from tests.at_scale.used import used
from tests.fake_table import FAKE_TABLE, let_workers_import_tests

AT_ONCE_S = 5.0  # what reads a few games; generous: it is the start of Python mostly
MISSING = 100  # games
READ_S = 60.0  # what reads all of them
# Most memory of what reads all of them. Measured with 999,900 games: 912 to 950 MiB for a report
# with 300 replays, 839 for the CSV file, and 282 for a report of 100,450.
PEAK_MIB = 300.0
PEAK_BYTES_A_GAME = 1_000.0


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


def check_whole_commands(data: Path, run: Run) -> None:
    """Run what reads every game of a finished run: in CPU time, for the wall goes by the host."""
    games, folder, table = run.plan.count, data / "reports" / run.id, data / "games.csv"
    commands = {
        "report": ("report",),
        "resume": ("resume",),
        "export": ("export", "--format", "csv", "-o", str(table)),
    }
    whole = {}
    for what, words in commands.items():
        took = whole[what] = used([sys.executable, "-m", "arena", *words, "--data", str(data)])
        sys.stdout.write(
            f"{what} of {games:,} games: {took.wall_s:.1f} s on the wall, "
            f"{took.cpu_s:.1f} s of CPU, {took.peak_mib:.0f} MiB\n"
        )
        assert took.code == 0, took.errors
    counts = json.loads((folder / "report.json").read_text())["counts"]
    assert (counts["games"], counts["counted"]) == (games, games)
    assert table.read_bytes() == (folder / "games.csv").read_bytes()
    with table.open() as file:
        assert sum(1 for _ in file) == games + 1
    assert max(took.cpu_s for took in whole.values()) <= READ_S
    most_mib = PEAK_MIB + PEAK_BYTES_A_GAME * games / 2**20
    assert max(took.peak_mib for took in whole.values()) <= most_mib


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
    check_whole_commands(tmp_path, run)


@pytest.mark.long
@pytest.mark.parametrize(("bots", "deals"), [(50, 41), (100, 101)], ids=["100_000", "1_000_000"])
def test_a_large_database_is_read_in_seconds_and_reported_in_a_minute(
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
    check_whole_commands(tmp_path, run)
