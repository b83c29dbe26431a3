"""Keeps the exact set of stations where Mister X may be, and closes in on all of it."""

from __future__ import annotations

from families import BOTH, prepare, wants
from fleeing import flee
from misterx_sdk import Turn, play

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from misterx_sdk import Board, Step

NEAREST = 2  # what the nearest figure counts for, against 1 for the average of all


def mister_x(turn: Turn) -> list[dict[str, Any]]:
    """Flee in London, run for a target in Europe."""
    if turn.deal.is_europe:
        from europe_running import slip

        return slip(turn)
    return flee(turn)


def detectives(turn: Turn) -> list[dict[str, Any]]:
    """Take for one figure after the other the step after which all of the set is closest.

    The figure that is nearest to the set goes first. A station that the team has entered in this
    turn, with the game going on, is no longer in the set.
    """
    if turn.deal.is_europe:
        from europe_chasing import close_in

        return close_in(turn)
    board, dice = turn.deal.board, turn.deal.dice
    possible = set(turn.belief)
    team = turn.team()
    while waiting := team.waiting():
        figure = min(waiting, key=lambda name: _nearest(board, team.stations[name], possible))
        others = [at for name, at in team.stations.items() if name != figure]
        steps = team.steps(figure)
        costs = _costs(board, steps, others, possible)
        least = min(costs)
        ticket, to = dice.choice([steps[i] for i, cost in enumerate(costs) if cost == least])
        team.go(figure, ticket, to)
        possible.discard(to)
    return team.plies


def _nearest(board: Board, at: int, possible: set[int]) -> int:
    """Return the steps from a station to the nearest one of the set."""
    row = board.distances(at)
    return min([row[one] for one in possible], default=0)


def _costs(board: Board, steps: list[Step], others: list[int], possible: set[int]) -> list[int]:
    """Return for each step of a figure how far the set is from the team after it.

    Summed over the set: NEAREST times the steps of the nearest figure + the average of all figures'
    steps, both times the number of figures. What the others add to the average is left out: it is
    the same for each step.
    """
    rows = [board.distances(at) for at in others]
    size = NEAREST * (1 + len(others))
    nearest = [
        (one, min([row[one] for row in rows], default=len(board.stations))) for one in possible
    ]
    costs: list[int] = []
    for _, to in steps:
        row = board.distances(to)
        cost = 0
        for one, away in nearest:
            if one != to:
                own = row[one]
                cost += size * (own if own < away else away) + own
        costs.append(cost)
    return costs


if __name__ == "__main__":
    play(
        name="belief",
        version="1",
        mister_x=mister_x,
        detectives=detectives,
        rulesets=BOTH,
        wants=wants,
        prepare=prepare,
    )
