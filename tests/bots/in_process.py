"""Bots played as functions, against the rules alone: quick, and exact about what was answered."""

from __future__ import annotations

import hashlib
import importlib.resources
import importlib.util
import itertools
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import misterx_sdk
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


class Table:
    """A game in the making, and both sides' talk with it: what the referee would be to them."""

    def __init__(self, rules: Ruleset[Any, Any], seed: int, board: Board | None) -> None:
        self.rules = rules
        self.state = rules.deal(hashlib.sha256(f"deal {seed}".encode()).digest(), seed)
        self.turns: list[tuple[Side, list[dict[str, Any]]]] = []  # a part counts as one
        self.events: dict[Side, list[Any]] = {side: [] for side in Side}
        raw = _raw_board(rules)  # type: ignore[arg-type]  # all are hashable
        if "stations" in raw and board is None:
            board = Board(raw)
        self.deals = {
            side: Deal(
                {
                    "ruleset": rules.text,
                    "behaviour": rules.behaviour,
                    "numbers": _numbers_of(rules),  # type: ignore[arg-type]
                    "board": raw,
                    "side": str(side),
                    "clock": None,
                    "budget": None,
                    "seed": dice_seed(seed, side),
                    "view": plain(rules.view(self.state, side)),
                },
                board,
            )
            for side in Side
        }

    def turn(self, side: Side) -> Turn:
        """What a side is asked now."""
        message = {
            "id": "",
            "view": plain(self.rules.view(self.state, side)),
            "events": plain(self.events[side]),
            "bank_ms": None,
            "charged_ms": None,
        }
        self.events[side].clear()
        talk: Any = Talk(self, side)
        return AskedTurn(self.deals[side], message, talk)

    def play(self, side: Side, plies: Sequence[dict[str, Any]], *, more: bool) -> bool:
        """Play plies of a side; True if its turn goes on.

        Raises:
            IllegalMove: if a bot broke the rules.
        """
        sent = [msgspec.convert(ply, self.rules.ply_type) for ply in plies]
        played = self.rules.play(self.state, sent, more=more)
        self.state = played.state
        self.turns.append((side, list(plies)))
        for event in played.events:
            for one in Side if event.seen_by is None else (event.seen_by,):
                self.events[one].append(event.what)
        return played.goes_on


class AskedTurn(Turn):
    """A turn whose legal plies are found only when they are asked for, which is slow."""

    __slots__ = ()

    @property
    def legal(self) -> list[dict[str, Any]]:
        """Single plies possible now."""
        if "legal" not in self._message:
            table: Table = self._talk.table  # type: ignore[union-attr]
            self._message["legal"] = plain(table.rules.legal(table.state))
        found: list[dict[str, Any]] = self._message["legal"]
        return found


class Talk:
    """The talk of one side, as `Turn.part` needs it."""

    def __init__(self, table: Table, side: Side) -> None:
        self.table = table
        self.side = side
        self.goes_on = True

    def answer(
        self, number: str, plies: Sequence[dict[str, Any]], note: object, *, more: bool
    ) -> None:
        del number, note
        self.goes_on = self.table.play(self.side, plies, more=more)

    def next_turn(self, deal: Deal) -> Turn:
        assert deal is self.table.deals[self.side]
        if not self.goes_on:
            raise misterx_sdk._TurnOver
        return self.table.turn(self.side)


@lru_cache(maxsize=8)
def _raw_board(rules: Hashable) -> dict[str, Any]:
    raw: dict[str, Any] = plain(rules.board)  # type: ignore[attr-defined]
    return raw


@lru_cache(maxsize=8)
def _numbers_of(rules: Hashable) -> dict[str, Any]:
    numbers: dict[str, Any] = plain(rules.numbers)  # type: ignore[attr-defined]
    return numbers


def play_game(
    rules: Ruleset[Any, Any],
    brains: dict[Side, Brain],
    seed: int,
    *,
    board: Board | None = None,
    watch: Watch | None = None,
) -> tuple[Any, list[tuple[Side, list[dict[str, Any]]]]]:
    """Play a game by the rules; return its last state and every turn's, or part's, plies.

    Raises:
        IllegalMove: if a bot broke the rules.
    """
    table = Table(rules, seed, board)
    while (side := rules.to_move(table.state)) is not None:
        turn = table.turn(side)
        if watch is not None:
            watch(table.state, side, turn)
        with suppress(misterx_sdk._TurnOver):
            table.play(side, list(brains[side](turn)), more=False)
    return table.state, table.turns
