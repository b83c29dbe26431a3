"""One line of bytes to one JSON object, strictly: what other readers let pass is refused here.

Two ways lead through. The long one is the standard library's parser with hooks, and tells exactly
what is wrong and where. The short one takes a line only if it is *canonical*: if writing what was
read gives the same bytes again, blanks behind `,` and `:` aside. Such a line can hold no duplicate
key (it would be lost), no bad UTF-8, no odd number and nothing behind the object, so the long way
would accept it too and give the same; everything else goes the long way.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn, cast

import msgspec

from protocol.errors import RemoteProtocolError
from protocol.quoting import quote

__all__ = [
    "DEPTH",
    "INTEGER",
    "LINE_BYTES",
    "has_long_number",
    "is_blank",
    "read_object",
    "read_object_slowly",
]

LINE_BYTES = 65_536  # a line from a bot, its newline included
DEPTH = 16  # of nested objects and lists; the message itself is the first
INTEGER = 2**53 - 1  # largest magnitude of an integer: exact in every language's numbers

_SAFE_DIGITS = 15  # this many always fit
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * (_SAFE_DIGITS + 1)
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")
_BLANKS = " \t\r\n"  # JSON's own
_BOMS = (b"\xff\xfe", b"\xfe\xff")
_UTF16 = "this looks like UTF-16: write UTF-8"

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def is_blank(line: bytes) -> bool:
    """Whether a line holds nothing but blanks: a bot may send a few of these a turn."""
    return not line.strip(b" \t\r")


def has_long_number(line: bytes) -> bool:
    """Whether so many digits stand together anywhere that they may be too large a number."""
    return _LONG_NUMBER in line.translate(_ZEROS)


def read_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object that a line (without its newline) holds.

    Raises:
        RemoteProtocolError: if it is anything else than one strict JSON object.
    """
    # Brackets in strings count too here, which only sends a rare line the long way round.
    if (
        line.count(b"{") + line.count(b"[") <= DEPTH
        and not has_long_number(line)
        and len(line) < LINE_BYTES
    ):
        try:
            found: dict[str, Any] = _decode(line)  # or anything else, as is looked at now
            if found.__class__ is dict:
                again = _encode(found)
                if again == line or again == line.replace(b", ", b",").replace(b": ", b":"):
                    return found
        except (msgspec.DecodeError, UnicodeError):
            pass  # the long way knows what to say
    return read_object_slowly(line)


def read_object_slowly(line: bytes) -> dict[str, Any]:
    """Do what `read_object` does by the long way alone; both give the same for every line."""
    if len(line) >= LINE_BYTES:
        _refuse(line, f"line longer than {LINE_BYTES:,} bytes", "a note or text is too long")
    if line.endswith(b"\r"):
        line = line[:-1]
    text = _text(line)
    if not text.strip(_BLANKS):
        _refuse(line, "expected an object, got an empty line")
    if _depth(line) > DEPTH:
        _refuse(line, f"nested deeper than {DEPTH}")
    start = len(text) - len(text.lstrip(_BLANKS))
    found: Any
    try:
        found, end = _parser.raw_decode(text, start)
    except json.JSONDecodeError as exc:
        at = len(text[: exc.pos].encode())
        reason = exc.msg[:1].lower() + exc.msg[1:]
        _refuse(line, f"not JSON at byte {at} ({reason})", _cure(line, at, exc.msg))
    except _NotStrict as exc:
        _refuse(line, str(exc))
    rest = text[end:].lstrip(_BLANKS)
    if rest:
        at = len(line) - len(rest.encode())
        what = "object" if isinstance(found, dict) else "value"
        cure = "one message a line: end each with a newline"
        if not isinstance(found, dict):
            cure = _cure(line, 0, "")
        _refuse(line, f"text after the {what} at byte {at}", cure)
    if not isinstance(found, dict):
        _refuse(line, f"expected an object, got {_KINDS[type(found)]}", _cure(line, 0, ""))
    if b"\\u" in line:
        try:
            _encode(found)
        except UnicodeEncodeError:
            _refuse(line, "half of a surrogate pair in a string", "write the character as UTF-8")
    return cast("dict[str, Any]", found)


class _NotStrict(Exception):
    """JSON to the parser, but not to us; carries the sentence without the quoted line."""


_KINDS: dict[type[Any], str] = {
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a bare true or false",
    type(None): "null",
}


def _refuse(line: bytes, what: str, hint: str = "") -> NoReturn:
    raise RemoteProtocolError(f"{what}: {quote(line)}", hint)


def _text(line: bytes) -> str:
    if line.startswith(b"\xef\xbb\xbf"):
        _refuse(line, "byte order mark (BOM) at byte 0", "write UTF-8 without a byte order mark")
    try:
        text = line.decode()
    except UnicodeDecodeError as exc:
        hint = _UTF16 if line.startswith(_BOMS) else "write UTF-8"
        _refuse(line, f"not UTF-8 at byte {exc.start}", hint)
    nul = line.find(b"\0")
    if nul >= 0:
        # A line of UTF-16 without its mark: every second byte is NUL.
        hint = _UTF16 if line.count(b"\0") * 3 >= len(line) and len(line) > 2 else ""
        _refuse(line, f"NUL byte at {nul}", hint)
    return text


def _depth(line: bytes) -> int:
    """How deep the brackets outside of strings nest, counted before any parser recurses."""
    if line.count(b"{") + line.count(b"[") <= DEPTH:
        return 0
    deepest = depth = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", line)):
        if bracket in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


def _cure(line: bytes, at: int, reason: str) -> str:
    """One line for the bot's author: what usually leads to this."""
    bare = line.strip()
    if not bare.startswith((b"{", b"[", b'"')):
        return "did you print a debug line? logs belong on stderr"
    if bare.startswith((b"{'", b"['")):
        return "JSON puts keys and texts in double quotes; use a JSON writer, not print"
    if at >= len(line.rstrip()) or "nterminated" in reason:
        return "the line ends too early: write a message on one line, without newlines inside"
    return ""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        name = quote(twice.encode(errors="backslashreplace"), 40)
        raise _NotStrict(f"duplicate key '{name}'")
    return found


def _integer(text: str) -> int:
    # The length first: making a number of 60,000 digits takes time that grows with its square.
    if len(text) <= _SAFE_DIGITS + 2:
        number = int(text)
        if -INTEGER <= number <= INTEGER:
            return number
    size = len(text.lstrip("-"))
    raise _NotStrict(f"integer of {size:,} digits beyond 2^53-1 (9,007,199,254,740,991)")


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _NotStrict("number out of range")
    return number


def _constant(text: str) -> NoReturn:
    raise _NotStrict(f"{text} is not a JSON number")


_parser = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_float=_float, parse_constant=_constant
)
