"""Numbered blocks over a pipe, however the pipe cuts them."""

from __future__ import annotations

import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from arena.tournament.executors.frames import READY, frame, frames

BLOCKS = st.lists(st.tuples(st.integers(0, READY), st.binary(max_size=300)), max_size=8)


def read(chunks: list[bytes]) -> list[tuple[int, bytes]]:
    async def main() -> list[tuple[int, bytes]]:
        receive = trio.testing.MemoryReceiveStream()
        for chunk in chunks:
            receive.put_data(chunk)
        receive.put_eof()
        return [block async for block in frames(receive)]

    return trio.run(main)


@given(BLOCKS, st.integers(1, 64))
def test_blocks_come_out_as_they_went_in(blocks: list[tuple[int, bytes]], cut: int) -> None:
    text = b"".join(frame(*block) for block in blocks)
    assert read([text[at : at + cut] for at in range(0, len(text), cut)]) == blocks


@given(st.binary(min_size=1, max_size=50), st.data())
def test_a_block_that_was_cut_off_is_dropped(payload: bytes, data: st.DataObject) -> None:
    whole = frame(7, payload)
    part = whole[: data.draw(st.integers(0, len(whole) - 1))]
    assert read([frame(1, b"one") + part]) == [(1, b"one")]
