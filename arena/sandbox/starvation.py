"""How long a bot was ready to run and the machine did not let it.

The kernel writes a wait into its books when it is over. Of one that still lasts it tells only
that: the thread is runnable, and nothing has run.

Read from the kernel's scheduler counts, only when a bot is already slow: a look at a process costs
some tens of microseconds, too much for every request and nothing for a late one.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["Counts", "look", "starved_s", "waits_still"]

_MOST_TASKS = 512  # looked at; a bot with more threads is not starved but starving others
_NS = 1e-9
_TICK_S = 0.004  # of CPU time: what runs right now may lag so far behind in the books


class Counts(NamedTuple):
    """What a process and its descendants have used by now."""

    cpu_s: float  # on a CPU, all threads together
    waited_s: float  # of the thread that waited longest: runnable, but not running
    is_runnable: bool  # a thread is running or waits for it; this wait is not in the books yet


def look(pid: int) -> Counts | None:
    """Return the counts of a process tree; None where the kernel keeps none or it is gone."""
    cpu_ns = waited_ns = tasks = 0
    is_runnable = False
    pids = [str(pid)]
    try:
        while pids:
            for thread in (Path("/proc") / pids.pop() / "task").iterdir():
                tasks += 1
                if tasks > _MOST_TASKS:
                    return None
                cpu, waited, _ = (thread / "schedstat").read_text().split()
                cpu_ns += int(cpu)
                waited_ns = max(waited_ns, int(waited))
                # Behind the program's name, which may hold anything, a bracket in it too.
                state = (thread / "stat").read_text().rpartition(")")[2].split()[0]
                is_runnable = is_runnable or state == "R"
                pids += (thread / "children").read_text().split()
    except (OSError, ValueError):
        return None
    return Counts(cpu_ns * _NS, waited_ns * _NS, is_runnable)


def starved_s(before: Counts, after: Counts, elapsed_s: float) -> float:
    """Return how much of `elapsed_s` a bot lost because it was runnable and did not run.

    Never more than what is left of the time when all CPU time of the tree is taken off: else a bot
    could gain time by crowding itself out with threads or children of its own.
    """
    waited = after.waited_s - before.waited_s
    used = after.cpu_s - before.cpu_s
    return max(0.0, min(waited, elapsed_s - used))


def waits_still(before: Counts, after: Counts) -> bool:
    """Whether a bot may be waiting for a CPU right now: runnable, and nothing of it has run."""
    return after.is_runnable and after.cpu_s - before.cpu_s < _TICK_S
