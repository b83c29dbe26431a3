"""The dead that fall to us: whoever makes a sandbox is given what processes below it leave behind.

A process of ours that ends, or is killed, may leave children. The kernel gives them to the nearest
process above that asked for orphans, as the arena does with its sandboxes; in a run of all
tests that is the run itself. It waits for none that it did not start, so they would stay as dead
ones until its end, for other tests to stumble over. A test run alone asks for them too: what it
leaves must not be seen only where others ran before it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from arena.sandbox.processes import children_of, see
from tests.living import wait_gone

__all__ = ["orphans_reaped"]

_SET_CHILD_SUBREAPER = 36  # for prctl
_GET_CHILD_SUBREAPER = 37


@contextmanager
def orphans_reaped() -> Iterator[None]:
    """Wait for the orphans that come to us in this block; whoever of them lives on is a failure.

    For blocks that wait for all that they start themselves.
    """
    asked_before = _ask_for_orphans(asked=True)
    try:
        before = set(children_of(os.getpid()))
        yield
        wait_gone(lambda: [see(pid) for pid in _reap(set(children_of(os.getpid())) - before)])
    finally:
        _ask_for_orphans(asked=asked_before)


def _ask_for_orphans(*, asked: bool) -> bool:
    """Be given the orphans of our processes, or not; return whether we were."""
    if sys.platform != "linux":
        return False
    kernel, before = ctypes.CDLL(None), ctypes.c_int()
    kernel.prctl(_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    kernel.prctl(_SET_CHILD_SUBREAPER, int(asked), 0, 0, 0)
    return bool(before.value)


def _reap(pids: set[int]) -> set[int]:
    """Reap those that are dead; return those that are not."""
    alive = set()
    for pid in pids:
        with suppress(ChildProcessError):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG) is None:
                alive.add(pid)
    return alive
