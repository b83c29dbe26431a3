"""Looks one step ahead: Mister X flees; the team guesses where he is, and walks there."""

from __future__ import annotations

from families import BOTH, prepare, wants
from fleeing import flee
from misterx_sdk import Turn, play

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mister_x(turn: Turn) -> list[dict[str, Any]]:
    """Flee in London, run for a target in Europe."""
    if turn.deal.is_europe:
        from europe_running import run

        return run(turn)
    return flee(turn)


def detectives(turn: Turn) -> list[dict[str, Any]]:
    """Send the whole team one step towards one station that he may be on, drawn by the dice."""
    if turn.deal.is_europe:
        from europe_chasing import walk

        return walk(turn)
    board, dice = turn.deal.board, turn.deal.dice
    away = board.distances(dice.choice(sorted(turn.belief)))
    team = turn.team()
    for figure, steps in team:
        least = min([away[to] for _, to in steps])
        team.go(figure, *dice.choice([step for step in steps if away[step[1]] == least]))
    return team.plies


if __name__ == "__main__":
    play(
        name="greedy",
        version="1",
        mister_x=mister_x,
        detectives=detectives,
        rulesets=BOTH,
        wants=wants,
        prepare=prepare,
    )
