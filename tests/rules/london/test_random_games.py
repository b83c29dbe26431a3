"""Random against random, by the coursework's numbers, gives the published share of wins."""

from __future__ import annotations

from random import Random

from arena.rules import registry
from arena.rules.london import London, State
from arena.rules.ruleset import Side
from tests.strategies import deal_seed, london_turn

GAMES = 4_000


def test_random_mister_x_wins_65_of_100_games_against_random_detectives() -> None:
    """64.6 % ± 0.8 of 15,000 games elsewhere, 65.7 ± 2.9 published; 4,000 give ± 1.5."""
    rules = registry.make("london-coursework")
    assert isinstance(rules, London)
    wins = sum(mister_x_wins(rules, number) for number in range(GAMES))
    assert 0.625 <= wins / GAMES <= 0.67


def mister_x_wins(rules: London, number: int) -> bool:
    """Mister X uniform over whole turns, detectives uniform in fixed order."""
    dice = Random(number)
    state = rules.deal(deal_seed(number), number)
    while (side := state.to_move) is not None:
        if side is Side.MISTER_X:
            state = rules.play(state, london_turn(rules, state, dice), more=False).state
        else:
            state = team_turn(rules, state, dice)
    assert state.ended is not None
    return state.ended.winner is Side.MISTER_X


def team_turn(rules: London, state: State, dice: Random) -> State:
    """d1 first, d5 last; who has no step when it is its turn waits, and is left out at the end."""
    while state.to_move is Side.DETECTIVES:
        legal = rules.legal(state)
        own = [step for step in legal if step.figure == legal[0].figure]
        state = rules.play(state, (dice.choice(own),), more=True).state
    return state
