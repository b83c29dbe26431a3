"""What a request costs the referee, against the bare round trip of the same bytes.

A request is any line that asks a bot for an answer: the `turn`s of a game and its two `deal`s.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import trio

from arena.bench.bare import Bare, Exchange
from arena.bench.specs import games, stub_bot
from arena.referee.pool import BotPool
from arena.referee.record import GameRecord, GameSpec
from arena.referee.referee import play_game
from arena.referee.replay import replay
from arena.sandbox.bubblewrap import Profile
from arena.tournament.executors.garbage import look_seldom
from protocol.codec import encode
from protocol.messages import Play as Answer
from protocol.messages import Turn

__all__ = ["exchanges_of", "measure_requests", "requests_in"]

BLOCK = 2_000  # requests
BLOCKS = 5  # of each kind; what is told is their median
_FEWEST = 4  # requests in a game: two deals and a turn of each side


class Block(NamedTuple):
    """A block of the referee's games: cost of one request, in microseconds, and each one's time."""

    wall_us: float
    cpu_us: float
    charged_ms: list[float]


def requests_in(record: GameRecord) -> int:
    """How many requests a game without faults had: its turns and parts, and the two deals."""
    return len(record.core.plays) + 2


def exchanges_of(record: GameRecord) -> list[Exchange]:
    """Return the requests of a recorded game as they were sent, with the sizes of the answers."""
    found = []
    for sent in replay(record.core, wants=("legal",)).sent:
        if isinstance(sent.message, Turn):
            play = record.core.plays[sent.play]
            answer = Answer(id=sent.message.id, plies=play.plies, more=play.more)
            found.append(Exchange(encode(sent.message), len(encode(answer))))
    return found


class _Mark(NamedTuple):
    """A moment while games are played: the requests of those that are over, and both clocks."""

    requests: int
    wall_s: float
    cpu_s: float


async def _play_block(pool: BotPool, specs: Iterator[GameSpec], *, at_once: int) -> Block:
    """Play games until a block of requests is full; the CPU time is this process's own.

    It begins once as many games are over as are played at once, and ends while they are still
    played: what was begun before it makes up for what is not over at its end. Nothing but the
    referee's work is done meanwhile.
    """
    ahead = iter(list(islice(specs, BLOCK // _FEWEST + 2 * at_once)))
    records: list[GameRecord] = []
    marks: list[_Mark] = []  # the beginning and the end of the block
    count = 0

    async def lane() -> None:
        nonlocal count
        while len(marks) < 2:
            record = await play_game(next(ahead), pool)
            records.append(record)
            count += requests_in(record)
            is_due = count >= marks[0].requests + BLOCK if marks else len(records) == at_once
            if is_due and len(marks) < 2:
                marks.append(_Mark(count, time.perf_counter(), time.process_time()))

    async with trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(lane)
    faults = [fault for record in records for fault in record.core.faults]
    if faults:
        raise AssertionError(f"the stub bot has a fault: {faults[0]}")
    asides = [record.aside for record in records]
    seats = [seat for aside in asides for seat in (aside.mister_x, aside.detectives)]
    charged_ms = [each.charged_ms for seat in seats for each in seat.times]
    begin, end = marks
    each_us = 1e6 / (end.requests - begin.requests)
    return Block(
        (end.wall_s - begin.wall_s) * each_us, (end.cpu_s - begin.cpu_s) * each_us, charged_ms
    )


async def _measure(stub: Path, echo: Path, *, profile: Profile | None) -> dict[str, Any]:
    bot = stub_bot("stub-x", stub), stub_bot("stub-d", stub)
    specs = games(*bot, keep=True, sandboxed=profile is not None)
    unpinned: list[float] = []
    pinned: list[float] = []
    one: list[Block] = []
    many: list[Block] = []
    async with BotPool(profile=profile) as pool:
        exchanges = []
        for _ in range(20):  # also warms up: processes start, caches fill
            exchanges += exchanges_of(await play_game(next(specs), pool))
        await _play_block(pool, specs, at_once=16)
        look_seldom()  # as in a worker
        bare = Bare(echo, exchanges)
        try:
            for _ in range(BLOCKS):
                unpinned.append(bare.block(BLOCK))
                one.append(await _play_block(pool, specs, at_once=1))
                pinned.append(bare.block(BLOCK, pin=True))
                many.append(await _play_block(pool, specs, at_once=16))
        finally:
            bare.close()
    charged = sorted(ms for block in one for ms in block.charged_ms)
    wall_us = median(block.wall_us for block in one)
    cpu_us = median(block.cpu_us for block in many)
    return {
        "bare": {
            "unpinned_us": round(median(unpinned), 2),
            "pinned_us": round(median(pinned), 2),
        },
        "request": {
            "ratio_one": round(wall_us / median(unpinned), 3),
            "ratio_cpu": round(cpu_us / median(pinned), 3),
            "one_us": round(wall_us, 2),
            "cpu_us": round(cpu_us, 2),
            "median_us": round(median(charged) * 1000, 1),
            "p99_us": round(charged[int(len(charged) * 0.99)] * 1000, 1),
            "bytes": round(sum(len(each.request) for each in exchanges) / len(exchanges)),
        },
    }


def measure_requests(stub: Path, echo: Path, *, profile: Profile | None = None) -> dict[str, Any]:
    """Measure the referee's cost a request: one game at a time, and 16 at once in this process.

    Blocks of 2,000 bare round trips, unpinned and pinned to one CPU, alternate with blocks of
    ours, so that all see the same machine.

    Returns:
        `bare` and `request` as `arena bench --json` prints them; times in microseconds.
    """
    return trio.run(lambda: _measure(stub, echo, profile=profile))
