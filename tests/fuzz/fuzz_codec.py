"""Fuzz the codec: `python tests/fuzz/fuzz_codec.py --seconds 60 [--seed N]`.

Mutates whole messages, the golden transcripts' lines, and nonsense. Whatever comes in, only a
`RemoteProtocolError` with one printable line may come out; both ways of reading must agree; what is
taken must come back as it was; and no line may take long. Exits with 1 and the line that failed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

sys.path.append(str(Path(__file__).resolve().parents[2]))

# The path had to be set first.
from protocol.codec import decode_answer, decode_request, encode
from protocol.errors import RemoteProtocolError
from protocol.strict import DEPTH, INTEGER, read_object, read_object_slowly

SLOW_S = 0.25  # far more than any line takes; a quadratic way through one would take seconds

SEEDS = (
    b'{"type":"hello","id":"a","protocol":1,"name":"bot","rulesets":["r"],"wants":["legal"]}',
    b'{"type":"hello","id":"a","protocol":1,"name":"b","version":"1","sides":[],"rulesets":["r"]}',
    b'{"type":"ready","id":"0123456789abcdef"}',
    b'{"type": "play", "id": "a", "plies": [{"figure": "x", "ticket": "taxi", "to": 117}]}',
    b'{"type":"play","id":"a","plies":[],"more":false,"note":{"a":[1.5,null,true,"\\u00e4"]}}',
    b'{"type":"log","text":"thinking \\ud83d\\ude00"}',
    b"thinking...",
    b"",
)
PIECES = (
    *(bytes([code]) for code in range(256)),
    *b'{ } [ ] : , " \\ null true NaN -Infinity 1e999 -0 1.0 0.1 {"a":1} "id":"a", \\u0000'.split(),
    *b'\\ud800 \\udc00 \\" "type":"play", "more":1 "note": {"__proto__":1} \\n'.split(),
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b", ",
    b": ",
    b"\r",
    str(INTEGER).encode(),
    str(INTEGER + 1).encode(),
    b"1" * 5_000,
    b"[" * DEPTH,
    b'{"a":' * DEPTH,
    b"]" * DEPTH,
    b"x" * 1_100,
)


def seeds() -> list[bytes]:
    """Every line of the golden transcripts, and a few that do not stand in them."""
    found = list(SEEDS)
    for file in resources.files("protocol").joinpath("transcripts").iterdir():
        entries = map(json.loads, file.read_bytes().splitlines())
        found += [msgspec.json.encode(entry["line"]) for entry in entries]
    return sorted(found, key=len)


def lines(dice: random.Random) -> Iterator[bytes]:
    """Endless lines, each a damaged one of the seeds, or noise."""
    pool = seeds()
    while True:
        line = bytearray(dice.choice(pool[: dice.choice((10, 60, len(pool)))]))
        if dice.random() < 0.02:
            line = bytearray(dice.randbytes(dice.randrange(200)))
        for _ in range(dice.choice((0, 1, 1, 1, 2, 3, 8))):
            start = dice.randrange(len(line) + 1)
            size = dice.choice((0, 0, 1, 1, 2, 10, len(line)))
            kind = dice.randrange(4)
            if kind == 0:
                line[start : start + size] = dice.choice(PIECES)
            elif kind == 1:
                del line[start : start + size]
            elif kind == 2:
                line[start:start] = line[start : start + size]
            else:
                line[start:start] = dice.choice(PIECES) * dice.choice((1, 2, 40))
        yield bytes(line)


def outcome(read: Callable[[bytes], Any], line: bytes) -> Any:
    """What comes out, told apart by type and by the order of keys; a refusal as its words."""
    try:
        return repr(read(line))
    except RemoteProtocolError as exc:
        if not (exc.text.isprintable() and exc.hint.isprintable() and len(exc.text) < 1_500):
            raise AssertionError(f"not one short printable line: {exc.text!r}") from exc
        return exc.text, exc.hint


def check(line: bytes) -> bool:
    """Check one line; return whether it was taken as an answer.

    Raises:
        AssertionError: if a promise is broken.
    """
    if outcome(read_object, line) != outcome(read_object_slowly, line):
        raise AssertionError("the two ways of reading differ")
    outcome(decode_request, line)
    begun = time.perf_counter()
    try:
        message = decode_answer(line)
    except RemoteProtocolError:
        message = None
    if time.perf_counter() - begun > SLOW_S:
        raise AssertionError(f"took more than {SLOW_S} s")
    if message is None:
        return False
    if decode_answer(encode(message)[:-1]) != message:
        raise AssertionError("does not come back as it was")
    return True


def fuzz(seconds: float, seed: int) -> tuple[int, int]:
    """Check lines for a while.

    Returns:
        How many lines were checked, and how many of them were taken as answers.
    """
    dice = random.Random(seed)
    until = time.monotonic() + seconds
    taken = 0
    for checked, line in enumerate(lines(dice)):
        if checked % 64 == 0 and time.monotonic() > until:
            return checked, taken
        try:
            taken += check(line)
        except Exception as exc:
            raise AssertionError(f"seed {seed}, line {checked}: {line[:2_000]!r}: {exc!r}") from exc
    raise AssertionError  # pragma: no cover - the lines never end


def main() -> None:
    """Fuzz for as long as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    sys.stdout.write(f"seed {options.seed}\n")
    sys.stdout.flush()
    checked, taken = fuzz(options.seconds, options.seed)
    sys.stdout.write(f"{checked:,} lines, {taken:,} of them taken\n")


if __name__ == "__main__":
    main()
