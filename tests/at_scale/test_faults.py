"""Thousands of injected faults: no game hangs, all are accounted for, no process is left."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.at_scale.faulted import FaultedRun, Tally
from tests.sandboxed import need_sandbox

# A game is given up if three workers died with it, and its third try is made alone in a worker: a
# kill can cost one game at most, and none of those can be one of the first two kills. That a game,
# which lasts for seconds, is there at three kills in a row, each many games from the last, is rare.
MOST_LOST = 3


def check_faults(
    folder: Path, *, sandbox: str, deals: int, jobs: int, worker_every: int, arena_every: int
) -> Tally:
    """Play a faulted run to its end and check all that is promised of it."""
    if sandbox == "auto":
        need_sandbox()
    run = FaultedRun(
        folder,
        deals=deals,
        sandbox=sandbox,
        jobs=jobs,
        worker_every=worker_every,
        arena_every=arena_every,
        seed=deals,
    )
    answer = run.play()
    tally = run.check()
    assert tally.workers_killed > 0
    assert tally.arenas_killed > 0
    assert all(tally.forfeits.values()), tally
    assert tally.lost <= min(MOST_LOST, max(0, tally.workers_killed - 2)), tally
    assert answer["games"] == {
        "planned": run.games,
        "played": run.games - tally.lost,
        "void": tally.lost,
    }
    verified = subprocess.run(
        [sys.executable, "-m", "arena", "verify", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(verified.stdout)["checked"] == run.games - tally.lost
    return tally


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["auto", pytest.param("none", marks=pytest.mark.long)])
def test_a_hundred_faults_are_accounted_for(tmp_path: Path, sandbox: str) -> None:
    tally = check_faults(
        tmp_path, sandbox=sandbox, deals=34, jobs=16, worker_every=60, arena_every=110
    )
    sys.stdout.write(f"{tally}\n")
    assert sum(tally.forfeits.values()) >= 100


@pytest.mark.long
@pytest.mark.parametrize("sandbox", ["auto", "none"])
def test_five_thousand_faults_are_accounted_for(tmp_path: Path, sandbox: str) -> None:
    """Both halves together are over ten thousand."""
    tally = check_faults(
        tmp_path, sandbox=sandbox, deals=1450, jobs=32, worker_every=120, arena_every=600
    )
    sys.stdout.write(f"{tally}\n")
    assert sum(tally.forfeits.values()) >= 5_000
