"""The compressed texts that the store keeps of a record → GameRecord; `packed` made them.

`core` is the half that compares byte for byte: its JSON, which depends on nothing but the record,
under zlib (whose own bytes may differ between versions; compare what `unpack_core` gives).
"""

from __future__ import annotations

import zlib

import msgspec

from arena.errors import ConfigError, RecordDamaged
from arena.referee.record import FORMAT, Core, GameRecord
from arena.tournament.packed import Remainder, compress

__all__ = ["DAMAGE", "core_text", "damaged", "pack_record", "unpack", "unpack_record"]

# What decoders say of bytes that are not as they were written.
DAMAGE = (zlib.error, msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Format(msgspec.Struct):
    """The one field that a core of any format has."""

    format: int


_format = msgspec.json.Decoder(_Format)
_core_by_format = {1: msgspec.json.Decoder(Core)}  # an old record opens in a new release
_remainder = msgspec.json.Decoder(Remainder)
_record = msgspec.json.Decoder(GameRecord)


def damaged(game: str | None, error: Exception) -> RecordDamaged:
    """Return the error for a record that can't be read: later it is no better.

    Args:
        game: its run and id, `RUN/GAME`; None if they are not known.
        error: what the decoder said, one of `DAMAGE`.
    """
    why = str(error) or type(error).__name__
    if game is None:
        return RecordDamaged(f"a record is damaged ({why}): put back a copy of it")
    return RecordDamaged(
        f"game {game} is damaged ({why}): `arena resume --again {game}` plays it anew, or put back "
        "a copy of the data folder; `arena verify` names every such game"
    )


def core_text(packed: bytes, game: str | None = None) -> bytes:
    """Return the JSON of a packed core: what compares byte for byte.

    Args:
        packed: as the database has it.
        game: whose it is, `RUN/GAME`, for the error.

    Raises:
        RecordDamaged: if they are.
    """
    try:
        return zlib.decompress(packed)
    except DAMAGE as exc:
        raise damaged(game, exc) from exc


def unpack(core: bytes, remainder: bytes, game: str | None = None) -> GameRecord:
    """Return the record whose halves these are.

    Args:
        core: the half that compares byte for byte, packed.
        remainder: the other one.
        game: whose they are, `RUN/GAME`, for the error.

    Raises:
        RecordDamaged: if it is.
        ConfigError: if it has a format of a newer arena.
    """
    text = core_text(core, game)
    try:
        number = _format.decode(text).format
        if number not in _core_by_format:
            raise ConfigError(
                f"{'a record' if game is None else f'game {game}'} has format {number}, this arena "
                f"reads up to {FORMAT}: open it with the arena that wrote it, or a newer one"
            )
        rest = _remainder.decode(core_text(remainder, game))
        return GameRecord(
            core=_core_by_format[number].decode(text), notes=rest.notes, aside=rest.aside
        )
    except DAMAGE as exc:
        raise damaged(game, exc) from exc


def pack_record(record: GameRecord) -> bytes:
    """Return a whole record as one compressed text."""
    return compress(record)


def unpack_record(packed: bytes, game: str | None = None) -> GameRecord:
    """Return the record that `pack_record` took.

    Args:
        packed: as the database has it.
        game: whose it is, `RUN/GAME`, for the error.

    Raises:
        RecordDamaged: if they are.
    """
    try:
        return _record.decode(core_text(packed, game))
    except DAMAGE as exc:
        raise damaged(game, exc) from exc
