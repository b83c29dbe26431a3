"""Where one machine of a cluster plays its games: the local executor in a thread that lives.

Games come in batches and stay until they are over; whoever brings the next batch takes away what
was finished meanwhile. The machine's own worker processes are children of this thread, since the
signal at a parent's death follows the thread that started the child (it lives as long as they).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import trio

from arena.errors import ArenaError, HostFault, leaves
from arena.tournament.executors.executor import Executor, Finished, Job

__all__ = ["EXCHANGE_S", "Played", "Room"]

EXCHANGE_S = 2.0  # a batch is answered after so long at the latest

_LOOK_S = 0.25  # between two looks whether the batch is still wanted
_IDLE_S = 5.0  # an empty room that nobody comes to is closed
_FORGOTTEN_S = 60.0  # one with games in it is given up
_GONE_LOOKS = 3  # one after the other at which nobody wants it: then it is closed at once
_START_S = 60.0


class Played(NamedTuple):
    """A finished game, and how long it took."""

    number: int
    record: bytes | None
    took_s: float


class Room:
    """The games of one run on this machine.

    Args:
        executor: plays them.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._waiting: deque[Job] = deque()
        self._begun: dict[int, float] = {}  # in play: when they began
        self._done: list[Played] = []
        self._at_once = 0
        self._callers = 0
        self._last_s = 0.0
        self._failure: str | None = None
        self._is_wanted: Callable[[], bool] = lambda: True  # as the last caller knows it
        self._is_over = False
        self._is_open = threading.Event()
        self._thread = threading.Thread(target=self._run, name="arena-room", daemon=True)
        self._thread.start()
        self._is_open.wait(_START_S)

    @property
    def games(self) -> int:
        """How many games are here: waiting, in play, or finished and not yet taken away."""
        return len(self._waiting) + len(self._begun) + len(self._done)

    @property
    def failure(self) -> str | None:
        """Why it closed by itself; None if it is open or was closed by others."""
        return self._failure

    @property
    def is_over(self) -> bool:
        """Whether it is closed, or closing: no game can be brought any more."""
        return self._is_over

    def exchange(
        self, jobs: Sequence[Job], *, at_once: int, is_wanted: Callable[[], bool]
    ) -> list[Played]:
        """Bring games and take finished ones; from any thread but the room's own.

        Returns after `EXCHANGE_S`, or as soon as there is something to take and half of what
        waits has begun.

        Args:
            jobs: games, in the order in which they are to begin.
            at_once: games to be in play at once from now on, 1 or more.
            is_wanted: whether somebody waits for what is returned, or will come again; when not,
                the room is closed.

        Raises:
            HostFault: if the room is closed, with the reason if it closed by itself.
        """
        try:
            return trio.from_thread.run(
                self._exchange, jobs, at_once, is_wanted, trio_token=self._token
            )
        except (trio.RunFinishedError, trio.Cancelled) as exc:
            raise HostFault(self._failure or "the room was closed") from exc

    def close(self) -> None:
        """Give up what is in play and end every process; waits for that. Any number of times."""
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._stop)
        self._thread.join()

    def _run(self) -> None:
        try:
            trio.run(self._main)
        finally:
            self._is_over = True
            self._is_open.set()

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._changed = trio.Event()
        self._scope = trio.CancelScope()
        self._last_s = trio.current_time()
        self._is_open.set()
        jobs_in, jobs_out = trio.open_memory_channel[Job](0)
        results_in, results_out = trio.open_memory_channel[Finished](0)
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._feed, jobs_in)
                    nursery.start_soon(self._take, results_out)
                    nursery.start_soon(self._close_when_left)
                    await self._executor.run(jobs_out, results_in)
        except* Exception as group:  # noqa: BLE001 - a bug too: else one room follows another
            error = leaves(group)[0]
            ours = isinstance(error, ArenaError)
            self._failure = str(error) if ours else f"{type(error).__name__}: {error}"
        finally:
            self._stop()
            while self._callers:  # they have to be told
                await self._wait_changed()

    async def _exchange(
        self, jobs: Sequence[Job], at_once: int, is_wanted: Callable[[], bool]
    ) -> list[Played]:
        self._callers += 1
        try:
            self._waiting.extend(jobs)
            self._at_once = at_once
            self._is_wanted = is_wanted
            self._wake()
            half = len(self._waiting) // 2
            until = trio.current_time() + EXCHANGE_S
            while not self._is_over and trio.current_time() < until:
                if not is_wanted():
                    self._stop()
                elif not (self._done and len(self._waiting) <= half):
                    with trio.move_on_after(_LOOK_S):
                        await self._wait_changed()
                else:
                    break
            if self._is_over:
                raise HostFault(self._failure or "the room was closed")
            done, self._done = self._done, []
            return done
        finally:
            self._callers -= 1
            self._last_s = trio.current_time()
            self._wake()

    async def _feed(self, jobs: trio.MemorySendChannel[Job]) -> None:
        while True:
            while not (self._waiting and len(self._begun) < self._at_once):
                await self._wait_changed()
            job = self._waiting.popleft()
            self._begun[job.number] = trio.current_time()
            await jobs.send(job)

    async def _take(self, results: trio.MemoryReceiveChannel[Finished]) -> None:
        async for number, record in results:
            took_s = trio.current_time() - self._begun.pop(number)
            self._done.append(Played(number, record, took_s))
            self._wake()

    async def _close_when_left(self) -> None:
        """Close the room when nobody comes any more: its coordinator may be gone."""
        unwanted = 0
        while True:
            await trio.sleep(_LOOK_S)
            # One look is not enough: the next exchange may be on its way, and the last one over.
            unwanted = 0 if self._callers or self._is_wanted() else unwanted + 1
            left_s = trio.current_time() - self._last_s
            is_empty = not (self._waiting or self._begun or self._done)
            limit_s = _IDLE_S if is_empty else _FORGOTTEN_S
            if unwanted >= _GONE_LOOKS or (not self._callers and left_s > limit_s):
                self._stop()

    def _stop(self) -> None:
        self._is_over = True
        self._scope.cancel()
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def _wait_changed(self) -> None:
        await self._changed.wait()
