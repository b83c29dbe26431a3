"""Several schedules as one: a deal of each in turn, so that no ruleset waits for another's end."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.tournament.pairings import Gauntlet, Pairing, RoundRobin, check_index

__all__ = ["Interleaved", "Place"]


class Place(NamedTuple):
    """Where a game of the whole lies."""

    part: int  # which schedule, from 0
    within: int  # its place in that schedule, from 0


class _Span(NamedTuple):
    """Deals through which the same parts go on."""

    first: int  # place of the first game
    deal: int  # the first deal
    parts: tuple[int, ...]


class Interleaved:
    """Deal 0 of every part, then deal 1, and so on; parts with fewer deals drop out.

    Every prefix is as balanced within each part as that part's own prefixes are.

    Args:
        parts: schedules that need no results, each with its deals; one or more.
    """

    needs_results = False

    def __init__(self, parts: Sequence[tuple[RoundRobin | Gauntlet, int]]) -> None:
        self._parts = [schedule for schedule, _ in parts]
        self._a_deal = [schedule.count // deals for schedule, deals in parts]
        self._spans: list[_Span] = []
        first = deal = 0
        for until in sorted({deals for _, deals in parts}):
            going = tuple(n for n, (_, deals) in enumerate(parts) if deals > deal)
            self._spans.append(_Span(first, deal, going))
            first += (until - deal) * sum(self._a_deal[n] for n in going)
            deal = until
        self.count = first
        self.pairs = sum(schedule.pairs for schedule in self._parts)

    def known(self, judged: int) -> int:
        """Return `count`: all of it is fixed from the start."""
        del judged
        return self.count

    def place(self, index: int) -> Place:
        """Return the part that a game belongs to, and its place there.

        Raises:
            IndexError: if there is no such game.
        """
        check_index(index, self.count)
        span = self._spans[bisect_right(self._spans, index, key=lambda span: span.first) - 1]
        deal, rest = divmod(index - span.first, sum(self._a_deal[n] for n in span.parts))
        for part in span.parts:
            if rest < self._a_deal[part]:
                break
            rest -= self._a_deal[part]
        return Place(part, (span.deal + deal) * self._a_deal[part] + rest)

    def pairing(self, index: int, results: Sequence[Any] = ()) -> Pairing:
        """Return the pairing of one game; see `Schedule.pairing`."""
        part, inner = self.place(index)
        return self._parts[part].pairing(inner, results)
