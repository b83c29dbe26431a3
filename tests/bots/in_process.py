"""Bots played as functions, against the rules alone: quick, and exact about what was answered."""

from __future__ import annotations

import hashlib
import importlib.resources
import importlib.util
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from misterx_sdk import Board, Deal, Turn

from arena.rules.ruleset import Ruleset, Side

Brain = Callable[[Turn], Sequence[dict[str, Any]]]
Watch = Callable[[Any, Side, Turn], None]  # the state, who is asked, what it was asked

BOTS = Path(str(importlib.resources.files("bots")))
_numbers = itertools.count()


def load_bot(name: str) -> ModuleType:
    """Import a reference bot's own module anew."""
    file = BOTS / "reference" / name / "bot.py"
    spec = importlib.util.spec_from_file_location(f"bot_{name}_{next(_numbers)}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain(value: Any) -> Any:
    """Return a struct as a bot reads it off the wire."""
    return msgspec.json.decode(msgspec.json.encode(value))


def dice_seed(seed: int, side: Side) -> int:
    """Return a side's seed in a game of these tests."""
    digest = hashlib.sha256(f"{seed} {side}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


def play_game(
    rules: Ruleset[Any, Any],
    brains: dict[Side, Brain],
    seed: int,
    *,
    board: Board | None = None,
    watch: Watch | None = None,
) -> tuple[Any, list[tuple[Side, list[dict[str, Any]]]]]:
    """Play a game by the rules; return its last state and every turn's plies.

    Raises:
        IllegalMove: if a bot broke the rules.
    """
    state = rules.deal(hashlib.sha256(f"deal {seed}".encode()).digest(), seed)
    board = board or Board(plain(rules.board))
    deals = {
        side: Deal(
            {
                "ruleset": rules.text,
                "behaviour": rules.behaviour,
                "numbers": plain(rules.numbers),
                "side": str(side),
                "clock": None,
                "budget": None,
                "seed": dice_seed(seed, side),
                "view": plain(rules.view(state, side)),
            },
            board,
        )
        for side in Side
    }
    turns: list[tuple[Side, list[dict[str, Any]]]] = []
    while (side := rules.to_move(state)) is not None:
        message = {"view": plain(rules.view(state, side)), "bank_ms": None, "charged_ms": None}
        turn = Turn(deals[side], message)
        if watch is not None:
            watch(state, side, turn)
        plies = list(brains[side](turn))
        state = rules.play(
            state, [msgspec.convert(ply, rules.ply_type) for ply in plies], more=False
        ).state
        turns.append((side, plies))
    return state, turns
