"""What a bot wrote is shown on one line, harmless, and cut."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from protocol.quoting import quote


def test_quote_leaves_plain_text_alone() -> None:
    assert quote(b'{"type":"ready"} ~') == '{"type":"ready"} ~'


def test_quote_escapes_control_characters_and_other_bytes() -> None:
    assert quote(b"\x1b]0;title\x07\r\n\x00\x7f\xff\xc3\xa4") == (
        r"\x1b]0;title\x07\x0d\x0a\x00\x7f\xff\xc3\xa4"
    )


def test_quote_escapes_the_backslash_so_that_no_bot_can_write_our_escapes() -> None:
    assert quote(rb"\x1b") == r"\\x1b"


def test_quote_cuts_at_200_bytes_and_tells_how_many_there_were() -> None:
    assert quote(b"a" * 200) == "a" * 200
    assert quote(b"a" * 50_000) == "a" * 200 + "… (50,000 bytes in all)"


@given(st.binary(max_size=300))
def test_quote_gives_one_printable_line(data: bytes) -> None:
    shown = quote(data)
    assert re.fullmatch(r"[ -~]*(… \(\d+ bytes in all\))?", shown)
