"""Scripted bots that play Europe in the golden transcripts: some sense, and a lot of chance."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any

from arena.rules import registry
from arena.rules.europe.state import Lay, Move, Pay, PutBack
from arena.rules.ruleset import Ply, Ruleset, Side

__all__ = ["part", "runner", "stroller", "whole_team"]

Rules = Ruleset[Any, Any]
OPTIONAL = frozenset(("action", "refill"))


def runner(ruleset: Rules, state: Any, dice: random.Random) -> tuple[list[Ply], bool]:
    """Mister X's whole turn: nearer to a target, with special actions now and then."""
    return whole(ruleset, state, dice, hurry=0.95)


def stroller(ruleset: Rules, state: Any, dice: random.Random) -> tuple[list[Ply], bool]:
    """Mister X's whole turn, to anywhere."""
    return whole(ruleset, state, dice, hurry=0.0)


def whole_team(ruleset: Rules, state: Any, dice: random.Random) -> tuple[list[Ply], bool]:
    """The team's whole turn, to anywhere."""
    return whole(ruleset, state, dice, hurry=0.0)


def part(ruleset: Rules, state: Any, dice: random.Random) -> tuple[list[Ply], bool]:
    """One ply of the team, with `more`; investigates if it can; at the end, often, nothing."""
    if state.stage in OPTIONAL:
        legal = [ply for ply in ruleset.legal(state) if not isinstance(ply, PutBack)]
        legal = [ply for ply in legal if getattr(ply, "ticket", "").endswith("investigate")]
        if not legal and dice.random() < 0.8:
            return [], False
    else:
        legal = []
    return [dice.choice(legal or ruleset.legal(state))], True


def whole(
    ruleset: Rules, state: Any, dice: random.Random, *, hurry: float
) -> tuple[list[Ply], bool]:
    """A whole turn, ply by ply; the referee never sees how it was found."""
    plies: list[Ply] = []
    goes_on = True
    while goes_on and not (state.stage in OPTIONAL and dice.random() < 0.6):
        plies.append(choose(ruleset, state, dice, hurry))
        played = ruleset.play(state, plies[-1:], more=True)
        state, goes_on = played.state, played.goes_on
    return plies, False


def choose(ruleset: Rules, state: Any, dice: random.Random, hurry: float) -> Ply:
    """One legal ply; of Mister X's moves, as often as `hurry` says, one that leads nearest."""
    legal: tuple[Ply, ...] = ruleset.legal(state)
    pays = [ply for ply in legal if isinstance(ply, Pay)]
    if pays and (len(pays) == len(legal) or dice.random() < 0.35):
        return dice.choice(pays)
    legal = tuple(ply for ply in legal if not isinstance(ply, Pay))
    steps = [ply for ply in legal if isinstance(ply, Move | Lay)]
    if state.to_move is Side.MISTER_X and steps and dice.random() < hurry:
        far = distances(ruleset.text, state.colour)
        least = min(far[ply.to] for ply in steps)
        return dice.choice([ply for ply in steps if far[ply.to] == least])
    return dice.choice(legal)


@lru_cache(maxsize=4)
def distances(text: str, colour: str) -> dict[int, int]:
    """City → moves by any links to the nearest target."""
    board: Any = registry.make(text).board
    beside: dict[int, set[int]] = {city.id: set() for city in board.cities}
    for pairs in (board.links.car, board.links.rail, board.links.air):
        for one, two in pairs:
            beside[one].add(two)
            beside[two].add(one)
    far = dict.fromkeys(board.missions[colour].targets, 0)
    waiting = list(far)
    for city in waiting:
        for other in sorted(beside[city]):
            if other not in far:
                far[other] = far[city] + 1
                waiting.append(other)
    return far
