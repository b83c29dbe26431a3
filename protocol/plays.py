"""The short way to read a `play`: straight into a game's own plies, where the line allows it."""

from __future__ import annotations

from typing import Any

import msgspec

from protocol.messages import Id, Play
from protocol.strict import LINE_BYTES, has_long_number

__all__ = ["PlayReader"]

_encode = msgspec.json.Encoder().encode


class PlayReader:
    """Reads plays of one kind of ply.

    The wire knows no game, so it is told what one ply is. A line is taken only if it is
    *canonical*, as in `strict`: if writing what was read gives the same bytes again, blanks behind
    `,` and `:` aside. Then `decode_answer` would give the same; every other line is left to it.

    Args:
        ply_type: a struct, or a tagged union of structs.
    """

    __slots__ = ("_decode",)

    def __init__(self, ply_type: Any) -> None:
        kind = msgspec.defstruct(
            "TypedPlay",
            [
                ("id", Id),
                ("plies", tuple.__class_getitem__((ply_type, ...))),
                ("more", bool, False),
            ],
            frozen=True,
            omit_defaults=True,
            tag_field="type",
            tag="play",
        )
        self._decode = msgspec.json.Decoder(kind).decode

    def read(self, line: bytes) -> Play | None:
        """Return the play that a line holds, its plies of the game's type, or None.

        Args:
            line: as it came, without its LF.
        """
        if len(line) >= LINE_BYTES or has_long_number(line):
            return None
        try:
            found: Any = self._decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
        again = _encode(found)
        if again != line and again != line.replace(b", ", b",").replace(b": ", b":"):
            return None
        if found.more and not found.plies:
            return None
        return Play(id=found.id, plies=found.plies, more=found.more)
