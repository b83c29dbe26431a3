"""How long a program that was asked something may take on a machine that has more to do.

What hangs must be found out soon, since a person waits for it; what is only kept from running must
not be taken for it. So a limit moves by what the machine held back, and by nothing else: a program
that sleeps is not kept from anything, nor is one that has the processor.
"""

from __future__ import annotations

import select
from time import monotonic

from arena.sandbox.starvation import Counts, look, own_wait_s, starved_s
from arena.sandbox.usage import CpuAccount

__all__ = ["Patience"]

_MOST = 10.0  # times the limit that may be given on top, however busy the machine is
_STEP_S = 0.02  # of waiting; what a step takes longer, we were kept from running
_NOTHING = Counts(0.0, {}, False)


class Patience:
    """A limit on waiting for others, from now on, less what this machine held back.

    Args:
        limit_s: for all waiting together; it must have begun before those are started that are
            waited for.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._began = monotonic()
        self._own_before_s = own_wait_s()
        self._late_s = 0.0
        self._given_s = 0.0

    def wait(self, descriptor: int, pid: int) -> bool:
        """Wait until something can be read, an end included; return False if the time is up.

        Args:
            descriptor: to read from.
            pid: of whoever is waited for: what it starts counts too.
        """
        while True:
            now = monotonic()
            left_s = self._began + self._limit_s + self._given_s - now
            step_s = min(_STEP_S, max(0.0, left_s))
            if select.select([descriptor], [], [], step_s)[0]:
                return True
            self._late_s += monotonic() - now - step_s
            if left_s <= _STEP_S and not self._give(pid):
                return False

    def spent_s(self) -> float:
        """Return how much of the limit is used up."""
        return min(self._limit_s, monotonic() - self._began - self._given_s)

    def _give(self, pid: int) -> bool:
        """Move the limit by what was lost until now; return whether it is still to come."""
        now = monotonic()
        lost_s = max(self._late_s, own_wait_s() - self._own_before_s)
        counts = look(pid, CpuAccount())
        if counts is not None:
            lost_s = max(lost_s, starved_s(_NOTHING, counts, now - self._began))
        self._given_s = max(self._given_s, min(lost_s, _MOST * self._limit_s))
        return now < self._began + self._limit_s + self._given_s
