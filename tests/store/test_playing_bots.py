"""The reference bots, real processes and the real referee, from a plan to stored records."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
import trio

from arena.referee.record import BotSpec
from arena.store.database import Database
from arena.store.playing import play_run
from arena.tournament.entrants import find_bot
from arena.tournament.executors.local import LocalExecutor
from tests.fake_games import fake_plan

pytestmark = pytest.mark.slow


def reference_bots(folder: Path, *names: str) -> list[BotSpec]:
    return [find_bot(name, folder).spec for name in names]


def play(path: Path, bots: list[BotSpec], *, jobs: int, keep: bool = False) -> list[bytes]:
    """Play a small round robin; return its cores in plan order."""
    with Database(path) as database:
        plan = fake_plan(bots, deals=3, sandbox="none", keep=keep)
        run = database.begin(plan)
        summary = trio.run(lambda: play_run(database, run, LocalExecutor(jobs)))
        assert summary.is_over
        assert summary.played == plan.count
        assert not summary.benched
        return list(database.cores(run))


def test_games_come_out_the_same_at_any_number_of_jobs(tmp_path: Path) -> None:
    bots = reference_bots(tmp_path, "random", "greedy")
    wanted = play(tmp_path / "1.sqlite3", bots, jobs=1)
    assert all(len(core) > 1000 for core in wanted)
    for jobs in (2, 4):
        assert play(tmp_path / f"{jobs}.sqlite3", bots, jobs=jobs) == wanted
    assert play(tmp_path / "kept.sqlite3", bots, jobs=4, keep=True) == wanted


SCRIPT = """
import sys, trio
from pathlib import Path
from arena.store.database import Database
from arena.store.playing import play_run
from arena.tournament.executors.local import LocalExecutor

with Database(Path(sys.argv[1])) as database:
    run = database.find_run()
    trio.run(lambda: play_run(
        database, run, LocalExecutor(4),
        on_stored=lambda _event: print("stored", flush=True),
    ))
"""


def test_no_bot_outlives_a_killed_coordinator_and_the_run_goes_on(tmp_path: Path) -> None:
    bots = reference_bots(tmp_path, "random", "greedy")
    path = tmp_path / "killed.sqlite3"
    with Database(path) as database:
        database.begin(fake_plan(bots, deals=3, sandbox="none"))
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path)], stdout=subprocess.PIPE, text=True
    ) as coordinator:
        assert coordinator.stdout is not None
        assert coordinator.stdout.readline() == "stored\n"
        coordinator.kill()
    deadline = time.monotonic() + 20
    while in_folder(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.01)  # the kernel's doing, in its own time
    with Database(path) as database:
        run = database.find_run()
        assert 1 <= len(list(database.results(run))) < run.plan.count
        trio.run(lambda: play_run(database, run, LocalExecutor(4)))
        cores = list(database.cores(run))
    assert cores == play(tmp_path / "unbroken.sqlite3", bots, jobs=2)


def in_folder(folder: Path) -> list[int]:
    """Return the processes that run in a folder: the bots do in their staged copies."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "cwd").readlink().is_relative_to(folder):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_a_bot_that_is_gone_is_a_fault_and_not_an_error(tmp_path: Path) -> None:
    bots = reference_bots(tmp_path, "random", "greedy")
    bots[1] = BotSpec(
        name="gone",
        version="",
        hash="00" * 32,
        command=(sys.executable, "-c", "raise SystemExit(3)"),
        folder=bots[0].folder,
        sides=bots[0].sides,
    )
    with Database(tmp_path / "arena.sqlite3") as database:
        run = database.begin(fake_plan(bots, deals=7, sandbox="none"))
        summary = trio.run(lambda: play_run(database, run, LocalExecutor(4)))
        assert summary.is_over
        assert [(game.bot, game.index) for game in summary.benched] == [(1, 10)]
        judged = list(database.judged(run))
        kinds = [game.mister_x_fault or game.detectives_fault for game in judged]
        assert kinds == ["crash"] * 10 + ["benched"] * 4
        assert all(game.counts for game in judged)
