"""Bytes to message and back; rows of the list of hostile bots that a codec alone can show."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from protocol.codec import (
    NOTE_BYTES,
    UNKNOWN_KEYS,
    AnyAnswer,
    AnyRequest,
    decode_answer,
    decode_request,
    encode,
    refuse_unknown_keys,
)
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.messages import End, HelloAnswer, Log, Play, Ready, Turn
from tests.protocol.messages import answers, json_values, requests

PLY = {"figure": "x", "ticket": "taxi", "to": 117}


def line(**keys: Any) -> bytes:
    return json.dumps(keys).encode()


def play(**keys: Any) -> bytes:
    return line(**{"type": "play", "id": "a1", "plies": [PLY]} | keys)


def hello(**keys: Any) -> bytes:
    usual = {"type": "hello", "id": "h", "protocol": 1, "name": "greedy", "rulesets": ["london"]}
    return line(**usual | keys)


def refused(data: bytes) -> RemoteProtocolError:
    with pytest.raises(RemoteProtocolError) as caught:
        decode_answer(data)
    assert caught.value.text.isprintable()
    assert caught.value.hint.isprintable()
    return caught.value


@given(answers)
def test_every_answer_comes_back_as_it_was(message: AnyAnswer) -> None:
    data = encode(message)
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    assert decode_answer(data[:-1]) == message
    assert decode_answer(data[:-1] + b"\r") == message


@given(requests)
def test_every_request_comes_back_as_it_was(message: AnyRequest) -> None:
    data = encode(message)
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    assert decode_request(data[:-1]) == message


@given(requests)
def test_no_request_reads_as_an_answer_but_by_name(message: AnyRequest) -> None:
    """The two `hello`s share a word; their keys tell them apart."""
    with pytest.raises(RemoteProtocolError):
        decode_answer(encode(message)[:-1])


@given(st.binary(max_size=100) | json_values.map(msgspec.json.encode))
def test_nothing_but_a_protocol_error_comes_out_of_any_bytes(data: bytes) -> None:
    for decode in (decode_answer, decode_request):
        try:
            decode(data)
        except RemoteProtocolError as exc:
            shown = exc.text + exc.hint
            assert shown.isprintable()


def test_encode_refuses_a_raw_newline() -> None:
    with pytest.raises(LocalProtocolError, match="without newlines"):
        encode(Turn(id="a", view=Raw(b'{\n"round":1}'), bank_ms=None, charged_ms=None))


def test_encode_leaves_out_what_was_not_wanted() -> None:
    turn = Turn(id="a", view=Raw(b"{}"), bank_ms=None, charged_ms=1.5)
    assert encode(turn) == (
        b'{"type":"turn","id":"a","part":1,"view":{},"bank_ms":null,"charged_ms":1.5}\n'
    )


def test_decode_request_refuses_deep_nesting_and_other_nonsense() -> None:
    for data in (b"[" * 100_000, b'{"type":"turn"}', b"", b'{"type":"play","id":"a"}', b"\xff"):
        with pytest.raises(RemoteProtocolError, match="no request of protocol 1"):
            decode_request(data)


def test_decode_request_reads_a_line_longer_than_a_bots() -> None:
    record = Raw(b'"' + b"x" * 100_000 + b'"')
    message = End(winner=None, reason="void", fault=None, record=record)
    assert decode_request(encode(message)[:-1]) == message


def test_optional_keys_may_be_left_out() -> None:
    assert decode_answer(hello()) == HelloAnswer(
        id="h", protocol=1, name="greedy", rulesets=("london",)
    )
    found = decode_answer(play())
    assert found == Play(id="a1", plies=(PLY,), more=False)
    assert isinstance(found, Play)
    assert found.note is UNSET


def test_a_turn_may_be_empty_but_a_part_may_not() -> None:
    assert decode_answer(play(plies=[])) == Play(id="a1", plies=())
    assert decode_answer(play(more=True)) == Play(id="a1", plies=(PLY,), more=True)
    assert refused(play(plies=[], more=True)).text.startswith("`more` without a ply;")


def test_a_note_may_be_any_json_of_at_most_1024_bytes() -> None:
    for note in (None, 0, "x" * (NOTE_BYTES - 2), [1.5, {"a": True}]):
        found = decode_answer(play(note=note))
        assert isinstance(found, Play)
        assert found.note == note
    fault = refused(play(note="x" * (NOTE_BYTES - 1)))
    assert fault.text.startswith("note of 1,025 bytes; at most 1,024: ")


def test_a_note_is_measured_as_compact_utf8() -> None:
    note = ["ä" * 500, 1]  # 1,006 bytes so; three times as many escaped
    assert decode_answer(play(note=note)) == Play(id="a1", plies=(PLY,), note=note)


def test_a_long_log_line_is_read_since_it_is_dropped_and_no_fault() -> None:
    assert decode_answer(line(type="log", text="x" * 60_000)) == Log(text="x" * 60_000)


@pytest.mark.parametrize("value", [1.0, True, "1", None, [1], -1, 1_000_001, 2**53 - 1])
def test_b4_what_is_no_integer_in_range_is_refused(value: Any) -> None:
    fault = refused(hello(protocol=value))
    assert fault.text.startswith("`hello`: expected `int`")
    assert fault.hint == "protocol: the version that the bot speaks, an integer"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", ""),
        ("id", "x" * 33),
        ("id", 7),
        ("name", "../../x"),
        ("name", "a/b"),
        ("name", ".."),
        ("name", ""),
        ("name", "x" * 41),
        ("name", "evil\x1b]0;title\x07"),
        ("name", "name\n"),
        ("name", "-rf"),
        ("name", "=1+1"),
        ("name", "a b"),
        ("version", "1.0\n"),
        ("version", "<script>"),
        ("sides", []),
        ("sides", ["mr_x"]),
        ("sides", "mister_x"),
        ("rulesets", []),
        ("rulesets", ["x" * 65]),
        ("rulesets", ["x"] * 65),
        ("wants", ["legals"]),
        ("features", {"nodes": True}),
        ("features", None),
    ],
)
def test_a_hello_is_held_to_its_ranges(key: str, value: Any) -> None:
    fault = refused(hello(**{key: value}))
    assert fault.text.startswith("`hello`: ")
    assert fault.hint.startswith(f"{key}: ")


def test_a_text_that_looks_like_our_own_error_does_not_mislead_the_hint() -> None:
    assert refused(hello(sides=["x' - at `$.name`"])).hint.startswith("sides: ")


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_more_is_true_or_false(value: Any) -> None:
    assert refused(play(more=value)).text.startswith("`play`: expected `bool`")


@pytest.mark.parametrize("value", [{}, "x", None, 1])
def test_plies_are_a_list(value: Any) -> None:
    assert refused(play(plies=value)).text.startswith("`play`: expected `array`")


def test_b7_unknown_keys_are_ignored_up_to_64_and_never_kept() -> None:
    most = {f"k{n}": n for n in range(UNKNOWN_KEYS)}
    assert decode_answer(play(**most)) == Play(id="a1", plies=(PLY,))
    assert decode_answer(play(**most, note=1, more=True)) == Play(
        id="a1", plies=(PLY,), more=True, note=1
    )
    assert refused(play(**most, one="too many")).text.startswith(
        "65 unknown keys; at most 64 are ignored: "
    )
    assert refused(play(**{f"k{n}": n for n in range(500)})).text.startswith("500 unknown keys")


def test_b7_unknown_keys_of_plies_count_in_the_same_line() -> None:
    """Those inside an unknown key's value do not: it is ignored whole."""
    known = (frozenset(PLY), frozenset(PLY))
    odd = {f"k{n}": {"deep": n, "deeper": n} for n in range(30)}
    most = {"a": 1, "b": 2, "c": 3, "d": 4, "plies": [PLY | odd, PLY | odd], "note": 5}
    refuse_unknown_keys(play(**most), known)
    with pytest.raises(RemoteProtocolError) as caught:
        refuse_unknown_keys(play(**most, one="too many"), known)
    assert caught.value.text.startswith("65 unknown keys; at most 64 are ignored: ")


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("hello", "id"),
        ("hello", "protocol"),
        ("hello", "name"),
        ("hello", "rulesets"),
        ("ready", "id"),
        ("play", "id"),
        ("play", "plies"),
        ("log", "text"),
    ],
)
def test_b8_a_missing_key_is_named(word: str, key: str) -> None:
    whole = {
        "hello": json.loads(hello()),
        "ready": {"type": "ready", "id": "a"},
        "play": json.loads(play()),
        "log": {"type": "log", "text": "a"},
    }
    cut = {name: value for name, value in whole[word].items() if name != key}
    fault = refused(line(**cut))
    assert fault.text.startswith(f"`{word}`: missing key '{key}': ")
    assert fault.hint.startswith(f"{key}: ")


