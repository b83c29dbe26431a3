"""Who meets whom on which deal: round robin and gauntlet, pure, lazy, resumable.

A schedule is a pure function of its settings and, for kinds that go by results, of the results in
plan order. `pairing(i)` is computed, never looked up, so a plan of ten million games costs no
memory. Deals are the outermost loop, and deal k is the same for every pairing.

**Round robin.** Every bot that plays Mister X meets every bot that plays the detectives, save
itself. Let `a` bots play Mister X and `b` the detectives, those that play both last in both
lists. One deal is a sequence of `a*b` places, cut into `gcd(a, b)` blocks of `lcm(a, b)`; in a
block the Mister X bots and the detectives bots each take turns, and the detectives start the block
`shift` places further on. With N two-sided bots (a = b = N) a block is a stage (i, i+s mod N), and
the shifts 1, N-1, 2, N-2 … 0 make the two stages of a pair follow each other. Whatever the lists,
the places where a bot would meet itself are the last ones of the deal, so that leaving them out
spoils nothing.

In every prefix the games as Mister X (and those as detectives) of any two bots differ by at most
one. In a mixed list a two-sided bot has one opponent fewer than a one-sided one, so there that
holds within each deal, and over all deals among bots that play the same sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from arena.errors import ConfigError

__all__ = ["Gauntlet", "Pairing", "RoundRobin", "Schedule", "check_index"]


class Pairing(NamedTuple):
    """Two bots to meet on a deal; bots are told by their place in the plan, from 0."""

    deal: int
    mister_x: int
    detectives: int


class Schedule(Protocol):
    """What every kind of tournament answers. The number of games never depends on results."""

    @property
    def needs_results(self) -> bool:
        """Whether `pairing` goes by results; if not, they need not be kept."""

    @property
    def count(self) -> int:
        """All games of the plan."""

    @property
    def pairs(self) -> int:
        """Game pairs: one deal played twice with sides swapped."""

    def known(self, judged: int) -> int:
        """Return how many games, from the first on, are fixed once `judged` of them are judged."""

    def pairing(self, index: int, results: Sequence[Any] = ()) -> Pairing:
        """Return the pairing of one game.

        Args:
            index: the game's place in the plan, `0 <= index < known(len(results))`.
            results: the judged results in plan order; round robin and gauntlet need none.

        Raises:
            IndexError: if the plan has no such game.
        """


class _Grid(NamedTuple):
    """All pairs of two lists, every prefix balanced; see the module's text."""

    rows: Sequence[int]
    columns: Sequence[int]

    @property
    def size(self) -> int:
        """Number of places."""
        return len(self.rows) * len(self.columns)

    def at(self, place: int) -> tuple[int, int]:
        """Return the row's and the column's bot of one place, from 0."""
        a, b = len(self.rows), len(self.columns)
        blocks = math.gcd(a, b)
        block, step = divmod(place, a * b // blocks)
        shift = blocks - 1 - block // 2 if block % 2 else block // 2 + 1
        if block == blocks - 1:
            shift = 0
        return self.rows[step % a], self.columns[(step + shift) % b]


class RoundRobin:
    """Every Mister X bot against every detectives bot on every deal.

    Args:
        mister_x: places of the bots that play Mister X, ascending.
        detectives: places of the bots that play the detectives, ascending.
        deals: deals of every pairing, 1 or more.
        self_play: whether a bot also meets itself: one game a deal, of no pair.

    Raises:
        ConfigError: if nobody would meet anybody.
    """

    needs_results = False

    def __init__(
        self,
        mister_x: Sequence[int],
        detectives: Sequence[int],
        *,
        deals: int,
        self_play: bool = False,
    ) -> None:
        _check(mister_x, detectives, deals)
        both = sorted(set(mister_x) & set(detectives))
        self._grid = _Grid(
            (*(bot for bot in mister_x if bot not in set(both)), *both),
            (*(bot for bot in detectives if bot not in set(both)), *both),
        )
        self._a_deal = self._grid.size - (0 if self_play else len(both))
        if not self._a_deal:
            raise ConfigError(
                "one bot alone has nobody to meet: name a second bot, or set self_play = true"
            )
        self.count = deals * self._a_deal
        self.pairs = deals * (len(both) * (len(both) - 1) // 2)

    def known(self, judged: int) -> int:
        """Return `count`: a round robin is fixed from the start."""
        del judged
        return self.count

    def pairing(self, index: int, results: Sequence[Any] = ()) -> Pairing:
        """Return the pairing of one game; see `Schedule.pairing`."""
        del results
        check_index(index, self.count)
        deal, place = divmod(index, self._a_deal)
        return Pairing(deal, *self._grid.at(place))


class _Meeting(NamedTuple):
    """Challengers and opponents of like sides: the same number of games for each two of them."""

    grid: _Grid
    as_mister_x: bool  # the challenger can be Mister X against the opponent
    as_detectives: bool

    @property
    def games(self) -> int:
        """Games of two bots on one deal: 1 or 2."""
        return self.as_mister_x + self.as_detectives


class Gauntlet:
    """Each challenger against each other bot; challengers don't meet, and the others neither.

    The two games of a pair follow each other. Where the sides that two bots play allow one game
    only, they have that one; where they allow none, the two don't meet.

    Args:
        challengers: places of the challengers, ascending.
        mister_x: places of all bots that play Mister X.
        detectives: places of all bots that play the detectives.
        deals: deals of every pairing, 1 or more.

    Raises:
        ConfigError: if nobody would meet anybody.
    """

    needs_results = False

    def __init__(
        self,
        challengers: Sequence[int],
        mister_x: Sequence[int],
        detectives: Sequence[int],
        *,
        deals: int,
    ) -> None:
        _check(mister_x, detectives, deals)
        x, d, first = frozenset(mister_x), frozenset(detectives), frozenset(challengers)
        bots = sorted(x | d)
        kinds = [(True, True), (True, False), (False, True)]  # (plays Mister X, plays detectives)

        def of_kind(kind: tuple[bool, bool], *, challenger: bool) -> tuple[int, ...]:
            return tuple(b for b in bots if (b in x, b in d) == kind and (b in first) == challenger)

        self._meetings = [
            meeting
            for ours in kinds
            for theirs in kinds
            if (
                meeting := _Meeting(
                    _Grid(of_kind(ours, challenger=True), of_kind(theirs, challenger=False)),
                    as_mister_x=ours[0] and theirs[1],
                    as_detectives=ours[1] and theirs[0],
                )
            ).grid.size
            and meeting.games
        ]
        self._a_deal = sum(meeting.grid.size * meeting.games for meeting in self._meetings)
        if not self._a_deal:
            raise ConfigError(
                "the challengers of this gauntlet have nobody to meet: name a bot that is no "
                "challenger and plays the other side"
            )
        self.count = deals * self._a_deal
        self.pairs = deals * sum(m.grid.size for m in self._meetings if m.games == 2)

    def known(self, judged: int) -> int:
        """Return `count`: a gauntlet is fixed from the start."""
        del judged
        return self.count

    def pairing(self, index: int, results: Sequence[Any] = ()) -> Pairing:
        """Return the pairing of one game; see `Schedule.pairing`."""
        del results
        check_index(index, self.count)
        deal, place = divmod(index, self._a_deal)
        for meeting in self._meetings:
            if place < meeting.grid.size * meeting.games:
                break
            place -= meeting.grid.size * meeting.games
        pair, second = divmod(place, meeting.games)
        challenger, opponent = meeting.grid.at(pair)
        if second or not meeting.as_mister_x:
            return Pairing(deal, opponent, challenger)
        return Pairing(deal, challenger, opponent)


def _check(mister_x: Sequence[int], detectives: Sequence[int], deals: int) -> None:
    if deals < 1:
        raise ConfigError(f"deals is {deals}: a tournament needs at least 1")
    for side, bots in (("Mister X", mister_x), ("the detectives", detectives)):
        if not bots:
            raise ConfigError(f"no bot here plays {side}: name one that does")


def check_index(index: int, count: int) -> None:
    """Refuse the number of a game that a plan does not have.

    Raises:
        IndexError: unless `0 <= index < count`.
    """
    if not 0 <= index < count:
        raise IndexError(f"game {index} of a plan of {count} games")
