"""JSON Schema 2020-12 of Europe's plies, views, events, numbers and board, made from the structs.

`schema/europe.json` beside this module is what `text` gives; a test keeps it so. A schema of the
envelope joins it by the names `ply`, `view`, `event`, `numbers` and `board` under `$defs`.
"""

from __future__ import annotations

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

__all__ = ["schema", "text"]

PLIES = (ChooseMission, ChooseStart, Move, Pay, Lay, Investigate, Special, PutBack)
VIEWS = (MisterXView, DetectivesView)
WORDS = {"ply": PLIES, "view": VIEWS, "event": EVENTS, "numbers": (Numbers,), "board": (Board,)}


def schema() -> dict[str, Any]:
    """Return the schema: each struct under its name in `$defs`, and the five words of `WORDS`."""
    kinds = [kind for group in WORDS.values() for kind in group]
    _, found = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    words: dict[str, Any] = {}
    for word, group in WORDS.items():
        refs = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in group]
        words[word] = refs[0] if len(refs) == 1 else {"anyOf": refs}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Europe: plies, views, events, numbers and board",
        "$defs": words | found,
    }


def text() -> str:
    """Return the schema as the file beside this module has it."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n"
