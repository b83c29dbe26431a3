"""Plays read straight into a game's plies: as the long way gives them, or not at all."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET, Meta

from arena.rules import registry
from protocol.codec import decode_answer
from protocol.errors import RemoteProtocolError
from protocol.messages import Play
from protocol.plays import PlayReader
from protocol.strict import INTEGER, LINE_BYTES


class Walk(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="do", tag="walk"):
    to: int
    by: Literal["foot", "horse"] = "foot"


class Sing(msgspec.Struct, frozen=True, tag_field="do", tag="sing"):
    what: str


class Trot(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="do", tag="walk"):
    to: Annotated[int, Meta(ge=-INTEGER, le=INTEGER)]
    by: Literal["foot", "horse"] = "foot"
    back: bool | None = None


READER = PlayReader(Walk | Sing)
PLIES = tuple[Walk | Sing, ...]
BOUNDED = PlayReader(Trot | Sing)


def slowly(line: bytes, plies: Any = PLIES) -> Play | None:
    """The play that the long way gives, its plies converted afterwards."""
    try:
        found = decode_answer(line)
        if not isinstance(found, Play):
            return None
        read = msgspec.convert(found.plies, plies)
    except (RemoteProtocolError, msgspec.ValidationError):
        return None
    return Play(id=found.id, plies=read, more=found.more, note=found.note)


PIECES = rb"""
 " { } [ ] , : \ \u \ud800 1.0 -0 1e9 99999999999999999 true "to":1, "more":true "more":false
 "id":"b", "note":1 "x":2, walk sing
"""
plies = st.one_of(
    st.builds(lambda to: {"do": "walk", "to": to}, st.integers(-(2**60), 2**60)),
    st.builds(lambda to: {"do": "walk", "to": to, "by": "horse"}, st.integers(0, 200)),
    st.builds(lambda what: {"do": "sing", "what": what}, st.text(max_size=8)),
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """The line of a play, in any style of writing it, with a few pieces put in or cut out."""
    found: dict[str, Any] = {"type": "play", "id": draw(st.text("ab, :", max_size=34))}
    found["plies"] = draw(st.lists(plies, max_size=4))
    if draw(st.booleans()):
        found["more"] = draw(st.booleans())
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :")]))
    line = json.dumps(found, ensure_ascii=draw(st.booleans()), separators=separators).encode()
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(line)))
        piece = draw(st.sampled_from([*PIECES.split(), b"", b" ", b"\0", b"\r", b"\xff"]))
        line = line[:at] + piece + line[at + draw(st.integers(0, 2)) :]
    return line


@given(lines() | st.binary(max_size=40))
@example(b'{"type":"play","id":"a","plies":[],"more":true}')
@example(b'{"type":"play","id":"a","id":"a","plies":[]}')
@example(b'{"type":"play","id":"a","plies":[{"do":"walk","to":9007199254740992}]}')
@example(b'{"type":"play","id":"a","plies":[{"do":"walk","to":1.0}]}')
@example(b'{"type":"play","id":"a","plies":[{"do":"walk","to":1,"x":2}]}')
@example(b'{"type":"play","id":"a","plies":[{"do":"sing","what":"a, b: c"}]}')
@example(b'{"type":"play","id":"a","plies":[{"do":"sing","what":"\xed\xa0\x80"}]}')
@example(b'{"type":"play","id":"a","plies":[]} ')
@example(b'{"type":"ready","id":"a"}')
def test_a_play_is_read_as_the_long_way_reads_it_or_not_at_all(line: bytes) -> None:
    found = READER.read(line)
    if found is not None:
        assert repr(found) == repr(slowly(line))
    found = BOUNDED.read(line)
    if found is not None:
        assert repr(found) == repr(slowly(line, tuple[Trot | Sing, ...]))


@pytest.mark.parametrize(
    ("integer", "is_taken"),
    [
        (Annotated[int, Meta(ge=0, le=INTEGER)], True),  # digits in a text are no number
        (Annotated[int, Meta(ge=0, le=INTEGER + 1)], False),
        (Annotated[int, Meta(ge=-INTEGER - 1, le=0)], False),
        (Annotated[int, Meta(gt=0, le=9)], False),  # not looked at so closely
        (int, False),
        (float, False),
        (int | None, False),
        (list[int], False),
        (Any, False),
    ],
)
def test_a_line_is_searched_for_a_large_number_unless_plies_bound_theirs(
    integer: Any, is_taken: bool
) -> None:
    reader = PlayReader(msgspec.defstruct("Hop", [("far", integer, UNSET)], omit_defaults=True))
    assert reader.read(b'{"type":"play","id":"a","plies":[{}]}') is not None
    assert (reader.read(b'{"type":"play","id":"1234567890123456","plies":[{}]}') is not None) == (
        is_taken
    )


@pytest.mark.parametrize("ruleset", registry.names())
def test_our_rulesets_bound_their_integers(ruleset: str) -> None:
    reader = PlayReader(registry.make(ruleset).ply_type)
    assert reader.read(b'{"type":"play","id":"1234567890123456","plies":[]}') is not None


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_the_play_of_a_usual_bot_is_read(separators: tuple[str, str]) -> None:
    play = {
        "type": "play",
        "id": "0123456789abcdef",
        "plies": [{"do": "walk", "to": 7}, {"do": "walk", "to": 8}],
    }
    line = json.dumps(play, separators=separators).encode()
    assert READER.read(line) == Play(id="0123456789abcdef", plies=(Walk(7), Walk(8)))
    line = json.dumps({**play, "more": True}, separators=separators).encode()
    assert READER.read(line) == Play(id="0123456789abcdef", plies=(Walk(7), Walk(8)), more=True)


@pytest.mark.parametrize("key", ["plies", "note", "unknown"])
def test_b1_what_is_nested_without_end_is_left_to_the_long_way(key: str) -> None:
    """It refuses it in words; here nothing may be raised."""
    line = f'{{"type":"play","id":"i","{key}":'.encode() + b"[" * 30_000
    assert READER.read(line) is None
    assert READER.read(b"[" * 60_000) is None
    with pytest.raises(RemoteProtocolError, match="nested deeper than 16"):
        decode_answer(line)


def test_what_may_be_against_the_wire_is_left_to_the_long_way() -> None:
    start = b'{"type":"play","id":"a","plies":['
    for line in (
        start + b'{"do":"walk","to":1234567890123456}]}',
        start + b'{"do":"sing","what":"' + b"x" * LINE_BYTES + b'"}]}',
        start + b"]}}",
        start + b'],"more":true}',
        start + b'],"note":1}',
    ):
        assert READER.read(line) is None
