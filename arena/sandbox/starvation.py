"""How long a bot was ready to run and the machine did not let it.

The kernel writes a wait into its books when it is over. Of one that still lasts it tells only
that: the thread is runnable, and nothing has run.

Read from the kernel's scheduler counts, only when a bot is already slow: a look at a process costs
some tens of microseconds, too much for every request and nothing for a late one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from arena.sandbox.processes import see

__all__ = ["Counts", "look", "own_wait_s", "starved_s", "waits_still"]

_MOST_TASKS = 512  # looked at; a bot with more threads is not starved but starving others
_NS = 1e-9
_TICK_S = 0.004  # of CPU time: what runs right now may lag so far behind in the books


class Counts(NamedTuple):
    """What a process and its descendants have used by now."""

    cpu_s: float  # on a CPU, all threads together, those that have ended too
    waited_s: Mapping[int, float]  # by thread: runnable, but not running
    is_runnable: bool  # a thread is running or waits for it; this wait is not in the books yet


def look(pid: int) -> Counts | None:
    """Return the counts of a process tree; None where the kernel keeps none or it is gone."""
    cpu_s = 0.0
    waited_s: dict[int, float] = {}
    is_runnable = False
    pids = [str(pid)]
    while pids:
        process = pids.pop()
        if (seen := see(int(process))) is not None:
            cpu_s += seen.cpu_s + seen.reaped_s
        try:
            threads = list((Path("/proc") / process / "task").iterdir())
        except OSError:
            continue  # it has ended since; the others are looked at all the same
        for thread in threads:
            if len(waited_s) >= _MOST_TASKS:
                return None
            try:
                _, waited, _ = (thread / "schedstat").read_text().split()
                # Behind the program's name, which may hold anything, a bracket in it too.
                state = (thread / "stat").read_text().rpartition(")")[2].split()[0]
                pids += (thread / "children").read_text().split()
            except (OSError, ValueError):
                continue
            waited_s[int(thread.name)] = int(waited) * _NS
            is_runnable = is_runnable or state == "R"
    return Counts(cpu_s, waited_s, is_runnable) if waited_s else None


def own_wait_s() -> float:
    """Return for how long this thread of ours was runnable and did not run, since its start."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) * _NS
    except (OSError, ValueError, IndexError):
        return 0.0


def starved_s(before: Counts, after: Counts, elapsed_s: float) -> float:
    """Return how much of `elapsed_s` a bot lost because it was runnable and did not run.

    As long as that thread of it had to wait that waited longest since.
    Never more than what is left of the time when all CPU time of the tree is taken off: else a bot
    could gain time by crowding itself out with threads or children of its own.
    """
    waited = max(
        (total - before.waited_s.get(thread, 0.0) for thread, total in after.waited_s.items()),
        default=0.0,
    )
    used = after.cpu_s - before.cpu_s
    return max(0.0, min(waited, elapsed_s - used))


def waits_still(before: Counts, after: Counts) -> bool:
    """Whether a bot may be waiting for a CPU right now: runnable, and nothing of it has run."""
    return after.is_runnable and after.cpu_s - before.cpu_s < _TICK_S
