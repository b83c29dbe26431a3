"""The short way to read a `play`: straight into a game's own plies, where the line allows it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import inspect

from protocol.messages import Id, Play
from protocol.strict import INTEGER, LINE_BYTES, has_long_number

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

    __slots__ = ("_decode", "_is_bounded")

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
        self._is_bounded = _is_bounded(inspect.type_info(ply_type))

    def read(self, line: bytes) -> Play | None:
        """Return the play that a line holds, its plies of the game's type, or None.

        Args:
            line: as it came, without its LF.
        """
        if len(line) >= LINE_BYTES or (not self._is_bounded and has_long_number(line)):
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


def _is_bounded(kind: inspect.Type) -> bool:
    """Whether every integer that a ply holds is in bounds that keep it exact in every language.

    Then no line need be searched for a larger one: what a canonical line holds, a ply holds.
    """
    match kind:
        case inspect.UnionType():
            return all(map(_is_bounded, kind.types))
        case inspect.StructType():
            return all(_is_bounded(field.type) for field in kind.fields)
        case inspect.IntType(ge=int(low), le=int(high)):
            return low >= -INTEGER and high <= INTEGER
        case inspect.StrType() | inspect.LiteralType() | inspect.BoolType() | inspect.NoneType():
            return True
        case _:
            return False
