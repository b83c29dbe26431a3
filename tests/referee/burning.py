"""A machine that has too much to do: burners that take every processor, bots that take time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path

import trio

from arena.bench.build import build_programs
from arena.bench.specs import games, stub_bot
from arena.referee.pool import BotPool
from arena.referee.record import BotSpec, GameRecord
from arena.referee.referee import play_game
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.processes import see
from tests.tools import need

__all__ = ["Stubs", "burners", "on_one_processor", "play_many", "stubs", "time_losses"]

BURN_S = 900  # of CPU time of one burner, at most


@contextmanager
def burners(number: int) -> Iterator[None]:
    """Keep processors busy, as other people's programs do: at the usual priority."""
    limit = f"import resource\nresource.setrlimit(resource.RLIMIT_CPU, ({BURN_S},) * 2)\n"
    code = limit + "while True: pass"
    started = [subprocess.Popen([sys.executable, "-S", "-c", code]) for _ in range(number)]
    try:
        until = time.monotonic() + 30
        for process in started:
            while (seen := see(process.pid)) is None or seen.cpu_s < 0.05:
                assert time.monotonic() < until
                time.sleep(0.01)
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


@contextmanager
def on_one_processor() -> Iterator[None]:
    """Leave one processor to all that is started from here on, whatever the machine has.

    Where there are more, a scheduler may by luck give a bot one of its own, burners or not.
    """
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


class Stubs:
    """Bots of C speed that answer after a time."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def asleep(self, seconds: float) -> BotSpec:
        """One that sleeps in each turn."""
        return stub_bot("asleep", self._program, str(seconds), "asleep")

    def busy(self, seconds: float) -> BotSpec:
        """One that burns in each turn, by the clock on the wall."""
        return stub_bot("busy", self._program, str(seconds))

    def working(self, seconds: float) -> BotSpec:
        """One that uses so much CPU time in each turn, however long that takes."""
        return stub_bot("working", self._program, str(seconds), "working")


@contextmanager
def stubs() -> Iterator[Stubs]:
    """Build them; skips the test where there is no compiler."""
    need("cc")
    with tempfile.TemporaryDirectory(prefix="arena-test-") as folder:
        yield Stubs(build_programs(Path(folder))[0])


def play_many(
    bot: BotSpec,
    number: int,
    *,
    at_once: int,
    move_ms: int,
    keep: bool = True,
    profile: Profile | None = None,
) -> list[GameRecord]:
    """Play a bot against itself, so many games in all and so many at once, in one worker."""
    endless = games(bot, bot, keep=keep, sandboxed=profile is not None, move_ms=move_ms)
    specs = islice(endless, number)
    records: list[GameRecord] = []

    async def lane(pool: BotPool) -> None:
        for spec in specs:
            records.append(await play_game(spec, pool))  # noqa: PERF401 - many lanes, one list

    async def main() -> None:
        async with BotPool(profile=profile) as pool, trio.open_nursery() as nursery:
            for _ in islice(count(), at_once):
                nursery.start_soon(lane, pool)

    trio.run(main)
    assert len(records) == number
    return records


def time_losses(records: list[GameRecord]) -> list[str]:
    """Every fault and every void game, in words; with honest bots there is none."""
    return [
        text
        for record in records
        for text in (
            record.aside.void,
            record.aside.mister_x.fault_text,
            record.aside.detectives.fault_text,
        )
        if text is not None
    ]
