"""A referee in a process of its own: plays a row of the catalogue, and honest games beside it.

Started by `referees.py` as root or as an ordinary user. A request a line comes on standard input
and its answer goes to standard output; what it holds is counted from inside, before and after. One
pool of bots serves all rows, as in a worker.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Any, cast

import msgspec
import trio

from arena.errors import ArenaError
from arena.referee.pool import BotPool
from arena.referee.record import GameRecord, GameSpec
from arena.referee.referee import play_game
from arena.sandbox.finding import Found, find_sandbox
from arena.sandbox.sandboxes import Box, Sandbox
from arena.sandbox.visible import look_around
from tests.living import busy_threads, memory_kib, start_new_peak

__all__ = ["Ask", "Counts", "Kept", "Told", "main"]

_MOST_BESIDE = 40


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What to play: hostile games, all at once, and an honest one, again and again beside them.

    The honest game is played at least once beside and, with `after`, once when they are over.
    """

    hostile: tuple[GameSpec, ...]
    honest: GameSpec | None = None
    after: bool = False


class Counts(msgspec.Struct, frozen=True):
    """What the referee's process holds."""

    descriptors: tuple[str, ...]  # number and target
    threads: int
    children: tuple[int, ...]


class Kept(msgspec.Struct, frozen=True):
    """A sandbox that was used: first process, namespace of process ids, user id in route R."""

    init: int
    namespace: int
    uid: int | None


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    hostile: tuple[GameRecord, ...] = ()
    beside: tuple[GameRecord, ...] = ()
    after: GameRecord | None = None
    before: Counts
    afterwards: Counts
    grown_kib: int  # from before to the most at any moment
    kept: tuple[Kept, ...]  # in this order of starts
    took_s: float  # by the hostile games


async def _answer(ask: Ask, pool: BotPool, boxes: list[Box]) -> Told:
    hostile: dict[int, GameRecord] = {}
    beside: list[GameRecord] = []
    over = trio.Event()

    async def attack(at: int, spec: GameSpec) -> None:
        hostile[at] = await play_game(spec, pool)
        if len(hostile) == len(ask.hostile):
            over.set()

    gc.collect()
    before, resident = _counts(), memory_kib("VmRSS")
    start_new_peak()
    began = trio.current_time()
    took_s = 0.0
    async with trio.open_nursery() as nursery:
        for at, spec in enumerate(ask.hostile):
            nursery.start_soon(attack, at, spec)
        while ask.honest is not None and len(beside) < _MOST_BESIDE:
            beside.append(await play_game(ask.honest, pool))
            if over.is_set():
                break
        await over.wait()
        took_s = trio.current_time() - began
    grown = memory_kib("VmHWM") - resident
    after = await play_game(ask.honest, pool) if ask.honest is not None and ask.after else None
    told = Told(
        hostile=tuple(hostile[at] for at in sorted(hostile)),
        beside=tuple(beside),
        after=after,
        before=before,
        afterwards=_counts(),
        grown_kib=grown,
        kept=tuple(Kept(box.init, box.pid_namespace, box.uid) for box in boxes),
        took_s=took_s,
    )
    boxes.clear()
    return told


def _counts() -> Counts:
    found = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names alone
        try:
            found.append(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")  # noqa: PTH115
        except OSError:
            continue  # the one that listed them
    threads = sum(" from " not in name for name in busy_threads())  # Trio names its own by the task
    children: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        children += map(int, (task / "children").read_text().split())
    return Counts(tuple(sorted(found)), threads, tuple(sorted(children)))


def _sandbox() -> Found:
    found = find_sandbox(
        look_around(interpreters=[sys.executable]), python=sys.executable, limit_s=20.0
    )
    if not isinstance(found, Found):
        raise ArenaError(found.text())
    return found


def _keep_boxes(pool: BotPool) -> list[Box]:
    """Return a list that every sandbox of a pool comes into."""
    boxes: list[Box] = []
    guard = pool._guard
    assert guard is not None
    start = guard.sandbox.start

    def start_and_keep(*args: Any, **settings: Any) -> Any:
        process, box = start(*args, **settings)
        boxes.append(box)
        return process, box

    cast("Any", guard.sandbox).start = start_and_keep
    assert isinstance(guard.sandbox, Sandbox)
    return boxes


async def _serve() -> None:
    profile = _sandbox().profile
    read = msgspec.json.Decoder(Ask).decode
    write = sys.stdout.buffer
    async with BotPool(profile=profile) as pool:
        boxes = _keep_boxes(pool)
        write.write(msgspec.json.encode(pool.sandbox) + b"\n")
        write.flush()
        while line := await trio.to_thread.run_sync(sys.stdin.buffer.readline):
            write.write(msgspec.json.encode(await _answer(read(line), pool, boxes)) + b"\n")
            write.flush()


def main() -> None:
    """Serve until standard input ends."""
    trio.run(_serve)
