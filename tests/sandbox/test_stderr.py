"""What is kept of a bot's standard error."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.sandbox.stderr import StderrTail


@given(st.lists(st.binary(max_size=40)), st.integers(0, 20), st.integers(1, 20))
def test_head_and_tail_are_kept_and_the_rest_is_counted(
    chunks: list[bytes], head: int, tail: int
) -> None:
    kept = StderrTail(head=head, tail=tail)
    for chunk in chunks:
        kept.add(chunk)
    whole = b"".join(chunks)
    assert kept.dropped == max(0, len(whole) - head - tail)
    if kept.dropped:
        shown = StderrTail(head=head)
        shown.add(whole[:head])
        ended = StderrTail(head=tail)
        ended.add(whole[-tail:])
        middle = f"\n[… {kept.dropped:,} bytes dropped …]\n"
        assert kept.text() == shown.text() + middle + ended.text()


def test_text_shows_controls_and_bad_bytes_escaped() -> None:
    kept = StderrTail()
    kept.add("a\tb\nc\x1b[2J\x07\r\x9b\u202e é".encode() + b"\xff")
    assert kept.text() == "a\tb\nc\\x1b[2J\\x07\\r\\x9b\\u202e é\\xff"


def test_clear_forgets_everything() -> None:
    kept = StderrTail(head=1, tail=1)
    kept.add(b"abc")
    kept.clear()
    assert (kept.text(), kept.dropped) == ("", 0)
