"""What every executor must do; a new one is added to `EXECUTORS`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import resource_tracker
from pathlib import Path

import pytest
import trio

from arena.referee.record import GameRecord
from arena.sandbox.processes import children_of
from arena.tournament.executors.dask import DaskExecutor
from arena.tournament.executors.executor import (
    MOST_DEATHS,
    Executor,
    Finished,
    Job,
    decode_record,
    encode_spec,
)
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.plan import Plan
from tests.fake_games import fake_bot, fake_plan, fake_record
from tests.fake_table import FAKE_TABLE, let_workers_import_tests
from tests.orphans import orphans_reaped

pytestmark = pytest.mark.slow

Make = Callable[[int], Executor]
EXECUTORS: dict[str, Make] = {
    "dask": lambda jobs: DaskExecutor(jobs, table=FAKE_TABLE),
    "local": lambda jobs: LocalExecutor(jobs, table=FAKE_TABLE),
}
LIMIT_S = 120.0  # generous: hosts are busy, and a cluster starts slowly


@pytest.fixture(params=sorted(EXECUTORS))
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Make:
    let_workers_import_tests(monkeypatch, tmp_path)
    return EXECUTORS[request.param]


def plan_of(*names: str, deals: int = 2) -> Plan:
    return fake_plan([fake_bot(name) for name in names], deals=deals)


def run(
    executor: Executor,
    plan: Plan,
    *,
    on_result: Callable[[Finished], None] = lambda _finished: None,
) -> list[Finished]:
    """Play all games of a plan; return the results in the order of finishing."""
    results: list[Finished] = []

    async def main() -> None:
        jobs_in, jobs_out = trio.open_memory_channel[Job](0)
        results_in, results_out = trio.open_memory_channel[Finished](0)

        async def feed() -> None:
            with jobs_in:
                for spec in plan.specs():
                    await jobs_in.send(Job(spec.index, encode_spec(spec)))

        async def execute() -> None:
            with results_in:
                await executor.run(jobs_out, results_in)

        with trio.fail_after(LIMIT_S):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(feed)
                nursery.start_soon(execute)
                async for finished in results_out:
                    results.append(finished)
                    on_result(finished)

    trio.run(main)
    return results


def record_of(finished: Finished) -> GameRecord:
    assert finished.record is not None
    return decode_record(finished.record)


@pytest.mark.parametrize(
    ("make", "jobs"), [("dask", 5), ("local", 1), ("local", 2), ("local", 5)], indirect=["make"]
)
def test_every_job_has_one_result_and_it_is_its_own(make: Make, jobs: int) -> None:
    plan = plan_of("a", "b", "c", "faulty", deals=5)
    results = run(make(jobs), plan)
    assert sorted(finished.number for finished in results) == list(range(plan.count))
    for finished in results:
        spec = plan.spec(finished.number)
        assert record_of(finished).core == fake_record(spec, faulty=["faulty"]).core


def test_no_more_jobs_are_taken_than_may_be_in_play(make: Make) -> None:
    plan = plan_of("slow", "b", deals=10)
    taken = 0

    async def main() -> None:
        nonlocal taken
        jobs_in, jobs_out = trio.open_memory_channel[Job](0)
        results_in, _results_out = trio.open_memory_channel[Finished](0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(make(3).run, jobs_out, results_in)
            with trio.move_on_after(LIMIT_S) as taking:
                for spec in plan.specs():
                    await jobs_in.send(Job(spec.index, encode_spec(spec)))
                    taken += 1
                    if taken == 3:  # a cluster takes its time to start
                        taking.deadline = trio.current_time() + 1.0
            nursery.cancel_scope.cancel()

    trio.run(main)
    assert taken == 3


def test_the_games_of_a_killed_worker_are_played_anew(make: Make) -> None:
    plan = plan_of("a", "b", "c", "d", deals=8)
    killed: set[str] = set()

    def kill(finished: Finished) -> None:
        pid = record_of(finished).aside.host.split()[0]
        # No more than no game is given up for: all of them may have been one game's.
        if len(killed) < MOST_DEATHS - 1 and pid not in killed:
            killed.add(pid)
            os.kill(int(pid), signal.SIGKILL)

    results = run(make(4), plan, on_result=kill)
    assert len(killed) == MOST_DEATHS - 1
    assert sorted(finished.number for finished in results) == list(range(plan.count))
    for finished in results:
        assert record_of(finished).core == fake_record(plan.spec(finished.number)).core


def test_a_game_that_kills_its_workers_is_given_up_and_its_neighbours_are_not(make: Make) -> None:
    plan = plan_of("a", "b", "c", "killer", deals=1)
    results = run(make(6), plan)
    given_up = {finished.number for finished in results if finished.record is None}
    assert given_up == {n for n in range(plan.count) if 3 in plan.pairing(n)[1:]}
    assert len(results) == plan.count


@pytest.mark.parametrize("names", [("slow", "slow2"), ("wedged", "wedged2")])
def test_a_cancelled_executor_leaves_no_process(
    make: Make, names: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    resource_tracker.ensure_running()  # a cluster's, which stays as long as this process
    plan = plan_of(*names, deals=1)
    executor = make(2)

    async def main() -> None:
        jobs_in, jobs_out = trio.open_memory_channel[Job](0)
        results_in, _results_out = trio.open_memory_channel[Finished](0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(executor.run, jobs_out, results_in)
            for spec in plan.specs():
                assert executor.in_play <= spec.index
                await jobs_in.send(Job(spec.index, encode_spec(spec)))
            with trio.fail_after(LIMIT_S):
                while "begun" not in capfd.readouterr().err:  # noqa: ASYNC110 - another process's doing
                    await trio.sleep(0.01)
            assert 0 < executor.in_play <= 2
            assert set(children_of(os.getpid())) > before
            began = trio.current_time()
            nursery.cancel_scope.cancel()
        assert trio.current_time() - began < 20

    before = set(children_of(os.getpid()))
    with orphans_reaped():
        trio.run(main)
