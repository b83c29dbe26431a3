"""Where Mister X can be by all that the detectives know: for those who look on, never for play.

All of Mister X's entries are kept as one chain of sets, since what is said about an old entry tells
about the later ones, and the other way round.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from arena.rules.europe.board import Transport
from arena.rules.europe.net import Net

__all__ = ["Chain", "begun", "moved", "narrowed"]


class Chain(msgspec.Struct, frozen=True):
    """For each entry the cities that it can be, and how one entry led to the next.

    Every city of a set lies on a path through all of the sets that fits all that was said.

    Attributes:
        sets: entry 0 (the start), 1, …, n; the last is where Mister X can be now.
        ways: the transport that led from each entry to the next; None for a hidden move.
    """

    sets: tuple[frozenset[int], ...]
    ways: tuple[Transport | None, ...] = ()

    @property
    def now(self) -> frozenset[int]:
        """Where Mister X can be."""
        return self.sets[-1]


def begun(cities: Collection[int]) -> Chain:
    """Return the chain of a game that begins in one of these cities."""
    return Chain((frozenset(cities),))


def moved(net: Net, chain: Chain, way: Transport | None, avoiding: Collection[int]) -> Chain:
    """Return the chain with one more entry.

    Args:
        net: of the board.
        chain: what was known before.
        way: the transport of the ticket; None for a hidden move, which takes any link (rule 18).
        avoiding: cities that he did not enter: where detectives stand (A4) and, as long as the game
            goes on, his targets (rule 19).
    """
    tables = net.all_neighbours if way is None else net.neighbours[way]
    reached = frozenset(end for city in chain.now for end in tables[city])
    grown = Chain((*chain.sets, reached), (*chain.ways, way))
    return narrowed(net, grown, len(chain.sets), reached.difference(avoiding))


def narrowed(net: Net, chain: Chain, entry: int, cities: Collection[int]) -> Chain:
    """Return the chain after it was said that an entry is one of these cities.

    What does not fit is taken from the sets before, step by step back to the start, and then from
    those behind. Since the sets form a chain, one pass each way leaves exactly the cities that lie
    on a whole path.
    """
    sets = list(chain.sets)
    sets[entry] = sets[entry].intersection(cities)
    for at in range(entry - 1, -1, -1):
        kept = _beside(net, sets[at + 1], chain.ways[at], sets[at])
        if kept == sets[at]:
            break
        sets[at] = kept
    for at in range(entry + 1, len(sets)):
        kept = _beside(net, sets[at - 1], chain.ways[at - 1], sets[at])
        if kept == sets[at]:
            break
        sets[at] = kept
    return Chain(tuple(sets), chain.ways)


def _beside(
    net: Net, others: frozenset[int], way: Transport | None, cities: frozenset[int]
) -> frozenset[int]:
    """Those of the cities that one link of the way joins with one of the others."""
    tables = net.all_neighbours if way is None else net.neighbours[way]
    return frozenset(city for city in cities if not others.isdisjoint(tables[city]))
