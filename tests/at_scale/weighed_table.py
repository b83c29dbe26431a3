"""A worker's table that plays real games and weighs the worker now and then; scales for others."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from arena.bench.memory import memory_mib
from arena.referee.record import GameRecord, GameSpec
from arena.tournament.executors.worker import PlayGame, referee_table

__all__ = ["EVERY", "WEIGHED_TABLE", "Weight", "weigh", "weighed_table"]

EVERY = 25  # games

WEIGHED_TABLE = "tests.at_scale.weighed_table:weighed_table"


class Weight(msgspec.Struct, frozen=True, array_like=True):
    """What a process was when it had finished so many games, a multiple of `EVERY`."""

    pid: int
    games: int
    memory_mib: float
    descriptors: int
    cpu_s: float  # used since its start, by it and by its children that have ended
    loop_s: float  # CPU time of a fixed loop at this moment: what the machine makes of a game's


def fixed_loop() -> int:
    """Plain Python that never changes, a millisecond or two of it."""
    total = 0
    for number in range(20_000):
        total += number % 7
    return total


def weigh(games: int) -> Weight:
    """Weigh this process."""
    cpu_s = time.process_time()
    fixed_loop()
    loop_s = time.process_time() - cpu_s
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Weight(
        pid=os.getpid(),
        games=games,
        memory_mib=memory_mib("VmRSS"),
        descriptors=len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - names alone, no paths
        cpu_s=cpu_s + ended.ru_utime + ended.ru_stime,
        loop_s=loop_s,
    )


@asynccontextmanager
async def weighed_table(settings: bytes) -> AsyncIterator[PlayGame]:
    """Play as the referee's table does; of some records the host is a `Weight` as JSON."""
    games = 0
    async with referee_table(settings) as play:

        async def play_and_weigh(spec: GameSpec) -> GameRecord:
            nonlocal games
            record = await play(spec)
            games += 1
            if games % EVERY:
                return record
            host = msgspec.json.encode(weigh(games)).decode()
            aside = msgspec.structs.replace(record.aside, host=host)
            return msgspec.structs.replace(record, aside=aside)

        yield play_and_weigh
