"""Many games in the same workers: memory, descriptors and speed stay as they were."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from itertools import islice, pairwise
from pathlib import Path

import msgspec
import pytest
import trio

from arena.bench.build import build_programs
from arena.bench.specs import games, stub_bot
from arena.tournament.executors.executor import Finished, Job, encode_spec
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.packed import decode_packed
from tests.at_scale.weighed_table import EVERY, WEIGHED_TABLE, Weight
from tests.fake_table import let_workers_import_tests
from tests.tools import need

JOBS = 16
WORKERS = 2
SETTLED = 200  # games of a worker, after which processes run and caches are full
MOST_GROWTH_MIB = 20.0


@pytest.mark.parametrize(
    ("count", "most_slower"),  # the last third against the first, whatever else is going on
    [
        pytest.param(1_600, 2.0, marks=pytest.mark.slow),
        pytest.param(5_000, 2.0, marks=pytest.mark.long),
        pytest.param(100_000, 1.5, marks=pytest.mark.long),
    ],
)
def test_workers_stay_as_they_are_over_many_games(
    count: int, most_slower: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("gcc")
    let_workers_import_tests(monkeypatch, tmp_path)
    folder = tmp_path / "stub"
    folder.mkdir()
    stub, _ = build_programs(folder)
    began = time.monotonic()
    by_worker = weighed(stub, count)
    took_s = time.monotonic() - began
    sys.stdout.write(f"{count:,} games in {took_s:.0f} s\n")
    assert len(by_worker) == WORKERS
    for weights in by_worker.values():
        settled = [weight for weight in weights if weight.games >= SETTLED]
        share = len(settled) // 3
        thirds = [settled[:share], settled[share : 2 * share], settled[2 * share :]]
        memory = [max(weight.memory_mib for weight in third) for third in thirds]
        descriptors = [max(weight.descriptors for weight in third) for third in thirds]
        cost = [loops_a_game(third) for third in thirds]
        sys.stdout.write(
            f"a worker in thirds: {[round(one, 1) for one in memory]} MiB, {descriptors} "
            f"descriptors, {[round(one, 3) for one in cost]} fixed loops a game\n"
        )
        assert memory[2] - settled[0].memory_mib <= MOST_GROWTH_MIB
        assert descriptors[2] <= descriptors[0]
        assert cost[2] <= cost[0] * most_slower


def weighed(stub: Path, count: int) -> dict[int, list[Weight]]:
    """Play games of the C stub; return each worker's weights, in order."""
    specs = islice(games(stub_bot("x", stub), stub_bot("d", stub), keep=True), count)
    found: dict[int, list[Weight]] = defaultdict(list)

    async def main() -> None:
        jobs_in, jobs_out = trio.open_memory_channel[Job](JOBS)
        results_in, results_out = trio.open_memory_channel[Finished](JOBS)

        async def feed() -> None:
            async with jobs_in:
                for number, spec in enumerate(specs):
                    await jobs_in.send(Job(number, encode_spec(spec)))

        async def play() -> None:
            async with results_in:
                executor = LocalExecutor(JOBS, workers=WORKERS, table=WEIGHED_TABLE)
                await executor.run(jobs_out, results_in)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(feed)
            nursery.start_soon(play)
            async for finished in results_out:
                assert finished.record is not None
                game = decode_packed(finished.record)
                assert (game.void, game.mister_x.fault, game.detectives.fault) == (None,) * 3
                if game.host.startswith("["):
                    weight = msgspec.json.decode(game.host, type=Weight)
                    found[weight.pid].append(weight)

    trio.run(main)
    return found


def loops_a_game(weights: list[Weight]) -> float:
    """Return a game's CPU time in fixed loops beside it: the least, as others only add to it."""
    return min(
        (later.cpu_s - earlier.cpu_s - earlier.loop_s) / EVERY / (earlier.loop_s + later.loop_s) * 2
        for earlier, later in pairwise(weights)
    )
