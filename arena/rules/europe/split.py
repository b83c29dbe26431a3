"""As many pieces as possible (rule 25, A23): what a hand can move, and which moves keep to it.

A player must move as many of his pieces as his hand allows. Which tickets a piece could have used
depends on which cities were free, and so on the order of moves. `Outlook` answers two questions:
may the moves end here, and can they still end well after one more. Transports are bits, tickets are
counted by transport.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

__all__ = ["Outlook", "Player", "matched"]

Near = Sequence[dict[int, tuple[int, ...]]]  # transport → city → cities one link away


@lru_cache(maxsize=1 << 16)
def matched(frees: tuple[int, ...], purse: tuple[int, ...]) -> int:
    """Return how many pieces can get a ticket each.

    By König's theorem the largest matching is as large as the smallest cover: some transports with
    all their tickets, and every piece that another transport would do for.

    Args:
        frees: for each piece the transports that would do, as bits.
        purse: tickets by transport.
    """
    best = len(frees)
    for cover in range(1 << len(purse)):
        size = sum(count for place, count in enumerate(purse) if cover >> place & 1)
        size += sum(1 for free in frees if free & ~cover)
        best = min(best, size)
    return best


class Player(msgspec.Struct, frozen=True):
    """One player in the middle of the moves.

    Attributes:
        whole: his tickets before the moves, by transport.
        purse: his tickets now.
        moved: for each piece that has moved the transports that led to a free city then, as bits.
    """

    whole: tuple[int, ...]
    purse: tuple[int, ...]
    moved: tuple[int, ...]

    def after(self, transport: int, free: int) -> Player:
        """Return the player with one ticket less and one piece more that has moved."""
        purse = list(self.purse)
        purse[transport] -= 1
        return Player(self.whole, tuple(purse), (*self.moved, free))

    def judge(self, sure: Sequence[int], perhaps: Sequence[int]) -> bool | None:
        """Return whether he can end well, if that is certain; None if it depends.

        Args:
            sure: for each of his other pieces transports that nobody can take from it, as bits.
            perhaps: for each of them transports that it could ever have.
        """
        done = len(self.moved)
        certain = tuple(sorted(sure))
        secured = matched(certain, self.purse)
        if secured == len(certain):
            return True
        hoped = tuple(sorted(perhaps))
        if done + secured >= matched(tuple(sorted((*self.moved, *hoped))), self.whole):
            return True
        if done + matched(hoped, self.purse) < matched(
            tuple(sorted((*self.moved, *certain))), self.whole
        ):
            return False
        return None


class Chances(msgspec.Struct, frozen=True):
    """Transports of one piece, as bits.

    Attributes:
        sure: those that lead to a free city whatever the other pieces do.
        only: city → those of them that lead to this one alone.
        once: all of those in `only`.
        perhaps: those that could ever lead to a free city.
    """

    sure: int
    only: dict[int, int]
    once: int
    perhaps: int

    def but(self, end: int | None) -> int:
        """Return the sure ones when a piece has come to a city, or to any one (None)."""
        return self.sure & ~(self.once if end is None else self.only.get(end, 0))


class Outlook:
    """Where the pieces stand in the middle of the moves. Frozen.

    Args:
        near: where each transport leads.
        cities: where each piece stands, by its place.
        leaders: the player of each piece, by its place.
        unmoved: places of the pieces that have not moved, ascending.
        players: what each player has and did.
    """

    __slots__ = (
        "_chances",
        "_hopeless",
        "cities",
        "leaders",
        "near",
        "players",
        "taken",
        "unmoved",
    )

    def __init__(
        self,
        near: Near,
        cities: tuple[int, ...],
        leaders: tuple[int, ...],
        unmoved: tuple[int, ...],
        players: tuple[Player, ...],
    ) -> None:
        self.near = near
        self.cities = cities
        self.leaders = leaders
        self.unmoved = unmoved
        self.players = players
        self.taken = frozenset(cities)
        self._chances: dict[int, Chances] | None = None
        self._hopeless: bool | None = None

    def free(self, piece: int) -> int:
        """Return the transports that lead a piece to a free city, as bits."""
        city, taken = self.cities[piece], self.taken
        found = 0
        for place, near in enumerate(self.near):
            for end in near[city]:
                if end not in taken:
                    found |= 1 << place
                    break
        return found

    def ends(self, piece: int, transport: int) -> tuple[int, ...]:
        """Return the free cities that a transport leads a piece to, ascending."""
        near, taken = self.near[transport][self.cities[piece]], self.taken
        return tuple([end for end in near if end not in taken])

    def good_ends(self, piece: int, transport: int) -> tuple[int, ...]:
        """Return those of them from which on the moves can still end well.

        They are all good where no order of moves ends well, which narrow boards make possible.
        """
        ends = self.ends(piece, transport)
        whatever = self._bound(piece, transport)
        good = ends if whatever else ()
        if whatever is None:
            good = tuple([end for end in ends if self._leads_well(piece, transport, end)])
        return ends if len(good) < len(ends) and self._is_hopeless() else good

    def is_good(self, piece: int, transport: int, end: int) -> bool:
        """Return True if `good_ends` has this city, which can be moved to."""
        return self._leads_well(piece, transport, end) or self._is_hopeless()

    def _leads_well(self, piece: int, transport: int, end: int) -> bool:
        told = self._bound(piece, transport, end)
        return self.after(piece, transport, end).can_end() if told is None else told

    def _is_hopeless(self) -> bool:
        if self._hopeless is None:
            self._hopeless = not self.can_end()
        return self._hopeless

    def after(self, piece: int, transport: int, end: int) -> Outlook:
        """Return the outlook after a move."""
        cities = list(self.cities)
        cities[piece] = end
        players = list(self.players)
        leader = self.leaders[piece]
        players[leader] = players[leader].after(transport, self.free(piece))
        left = tuple([other for other in self.unmoved if other != piece])
        return Outlook(self.near, tuple(cities), self.leaders, left, tuple(players))

    def may_end(self) -> bool:
        """Return True if no player could have moved more pieces with another split of his hand."""
        for place, player in enumerate(self.players):
            stayed = [self.free(piece) for piece in self.unmoved if self.leaders[piece] == place]
            if any(stayed):
                frees = tuple(sorted((*player.moved, *stayed)))
                if matched(frees, player.whole) > len(player.moved):
                    return False
        return True

    def can_end(self) -> bool:
        """Return True if some moves from here on, or none, lead to where they may end.

        Two bounds answer nearly always: moves that nobody can take from a piece, and moves that it
        could have at best. Between them a search tries everything.
        """
        return self._can_end(set())

    def _can_end(self, tried: set[tuple[tuple[int, ...], tuple[Player, ...]]]) -> bool:
        bound = self._bound()
        if bound is not None:
            return bound
        key = (self.cities, self.players)
        if key in tried:
            return False
        tried.add(key)
        return self.may_end() or any(one._can_end(tried) for one in self._next())  # noqa: SLF001

    def _next(self) -> Iterator[Outlook]:
        """Yield what every move that tickets and cities allow leads to."""
        for piece in self.unmoved:
            for transport, count in enumerate(self.players[self.leaders[piece]].purse):
                if count:
                    for end in self.ends(piece, transport):
                        yield self.after(piece, transport, end)

    def _bound(
        self, mover: int | None = None, transport: int = 0, end: int | None = None
    ) -> bool | None:
        """True or False if the bounds tell whether the moves can end well; else None.

        Args:
            mover: a piece that moves first; None to go from here.
            transport: what it moves by.
            end: the city that it comes to; None for whichever.
        """
        chances = self._chances
        if chances is None:
            chances = self._chances = self._look()
        told: bool | None = True
        for place, player in enumerate(self.players):
            own = [one for one in self.unmoved if self.leaders[one] == place and one != mover]
            if mover is not None and self.leaders[mover] == place:
                player = player.after(transport, self.free(mover))
            if not own or len(own) + len(player.moved) == 1:
                continue  # one piece alone: it moves while it can
            sure = [chances[one].sure if mover is None else chances[one].but(end) for one in own]
            judged = player.judge(sure, [chances[one].perhaps for one in own])
            if judged is False:
                return False
            if judged is None:
                told = None
        return told

    def _look(self) -> dict[int, Chances]:
        """What each piece that has not moved can count on, and what it can hope for."""
        reaching: dict[int, int] = {}  # city → how many of these pieces could move there
        reach: dict[int, set[int]] = {}
        still = set(self.taken)
        for piece in self.unmoved:
            city = self.cities[piece]
            still.discard(city)
            found: set[int] = set()
            for count, near in zip(self.players[self.leaders[piece]].purse, self.near, strict=True):
                if count:
                    found.update(near[city])
            reach[piece] = found
            for end in found:
                reaching[end] = reaching.get(end, 0) + 1
        return {piece: self._look_from(piece, reach[piece], reaching, still) for piece in reach}

    def _look_from(
        self, piece: int, own: set[int], reaching: dict[int, int], still: set[int]
    ) -> Chances:
        """What one piece can count on: free cities that no other piece could take from it."""
        sure = once = perhaps = 0
        only: dict[int, int] = {}
        city, taken = self.cities[piece], self.taken
        for place, near in enumerate(self.near):
            bit = 1 << place
            last, count = 0, 0
            for end in near[city]:
                if end not in still:
                    perhaps |= bit
                    if end not in taken and reaching.get(end, 0) == (end in own):
                        last, count = end, count + 1
            if count:
                sure |= bit
            if count == 1:
                once |= bit
                only[last] = only.get(last, 0) | bit
        return Chances(sure, only, once, perhaps)
