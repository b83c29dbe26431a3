"""What can be chosen, and what it makes: numbers of the rules for any board."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from arena.errors import ConfigError
from arena.rules.europe.board import ACTIONS, NO_COLOURS, TRANSPORTS, Board, board_hash, load_board
from arena.rules.europe.bound import Rules
from arena.rules.europe.net import Net
from arena.rules.europe.state import Numbers, Pile
from arena.rules.ruleset import Option

__all__ = [
    "BOARDS",
    "NAME",
    "Bound",
    "bind",
    "bind_typed_in",
    "is_name",
    "numbers_of",
    "options_of",
    "summary_of",
]

NAME = "europe-2009"
TITLE = "Mister X: Flucht durch Europa"

BOARDS = "ARENA_BOARDS"  # the variable that names the folder of typed-in boards
OWN = "own"

MISTER_X_HAND = 8  # rule 9
BASE_HAND = 4  # and one more for each piece led: rule 6

# players (Mister X counted) → detectives led by p1, p2 …: rule 6
PIECES_LED = {2: (5,), 3: (3, 2), 4: (2, 2, 1), 5: (2, 1, 1, 1), 6: (1, 1, 1, 1, 1)}


class Bound:
    """A board made ready to be played on.

    Attributes:
        board: as bots get it.
        board_hash: SHA-256 of it; see `arena.rules.europe.board.board_hash`.
        net: its links as tables.
        called: what the option `board` says for it.
    """

    __slots__ = ("board", "board_hash", "called", "net")

    def __init__(self, board: Board, called: str = OWN) -> None:
        self.board = board
        self.called = called
        self.board_hash = board_hash(board)
        self.net = Net(board)

    def rules(self, numbers: Numbers) -> Rules:
        """Return numbers and board made ready."""
        return Rules(numbers, self.board, self.net)


@lru_cache(maxsize=1)
def bind() -> Bound:
    """Return the package's own board made ready; cached."""
    return Bound(load_board())


def bind_typed_in(called: str) -> Bound:
    """Return a board that an owner of the game typed in, made ready (B8 to B10).

    It is `NAME.json` in the folder that the variable `ARENA_BOARDS` names, so that all processes of
    a run find it; a record keeps its SHA-256, and is replayed on no other.

    Raises:
        ConfigError: if there is no such folder or board, or the board is not sound.
    """
    if not is_name(called):
        raise ConfigError(
            f"board={called}: write the name of a board in lower case, without folder and .json"
        )
    folder = os.environ.get(BOARDS)
    if not folder:
        raise ConfigError(
            f"board={called}: set the variable {BOARDS} to the folder in which {called}.json lies"
        )
    return Bound(load_board(Path(folder) / f"{called}.json"), called)


def is_name(text: str) -> bool:
    """Return whether a text can be the name of a typed-in board; `own` is the package's."""
    return text != OWN and re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", text) is not None


def summary_of(board: Board, called: str = OWN) -> str:
    """Return what is played, and on whose board, in a line."""
    whose = "a board of our own" if called == OWN else f"a typed-in board, {board.name}"
    tickets = sum(ticket.count for ticket in board.tickets)
    return f"{TITLE}, on {whose}: missions, hands, {tickets} tickets"


def options_of(board: Board, called: str = OWN) -> tuple[Option, ...]:
    """Return what the rules leave open on a board, the default first."""
    return (
        Option(name="players", values=(6, 2, 3, 4, 5), meaning="how many, Mister X counted"),
        Option(
            name="mission",
            values=(*NO_COLOURS, *board.missions),
            meaning="his colour: he chooses, one after the other by the deal, or this one",
        ),
        Option(
            name="setup_order",
            values=("detectives-first", "mister-x-first"),
            meaning="who is placed first (A1)",
        ),
        Option(
            name="capture",
            values=("immediate", "check"),
            meaning="when a detective on his city is seen: at each step, or in the check (A2)",
        ),
        Option(
            name="passed",
            values=("counts", "ignored"),
            meaning="whether the check asks for a city that was entered and left again (A3)",
        ),
        Option(
            name="encircled",
            values=("stuck", "loss"),
            meaning="what it is when detectives hold every city around him (A5)",
        ),
        Option(
            name="start_in_window",
            values=("false", "true"),
            meaning="whether the check asks for his start (A14)",
        ),
        Option(
            name="as_many",
            values=("most", "maximal"),
            meaning="pieces that must move: as many as the hand allows, or until none can (A23)",
        ),
        Option(name="cap", values=(50, 25, 100), meaning="rounds; then the detectives win (A24)"),
        Option(
            name="board",
            values=tuple(dict.fromkeys((OWN, called))),
            meaning=f"our own, or NAME for NAME.json in the folder that {BOARDS} names",
        ),
    )


def numbers_of(board: Board, options: Mapping[str, str | int]) -> Numbers:
    """Return all numbers of the rules with the options chosen."""
    pieces = PIECES_LED[int(options["players"])]
    counts = {(ticket.transport, ticket.action): ticket.count for ticket in board.tickets}
    chosen: dict[str, Any] = {
        name: options[name]
        for name in ("mission", "setup_order", "capture", "passed", "encircled", "as_many")
    }
    return Numbers(
        players=int(options["players"]),
        pieces=pieces,
        hand_sizes=tuple([BASE_HAND + count for count in pieces]),
        mister_x_hand=MISTER_X_HAND,
        tickets=Pile(*[counts[t, a] for t in TRANSPORTS for a in ACTIONS]),
        spaces=24,
        action_from=5,
        double_price=3,
        hidden_price=3,
        investigate={"3": 4, "4": 3, "5": 2},
        special={"3": "car", "4": "rail", "5": "air"},
        window=5,
        rings=5,
        cap=int(options["cap"]),
        missions=board.missions,
        detective_starts=board.detective_starts,
        start_in_window=options["start_in_window"] == "true",
        **chosen,
    )
