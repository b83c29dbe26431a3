"""The compressed texts that the store keeps of a record → GameRecord; `packed` made them.

`core` is the half that compares byte for byte: its JSON, which depends on nothing but the record,
under zlib (whose own bytes may differ between versions; compare what `unpack_core` gives).
"""

from __future__ import annotations

import zlib

import msgspec

from arena.errors import StoreError
from arena.referee.record import FORMAT, Core, GameRecord
from arena.tournament.packed import Remainder, compress

__all__ = ["core_text", "pack_record", "unpack", "unpack_record"]


class _Format(msgspec.Struct):
    """The one field that a core of any format has."""

    format: int


_format = msgspec.json.Decoder(_Format)
_core_by_format = {1: msgspec.json.Decoder(Core)}  # an old record opens in a new release
_remainder = msgspec.json.Decoder(Remainder)
_record = msgspec.json.Decoder(GameRecord)


def core_text(packed: bytes) -> bytes:
    """Return the JSON of a packed core: what compares byte for byte.

    Raises:
        StoreError: if the bytes are damaged.
    """
    try:
        return zlib.decompress(packed)
    except zlib.error as exc:
        raise StoreError(f"a record in the database is damaged: {exc}") from exc


def unpack(core: bytes, remainder: bytes) -> GameRecord:
    """Return the record whose halves these are.

    Raises:
        StoreError: if it has a format of a newer arena, or is damaged.
    """
    text = core_text(core)
    try:
        number = _format.decode(text).format
        if number not in _core_by_format:
            raise StoreError(
                f"a record has format {number}, this arena reads up to {FORMAT}: "
                "open it with the arena that wrote it, or a newer one"
            )
        rest = _remainder.decode(core_text(remainder))
        return GameRecord(
            core=_core_by_format[number].decode(text), notes=rest.notes, aside=rest.aside
        )
    except msgspec.DecodeError as exc:
        raise StoreError(f"a record in the database is damaged: {exc}") from exc


def pack_record(record: GameRecord) -> bytes:
    """Return a whole record as one compressed text."""
    return compress(record)


def unpack_record(packed: bytes) -> GameRecord:
    """Return the record that `pack_record` took.

    Raises:
        StoreError: if the bytes are damaged.
    """
    try:
        return _record.decode(core_text(packed))
    except msgspec.DecodeError as exc:
        raise StoreError(f"a record in the database is damaged: {exc}") from exc
