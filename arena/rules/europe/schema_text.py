"""JSON Schema 2020-12 of Europe's plies, views, events, numbers and board, made from the structs.

`schema/europe.json` beside this module is what `text` gives; a test keeps it so. A schema of the
envelope joins it by the names `ply`, `view`, `event`, `numbers` and `board` under `$defs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from arena.rules.europe.board import Board
from arena.rules.europe.state import (
    ChooseMission,
    ChooseStart,
    Investigate,
    Lay,
    Move,
    Numbers,
    Pay,
    PutBack,
    Special,
)
from arena.rules.europe.views import EVENTS, DetectivesView, MisterXView
from arena.rules.schemas import schema_file, schema_of

__all__ = ["schema", "text"]

PLIES = (ChooseMission, ChooseStart, Move, Pay, Lay, Investigate, Special, PutBack)
VIEWS = (MisterXView, DetectivesView)
WORDS: Mapping[str, Sequence[type[msgspec.Struct]]] = {
    "ply": PLIES,
    "view": VIEWS,
    "event": EVENTS,
    "numbers": (Numbers,),
    "board": (Board,),
}


def schema() -> dict[str, Any]:
    """Return the schema; see `arena.rules.schemas.schema_of`."""
    return schema_of("Europe: plies, views, events, numbers and board", WORDS)


def text() -> str:
    """Return the schema as the file beside this module has it."""
    return schema_file(schema())
