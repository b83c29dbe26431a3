"""Records as compressed text: whole, damaged, and of other formats."""

from __future__ import annotations

import zlib

import msgspec
import pytest

from arena.errors import StoreError
from arena.store.packing import core_text, pack, pack_record, unpack, unpack_record
from tests.fake_games import fake_plan, fake_record

RECORD = fake_record(fake_plan().spec(0))


def test_a_record_is_packed_and_unpacked() -> None:
    assert unpack(*pack(RECORD)) == RECORD
    assert unpack_record(pack_record(RECORD)) == RECORD


def test_equal_cores_give_equal_texts_whatever_stands_beside_them() -> None:
    aside = msgspec.structs.replace(RECORD.aside, host="there", took_s=99.0)
    other = msgspec.structs.replace(RECORD, aside=aside, notes={})
    assert core_text(pack(other)[0]) == core_text(pack(RECORD)[0])
    assert pack(other)[1] != pack(RECORD)[1]


@pytest.mark.parametrize("damaged", [b"", b"junk", zlib.compress(b"{}"), zlib.compress(b'{"a')])
def test_a_damaged_record_is_told(damaged: bytes) -> None:
    core, rest = pack(RECORD)
    for blobs in ((damaged, rest), (core, damaged)):
        with pytest.raises(StoreError, match="damaged"):
            unpack(*blobs)
    with pytest.raises(StoreError, match="damaged"):
        unpack_record(damaged)
