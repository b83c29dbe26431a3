"""The CPUs that games may be played on: which there are, for how many games, how they are named."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["cpu_quota", "listed", "usable_cores", "usable_cpus", "usual_jobs"]

_SPARE_FROM = 4  # cores, of which one is left to the referee
_MOST_RUNS = 8  # of CPUs that are named, one after the other each
_OWN_GROUPS = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")


def usable_cpus() -> tuple[int, ...]:
    """Return the CPUs that this process may use, ascending; where nobody tells, all of them."""
    if not hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return tuple(range(os.cpu_count() or 1))
    return tuple(sorted(os.sched_getaffinity(0)))


def usable_cores() -> int:
    """Return how many CPUs' time this process may use: fewer than there are under a quota.

    Of a quota in parts the whole ones count: who uses more than it is stopped for a while, whatever
    it was doing.
    """
    quota = cpu_quota()
    cores = len(usable_cpus())
    return cores if quota is None else max(1, min(cores, int(quota)))


def usual_jobs() -> int:
    """Return how many games are in play at once where nobody says: the usable cores.

    Of a game one side thinks at a time, so that each core has one bot that does. From four cores
    up one is left to the referee, so that it is there for all others when bots use what they get.
    """
    cores = usable_cores()
    return cores if cores < _SPARE_FROM else cores - 1


def cpu_quota() -> float | None:
    """Return how many CPUs' time a container gives us, as the smallest quota of our cgroups.

    Such as `docker run --cpus`, a limit of Kubernetes or `CPUQuota` of systemd. None if there is
    none, or none to be seen. Both versions of cgroups are read: see "CPU Interface Files" in
    `Documentation/admin-guide/cgroup-v2.rst` of Linux, and `scheduler/sched-bwc.rst`.
    """
    return min(_quotas(), default=None)


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


def _quotas() -> Iterator[float]:
    """Yield the quota of every group that we are in, and of those that these are in."""
    try:
        lines = _OWN_GROUPS.read_text().splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        _, controllers, place = line.split(":", 2)
        if not controllers:
            tops = [_GROUPS, _GROUPS / "unified"]
        elif "cpu" in controllers.split(","):
            tops = [_GROUPS / controllers, _GROUPS / "cpu"]
        else:
            continue
        # In a container the place may be that outside of it: then its own is the top.
        at = Path(place.lstrip("/"))
        for top in tops:
            for group in (at, *at.parents):
                with suppress(OSError, ValueError):
                    yield from _quota_of(top / group)


def _quota_of(group: Path) -> Iterator[float]:
    """Yield the quota of a group if it has one.

    Raises:
        OSError, ValueError: if it tells none that we know.
    """
    if (group / "cpu.max").exists():
        quota, period = (group / "cpu.max").read_text().split()
    else:
        quota = (group / "cpu.cfs_quota_us").read_text().strip()
        period = (group / "cpu.cfs_period_us").read_text().strip()
    if quota not in {"max", "-1"} and int(period) > 0:
        yield int(quota) / int(period)
