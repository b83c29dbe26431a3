"""Many games in the same workers: memory, descriptors and speed stay as they were."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

import msgspec
import pytest
import trio

from arena.bench.build import build_programs
from arena.bench.memory import memory_mib
from arena.bench.specs import stub_plan
from arena.cli.stored import DATABASE
from arena.referee.record import SideWord
from arena.sandbox.bubblewrap import Profile
from arena.store.database import Database
from arena.store.playing import play_run
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.packed import PackedGame
from arena.tournament.plan import Plan
from arena.tournament.tournament import Event
from tests.at_scale.weighed_table import EVERY, WEIGHED_TABLE, Weight, weigh
from tests.fake_table import let_workers_import_tests
from tests.sandboxed import need_sandbox
from tests.tools import need

JOBS = 16
JOBS_IN_SANDBOXES = 4  # few, so that those in play hold few descriptors
WORKERS = 2
WINDOWS = 3  # of a run, for its speed
SETTLED = 0.1  # of a run, after which caches are full
WORKER_SETTLED = 0.25  # and after which as many kept processes run as will ever do
SETTLED_GAMES = 200  # of a process, after which it has settled in any case
SIDES: tuple[SideWord, SideWord] = ("mister_x", "detectives")
MOST_GROWTH_MIB = 20.0
MOST_COORDINATOR_MIB = 20.0  # beyond what this process held before the run
DESCRIPTORS_A_GAME = 12  # while it is in play in two sandboxes


@pytest.mark.parametrize(
    ("count", "most_slower"),  # the last window against the first, whatever else is going on
    [
        pytest.param(1_600, 2.0, marks=pytest.mark.slow),
        pytest.param(5_000, 2.0, marks=pytest.mark.long),
        pytest.param(100_000, 1.5, marks=pytest.mark.long),
    ],
)
def test_a_run_of_kept_processes_stays_as_it_is(
    count: int, most_slower: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_long_run(tmp_path, monkeypatch, count, most_slower, jobs=JOBS, profile=None)


@pytest.mark.parametrize(
    ("count", "most_slower"),
    [
        pytest.param(480, 2.0, marks=pytest.mark.slow),
        pytest.param(5_000, 1.5, marks=pytest.mark.long),
    ],
)
def test_a_run_of_sandboxed_processes_a_game_stays_as_it_is(
    count: int, most_slower: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = need_sandbox().profile
    check_long_run(
        tmp_path, monkeypatch, count, most_slower, jobs=JOBS_IN_SANDBOXES, profile=profile
    )


def check_long_run(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    most_slower: float,
    *,
    jobs: int,
    profile: Profile | None,
) -> None:
    """Play a stored run, and hold each worker and the coordinator against what they were.

    Args:
        folder: an empty one.
        monkeypatch: lets workers import this.
        count: games.
        most_slower: how much more a game may cost a worker in the last window than in the first.
        jobs: games in play at once.
        profile: of the sandbox that each game has fresh processes in; None for kept ones without.
    """
    need("gcc")
    let_workers_import_tests(monkeypatch, folder)
    programs = folder / "stub"
    programs.mkdir()
    stub, _ = build_programs(programs)
    plan = stub_plan(stub, deals=count, sandboxed=profile is not None)
    entrants = tuple(  # of one side each, or kept processes of both sides come and go
        msgspec.structs.replace(bot, sides=(side,))
        for bot, side in zip(plan.entrants, SIDES, strict=True)
    )
    plan = msgspec.structs.replace(plan, entrants=entrants, keep=profile is None)
    assert plan.count == count
    began = time.monotonic()
    before_mib = memory_mib("VmRSS")
    settings = b"" if profile is None else msgspec.json.encode(profile)
    executor = LocalExecutor(jobs, workers=WORKERS, table=WEIGHED_TABLE, settings=settings)
    coordinator, by_worker = weighed(folder / DATABASE, plan, executor)
    took_s = time.monotonic() - began
    sys.stdout.write(f"{count:,} games in {took_s:.0f} s\n")
    assert len(by_worker) == WORKERS
    sys.stdout.write(f"the coordinator, {before_mib:.1f} MiB before the run: ")
    check_process(coordinator, most_slower, settled=SETTLED, wobble=0)
    most_mib = max(weight.memory_mib for weight in coordinator)
    assert most_mib - before_mib <= MOST_COORDINATOR_MIB
    wobble = 0 if profile is None else DESCRIPTORS_A_GAME * jobs // WORKERS
    for weights in by_worker.values():
        sys.stdout.write("a worker: ")
        check_process(weights, most_slower, settled=WORKER_SETTLED, wobble=wobble)


def check_process(
    weights: Sequence[Weight], most_slower: float, *, settled: float, wobble: int
) -> None:
    """Hold a process against what it was when it had settled.

    Args:
        weights: of it, in order.
        most_slower: how much more a game may cost it in the last window than in the first.
        settled: after which share of the run it has.
        wobble: descriptors that come and go with the games in play.
    """
    kept = weights[min(round(settled * len(weights)), SETTLED_GAMES // EVERY) :]
    most = max(weight.memory_mib for weight in kept)
    third = len(kept) // 3
    early, late = (
        max(weight.descriptors for weight in some) for some in (kept[:third], kept[-third:])
    )
    sys.stdout.write(
        f"{kept[0].memory_mib:.1f} MiB when it had settled, {most:.1f} at most from then on; "
        f"descriptors at most {early} in the first third, {late} in the last\n"
    )
    ends = [round(len(kept) * window / WINDOWS) for window in range(WINDOWS + 1)]
    cost = [loops_a_game(kept[start : end + 1]) for start, end in pairwise(ends)]
    sys.stdout.write(f"  its games: {[round(one, 2) for one in cost]} fixed loops each\n")
    assert most - kept[0].memory_mib <= MOST_GROWTH_MIB
    assert late <= early + wobble
    assert cost[-1] <= cost[0] * most_slower


def weighed(
    database: Path, plan: Plan, executor: LocalExecutor
) -> tuple[list[Weight], dict[int, list[Weight]]]:
    """Play a run and store it; return the weights of the coordinator, and by worker, in order."""
    coordinator: list[Weight] = []
    by_worker: dict[int, list[Weight]] = defaultdict(list)
    stored = 0

    def note(event: Event) -> None:
        nonlocal stored
        assert isinstance(event, PackedGame)
        assert (event.void, event.mister_x.fault, event.detectives.fault) == (None,) * 3
        assert ("kept" in event.marks) == plan.keep
        assert ("unsandboxed" in event.marks) == (plan.sandbox == "none")
        stored += 1
        if stored % EVERY == 0:
            coordinator.append(weigh(stored))
        if event.host.startswith("["):
            weight = msgspec.json.decode(event.host, type=Weight)
            by_worker[weight.pid].append(weight)

    with Database(database) as opened:
        run = opened.begin(plan)
        summary = trio.run(lambda: play_run(opened, run, executor, on_stored=note))
    assert (summary.played, summary.is_over) == (plan.count, True)
    for weights in by_worker.values():
        weights.sort(key=lambda weight: weight.games)
    return coordinator, by_worker


def loops_a_game(weights: Sequence[Weight]) -> float:
    """Return a game's CPU time in fixed loops beside it: the median of some games each."""
    return median(
        (later.cpu_s - earlier.cpu_s - earlier.loop_s) / EVERY / (earlier.loop_s + later.loop_s) * 2
        for earlier, later in pairwise(weights)
    )
