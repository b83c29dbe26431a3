"""Whole games of Europe for the tests of replays: played ply by ply by fakes that like to act."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import count
from random import Random
from typing import Any

import trio

from arena.referee.record import GameRecord
from tests.referee.games import Brain, Request, honest, line, play_fakes

__all__ = ["acting_game", "eager", "long_game", "played"]

WANTED = ("doubles_used", "hiddens_used", "specials", "investigations")


def eager(seed: int) -> Brain:
    """A fake bot that plays at random, and special actions and put-backs gladly.

    Args:
        seed: of its dice.
    """
    dice = Random(seed)

    def brain(request: Request) -> bytes:
        if request["type"] == "hello":
            said: Request = {"name": "fake", "rulesets": ["europe-2009"], "wants": ["legal"]}
            return line(type="hello", id=request["id"], protocol=1, **said)
        if request["type"] != "turn":
            return honest(request)
        legal = request["legal"]
        stage = request["view"]["stage"]
        answer: Request = {"type": "play", "id": request["id"], "plies": []}
        acts = [ply for ply in legal if ply["do"] in {"pay", "investigate", "special"}]
        optional = stage == "refill" or (stage == "action" and not acts)
        if legal and not (optional and dice.random() < 0.6):
            answer["plies"] = [dice.choice(acts if acts and dice.random() < 0.6 else legal)]
            answer["more"] = True
        answer["note"] = f"stage {stage}"
        return line(**answer)

    return brain


def played(seed: int, ruleset: str = "europe-2009", **settings: Any) -> GameRecord:
    """A game of two fakes."""

    async def play() -> GameRecord:
        return (
            await play_fakes(eager(seed), eager(seed + 1), ruleset=ruleset, number=seed, **settings)
        )[0]

    return trio.run(play)


@cache
def acting_game() -> GameRecord:
    """A game of four players in which every kind of action happens, and a city is declared."""
    games = (played(seed, "europe-2009:players=4") for seed in count())
    return next(game for game in games if _has_all(game.core.facts))


@cache
def long_game() -> GameRecord:
    """A game that ends by the cap of rounds, so that half of it is played openly."""
    return next(game for game in map(played, count()) if game.core.reason == "cap")


def _has_all(facts: Mapping[str, Any]) -> bool:
    return all(facts[key] for key in WANTED) and facts["entries_known"] > facts["investigations"]
