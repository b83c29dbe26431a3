"""What a bot uses, held against what it may: pure sums over what `processes.py` saw."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from arena.sandbox.processes import Seen

__all__ = ["Bounds", "CpuAccount", "Usage", "breach", "sum_up"]

_MIB = 1024 * 1024
_ROUNDED_S = 0.02  # of what one process reaped: two counts, each in ticks of a hundredth
_HIDDEN_S = 0.1  # of CPU time that showed up at nobody: more than rounding makes of a few reapers


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What one bot may use at once, all of its processes together."""

    memory_bytes: int
    tasks: int  # processes and threads
    files: int  # and folders, in /tmp and /dev/shm
    sockets: int


class Usage(NamedTuple):
    """What one bot uses at one moment; None where it was not looked at or can't be read.

    `memory_bytes` counts pages that processes share once for each of them.
    """

    memory_bytes: int
    tasks: int
    files: int | None = None
    sockets: int | None = None


def sum_up(
    seen: Sequence[Seen], init: int, *, files: int | None = None, sockets: int | None = None
) -> Usage:
    """Add up what was seen of a sandbox; its first process is ours and does not count."""
    bots = [process for process in seen if process.pid != init]
    return Usage(
        sum(process.resident_bytes + process.swapped_bytes for process in bots),
        sum(process.threads for process in bots),
        files,
        sockets,
    )


def breach(usage: Usage, bounds: Bounds) -> str | None:
    """Return what is over its bound, with the measured number and the bound; None if nothing is."""
    if usage.memory_bytes > bounds.memory_bytes:
        return (
            f"memory {usage.memory_bytes / _MIB:,.0f} MiB, "
            f"the limit is {bounds.memory_bytes / _MIB:,.0f} MiB"
        )
    if usage.tasks > bounds.tasks:
        return f"{usage.tasks:,} processes and threads, the limit is {bounds.tasks:,}"
    if usage.files is not None and usage.files > bounds.files:
        return f"{usage.files:,} files in /tmp and /dev/shm, the limit is {bounds.files:,}"
    if usage.sockets is not None and usage.sockets > bounds.sockets:
        return f"{usage.sockets:,} sockets, the limit is {bounds.sockets:,}"
    return None


class CpuAccount:
    """CPU time of a whole sandbox, from looks at its processes every now and then.

    A process that ends takes its own clock along. If its parent waits for it, its time is added to
    the parent's count of reaped children; if nobody does (SIGCHLD ignored), it would be lost, and a
    bot could think for free in such children: what a process had at the last look and what did not
    show up at a reaper since is kept here. Lost for good is what it used after that last look.

    Attributes:
        total_s: used so far; never falls.
        is_suspect: whether more time than rounding explains is missing at the reapers, and more
            of it since the last look; it may be there at the next one.
        hides_time: whether it is certain that there are processes whose time is collected by
            nobody, so that much more than `total_s` may have been used. Stays so.
    """

    def __init__(self) -> None:
        self.total_s = 0.0
        self.is_suspect = self.hides_time = False
        self._missing_s = 0.0  # time of processes that are gone, less what their reapers show
        self._lost_s = 0.0
        self._last: dict[tuple[int, int], Seen] = {}

    @property
    def known(self) -> Collection[tuple[int, int]]:
        """Number and start of each process that was there at the last look."""
        return self._last.keys()

    def look(self, seen: Sequence[Seen]) -> float:
        """Take in one look at all processes; returns `total_s`."""
        now = {(process.pid, process.started): process for process in seen}
        gone = sum(last.cpu_s + last.reaped_s for key, last in self._last.items() if key not in now)
        self.is_suspect = False
        if gone or self._missing_s > 0:
            reaped = sum(
                process.reaped_s - self._last[key].reaped_s
                for key, process in now.items()
                if key in self._last
            )
            self._lost_s += max(0.0, gone - max(0.0, reaped))
            self._search(gone - reaped)
        self._last = now
        living = sum(process.cpu_s + process.reaped_s for process in seen)
        self.total_s = max(self.total_s, living + self._lost_s)
        return self.total_s

    def _search(self, missing_s: float) -> None:
        """Take in what is missing since the last look, or was found of it.

        Of two looks in a row, since a process may be reaped in the middle of one. What reapers show
        of children that were never seen settles no more than rounding may have made of it.
        """
        before = self._missing_s
        self._missing_s = max(-_ROUNDED_S, before + missing_s)
        if min(before, self._missing_s) > _HIDDEN_S:
            self.hides_time = True
        elif missing_s > 0:
            self.is_suspect = self._missing_s > _ROUNDED_S
