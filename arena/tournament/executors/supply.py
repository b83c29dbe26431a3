"""The games of a run on their way to many machines, and back from those that are lost.

What a machine had when it died is played anew. Each loss counts for every game it had: one that
has seen a loss is sent again with few others, one that has seen two alone, so that at the third
(`MOST_DEATHS`) nobody is given up but who was there each time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import trio

from arena.tournament.executors.executor import MOST_DEATHS, Job

__all__ = ["Parcel", "Supply"]

_LINGER_S = 0.02  # for more games, once there is one


class Parcel(NamedTuple):
    """Games for one machine.

    `deaths` is how many machines died with them: with 0 others may go along, with more they are
    sent to a machine that has no other, and no game is sent after them before they are back.
    """

    jobs: list[Job]
    deaths: int


class Supply:
    """Takes games from the tournament as machines ask for them.

    Args:
        jobs: where they come from.
    """

    def __init__(self, jobs: trio.MemoryReceiveChannel[Job]) -> None:
        self._jobs = jobs
        self._is_open = True
        self._out = 0
        self._again: deque[Job] = deque()  # no fault of theirs: as if they were new
        self._deaths: dict[int, int] = {}
        self._suspects: deque[Job] = deque()
        self._waiting: set[trio.CancelScope] = set()

    @property
    def is_over(self) -> bool:
        """Whether every game is back."""
        return not (self._is_open or self._out or self._again or self._suspects)

    async def take(self, most: int, *, at_once: int, has_none: bool) -> Parcel | None:
        """Return games for a machine; None when all are over.

        Args:
            most: how many it wants, 1 or more.
            at_once: how many it plays at once.
            has_none: whether it has no game now; then this waits, else what is there at once is
                returned, if only an empty parcel.
        """
        while not self.is_over:
            if has_none and self._suspects:
                return self._take_suspects(at_once)
            if self._again:
                return self._sent(await self._take_again(most))
            found = await self._take_new(most, waits=has_none)
            if found or not has_none:
                return self._sent(found)
        return None

    async def has_any(self) -> bool:
        """Wait for the first game; return whether there is one at all."""
        try:
            self._again.append(await self._jobs.receive())
        except trio.EndOfChannel:
            self._is_open = False
        return self._is_open

    def give_back(self, number: int) -> None:
        """Take note that the result of a game that was sent out is told."""
        self._out -= 1
        self._deaths.pop(number, None)
        if self.is_over:
            self._wake()

    def send_again(self, jobs: Iterable[Job]) -> None:
        """Take back games whose machine did not play them, and did not die either."""
        for job in jobs:
            self._out -= 1
            if self._deaths.get(job.number):
                self._suspects.append(job)
            else:
                self._again.append(job)
        self._wake()

    def lost(self, jobs: Iterable[Job]) -> list[Job]:
        """Take back games whose machine died.

        Returns:
            Those that are given up now, each still to be told and then given back.
        """
        given_up = []
        for job in jobs:
            deaths = self._deaths[job.number] = self._deaths.get(job.number, 0) + 1
            if deaths >= MOST_DEATHS:
                given_up.append(job)
            else:
                self._out -= 1
                self._suspects.append(job)
        self._wake()
        return given_up

    def _sent(self, jobs: list[Job]) -> Parcel:
        self._out += len(jobs)
        return Parcel(jobs, 0)

    def _take_suspects(self, at_once: int) -> Parcel:
        first = self._suspects.popleft()
        deaths = self._deaths[first.number]
        found = [first]
        if deaths < MOST_DEATHS - 1:
            alike = [job for job in self._suspects if self._deaths[job.number] == deaths]
            found += alike[: at_once - 1]
            for job in found[1:]:
                self._suspects.remove(job)
        self._out += len(found)
        return Parcel(found, deaths)

    async def _take_again(self, most: int) -> list[Job]:
        """Take games that came back, and new ones if there is room for more."""
        found = [self._again.popleft() for _ in range(min(most, len(self._again)))]
        if len(found) < most:
            try:
                found += await self._take_new(most - len(found), waits=False)
            except trio.Cancelled:
                self._again.extendleft(reversed(found))
                self._wake()
                raise
        return found

    async def _take_new(self, most: int, *, waits: bool) -> list[Job]:
        found: list[Job] = []
        try:
            with trio.CancelScope() as scope:
                if not waits:
                    scope.deadline = trio.current_time() + _LINGER_S
                self._waiting.add(scope)
                try:
                    while len(found) < most:
                        if not self._is_open:
                            if waits and not found:
                                await trio.sleep_forever()  # something may have to be played again
                            break
                        try:
                            found.append(await self._jobs.receive())
                        except trio.EndOfChannel:
                            self._is_open = False
                            self._wake(but=scope)
                            if self.is_over:
                                break
                        else:
                            scope.deadline = min(scope.deadline, trio.current_time() + _LINGER_S)
                finally:
                    self._waiting.discard(scope)
        except trio.Cancelled:  # not by our own scope, or not by it alone: the machine is gone
            self._again.extend(found)
            self._wake()
            raise
        return found

    def _wake(self, but: trio.CancelScope | None = None) -> None:
        for scope in self._waiting:
            if scope is not but:
                scope.cancel()
