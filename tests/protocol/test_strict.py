"""Bytes to one JSON object: the short way takes only what the long way takes, as it takes it."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from protocol.errors import RemoteProtocolError
from protocol.strict import DEPTH, INTEGER, is_blank, read_object, read_object_slowly
from tests.protocol.messages import json_objects


def outcome(read: Any, line: bytes) -> Any:
    """What came out, in a form that tells 1 from 1.0 and True, and keeps the order of keys."""
    try:
        return repr(read(line))
    except RemoteProtocolError as exc:
        return exc.text, exc.hint


def nested(depth: int) -> bytes:
    return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


PIECES = rb"""
 " { } [ ] , : \ \u \ud800 NaN 1.0 -0 - 1e9 1e999 99999999999999999 true "a":1,
"""
mutations = st.sampled_from([*PIECES.split(), b"", b" ", b", ", b"\0", b"\r", b"\t", b"\xff"])


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """The line of an object, in any style of writing it, with a few pieces put in or cut out."""
    found = draw(json_objects)
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :")]))
    line = json.dumps(found, ensure_ascii=draw(st.booleans()), separators=separators).encode()
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(line)))
        line = line[:at] + draw(mutations) + line[at + draw(st.integers(0, 2)) :]
    return line


@given(damaged() | st.binary(max_size=40))
@example(b'{"a":1,"a":1}')
@example(b'{"a, b": 1, "a,b": 1}')
@example(b'{"a": ", "}')
@example(b'{"a":-0}')
@example(b'{"a":-0.0}')
@example(b'{"a":9007199254740992}')
@example(b'{"a":1.0}')
@example(b'{"a":"\x7f"}')
@example('{"a":"\u2028ä"}'.encode())
@example(b'{"a":"\xed\xa0\x80"}')
@example(b'{"a":"\xc0\xaf"}')
def test_both_ways_of_reading_give_the_same(line: bytes) -> None:
    assert outcome(read_object, line) == outcome(read_object_slowly, line)


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_the_line_of_a_usual_bot_goes_the_short_way(
    separators: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("protocol.strict.read_object_slowly", lambda _: pytest.fail("went slowly"))
    plies = [{"figure": f"d{pawn}", "ticket": "metro", "to": 190 + pawn} for pawn in range(1, 6)]
    found = {"type": "play", "id": "0123456789abcdef", "plies": plies, "more": False}
    assert read_object(json.dumps(found, separators=separators).encode()) == found


@given(json_objects)
def test_reading_gives_what_was_written(found: dict[str, Any]) -> None:
    for line in (msgspec.json.encode(found), json.dumps(found).encode()):
        if line.count(b"[") + line.count(b"{") < DEPTH:
            again = read_object(line)
            assert again == found
            assert list(again) == list(found)


def refused(line: bytes) -> RemoteProtocolError:
    with pytest.raises(RemoteProtocolError) as caught:
        read_object(line)
    assert "\n" not in caught.value.text
    assert "\n" not in caught.value.hint
    return caught.value


def test_a3_a_line_may_have_65536_bytes_with_its_newline_and_no_more() -> None:
    def padded(size: int) -> bytes:  # newline included
        return b'{"a":"' + b"x" * (size - 9) + b'"}'

    for size in (65_535, 65_536):
        assert len(padded(size) + b"\n") == size
        assert read_object(padded(size)) == {"a": "x" * (size - 9)}
    assert refused(padded(65_537)).text.startswith("line longer than 65,536 bytes: {")


@pytest.mark.parametrize(
    ("line", "at"),
    [
        (b"\xff\xfe", 0),
        (b'{"a":"\xc0\xaf"}', 6),  # overlong
        (b'{"a":"\xe2\x82"}', 6),  # cut off
        (b'{"a":"\xed\xa0\x80"}', 6),  # a surrogate
        (b'{"a":1}\x80', 7),
    ],
)
def test_a5_what_is_not_utf8_is_refused_with_its_place(line: bytes, at: int) -> None:
    assert refused(line).text.startswith(f"not UTF-8 at byte {at}: ")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a6_utf16_is_refused_with_a_hint(encoding: str) -> None:
    assert refused('{"type":"ready","id":"1"}'.encode(encoding)).hint == (
        "this looks like UTF-16: write UTF-8"
    )


def test_a6_big_endian_with_its_mark_too() -> None:
    assert "UTF-16" in refused(b"\xfe\xff" + '{"a":1}'.encode("utf-16-be")).hint


def test_a7_a_byte_order_mark_is_refused_by_name() -> None:
    fault = refused(b'\xef\xbb\xbf{"a":1}')
    assert fault.text == r'byte order mark (BOM) at byte 0: \xef\xbb\xbf{"a":1}'
    assert fault.hint == "write UTF-8 without a byte order mark"


@pytest.mark.parametrize(
    ("line", "at"), [(b'\0{"a":1}', 0), (b'{"a":"\0"}', 6), (b'{"a":1}\0', 7), (b'{\0"a":1}', 1)]
)
def test_a8_a_nul_byte_is_refused_with_its_place(line: bytes, at: int) -> None:
    fault = refused(line)
    assert fault.text.startswith(f"NUL byte at {at}: ")
    assert r"\x00" in fault.text
    assert fault.hint == ""


def test_a9_one_cr_at_the_end_is_dropped_and_blanks_around_are_read_over() -> None:
    assert read_object(b'{"a":1}\r') == {"a": 1}
    assert read_object(b'\t {"a" : 1}  \r') == {"a": 1}


def test_a11_lines_of_blanks_are_told_apart() -> None:
    assert is_blank(b"")
    assert is_blank(b" \t\r")
    assert not is_blank(b" {}")
    assert not is_blank(b"\x0b")
    assert refused(b"  ").text == "expected an object, got an empty line:   "


def test_b1_deep_nesting_is_refused_before_it_is_parsed() -> None:
    for line in (b"[" * 30_000, b'{"a":' * 10_000, nested(17), b'{"a":[' * 30_000):
        assert "deeper than 16" in refused(line[:65_000]).text


def test_b1_sixteen_levels_are_taken() -> None:
    assert read_object(nested(16))
    assert read_object(b'{"b":{},' + nested(16)[1:])  # more brackets, and none of them deeper
    assert read_object(b'{"a":[' + b",".join([b"[[{}]]"] * 100) + b"]}")


def test_b1_brackets_in_strings_do_not_count() -> None:
    text = '[{"' * 100 + "\\"
    assert read_object(json.dumps({"a": text}).encode()) == {"a": text}


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_b2_what_json_has_no_number_for_is_refused(word: str) -> None:
    assert refused(f'{{"a":{word}}}'.encode()).text == (
        f'{word} is not a JSON number: {{"a":{word}}}'
    )


def test_b2_a_number_too_large_for_a_float_is_refused() -> None:
    assert refused(b'{"a":1e999}').text.startswith("number out of range: ")
    assert refused(b'{"a":-1e999}').text.startswith("number out of range: ")


def test_b3_an_integer_of_60000_digits_is_refused_by_its_length() -> None:
    for sign in (b"", b"-"):
        fault = refused(b'{"a":' + sign + b"1" * 60_000 + b"}")
        assert fault.text.startswith("integer of 60,000 digits beyond 2^53-1")
        assert len(fault.text) < 350


@pytest.mark.parametrize(
    "number", [INTEGER + 1, 2**63, 2**64, -(2**53), -(2**63), 10**15 * 9 + 10**16]
)
def test_b4_an_integer_beyond_2_to_the_53_is_refused(number: int) -> None:
    assert "beyond 2^53-1" in refused(f'{{"a":{number}}}'.encode()).text


@pytest.mark.parametrize("number", [INTEGER, -INTEGER, 0, 10**15, 10**14])
def test_b4_integers_up_to_there_are_taken_exactly(number: int) -> None:
    assert read_object(f'{{"a":{number}}}'.encode()) == {"a": number}


def test_minus_zero_is_zero() -> None:
    found = read_object(b'{"a":-0}')["a"]
    assert found == 0
    assert isinstance(found, int)


def test_floats_stay_floats() -> None:
    found = read_object(b'{"a":1.0,"b":-0.0,"c":1e2}')
    assert [type(value) for value in found.values()] == [float, float, float]
    assert math.copysign(1, found["b"]) == -1


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":1,"id":2}',
        b'{"id":1,"id":1}',
        b'{"id":1,"\\u0069d":1}',
        b'{"a":[{"id":1,"b":2,"id":1}]}',
    ],
)
def test_b5_a_duplicate_key_is_refused_by_name(line: bytes) -> None:
    assert refused(line).text.startswith("duplicate key 'id': ")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"[1]", "a list"),
        (b'"a"', "a string"),
        (b"null", "null"),
        (b"12", "a number"),
        (b"1.5", "a number"),
        (b"true", "a bare true or false"),
        (b"[]", "a list"),
    ],
)
def test_b6_what_is_no_object_is_refused(line: bytes, kind: str) -> None:
    assert refused(line).text == f"expected an object, got {kind}: {line.decode()}"


@pytest.mark.parametrize(
    ("line", "at"),
    [(b'{"a":1} {"a":1}', 8), (b'{"a":1} garbage', 8), (b'{"a":1}}', 7), ('{"ä":1} x'.encode(), 9)],
)
def test_b10_text_after_the_object_is_refused_with_its_place(line: bytes, at: int) -> None:
    assert refused(line).text.startswith(f"text after the object at byte {at}: ")
    assert refused(line + b"\r").text.startswith(f"text after the object at byte {at}: ")


def test_a15_a_line_of_plain_text_gets_the_hint_about_stderr() -> None:
    for line in (b"thinking...", b"42 nodes searched", b"null pointer"):
        fault = refused(line)
        assert line.decode() in fault.text
        assert fault.hint == "did you print a debug line? logs belong on stderr"


def test_a_python_dict_printed_gets_a_hint() -> None:
    assert "double quotes" in refused(b"{'type': 'ready'}").hint


@pytest.mark.parametrize("line", [b"{", b'{"type": "play",', b'{"type": "pl', b'{"a":[1,2'])
def test_a_message_over_several_lines_gets_a_hint(line: bytes) -> None:
    assert refused(line).hint == (
        "the line ends too early: write a message on one line, without newlines inside"
    )


def test_the_place_of_a_syntax_error_is_counted_in_bytes() -> None:
    assert refused('{"äöü":x}'.encode()).text.startswith("not JSON at byte 10 (")


def test_half_a_surrogate_pair_is_refused_and_a_whole_one_taken() -> None:
    assert refused(b'{"a":"\\ud83d"}').text.startswith("half of a surrogate pair in a string: ")
    assert refused(b'{"\\udc00":1}').text.startswith("half of a surrogate pair in a string: ")
    assert read_object(b'{"a":"\\ud83d\\ude00"}') == {"a": "\U0001f600"}


@pytest.mark.parametrize("key", ["__proto__", "__class__", "constructor"])
def test_b9_keys_that_mean_something_elsewhere_are_only_keys(key: str) -> None:
    assert read_object(json.dumps({key: {"a": 1}}).encode()) == {key: {"a": 1}}


@given(st.binary(max_size=200) | damaged())
def test_nothing_but_a_protocol_error_comes_out_of_any_bytes(line: bytes) -> None:
    try:
        found = read_object(line)
    except RemoteProtocolError as exc:
        found = {"text": exc.text}
        assert found["text"].isprintable()
        assert len(found["text"]) < 1_000
    assert isinstance(found, dict)
