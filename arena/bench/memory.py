"""What planning and playing cost in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import trio

from arena.bench.specs import games, stub_bot
from arena.referee.pool import BotPool
from arena.referee.referee import play_game
from arena.sandbox.bubblewrap import Profile
from arena.tournament.executors.garbage import look_seldom

__all__ = ["measure_memory"]

_PLAN = """
import json, time
from arena.bench.memory import memory_mib, ten_million_games
start = time.perf_counter()
games = ten_million_games()
print(json.dumps({
    "plan_mib": round(memory_mib("VmHWM"), 1),
    "plan_ms": round((time.perf_counter() - start) * 1000, 1),
    "plan_games": games,
}))
"""


def ten_million_games() -> int:
    """Make a plan of ten million games, look at its first and last game, and return its count."""
    from arena.rules.registry import make
    from arena.sandbox.limits import default_limits
    from arena.tournament import seeds
    from arena.tournament.plan import Plan
    from protocol.messages import ClockSettings

    ruleset = make("london-2013")
    plan = Plan(
        ruleset=ruleset.text,
        behaviour=ruleset.behaviour,
        entrants=tuple(stub_bot(f"bot-{i}", Path("/bot/stub")) for i in range(1001)),
        deals=10,
        secret=seeds.open_secret("bench").hex(),
        open_seed="bench",
        clock=ClockSettings(),
        limits=default_limits(),
    )
    count = plan.count
    plan.spec(0)
    plan.spec(count - 1)
    return count


def memory_mib(what: str) -> float:
    """Return this process's memory by the kernel's word for it: `VmRSS` now, `VmHWM` at its peak.

    Not `ru_maxrss`: that takes in the process which this one was forked from.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"no {what} in /proc/self/status")


async def _growth(stub: Path, count: int, *, profile: Profile | None) -> float:
    """Growth over `count` games in this process, after as many as it takes to fill its caches."""
    bots = stub_bot("stub-x", stub), stub_bot("stub-d", stub)
    specs = games(*bots, keep=True, first=1_000_000, sandboxed=profile is not None)
    async with BotPool(profile=profile) as pool:

        async def play(share: int) -> None:
            for _ in range(share):
                await play_game(next(specs), pool)

        async def play_all(games_in_all: int) -> None:
            async with trio.open_nursery() as nursery:
                for _ in range(16):
                    nursery.start_soon(play, games_in_all // 16)

        await play_all(800)
        look_seldom()  # as in a worker
        before = memory_mib("VmRSS")
        await play_all(count)
        return memory_mib("VmRSS") - before


def measure_memory(stub: Path, count: int, *, profile: Profile | None = None) -> dict[str, Any]:
    """Return the peak of planning ten million games, and a worker's growth over `count` games."""
    plan = subprocess.run([sys.executable, "-c", _PLAN], check=True, capture_output=True, text=True)
    growth = trio.run(lambda: _growth(stub, count, profile=profile))
    found: dict[str, Any] = json.loads(plan.stdout)
    found["growth_mib"] = round(growth, 1)
    found["growth_games"] = count
    return found
