"""Processes of this machine, for tests of what outlives a game or a run; and what ours holds."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from arena.sandbox.processes import see
from arena.sandbox.starvation import Counts, look, starved_s
from arena.sandbox.usage import CpuAccount

__all__ = [
    "GONE_S",
    "LIMIT_S",
    "Since",
    "busy_threads",
    "carrying",
    "children",
    "command_line",
    "descendants",
    "guardians_of",
    "is_alive",
    "memory_kib",
    "seconds_until",
    "start_new_peak",
    "wait",
    "wait_gone",
    "workers_of",
    "working_in",
]

WORKER = "arena.tournament.executors.worker"
GONE_S = 2.0  # what is promised: nobody is left so long after any end
LIMIT_S = 120.0  # for what is not promised; generous: hosts are busy
_NAP_S = 0.01


# --- waiting ------------------------------------------------------------------------------------


def wait(is_so: Callable[[], bool], limit_s: float) -> None:
    """Wait until something has come about, at most so many seconds."""
    until = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < until
        time.sleep(_NAP_S)


class Since:
    """Time since a moment, without that in which this machine kept us, or others, from running.

    Hosts are busy; what is promised in seconds is promised of what can run. For ourselves our naps
    count, and our own CPU time. For others the time on the wall does, less what the kernel's books
    say that one of them was ready to run and did not; nobody's sleep, or own work, is taken off.

    Args:
        pids: of others, with whatever they start; as long as they are there.
    """

    def __init__(self, *pids: int) -> None:
        self._began = time.monotonic()
        self._cpu_s = time.thread_time()
        self._napped_s = 0.0
        self._waited_s = dict.fromkeys(pids, 0.0)
        self._accounts = {pid: CpuAccount() for pid in pids}
        self._first = {pid: self._look(pid) for pid in pids}

    def nap(self) -> None:
        """Sleep a little."""
        time.sleep(_NAP_S)
        self._napped_s += _NAP_S

    def passed_s(self) -> float:
        """Return how much has passed."""
        wall_s = time.monotonic() - self._began
        assert wall_s < LIMIT_S
        for pid, first in self._first.items():
            now = self._look(pid)
            if first is not None and now is not None:
                waited_s = starved_s(first, now, wall_s)
                self._waited_s[pid] = max(self._waited_s[pid], waited_s)
        ours_s = self._napped_s + time.thread_time() - self._cpu_s
        return min(ours_s, wall_s - max(self._waited_s.values(), default=0.0))

    def _look(self, pid: int) -> Counts | None:
        return look(pid, self._accounts[pid])


def seconds_until(is_so: Callable[[], bool], *pids: int) -> float:
    """Wait for what other processes do; return how long that took, as `Since` counts it."""
    since = Since(*pids)
    while not is_so():
        since.passed_s()
        since.nap()
    return since.passed_s()


def wait_gone(left: Callable[[], object], *pids: int) -> None:
    """Wait until nobody is left: two seconds at most, as `Since` counts them.

    Args:
        left: who still is.
        pids: of those who end them, or themselves; see `Since`.
    """
    since = Since(*pids)
    while found := left():
        assert since.passed_s() < GONE_S, f"left: {found}"
        since.nap()


# --- who is there -------------------------------------------------------------------------------


def carrying(word: str) -> set[int]:
    """Ids of the processes with a word in their command line; dead ones have none."""
    return {
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and word.encode() in command_line(int(entry.name))
    } - {os.getpid()}  # a word may be one of a test's name


def command_line(pid: int) -> bytes:
    """Words of a process, each with a zero byte behind it; none if it is dead."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def working_in(folder: Path) -> set[int]:
    """Ids of the processes whose working directory lies in a folder."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if (entry / "cwd").readlink().is_relative_to(folder):
                    found.add(int(entry.name))
    return found


def is_alive(pid: int) -> bool:
    """Whether a process is there and not dead."""
    seen = see(pid)
    return seen is not None and seen.state not in "ZX"


def workers_of(pid: int) -> set[int]:
    """Ids of the worker processes of a run, below their guardians; none once its process ended."""
    return {worker for guardian in guardians_of(pid) for worker in children(guardian)} & carrying(
        WORKER
    )


def guardians_of(pid: int) -> set[int]:
    """Ids of the processes that end what the workers of a run leave behind."""
    return children(pid) & carrying(WORKER)


def children(pid: int) -> set[int]:
    """Ids of the children of a process's first thread; none if it has ended."""
    return _children(Path(f"/proc/{pid}/task/{pid}"))


def descendants(pid: int) -> set[int]:
    """Ids of all that come from a process, at this moment."""
    found: set[int] = set()
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in _children(thread):
                found |= {child, *descendants(child)}
    return found


def _children(thread: Path) -> set[int]:
    try:
        return set(map(int, (thread / "children").read_text().split()))
    except OSError:
        return set()


# --- what our own process holds -----------------------------------------------------------------


def busy_threads() -> list[str]:
    """Names of our threads, save Trio's idle ones, which it keeps for the next use or ten seconds.

    Those of its threads that are at work have another name.
    """
    names = (thread.name for thread in threading.enumerate())
    return sorted(name for name in names if not name.startswith("Trio thread "))


def memory_kib(field: str) -> int:
    """A line of what the kernel tells of our memory: `VmRSS` is in use, `VmHWM` was at the most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0])
    raise LookupError(field)


def start_new_peak() -> None:
    """Let the most of our memory begin anew with what is in use."""
    Path("/proc/self/clear_refs").write_text("5")
