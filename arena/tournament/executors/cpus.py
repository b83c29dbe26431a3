"""The CPUs that games may be played on: which there are, for how many games, how they are named."""

from __future__ import annotations

import os
from collections.abc import Sequence

__all__ = ["listed", "usable_cpus", "usual_jobs"]

_SPARE_FROM = 4  # cores, of which one is left to the referee
_MOST_RUNS = 8  # of CPUs that are named, one after the other each


def usable_cpus() -> tuple[int, ...]:
    """Return the CPUs that this process may use, ascending; where nobody tells, all of them."""
    if not hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return tuple(range(os.cpu_count() or 1))
    return tuple(sorted(os.sched_getaffinity(0)))


def usual_jobs() -> int:
    """Return how many games are in play at once where nobody says: the usable cores.

    Of a game one side thinks at a time, so that each core has one bot that does. From four cores
    up one is left to the referee, so that it is there for all others when bots use what they get.
    """
    cores = len(usable_cpus())
    return cores if cores < _SPARE_FROM else cores - 1


def listed(cpus: Sequence[int]) -> str:
    """Return CPUs, ascending, as the kernel writes them: `0-3,8`; shortened where that is long."""
    runs: list[list[int]] = []
    for cpu in cpus:
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], cpu]
        else:
            runs.append([cpu])
    words = ["-".join(map(str, run)) for run in runs]
    if len(words) > _MOST_RUNS:
        words[_MOST_RUNS - 1 : -1] = ["…"]
    return ",".join(words)
