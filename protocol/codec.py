"""Bytes to message and message to bytes, and the limits on what a bot may send.

`strict.py` reads the JSON; here it becomes one of the structs of `messages.py`. Nothing but
`RemoteProtocolError` ever comes out of a bot's bytes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any, NoReturn

import msgspec
from msgspec import UNSET

from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.messages import (
    Answer,
    Bye,
    Deal,
    End,
    Hello,
    HelloAnswer,
    Log,
    Play,
    Ready,
    Request,
    Turn,
)
from protocol.quoting import quote
from protocol.strict import DEPTH, INTEGER, LINE_BYTES, is_blank, read_object

__all__ = [
    "BLANK_LINES",
    "DEPTH",
    "INTEGER",
    "LINE_BYTES",
    "LOG_GAME_BYTES",
    "LOG_LINE_BYTES",
    "NOTE_BYTES",
    "UNKNOWN_KEYS",
    "AnyAnswer",
    "AnyRequest",
    "decode_answer",
    "decode_request",
    "encode",
    "is_blank",
    "quote",
    "refuse_unknown_keys",
]

NOTE_BYTES = 1_024  # of a note's JSON text, written compactly in UTF-8
LOG_LINE_BYTES = 1_024  # a `log` line, its newline included; a longer one is dropped
LOG_GAME_BYTES = 65_536  # all `log` lines of a game together; what is over is dropped
BLANK_LINES = 10  # a turn
UNKNOWN_KEYS = 64  # a line

AnyAnswer = HelloAnswer | Ready | Play | Log
AnyRequest = Hello | Deal | Turn | End | Bye

_ANSWERS: dict[str, type[AnyAnswer]] = {
    "hello": HelloAnswer,
    "ready": Ready,
    "play": Play,
    "log": Log,
}
_REQUESTS: dict[str, type[AnyRequest]] = {
    "hello": Hello,
    "deal": Deal,
    "turn": Turn,
    "end": End,
    "bye": Bye,
}
_FIELD = re.compile(r"(?:field `|- at `\$\.)(\w+)")
_CURES = {
    "id": "the id of the request that is answered, as it came: a string of 1 to 32 characters",
    "protocol": "the version that the bot speaks, an integer",
    "name": "1 to 40 letters, digits and . _ + - that begin with a letter or digit",
    "version": "at most 40 letters, digits and . _ + -",
    "sides": 'a list of "mister_x" and "detectives", or one of them',
    "rulesets": "a list of 1 to 64 names of rulesets",
    "wants": 'a list of "legal", "board", "events", or some of them',
    "features": 'a list of "nodes", "reuse", or some of them',
    "plies": "a list of plies",
    "more": "true or false",
    "text": "a string",
}

_encode = msgspec.json.Encoder().encode
_encode_lines = msgspec.json.Encoder().encode_lines
_convert = msgspec.convert
_to_request = msgspec.json.Decoder(AnyRequest).decode


def encode(message: Request | Answer) -> bytes:
    """Return a message as one line, its newline included.

    Raises:
        LocalProtocolError: if a raw part of the message holds a newline of its own.
    """
    line = _encode_lines((message,))
    if line.find(b"\n") + 1 != len(line):
        raise LocalProtocolError("raw JSON inside a message must be written without newlines")
    return line


def decode_answer(line: bytes) -> AnyAnswer:
    """Return what a bot said in a line.

    Args:
        line: as it came, without its LF; one CR at its end is dropped.

    Raises:
        RemoteProtocolError: if the line is no message that a bot may ever send. The text says
            what is wrong, where, and how the line began.
    """
    found = read_object(line)
    word = found.get("type")
    kind = _ANSWERS.get(word) if isinstance(word, str) else None
    if kind is None:
        _refuse_type(line, found, tuple(_ANSWERS), "a bot says")
    try:
        message: AnyAnswer = _convert(found, kind)
    except msgspec.ValidationError as exc:
        _refuse_value(line, str(word), exc)
    if len(found) > UNKNOWN_KEYS:
        unknown = len(found.keys() - {"type", *kind.__struct_fields__})
        if unknown > UNKNOWN_KEYS:
            _refuse(line, f"{unknown} unknown keys; at most {UNKNOWN_KEYS} are ignored")
    if isinstance(message, Play):
        if message.note is not UNSET and len(_encode(message.note)) > NOTE_BYTES:
            size = len(_encode(message.note))
            _refuse(line, f"note of {size:,} bytes; at most {NOTE_BYTES:,}", "keep notes short")
        if message.more and not message.plies:
            _refuse(line, "`more` without a ply; a part of a turn has at least one")
    return message


def refuse_unknown_keys(line: bytes, plies: Sequence[frozenset[str]]) -> None:
    """Refuse a `play` with too many unknown keys: its own, and those of its plies.

    What stands inside an unknown key's value is ignored with it and not counted.

    Args:
        line: of a bot, as `decode_answer` took it.
        plies: the keys that the game knows of each ply, in order.

    Raises:
        RemoteProtocolError: if there are more than `UNKNOWN_KEYS`.
    """
    found = read_object(line)
    unknown = len(found.keys() - {"type", *Play.__struct_fields__})
    unknown += sum(
        len(ply.keys() - known) for ply, known in zip(found["plies"], plies, strict=True)
    )
    if unknown > UNKNOWN_KEYS:
        _refuse(line, f"{unknown} unknown keys; at most {UNKNOWN_KEYS} are ignored")


def decode_request(line: bytes) -> AnyRequest:
    """Return what the referee said in a line: for bots, models of bots, and transcripts.

    Args:
        line: without its LF. It may be longer than a bot's line.

    Raises:
        RemoteProtocolError: if the line is no message that a referee may ever send.
    """
    try:
        return _to_request(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as exc:
        text = quote(str(exc).encode(errors="backslashreplace"))
        raise RemoteProtocolError(f"no request of protocol 1 ({text}): {quote(line)}") from exc


def _refuse(line: bytes, what: str, hint: str = "") -> NoReturn:
    raise RemoteProtocolError(f"{what}: {quote(line)}", hint)


def _refuse_type(line: bytes, found: dict[str, Any], words: tuple[str, ...], who: str) -> NoReturn:
    if "type" not in found:
        _refuse(line, "missing key 'type'", f"every message has a type; {who} {_list(words)}")
    word = found["type"]
    if not isinstance(word, str):
        _refuse(line, "`type` is not a string", f"{who} {_list(words)}")
    near = difflib.get_close_matches(word[:40], words, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"{who} {_list(words)}"
    _refuse(line, f"unknown type '{quote(word.encode(), 40)}'", hint)


def _refuse_value(line: bytes, word: str, exc: msgspec.ValidationError) -> NoReturn:
    """Say in our words what msgspec found; its text may quote the bot, so it is escaped too."""
    said = str(exc)
    key = _FIELD.findall(said)[-1]  # the last: a bot may have put something like it before
    missing = said.startswith("Object missing")
    what = f"missing key '{key}'" if missing else f"{said[:1].lower()}{quote(said[1:].encode())}"
    _refuse(line, f"`{word}`: {what}", f"{key}: {_CURES[key]}")


def _list(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
