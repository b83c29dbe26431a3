"""Random games of London, ply by ply, for the tests of what is told to those who look on."""

from __future__ import annotations

from random import Random

from arena.rules.london import London, State
from tests.strategies import deal_seed, london_turn

__all__ = ["taken", "watched_game"]


def watched_game(rules: London, number: int) -> list[State]:
    """The states of a random game, ply by ply."""
    dice = Random(number)
    state = rules.deal(deal_seed(number), number)
    trail = [state]
    while rules.to_move(state) is not None:
        plies = london_turn(rules, state, dice)
        played = rules.play(state, plies, more=False)
        trail += [*rules.between(state, plies[: played.counted]), played.state]
        state = played.state
    return trail


def taken(state: State) -> list[int]:
    return [figure.station for figure in state.figures]
