"""What the coordinator costs beside its workers: it plans, judges and stores every game."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import msgspec
import trio

from arena.bench.specs import stub_plan
from arena.errors import HostFault
from arena.sandbox.bubblewrap import Profile
from arena.store.database import Database
from arena.store.playing import play_run
from arena.tournament.executors.local import LocalExecutor

__all__ = ["measure_coordinator"]

JOBS = 64  # games at once
BUSY = ("0.001", "working")  # s of CPU time a turn: less than most bots that think at all
BUSY_DEALS_A_S = 50  # of two pairings: what two processors play a second, more or less
QUICK_DEALS_A_S = 320
LEAST_DEALS = 32  # of each pairing: a game for each place


def measure_coordinator(
    stub: Path, seconds: float, *, profile: Profile | None = None
) -> dict[str, float]:
    """Return the coordinator's CPU time as a share of that of its workers and their bots.

    Whole tournaments with 64 games at once and kept processes, stored in a database of their own.

    Args:
        stub: the C stub.
        seconds: how long each of two tournaments takes, more or less.
        profile: of this machine's sandbox; None for none.

    Returns:
        `share`: with bots that use 1 ms of CPU time a turn. `share_stubs`: with bots of C speed.
    """
    busy, quick = (
        max(LEAST_DEALS, round(rate * seconds)) for rate in (BUSY_DEALS_A_S, QUICK_DEALS_A_S)
    )
    return {
        "share": _share(stub, *BUSY, deals=busy, profile=profile),
        "share_stubs": _share(stub, deals=quick, profile=profile),
    }


def _share(stub: Path, *arguments: str, deals: int, profile: Profile | None) -> float:
    plan = stub_plan(stub, *arguments, deals=deals, sandboxed=profile is not None)
    executor = LocalExecutor(
        JOBS, settings=b"" if profile is None else msgspec.json.encode(profile)
    )
    with (
        tempfile.TemporaryDirectory(prefix="arena-bench-") as folder,
        Database(Path(folder) / "arena.sqlite3") as database,
    ):
        run = database.begin(plan)
        own, below = _cpu_s(resource.RUSAGE_SELF), _cpu_s(resource.RUSAGE_CHILDREN)
        summary = trio.run(lambda: play_run(database, run, executor))
        own = _cpu_s(resource.RUSAGE_SELF) - own
        below = _cpu_s(resource.RUSAGE_CHILDREN) - below
    if summary.played != plan.count:
        raise HostFault(f"of {plan.count} measured games {summary.played} were played")
    return round(own / below, 4)


def _cpu_s(whose: int) -> float:
    """CPU seconds so far: of this process, or of all below it that have ended."""
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime
