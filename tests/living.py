"""Processes of this machine, for tests of what outlives a game or a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["carrying", "children", "guardians_of", "is_alive", "wait", "workers_of"]

WORKER = "arena.tournament.executors.worker"


def wait(is_so: Callable[[], bool], limit_s: float) -> None:
    """Wait until something has come about, at most so many seconds."""
    until = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


def carrying(word: str) -> set[int]:
    """Ids of the processes with a word in their command line."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if word.encode() in (entry / "cmdline").read_bytes():
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


def is_alive(pid: int) -> bool:
    """Whether a process is there and not dead."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


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
    try:
        return {
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        }
    except OSError:
        return set()
