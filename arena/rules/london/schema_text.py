"""JSON Schema 2020-12 of London's plies, views, events, numbers and board, made from the structs.

`schema/london.json` beside this module is what `text` gives; a test keeps it so. A schema of the
envelope joins it by the names `ply`, `view`, `event`, `numbers` and `board` under `$defs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from arena.rules.london.state import Board, Numbers, Step
from arena.rules.london.views import (
    Captured,
    DetectivesView,
    Doubled,
    MisterXView,
    Moved,
    Revealed,
    SatOut,
)
from arena.rules.schemas import schema_file, schema_of

__all__ = ["schema", "text"]

EVENTS = (Moved, Doubled, Revealed, SatOut, Captured)
VIEWS = (MisterXView, DetectivesView)
WORDS: Mapping[str, Sequence[type[msgspec.Struct]]] = {
    "ply": (Step,),
    "view": VIEWS,
    "event": EVENTS,
    "numbers": (Numbers,),
    "board": (Board,),
}


def schema() -> dict[str, Any]:
    """Return the schema; see `arena.rules.schemas.schema_of`."""
    return schema_of("London: plies, views, events, numbers and board", WORDS)


def text() -> str:
    """Return the schema as the file beside this module has it."""
    return schema_file(schema())
