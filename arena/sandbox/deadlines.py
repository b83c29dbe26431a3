"""One task a worker that wakes whoever waits past its deadline.

A cancel scope around every answer would cost a tenth of a request; here a wait sets one attribute.
Deadlines mostly lie a second ahead and answers come within microseconds, so the watch sleeps until
the earliest deadline it has seen and then looks again: it wakes a few times a second however many
requests there were.
"""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import Protocol

import trio

__all__ = ["DeadlineWatch", "Waiter"]


class Waiter(Protocol):
    """Somebody who may be waiting for a bot.

    Attributes:
        wake_at: reading of `time.monotonic` to be woken at; infinite while it does not wait.
    """

    wake_at: float

    def wake(self, now: float) -> None:
        """Do what is due; moves `wake_at` on."""


class DeadlineWatch:
    """Wakes waiters at their time.

    Attributes:
        next_at: when it will look next. Whoever sets an earlier `wake_at` calls `hurry`.
    """

    def __init__(self) -> None:
        self.next_at = inf
        self._waiters: set[Waiter] = set()
        self._nap = trio.CancelScope()

    def add(self, waiter: Waiter) -> None:
        """Look after a waiter from now on."""
        self._waiters.add(waiter)

    def discard(self, waiter: Waiter) -> None:
        """Forget a waiter, if it is known."""
        self._waiters.discard(waiter)

    def hurry(self, at: float) -> None:
        """Look at this time at the latest."""
        if at < self.next_at:
            self.next_at = at
            self._nap.deadline = trio.current_time() + (at - monotonic())

    async def run(self) -> None:
        """Keep watch until cancelled."""
        while True:
            with self._nap:
                await trio.sleep_forever()
            self._nap = trio.CancelScope()
            self._look()

    def _look(self) -> None:
        self.next_at = inf
        now = monotonic()
        earliest = inf
        for waiter in tuple(self._waiters):
            if waiter.wake_at <= now:
                waiter.wake(now)
            earliest = min(earliest, waiter.wake_at)
        self.hurry(earliest)
