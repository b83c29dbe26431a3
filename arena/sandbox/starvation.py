"""How long a bot was ready to run and the machine did not let it.

The kernel writes a wait into its books when it is over. Of one that still lasts it tells only
that: the thread is runnable, and nothing has run.

Read from the kernel's scheduler counts, only when a bot is already slow: a look at a process costs
some tens of microseconds, too much for every request and nothing for a late one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from arena.sandbox.processes import Seen, see
from arena.sandbox.usage import CpuAccount

__all__ = ["Counts", "Thread", "look", "own_wait_s", "starved_s", "waits_still"]

_MOST_TASKS = 512  # looked at; a bot with more threads is not starved but starving others
_NS = 1e-9
_TICK_S = 0.004  # of CPU time: what runs right now may lag so far behind in the books


class Thread(NamedTuple):
    """What the kernel's books say of one thread, since its start."""

    ran_s: float  # on a CPU
    waited_s: float  # runnable, but not running


class Counts(NamedTuple):
    """What a process and its descendants have used by now."""

    cpu_s: float  # on a CPU, all threads together, those that have ended too
    threads: Mapping[int, Thread]  # those there are, by number
    is_runnable: bool  # a thread is running or waits for it; this wait is not in the books yet
    cores: int = 1  # that it may run on


def look(pid: int, account: CpuAccount) -> Counts | None:
    """Return the counts of a process tree; None where the kernel keeps none or it is gone.

    Args:
        pid: of the process on top.
        account: the same one for all looks at a tree, so that a process that is gone by the next
            look counts too.
    """
    seen: dict[int, Seen] = {}
    threads: dict[int, Thread] = {}
    is_runnable = False
    pids = [str(pid)]
    while pids:
        process = pids.pop()
        if (found := see(int(process))) is not None:
            seen[found.pid] = found
        try:
            paths = list((Path("/proc") / process / "task").iterdir())
        except OSError:
            continue  # it has ended since; the others are looked at all the same
        for path in paths:
            if len(threads) >= _MOST_TASKS:
                return None
            try:
                ran, waited, _ = (path / "schedstat").read_text().split()
                # Behind the program's name, which may hold anything, a bracket in it too.
                state = (path / "stat").read_text().rpartition(")")[2].split()[0]
                pids += (path / "children").read_text().split()
            except (OSError, ValueError):
                continue
            threads[int(path.name)] = Thread(int(ran) * _NS, int(waited) * _NS)
            is_runnable = is_runnable or state == "R"
    if not threads:
        return None
    for known, started in tuple(account.known):  # one may change its parent at this moment
        if known not in seen and (found := see(known)) is not None and found.started == started:
            seen[known] = found
    cpu_s = account.look(tuple(seen.values()))
    return Counts(cpu_s, threads, is_runnable, _cores(pid))


def _cores(pid: int) -> int:
    try:
        return len(os.sched_getaffinity(pid))
    except OSError:
        return 1


def own_wait_s() -> float:
    """Return for how long this thread of ours was runnable and did not run, since its start."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) * _NS
    except (OSError, ValueError, IndexError):
        return 0.0


def starved_s(before: Counts, after: Counts, elapsed_s: float) -> float:
    """Return how much of `elapsed_s` a bot lost because others ran while it was ready to.

    As long as that thread of it had to wait that waited longest since, less what the rest of the
    bot may have caused of it. While a thread waits, every core that it may use is busy; so a bot
    that is alone on a machine has used, without that thread, as many times the wait as there are
    cores, and nobody gains time by crowding himself out with threads or children of his own.
    """
    lost = 0.0
    nothing = Thread(0.0, 0.0)
    used = after.cpu_s - before.cpu_s
    for number, thread in after.threads.items():
        then = before.threads.get(number, nothing)
        rest_s = max(0.0, used - (thread.ran_s - then.ran_s))
        waited = min(thread.waited_s - then.waited_s, elapsed_s)
        lost = max(lost, waited - rest_s / after.cores)
    return lost


def waits_still(before: Counts, after: Counts) -> bool:
    """Whether a bot may be waiting for a CPU right now: runnable, and nothing of it has run."""
    return after.is_runnable and after.cpu_s - before.cpu_s < _TICK_S
