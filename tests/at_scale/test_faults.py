"""Thousands of games with a fault in each: none hangs, all are accounted for, nobody is left."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.at_scale.faulted import FaultedRun, Tally
from tests.sandboxed import need_sandbox


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
def test_two_hundred_games_with_a_saboteur_are_accounted_for(tmp_path: Path, sandbox: str) -> None:
    tally = check_faults(
        tmp_path, sandbox=sandbox, deals=34, jobs=16, worker_every=60, arena_every=110
    )
    assert sum(tally.forfeits.values()) >= 80


@pytest.mark.long
@pytest.mark.parametrize("sandbox", ["auto", "none"])
def test_five_thousand_sabotaged_games_are_accounted_for(tmp_path: Path, sandbox: str) -> None:
    tally = check_faults(
        tmp_path, sandbox=sandbox, deals=1300, jobs=32, worker_every=120, arena_every=600
    )
    sys.stdout.write(f"{tally}\n")
    assert sum(tally.forfeits.values()) >= 4_500
