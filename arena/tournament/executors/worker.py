"""A worker process of the local executor: many games in one trio loop.

Its settings and then jobs come on standard input, results go to standard output; both are moved
out of the way first, so that neither a stray `print` nor a bot can reach them. It ends when its
coordinator closes the jobs, and at once when that is gone. It is started as `python -P -m` with
this module's name, and imports nothing that a game doesn't need.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TypeAlias

import msgspec
import trio

from arena.errors import HostFault
from arena.referee.record import GameRecord, GameSpec
from arena.tournament.executors.descriptors import raise_open_files
from arena.tournament.executors.executor import decode_spec, encode_record
from arena.tournament.executors.frames import READY, SETTINGS, frame, frames
from arena.tournament.executors.garbage import look_seldom
from arena.tournament.executors.guardian import BEAT_S, fork_from_guardian

__all__ = ["PlayGame", "main", "referee_table", "serve", "show_life"]

PlayGame: TypeAlias = Callable[[GameSpec], Awaitable[GameRecord]]
Table: TypeAlias = Callable[[bytes], AbstractAsyncContextManager[PlayGame]]


@asynccontextmanager
async def referee_table(settings: bytes) -> AsyncIterator[PlayGame]:
    """Give the function that plays a game with real bots, and a pool for those that are kept.

    Args:
        settings: the profile of this machine's sandbox as JSON; empty without one.
    """
    from arena.referee.pool import BotPool
    from arena.referee.referee import play_game
    from arena.sandbox.bubblewrap import Profile

    profile = msgspec.json.decode(settings, type=Profile) if settings else None
    look_seldom()
    async with BotPool(profile=profile) as pool:

        async def play(spec: GameSpec) -> GameRecord:
            return await play_game(spec, pool)

        yield play


async def serve(table: Table, jobs: trio.abc.ReceiveStream, results: trio.abc.SendStream) -> None:
    """Open the table and play every job that comes, all at once, until they end or SIGTERM comes.

    The first block that comes has the table's settings. The coordinator closes the jobs when it has
    all results; an end with games in play means that it is gone, and they are given up.
    """
    writing = trio.Lock()
    in_play = 0

    async def play_one(play: PlayGame, number: int, text: bytes) -> None:
        nonlocal in_play
        record = encode_record(await play(decode_spec(text)))
        async with writing:
            in_play -= 1
            await results.send_all(frame(number, record))

    blocks = frames(jobs)
    settings = await anext(blocks, None)
    if settings is None:
        return  # the coordinator is gone already
    if settings[0] != SETTINGS:
        raise HostFault("a worker was given a game before its settings")
    async with table(settings[1]) as play, trio.open_nursery() as nursery:
        nursery.start_soon(_cancel_at_sigterm, nursery.cancel_scope)
        await results.send_all(frame(READY, b""))
        async for number, text in blocks:
            in_play += 1
            nursery.start_soon(play_one, play, number, text)
        # Either nothing is in play now, or nobody is left to tell.
        nursery.cancel_scope.cancel()


async def _serve(
    table: Table, beats: int | None, jobs: trio.abc.ReceiveStream, results: trio.abc.SendStream
) -> None:
    async with trio.open_nursery() as nursery:
        if beats is not None:
            nursery.start_soon(show_life, beats)
        await serve(table, jobs, results)
        nursery.cancel_scope.cancel()


async def show_life(beats: int) -> None:
    """Give the guardian a sign of life as long as the loop goes round, until cancelled.

    Args:
        beats: a pipe that does not block; one that is full has signs enough in it.
    """
    while True:
        with suppress(BlockingIOError):
            os.write(beats, b".")
        await trio.sleep(BEAT_S)


async def _cancel_at_sigterm(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()


def main(words: Sequence[str]) -> None:
    """Run a worker.

    Args:
        words: `module:name` of what opens a table, and the CPU to stay on (or an empty word).
    """
    # What a terminal sends to the whole group is the coordinator's to decide on. A handler, not
    # SIG_IGN, since bots would inherit that, as they would that it is blocked where we come from.
    signal.signal(signal.SIGINT, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    raise_open_files()
    beats = fork_from_guardian()
    jobs, results = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    table, cpu = words
    if cpu:
        _stay_on(int(cpu))
    module, name = table.split(":")
    opener: Table = getattr(importlib.import_module(module), name)
    trio.run(_serve, opener, beats, trio.lowlevel.FdStream(jobs), trio.lowlevel.FdStream(results))


def _stay_on(cpu: int) -> None:
    os.sched_setaffinity(0, {cpu})  # before any thread or bot: they inherit it
    if os.sched_getaffinity(0) != {cpu}:
        raise HostFault(f"a worker can't stay on CPU {cpu}: the system did not take the setting")


if __name__ == "__main__":
    main(sys.argv[1:])
