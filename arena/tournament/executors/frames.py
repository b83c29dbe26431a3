"""Numbered blocks of bytes over a pipe: what the local executor and its workers say."""

from __future__ import annotations

import struct
from collections.abc import AsyncGenerator

import trio

__all__ = ["READY", "SETTINGS", "frame", "frames"]

READY = 2**64 - 1  # the number of a worker's first block: it can play now
SETTINGS = 2**64 - 2  # the number of the first block to a worker: what its table is opened with

_HEAD = struct.Struct(">QI")  # number, length of what follows
_CHUNK = 65_536


def frame(number: int, payload: bytes) -> bytes:
    """Return one block, to be written whole."""
    return _HEAD.pack(number, len(payload)) + payload


async def frames(stream: trio.abc.ReceiveStream) -> AsyncGenerator[tuple[int, bytes], None]:
    """Yield (number, payload) of every whole block up to the end of the stream."""
    kept = bytearray()
    while chunk := await stream.receive_some(_CHUNK):
        kept += chunk
        while len(kept) >= _HEAD.size:
            number, length = _HEAD.unpack_from(kept)
            end = _HEAD.size + length
            if len(kept) < end:
                break
            yield number, bytes(kept[_HEAD.size : end])
            del kept[:end]
