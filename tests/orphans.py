"""The dead that fall to us: whoever makes a sandbox is given what processes below it leave behind.

A process of ours that ends, or is killed, may leave children. The kernel gives them to the nearest
process above that asked for orphans, as the arena does with its first sandbox; in a run of all
tests that is the run itself. It waits for none that it did not start, so they would stay as dead
ones until its end, for other tests to stumble over. A test run alone asks for them too: what it
leaves must not be seen only where others ran before it.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from arena.sandbox.processes import children_of, see

__all__ = ["orphans_reaped"]

_DEAD_S = 2.0  # as long as a bot may outlive what started it
_LOOK_S = 0.01
_SET_CHILD_SUBREAPER = 36  # for prctl


@contextmanager
def orphans_reaped() -> Iterator[None]:
    """Wait for the orphans that come to us in this block; whoever of them lives on is a failure.

    For blocks that wait for all that they start themselves.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = set(children_of(os.getpid()))
    yield
    until = time.monotonic() + _DEAD_S
    while left := _reap(set(children_of(os.getpid())) - before):
        assert time.monotonic() < until, f"left alive: {[see(pid) for pid in left]}"
        time.sleep(_LOOK_S)


def _reap(pids: set[int]) -> set[int]:
    """Reap those that are dead; return those that are not."""
    alive = set()
    for pid in pids:
        with suppress(ChildProcessError):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG) is None:
                alive.add(pid)
    return alive
