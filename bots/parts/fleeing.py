"""Mister X who looks one turn ahead: far from the nearest figure, then where many stations fit.

The greedy choice that published programs use in their playouts, with their two savings: a double
move only when a figure could capture him where he stands, a black ticket only where it hides
something.
"""

from __future__ import annotations

from misterx_sdk import Turn, after, move

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from misterx_sdk import Step

EARLY = 2  # log slots in which no black ticket is played


def flee(turn: Turn) -> list[dict[str, Any]]:
    """Return the turn whose end is the most steps from the nearest figure of the team.

    Equals are told apart by the number of stations that the team must then think possible, and
    what is still equal by the dice.
    """
    rows = [turn.deal.board.distances(at) for at in turn.stations.values()]
    ways = _ways(turn)
    away = [min([row[way[-1][1]] for row in rows]) for way in ways]
    farthest = max(away)
    ways = [ways[i] for i, steps in enumerate(away) if steps == farthest]
    fits = _fits(turn, ways)
    most = max(fits)
    chosen = turn.deal.dice.choice([ways[i] for i, count in enumerate(fits) if count == most])
    return [move("x", *step) for step in chosen]


def _ways(turn: Turn) -> list[tuple[Step, ...]]:
    """Return the whole turns that are looked at; there is always one."""
    singles: list[tuple[Step, ...]] = [(step,) for step in turn.singles()]
    if _hides_nothing(turn):
        singles = [way for way in singles if way[0][0] != "black"] or singles
    steps = turn.deal.board.steps
    if any(to == turn.station for at in turn.stations.values() for _, to in steps[at]):
        return [*singles, *turn.doubles()]
    return singles


def _hides_nothing(turn: Turn) -> bool:
    """Tell whether a black ticket in the next log slot would be wasted."""
    slot = len(turn.view["log"]) + 1
    if slot <= EARLY or slot in turn.deal.numbers["reveals"]:
        return True
    reach = turn.deal.board.reach
    return all(reach["black"][at] == reach["taxi"][at] for at in turn.belief)


def _fits(turn: Turn, ways: list[tuple[Step, ...]]) -> list[int]:
    """Return how many stations the team must think possible after each way."""
    board, reveals = turn.deal.board, turn.deal.numbers["reveals"]
    shown = len(turn.view["log"])
    team = list(turn.stations.values())
    known: dict[tuple[str | int, ...], set[int]] = {(): turn.belief}
    counts: list[int] = []
    for way in ways:
        key: tuple[str | int, ...] = ()
        for slot, (ticket, to) in enumerate(way, shown + 1):
            before, key = known[key], (to,) if slot in reveals else (*key, ticket)
            if key not in known:
                known[key] = {to} if slot in reveals else after(board, before, ticket, team)
        counts.append(len(known[key]))
    return counts
