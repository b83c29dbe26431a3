"""How long things take to start: the command's help, a run's first game, a bot in the sandbox."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Literal

import trio

from arena.bench.specs import RULESET
from arena.errors import HostFault
from arena.referee.pool import BotPool
from arena.referee.record import BotSpec
from arena.referee.requests import hello_request
from arena.rules.ruleset import Side
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.limits import default_limits

__all__ = ["ended", "measure_first_game", "measure_help", "measure_sandbox"]

_ARENA = (sys.executable, "-m", "arena")
_FIRST_GAME = ("run", "random", "greedy", "--deals", "200")
_POLL_S = 0.005
_LIMIT_S = 60.0


def measure_help(repeats: int = 5) -> float:
    """Return the wall time of `arena --help` in milliseconds: the median of so many starts.

    Raises:
        HostFault: if it ends with an error.
    """
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        done = subprocess.run([*_ARENA, "--help"], check=False, capture_output=True)
        times.append(time.perf_counter() - start)
        if done.returncode:
            raise ended("arena --help", done.returncode, done.stderr)
    return round(median(times) * 1000, 1)


def ended(command: str, code: int, stderr: bytes) -> HostFault:
    """Return the error for a command of ours that ended otherwise than it should."""
    lines = stderr.decode(errors="replace").strip().splitlines()
    said = f": {lines[-1]}" if lines else ", and said nothing"
    return HostFault(f"`{command}` ended with {code}{said}")


def _games_stored(database: Path) -> int:
    """How many games another process has stored so far; none before it made the database."""
    try:
        address = f"{database.as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=1.0)) as connection:
            return int(connection.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def measure_first_game() -> float:
    """Return the wall time from `arena run` to its first stored game, in milliseconds.

    Raises:
        HostFault: if it ends before a game is stored, or none is stored in a minute; with the last
            line of what it said.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        database = Path(folder, "data", "arena.sqlite3")
        said = Path(folder, "stderr")
        start = time.perf_counter()
        with said.open("wb") as stderr:
            run = subprocess.Popen(
                [*_ARENA, *_FIRST_GAME, "--data", str(database.parent)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                cwd=folder,
                env={**os.environ, "NO_COLOR": "1"},
            )
        try:
            while True:
                code = run.poll()  # before the look: what was stored until its end counts
                if _games_stored(database):
                    return round((time.perf_counter() - start) * 1000, 1)
                if code is not None:
                    raise ended("arena run", code, said.read_bytes())
                if time.perf_counter() - start > _LIMIT_S:
                    raise HostFault(f"`arena run` stored no game in {_LIMIT_S:.0f} s")
                time.sleep(_POLL_S)
        finally:
            run.kill()
            run.wait()


def measure_sandbox(random: BotSpec, profile: Profile, repeats: int = 30) -> float:
    """Return by how much the sandbox delays a Python bot's first answer, in milliseconds.

    From the start of its process to its answer to `hello`, with and without the sandbox in turn,
    so that both see the same machine; the difference of the medians. A first start of each kind
    warms up and is left out.
    """
    times = trio.run(_starts, random, profile, repeats + 1)
    sandboxed, bare = (median(some[1:]) for some in times)
    return round((sandboxed - bare) * 1000, 2)


async def _starts(
    random: BotSpec, profile: Profile, repeats: int
) -> tuple[list[float], list[float]]:
    """Return the seconds from start to first answer: in the sandbox, and without it."""
    sandboxed: list[float] = []
    bare: list[float] = []
    async with BotPool(profile=profile) as pool:
        for _ in range(repeats):
            sandboxed.append(await _start(pool, random, "auto"))
            bare.append(await _start(pool, random, "none"))
    return sandboxed, bare


async def _start(pool: BotPool, bot: BotSpec, sandbox: Literal["auto", "none"]) -> float:
    limits = default_limits()
    started = time.perf_counter()
    seat = pool.start(bot, Side.MISTER_X, limits=limits, sandbox=sandbox)
    await seat.greet(hello_request("1", (RULESET,), limits), limits)
    took_s = time.perf_counter() - started
    await pool.dismiss(seat)
    return took_s
