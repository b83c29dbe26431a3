"""Where Mister X can be by all that the detectives know: for those who look on, never for play.

The set is exact: each station in it ends a path that fits every ticket, reveal and arrival so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.rules.london.moves import Rules
from arena.rules.london.state import State

__all__ = ["beliefs", "follow"]


def beliefs(rules: Rules, trail: Sequence[State]) -> tuple[frozenset[int], ...]:
    """Return the belief set of each state.

    Args:
        rules: of the game.
        trail: states of one game in order, from the deal on, with no ply left out.
    """
    found: list[frozenset[int]] = []
    for place, state in enumerate(trail):
        if place == 0:
            cards = frozenset(rules.numbers.cards.mister_x)
            found.append(cards - _taken(state))
        else:
            found.append(follow(rules, found[-1], trail[place - 1], state))
    return tuple(found)


def follow(rules: Rules, stations: frozenset[int], before: State, after: State) -> frozenset[int]:
    """Return the belief set after a ply.

    The team stands still while Mister X moves, so he could not enter where it stood before; where
    a figure arrives and captures nobody he is not (L14). A capture shows his station (L30).

    Args:
        rules: of the game.
        stations: the set before.
        before: the state that the set belongs to.
        after: the state after the ply.
    """
    if after.ended is not None and after.ended.reason == "captured":
        return frozenset(after.path[-1:])
    for slot in after.log[len(before.log) :]:
        if slot.station is not None:
            stations = frozenset((slot.station,))
            continue
        reach = rules.net.reach[slot.ticket]
        reached = {end for station in stations for end in reach[station]}
        stations = frozenset(reached) - _taken(before)
    return stations - _taken(after)


def _taken(state: State) -> frozenset[int]:
    return frozenset(figure.station for figure in state.figures)
