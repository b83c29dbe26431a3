"""Records as compressed text: whole, damaged, and of other formats."""

from __future__ import annotations

import zlib

import msgspec
import pytest

from arena.errors import ConfigError
from arena.referee.record import GameRecord
from arena.store.packing import core_text, pack_record, unpack, unpack_record
from arena.tournament.packed import pack
from tests.fake_games import fake_plan, fake_record

RECORD = fake_record(fake_plan().spec(0))


def halves(record: GameRecord) -> tuple[bytes, bytes]:
    packed = pack(record)
    return packed.core, packed.remainder


def test_a_record_is_packed_and_unpacked() -> None:
    assert unpack(*halves(RECORD)) == RECORD
    assert unpack_record(pack_record(RECORD)) == RECORD


def test_equal_cores_give_equal_texts_whatever_stands_beside_them() -> None:
    aside = msgspec.structs.replace(RECORD.aside, host="there", took_s=99.0)
    other = msgspec.structs.replace(RECORD, aside=aside, notes={})
    assert core_text(halves(other)[0]) == core_text(halves(RECORD)[0])
    assert halves(other)[1] != halves(RECORD)[1]


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"junk",
        zlib.compress(b"{}"),
        zlib.compress(b'{"a'),
        zlib.compress(b'{"format": 1, "arena": "\xff"}'),
        zlib.compress(b"[" * 100_000),
    ],
)
def test_a_damaged_record_is_told(damaged: bytes) -> None:
    core, rest = halves(RECORD)
    for blobs in ((damaged, rest), (core, damaged)):
        with pytest.raises(ConfigError, match="damaged"):
            unpack(*blobs)
    with pytest.raises(ConfigError, match="damaged"):
        unpack_record(damaged)
