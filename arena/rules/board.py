"""Stations and edges; reads a map from package data and checks what it read.

Every complaint is a ConfigError that names the file and the entry, since maps are typed in by hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

import msgspec

from arena.errors import ConfigError

__all__ = ["canonical_hash", "check_cards", "check_ids", "check_links", "read_map"]

M = TypeVar("M")

Link = tuple[int, int]


def read_map(file: Traversable, shape: type[M]) -> M:
    """Return the map in a JSON file as a struct of the ruleset's own shape.

    Args:
        file: where it lies; package data or any path.
        shape: a msgspec struct; unknown keys are refused if it forbids them.

    Raises:
        ConfigError: if the file can't be read, is no JSON or has another shape; with the place.
    """
    try:
        text = file.read_bytes()
    except OSError as exc:
        raise ConfigError(f"{file}: this map can't be read ({exc.strerror})") from exc
    try:
        found = msgspec.json.decode(text, type=shape)
        json.loads(text, object_pairs_hook=_each_once)
    except msgspec.ValidationError as exc:
        raise ConfigError(f"{file}: {exc}") from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{file}: {_not_json(text, exc)}") from exc
    except _StandsTwice as exc:
        raise ConfigError(f"{file}: the key {exc.args[0]!r} stands twice in one object") from exc
    return found


def canonical_hash(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON (sorted keys), 64 hex digits."""
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


def check_ids(file: object, key: str, ids: Sequence[int]) -> None:
    """Check that every id is positive and stands once.

    Raises:
        ConfigError: naming the file and the first entry that is wrong.
    """
    seen: set[int] = set()
    for index, number in enumerate(ids):
        if number < 1:
            raise ConfigError(f"{file}: {key}[{index}] has the id {number}; ids begin at 1")
        if number in seen:
            raise ConfigError(f"{file}: {key}[{index}] has the id {number}, which stands before")
        seen.add(number)
    if not ids:
        raise ConfigError(f"{file}: {key} is empty; a map has at least one place")


def check_links(
    file: object, ids: Iterable[int], links: Mapping[str, Sequence[Link]], *, connected: bool = True
) -> None:
    """Check the links of every vehicle, and that all of them together make one net.

    Args:
        file: what errors name.
        ids: the places that there are.
        links: for each vehicle its links, each once, in either direction.
        connected: refuse a net of more than one part.

    Raises:
        ConfigError: for an unknown id, a link from a place to itself, a link that stands twice, or
            a place that can't be reached; names the file and the entry.
    """
    beside: dict[int, set[int]] = {number: set() for number in ids}
    for vehicle, pairs in links.items():
        seen: dict[frozenset[int], int] = {}
        for index, (start, end) in enumerate(pairs):
            place = f"{file}: links.{vehicle}[{index}] ({start}-{end})"
            for number in (start, end):
                if number not in beside:
                    raise ConfigError(f"{place}: there is no place {number}")
            if start == end:
                raise ConfigError(f"{place}: a link joins two different places")
            pair = frozenset((start, end))
            if pair in seen:
                raise ConfigError(
                    f"{place}: the same link stands before, at links.{vehicle}[{seen[pair]}]"
                )
            seen[pair] = index
            beside[start].add(end)
            beside[end].add(start)
    if connected:
        lost = _unreached(beside)
        if lost:
            raise ConfigError(
                f"{file}: links: the net is not connected; no way leads to {lost[0]}"
                + (f" and {len(lost) - 1} more places" if len(lost) > 1 else "")
            )


def check_cards(file: object, key: str, ids: Iterable[int], cards: Sequence[int]) -> None:
    """Check a pile of start cards: each names a place that there is, and stands once.

    Raises:
        ConfigError: naming the file and the first card that is wrong.
    """
    known = frozenset(ids)
    seen: set[int] = set()
    for index, card in enumerate(cards):
        if card not in known:
            raise ConfigError(f"{file}: {key}[{index}]: there is no place {card} to start from")
        if card in seen:
            raise ConfigError(f"{file}: {key}[{index}]: the card {card} stands before")
        seen.add(card)


def _not_json(text: bytes, refused: Exception) -> str:
    """Say why a file is no JSON, and in which line: who types in a map looks for that."""
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = text.count(b"\n", 0, exc.start) + 1
        return f"this is not UTF-8 (line {line}); save the file as UTF-8"
    if words.startswith("\ufeff"):
        return "the file begins with a byte order mark; save it as UTF-8 without one"
    if not words.strip():
        return "the file is empty"
    try:
        json.loads(words, parse_constant=_no_constant)
    except json.JSONDecodeError as exc:
        return f"no JSON in line {exc.lineno}, column {exc.colno}: {exc.msg}"
    except (RecursionError, ValueError):  # too deep, numbers too long, NaN
        pass
    return str(refused)


def _no_constant(word: str) -> None:
    raise ValueError(word)


class _StandsTwice(Exception):
    """A key stands twice in a JSON object, of which a decoder would drop the first in silence."""


def _each_once(pairs: Sequence[tuple[str, object]]) -> None:
    """Check that no key of a JSON object stands twice."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _StandsTwice(key)
        seen.add(key)


def _unreached(beside: Mapping[int, set[int]]) -> list[int]:
    """Places that no way leads to from the first one, in order of their ids."""
    start = next(iter(beside))
    reached = {start}
    waiting = [start]
    while waiting:
        fresh = beside[waiting.pop()] - reached
        reached |= fresh
        waiting.extend(fresh)
    return sorted(set(beside) - reached)
