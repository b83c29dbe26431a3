"""The state, the ply, the numbers, and what each side sees."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from arena.rules.ruleset import Ply, Side, Verdict
from arena.rules.schemas import schema_of

__all__ = [
    "DETECTIVES",
    "Board",
    "DetectivesView",
    "End",
    "FigureName",
    "MisterXView",
    "Moved",
    "Numbers",
    "SatOut",
    "Seen",
    "State",
    "Step",
    "schema",
    "view",
]

FigureName = Literal["x", "d1", "d2"]
DetectiveName = Literal["d1", "d2"]
DETECTIVES: tuple[DetectiveName, ...] = ("d1", "d2")


class Board(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The stations, and the lines between them, each once."""

    name: str
    stations: tuple[int, ...]
    lines: tuple[tuple[int, int], ...]


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """All that the rules ask."""

    rounds: int
    coins: int  # of each detective at the start
    seen_every: int  # turns of Mister X


class Step(Ply, frozen=True):
    """A figure goes to a station; null: Mister X waits."""

    figure: FigureName
    to: Annotated[int, Meta(ge=1, le=999)] | None


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the rules depend on."""

    round: int  # from 1
    to_move: Side | None  # None: the game is over
    x: int  # secret
    start: int  # Mister X's first station, secret
    seen: int | None  # where Mister X was last shown
    seen_round: int  # 0: not yet
    detectives: tuple[int, int]  # stations of d1 and d2
    unmoved: tuple[DetectiveName, ...]  # have still to move in the team's open turn
    coins: tuple[int, int]
    purse: int  # Mister X's coins
    box: int = 0
    ended: Verdict | None = None


class DetectivesView(msgspec.Struct, frozen=True, kw_only=True):
    """What the team knows."""

    round: int
    seen: int | None
    seen_round: int
    detectives: tuple[int, int]
    unmoved: tuple[DetectiveName, ...]
    coins: tuple[int, int]
    purse: int
    box: int


class MisterXView(DetectivesView, frozen=True, kw_only=True):
    """What Mister X knows."""

    x: int


class Happening(msgspec.Struct, frozen=True, tag_field="event"):
    """Something that happened."""


class Moved(Happening, frozen=True, tag="move"):
    """A figure went; the team is not told where Mister X goes to."""

    figure: FigureName
    to: int | None
    waited: bool = False


class SatOut(Happening, frozen=True, tag="sit_out"):
    """A detective can't go."""

    figure: DetectiveName


class Seen(Happening, frozen=True, tag="seen"):
    """Mister X is shown (T8)."""

    station: int


class End(Happening, frozen=True, tag="end"):
    """The game is over, and Mister X is shown."""

    station: int


def view(state: State, side: Side) -> DetectivesView:
    """Return all that a side may know."""
    both = {name: getattr(state, name) for name in DetectivesView.__struct_fields__}
    return MisterXView(**both, x=state.x) if side is Side.MISTER_X else DetectivesView(**both)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of plies, views, events, numbers and board."""
    words: dict[str, tuple[type[msgspec.Struct], ...]] = {
        "ply": (Step,),
        "view": (MisterXView, DetectivesView),
        "event": (Moved, SatOut, Seen, End),
        "numbers": (Numbers,),
        "board": (Board,),
    }
    return schema_of("Ten stations: plies, views, events, numbers and board", words)