def test_b8_a_missing_type_is_named() -> None:
    fault = refused(line(id="a"))
    assert fault.text.startswith("missing key 'type': ")
    assert "a bot says hello, ready, play or log" in fault.hint


@pytest.mark.parametrize("word", [1, None, ["play"], {"play": 1}, True])
def test_a_type_that_is_no_string_is_refused(word: Any) -> None:
    assert refused(line(type=word, id="a")).text.startswith("`type` is not a string: ")


def test_an_unknown_type_is_named_with_the_nearest() -> None:
    assert refused(line(type="Play", id="a")).hint == "did you mean 'play'?"
    assert refused(line(type="turn", id="a")).hint == "a bot says hello, ready, play or log"
    fault = refused(line(type="\x1b[2J" + "x" * 1000))
    assert fault.text.startswith(r"unknown type '\x1b[2J" + "x" * 36 + "… (1,004 bytes in all)'")


@pytest.mark.parametrize("key", ["__proto__", "__class__", "constructor"])
def test_b9_keys_that_mean_something_elsewhere_are_ignored(key: str) -> None:
    assert decode_answer(play(**{key: {"more": True}})) == Play(id="a1", plies=(PLY,))


def test_b16_claims_about_oneself_are_ignored() -> None:
    claims = {"side": "detectives", "winner": "mister_x", "bank_ms": 10**9, "seat": 1}
    assert decode_answer(play(**claims)) == Play(id="a1", plies=(PLY,))
    assert decode_answer(line(type="ready", id="a", **claims)) == Ready(id="a")


def test_the_text_quotes_at_most_200_bytes_of_the_line() -> None:
    fault = refused(line(type="nonsense", text="y" * 5_000))
    assert fault.text.count("y") <= 200
    assert "bytes in all)" in fault.text
