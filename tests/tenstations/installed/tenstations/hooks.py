"""What the contract tests must know of this game: `Hooks` in tests/strategies.py, name by name."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from msgspec.structs import replace

from arena.rules.ruleset import Side

from .ruleset import TenStations
from .state import State, Step

__all__ = ["RULESET", "alike", "stock", "turn", "twin", "universe"]

RULESET = TenStations


def turn(ruleset: TenStations, state: State, dice: Random) -> tuple[Step, ...]:
    """Any plies, one after the other, as long as the turn goes on."""
    plies: list[Step] = []
    goes_on = True
    while goes_on:
        plies.append(dice.choice(ruleset.legal(state)))
        played = ruleset.play(state, plies[-1:], more=True)
        state, goes_on = played.state, played.goes_on
    return tuple(plies)


def twin(ruleset: TenStations, state: State, side: Side, dice: Random) -> State:
    """Mister X elsewhere, unless this round has shown him; he began anywhere."""
    if side is Side.MISTER_X:
        return state
    known = state.seen_round == state.round
    free = [one for one in ruleset.board.stations if one not in state.detectives]
    return replace(
        state, x=state.x if known else dice.choice(free), start=dice.choice(ruleset.board.stations)
    )


def alike(
    ruleset: TenStations, state: State, turn: tuple[Step, ...], dice: Random
) -> tuple[Step, ...]:
    """Another step of Mister X's, if nothing shows him."""
    if ruleset.to_move(state) is Side.DETECTIVES or turn[0].to is None:
        return turn
    other = (dice.choice([ply for ply in ruleset.legal(state) if ply.to is not None]),)
    for plies in (turn, other):
        after = ruleset.play(state, plies, more=False).state
        if after.seen_round == state.round or after.ended is not None:
            return turn
    return other


def stock(ruleset: TenStations, state: State) -> dict[str, int]:
    """All coins."""
    return {"coins": sum(state.coins) + state.purse + state.box}


def universe(ruleset: TenStations) -> Iterable[Step]:
    """Every figure to every station, and to one that there is not; every figure waits."""
    for figure in ("x", "d1", "d2"):
        for to in (None, *ruleset.board.stations, 11):
            yield Step(figure=figure, to=to)
