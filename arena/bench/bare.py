"""The bare round trip: what every measure of the referee is a ratio to.

A Python parent writes a line with `os.write`, a C child answers with as many bytes as the real bot
did, the parent reads them with `os.read`. Nobody decodes anything and nobody keeps time.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from arena.tournament.executors.cpus import usable_cpus

__all__ = ["Bare", "Exchange", "pinned"]


class Exchange(NamedTuple):
    """One request of a real game: its bytes, and how many bytes the bot answered, LF included."""

    request: bytes
    answer_bytes: int


@contextmanager
def pinned(pid: int, cpus: set[int] | None) -> Iterator[None]:
    """Hold this process and `pid` to these CPUs for a while; None leaves them where they are."""
    if cpus is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    os.sched_setaffinity(pid, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        os.sched_setaffinity(pid, before)


class Bare:
    """A child process of the C program `echo`, and the exchanges that are played with it."""

    def __init__(self, echo: Path, exchanges: Sequence[Exchange]) -> None:
        self._lines = [b"%05d" % each.answer_bytes + each.request[5:] for each in exchanges]
        self._child = subprocess.Popen(
            [str(echo)], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def block(self, count: int, *, pin: bool = False) -> float:
        """Play `count` round trips and return the wall time of one, in microseconds.

        Args:
            count: 1 or more.
            pin: whether parent and child stay on one CPU, of those that this process may use.
        """
        child = self._child
        if child.stdin is None or child.stdout is None:  # pragma: no cover - for the type checker
            raise AssertionError
        to, back = child.stdin.fileno(), child.stdout.fileno()
        lines = [self._lines[i % len(self._lines)] for i in range(count)]
        write, read = os.write, os.read
        with pinned(child.pid, set(usable_cpus()[:1]) if pin else None):
            start = time.perf_counter()
            for line in lines:
                write(to, line)
                while read(back, 65536)[-1] != 10:
                    pass
            return (time.perf_counter() - start) / count * 1e6

    def close(self) -> None:
        """End the child."""
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        self._child.wait()
