"""Requests and games a second, through the local executor as a tournament uses it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import trio

from arena.bench.specs import games, stub_bot
from arena.errors import HostFault
from arena.referee.record import BotSpec, GameSpec
from arena.sandbox.bubblewrap import Profile
from arena.tournament.executors.executor import Finished, Job, encode_spec
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.packed import decode_packed

__all__ = ["Rate", "measure_python_games", "measure_scaling", "measure_stub_requests", "play_for"]

_DEALS = 2  # requests of a game besides its turns and parts
STUB_JOBS = 16  # games at once in each worker


class Rate(NamedTuple):
    """What was done in a second of wall time, start-up of the workers left out."""

    games: float
    requests: float


async def _play_for(executor: LocalExecutor, specs: Iterator[GameSpec], seconds: float) -> Rate:
    jobs_in, jobs_out = trio.open_memory_channel[Job](executor.jobs)
    done_in, done_out = trio.open_memory_channel[Finished](executor.jobs)
    stop = False

    async def feed() -> None:
        with jobs_in:
            for number, spec in enumerate(specs):
                if stop:
                    return
                await jobs_in.send(Job(number, encode_spec(spec)))

    count = requests = warm = 0
    begun = 0.0
    ended = 0.0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(feed)

        async def work() -> None:
            with done_in:
                await executor.run(jobs_out, done_in)

        nursery.start_soon(work)
        async for finished in done_out:
            if finished.record is None:
                raise HostFault("a worker died while it was measured")
            if warm < 2 * executor.jobs:  # every lane is under way before the clock runs
                warm += 1
                begun = time.perf_counter()
                continue
            now = time.perf_counter()
            if now - begun > seconds and count:  # one game at least, however slow the machine
                stop = True
            if not stop:
                game = decode_packed(finished.record)
                if game.void:
                    raise HostFault(f"a measured game was void: {game.void}")
                count += 1
                requests += game.mister_x.times.answers + game.detectives.times.answers + _DEALS
                ended = now
    return Rate(count / (ended - begun), requests / (ended - begun))


def play_for(
    seconds: float,
    bots: tuple[BotSpec, BotSpec],
    *,
    jobs: int,
    workers: int,
    keep: bool,
    pin: bool = False,
    profile: Profile | None = None,
) -> Rate:
    """Play games of two bots for so long, and return how many were finished a second."""
    settings = b"" if profile is None else msgspec.json.encode(profile)
    executor = LocalExecutor(jobs, workers=workers, pin=pin, settings=settings)
    specs = games(*bots, keep=keep, sandboxed=profile is not None)
    return trio.run(_play_for, executor, specs, seconds)


def measure_stub_requests(
    stub: Path, seconds: float, *, workers: int, profile: Profile | None = None
) -> float:
    """Return requests a second with bots of C speed and kept processes, 16 games a worker."""
    bots = stub_bot("stub-x", stub), stub_bot("stub-d", stub)
    jobs = workers * STUB_JOBS
    rate = play_for(seconds, bots, jobs=jobs, workers=workers, keep=True, profile=profile)
    return round(rate.requests, 1)


def measure_scaling(stub: Path, seconds: float, *, profile: Profile | None = None) -> float:
    """Return what two workers do against one, each pinned with its bots to one core."""
    bots = stub_bot("stub-x", stub), stub_bot("stub-d", stub)
    one = two = 0.0
    for _ in range(2):  # alternating, so that both see the same machine
        for workers in (1, 2):
            rate = play_for(
                seconds / 2,
                bots,
                jobs=workers * STUB_JOBS,
                workers=workers,
                keep=True,
                pin=True,
                profile=profile,
            )
            if workers == 1:
                one += rate.requests
            else:
                two += rate.requests
    return round(two / one, 3)


def measure_python_games(
    random: BotSpec, seconds: float, *, cpus: int, profile: Profile | None = None
) -> dict[str, float]:
    """Return games a second of the Python SDK's random bots: kept processes, and fresh ones."""
    bots = random, random
    found = {}
    for name, keep in (("kept", True), ("fresh", False)):
        rate = play_for(seconds, bots, jobs=2 * cpus, workers=cpus, keep=keep, profile=profile)
        found[name] = round(rate.games, 1)
    return found
