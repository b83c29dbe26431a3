"""Plays at random: Mister X uniformly over whole turns, the team figure by figure."""

from __future__ import annotations

from families import BOTH, prepare, wants_legal
from misterx_sdk import Turn, move, play

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mister_x(turn: Turn) -> list[dict[str, Any]]:
    """Take any whole turn: each single move and each double move is as likely as any other."""
    if turn.deal.is_europe:
        return _wander(turn)
    singles = turn.singles()
    doubles = turn.doubles()
    number = int(turn.deal.dice.random() * (len(singles) + len(doubles)))
    if number < len(singles):
        return [move("x", *singles[number])]
    return [move("x", *step) for step in doubles[number - len(singles)]]


def detectives(turn: Turn) -> list[dict[str, Any]]:
    """Take any step of each figure, in fixed order; those that were shut in move once they can."""
    if turn.deal.is_europe:
        return _wander(turn)
    team, throw = turn.team(), turn.deal.dice.random
    for figure, steps in team:
        team.go(figure, *steps[int(throw() * len(steps))])
    return team.plies


def _wander(turn: Turn) -> list[dict[str, Any]]:
    from europe_at_random import wander

    return wander(turn)


if __name__ == "__main__":
    play(
        name="random",
        version="1",
        mister_x=mister_x,
        detectives=detectives,
        rulesets=BOTH,
        wants=wants_legal,
        prepare=prepare,
    )
