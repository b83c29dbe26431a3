"""What a worker waits for: bots' pipes, the ends of their processes, and their deadlines.

One epoll for all bots, each descriptor registered once: so an answer costs no system call but the
write and the read. Deadlines cost one attribute a request: they mostly lie a second ahead while
answers come within microseconds, so the hub sleeps until the earliest that it has seen and then
looks again, a few times a second however many requests there were.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Protocol

import trio

from arena.sandbox.lateness import OwnLooks

__all__ = ["Hub", "Waiter"]


class Waiter(Protocol):
    """Somebody who may be waiting for a bot.

    Attributes:
        wake_at: reading of `time.monotonic` to be woken at; infinite while it does not wait.
    """

    wake_at: float

    def wake(self, now: float) -> None:
        """Do what is due; moves `wake_at` on."""


class Hub:
    """Calls back when something is to be read, and wakes waiters at their time.

    Attributes:
        next_at: when it will look at the deadlines next. Whoever sets an earlier `wake_at` calls
            `hurry`.
        own_looks: at bots that are slow.
    """

    def __init__(self) -> None:
        self.next_at = inf
        self.own_looks = OwnLooks()
        self._epoll = select.epoll()
        self._calls: dict[int, Callable[[], None]] = {}
        self._on_change: set[int] = set()  # those that are called only when more has come
        self._waiters: set[Waiter] = set()
        self._nap = trio.CancelScope()
        self._life = trio.CancelScope(shield=True)
        self._running = False

    def start(self, nursery: trio.Nursery) -> None:
        """Run in this nursery until `stop`, shielded: who cleans up while cancelled needs it."""
        self._running = True
        nursery.start_soon(self._watch_pipes)
        nursery.start_soon(self._watch_deadlines)

    def stop(self) -> None:
        """End both tasks; no descriptor may be registered any more."""
        self._life.cancel()
        self._nap.cancel()
        if not self._running:
            self._epoll.close()

    def add(self, fd: int, call: Callable[[], None], *, on_change: bool = False) -> None:
        """Call back whenever `fd` is readable, or has come to its end.

        Args:
            fd: an open descriptor.
            call: called from the hub's task; must not wait.
            on_change: call only when more has come, not for as long as something is there; once
                more at its end, since what came last and the end behind it may be one change.
        """
        self._calls[fd] = call
        if on_change:
            self._on_change.add(fd)
        self._epoll.register(fd, select.EPOLLIN | (select.EPOLLET if on_change else 0))

    def remove(self, fd: int) -> None:
        """Forget a descriptor, if it is known; to be called before it is closed."""
        if self._calls.pop(fd, None) is not None:
            self._on_change.discard(fd)
            self._epoll.unregister(fd)

    def add_waiter(self, waiter: Waiter) -> None:
        """Look after a waiter's deadline from now on."""
        self._waiters.add(waiter)

    def remove_waiter(self, waiter: Waiter) -> None:
        """Forget a waiter, if it is known."""
        self._waiters.discard(waiter)

    def hurry(self, at: float) -> None:
        """Look at the deadlines at this time at the latest."""
        if at < self.next_at:
            self.next_at = at
            self._nap.deadline = trio.current_time() + (at - monotonic())

    @trio.lowlevel.enable_ki_protection
    async def _watch_pipes(self) -> None:
        fd, poll, calls = self._epoll.fileno(), self._epoll.poll, self._calls
        try:
            with self._life:
                while True:
                    found = poll(0)
                    if not found:
                        await trio.lowlevel.wait_readable(fd)
                        continue
                    for ready, events in found:
                        call = calls.get(ready)
                        if call is not None:  # else it was removed by an earlier call
                            call()
                            if events & select.EPOLLHUP and ready in self._on_change:
                                call()
                    # Who was woken asks anew; the first answer is there before the last asks.
                    await trio.lowlevel.checkpoint()
        finally:
            self._epoll.close()

    @trio.lowlevel.enable_ki_protection
    async def _watch_deadlines(self) -> None:
        with trio.CancelScope(shield=True):
            while not self._life.cancel_called:
                with self._nap:
                    await trio.sleep_forever()
                self._nap = trio.CancelScope()
                self._look()

    def _look(self) -> None:
        self.next_at = inf
        earliest = inf
        for waiter in tuple(self._waiters):
            now = monotonic()  # anew for each: on a busy machine much may happen in between
            if waiter.wake_at <= now:
                waiter.wake(now)
            earliest = min(earliest, waiter.wake_at)
        self.hurry(earliest)
