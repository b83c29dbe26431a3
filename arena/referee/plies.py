"""What a bot sent as its plies, read as the ruleset's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from protocol.codec import UNKNOWN_KEYS, refuse_unknown_keys
from protocol.errors import RemoteProtocolError
from protocol.messages import Play
from protocol.quoting import quote

__all__ = ["list_of", "read_plies"]

_convert = msgspec.convert


def list_of(ply_type: Any) -> Any:
    """Return the type of a turn's plies, as `read_plies` wants it: made once a game."""
    return tuple.__class_getitem__((ply_type, ...))


def read_plies(answer: Play, line: bytes, plies_type: Any, ruleset: str) -> tuple[Any, ...]:
    """Return an answer's plies; keys that the ruleset does not know are dropped.

    Args:
        answer: what the bot said.
        line: the line that said it.
        plies_type: of the ruleset, by `list_of`.
        ruleset: its name, for errors.

    Raises:
        RemoteProtocolError: if they are no plies of the ruleset, or with those of its plies the
            line has too many unknown keys.
    """
    try:
        plies: tuple[Any, ...] = _convert(answer.plies, plies_type)
    except msgspec.ValidationError as exc:
        text = f"no plies of {ruleset} ({quote(str(exc).encode())}): {quote(line)}"
        raise RemoteProtocolError(text, "one example of each ply stands in SPEC.md") from exc
    if line.count(b":") > UNKNOWN_KEYS:  # a key has one: fewer need no look
        refuse_unknown_keys(line, tuple(_keys(plies)))
    return plies


def _keys(plies: Iterable[msgspec.Struct]) -> Iterable[frozenset[str]]:
    """Yield the keys that the ruleset knows of each ply."""
    for ply in plies:
        tag = ply.__struct_config__.tag_field
        yield frozenset((*ply.__struct_encode_fields__, *((tag,) if tag else ())))
