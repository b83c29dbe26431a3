"""Where Mister X can be by all that the detectives know: for those who look on, never for play.

All of Mister X's entries are kept as one chain of sets, since what is said about an old entry tells
about the later ones, and the other way round. Nothing is used but the team's view and where its
pieces came by: a bot that notes its own steps can keep the same chain.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import msgspec

from arena.rules.europe.board import TRANSPORTS, Transport
from arena.rules.europe.net import Net
from arena.rules.europe.state import ORDER, TRANSPORT_OF, Numbers, State, counts_of
from arena.rules.ruleset import Side

__all__ = ["Chain", "begun", "beliefs", "follow", "moved", "narrowed"]

NOWHERE: frozenset[int] = frozenset()


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


def beliefs(net: Net, numbers: Numbers, trail: Sequence[State]) -> tuple[frozenset[int], ...]:
    """Return for each state where Mister X can be.

    Before his start is noted these are the starts that he can choose. Of his tickets nothing is
    concluded but one thing: who is stuck has none that fits.

    Args:
        net: of the board.
        numbers: of the game.
        trail: states of one game in order, from the deal on, with no ply left out.
    """
    chain = begun(_starts(numbers, trail[0], _taken(trail[0])))
    found = [chain.now]
    for before, after in pairwise(trail):
        chain = follow(net, numbers, chain, before, after)
        found.append(chain.now)
    return tuple(found)


def follow(net: Net, numbers: Numbers, chain: Chain, before: State, after: State) -> Chain:
    """Return the chain after a ply, from what lies open to the team alone.

    Args:
        net: of the board.
        numbers: of the game.
        chain: what was known before.
        before: the state that the chain belongs to.
        after: the state after the ply, with all that followed without anybody being asked.
    """
    if after.ended is not None:  # the checklist is shown (rule 37)
        ways = _ways(after)
        return Chain(tuple(frozenset((city,)) for city in after.path), ways)
    if not before.path:
        chain = begun(_starts(numbers, after, _taken(before)))
    elif len(after.path) > len(before.path):
        avoiding = _taken(before) | _targets(numbers, after)
        chain = moved(net, chain, _ways(after)[-1], avoiding)
    for entry in after.known:
        if entry not in before.known:
            chain = narrowed(net, chain, entry, (after.path[entry],))
    chain = _entered(net, numbers, chain, before, after)
    if after.tally.stuck > before.tally.stuck:
        if before.hand:
            fitting = _stuck_at(net, numbers, after, len(before.hand))
            chain = narrowed(net, chain, len(chain.sets) - 1, fitting)
    elif after.to_move is Side.MISTER_X and after.stage == "move":  # he can move
        taken = _taken(after)
        ends = net.all_neighbours
        fitting = frozenset(city for city in chain.now if not taken.issuperset(ends[city]))
        chain = narrowed(net, chain, len(chain.sets) - 1, fitting)
    return chain


def _entered(net: Net, numbers: Numbers, chain: Chain, before: State, after: State) -> Chain:
    """What it tells that detectives came to cities, and nothing was said."""
    last = len(chain.sets) - 1
    fresh = _taken(after) - _taken(before) if before.figures else NOWHERE
    if numbers.capture == "immediate":
        chain = narrowed(net, chain, last, chain.now - fresh)
    if after.round > before.round:  # the check of the round: rules 31 to 33
        chain = narrowed(net, chain, last, chain.now - _taken(after))  # who stood still counts too
        entered = fresh.union(before.entered) if before.to_move is Side.DETECTIVES else fresh
        if numbers.passed == "ignored":
            entered &= _taken(after)
        first = max(last - numbers.window + 1, 0 if numbers.start_in_window else 1)
        for entry in range(first, last + 1):
            if entry not in after.known:
                chain = narrowed(net, chain, entry, chain.sets[entry] - entered)
    return chain


def _starts(numbers: Numbers, state: State, taken: frozenset[int]) -> frozenset[int]:
    """Where he can begin: in the starts of his colour, or of all as long as none is named."""
    missions = numbers.missions
    colours = missions if state.colour is None else (state.colour,)
    cities = frozenset(city for colour in colours for city in missions[colour].starts)
    return cities - taken


def _targets(numbers: Numbers, state: State) -> frozenset[int]:
    return frozenset(numbers.missions[state.colour].targets if state.colour is not None else ())


def _taken(state: State) -> frozenset[int]:
    return frozenset(figure.city for figure in state.figures)


def _ways(state: State) -> tuple[Transport | None, ...]:
    """The transport of each move; None for a hidden one, and for those that were open anyway."""
    spaces: list[Transport | None] = [
        None if slot.hidden or slot.ticket is None else TRANSPORTS[TRANSPORT_OF[slot.ticket]]
        for slot in state.board
    ]
    return (*spaces, *[None] * (len(state.path) - 1 - len(spaces)))


def _stuck_at(net: Net, numbers: Numbers, state: State, hand: int) -> frozenset[int]:
    """Cities at which a hand of that size can hold no ticket that fits (rule 20)."""
    taken = _taken(state)
    counts = counts_of(numbers.tickets)
    supply = dict.fromkeys(TRANSPORTS, 0)
    for ticket, place in TRANSPORT_OF.items():
        supply[TRANSPORTS[place]] += counts[ORDER[ticket]]
    return frozenset(
        city
        for city in net.all_neighbours
        if hand
        <= sum(
            supply[transport]
            for transport in TRANSPORTS
            if taken.issuperset(net.neighbours[transport][city])
        )
    )
