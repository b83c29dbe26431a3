"""What a whole random game costs the rules, as a ratio to a fixed loop of plain Python."""

from __future__ import annotations

import random
import time
from statistics import median
from typing import Any

from arena.bench.specs import RULESET
from arena.rules.registry import make
from arena.rules.ruleset import Ruleset, Side

__all__ = ["fixed_loop", "measure_rules"]

GAMES = 40
ROUNDS = 9  # over all of them; what is told is their median
LOOPS = 1_000  # in a round
ADDITIONS = 2_000

Asked = tuple[Any, Side, list[Any]]  # a state, who is to move in it, and the turn


def fixed_loop() -> int:
    """Do what never changes: 2,000 additions in plain Python."""
    total = 0
    for number in range(ADDITIONS):
        total += number % 7
    return total


def random_turns(ruleset: Ruleset[Any, Any], number: int) -> list[Asked]:
    """Return each turn of a game that is played at random; the same one for the same number."""
    dice = random.Random(number)  # noqa: S311 - what is measured is no chance of the game
    state = ruleset.deal(number.to_bytes(8, "big"), number)
    asked: list[Asked] = []
    while (side := ruleset.to_move(state)) is not None:
        before = state
        plies: list[Any] = []
        while ruleset.to_move(state) is side and (not plies or side is Side.DETECTIVES):
            ply = dice.choice(ruleset.legal(state))
            plies.append(ply)
            state = ruleset.play(state, (ply,), more=side is Side.DETECTIVES).state
        asked.append((before, side, plies))
    return asked


def serve(ruleset: Ruleset[Any, Any], asked: list[Asked]) -> None:
    """Do all that the referee asks of the rules in a game."""
    for state, side, plies in asked:
        ruleset.view(state, side)
        ruleset.legal(state)
        ruleset.play(state, plies, more=False)


def measure_rules() -> dict[str, float]:
    """Return what `legal`, `play` and `view` take for a whole random game of London.

    Rounds of games and of the fixed loop alternate, so that both see the same machine.

    Returns:
        `game_us` and `loop_us`, CPU time in microseconds, and `ratio` of the two.
    """
    ruleset = make(RULESET)
    games = [random_turns(ruleset, number) for number in range(GAMES)]
    ours: list[float] = []
    loop: list[float] = []
    for _ in range(ROUNDS):
        began = time.process_time_ns()
        for asked in games:
            serve(ruleset, asked)
        middle = time.process_time_ns()
        for _ in range(LOOPS):
            fixed_loop()
        ours.append((middle - began) / GAMES / 1000)
        loop.append((time.process_time_ns() - middle) / LOOPS / 1000)
    return {
        "game_us": round(median(ours), 1),
        "loop_us": round(median(loop), 2),
        "ratio": round(median(a / b for a, b in zip(ours, loop, strict=True)), 3),
    }
