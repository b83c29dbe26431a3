"""Plies as a bot sends them: read as the game's own, with a bounded number of keys nobody knows."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec
import pytest

from arena.referee.plies import list_of, read_plies
from arena.rules.registry import make
from protocol.codec import decode_answer
from protocol.errors import RemoteProtocolError
from protocol.messages import Play

LONDON = make("london-2013")
STEP = {"figure": "x", "ticket": "taxi", "to": 117}


class Tagged(msgspec.Struct, frozen=True, tag_field="do", tag="go"):
    """A ply of a game that tells its plies apart by a key."""

    to: Literal["Paris", "Rome"]


def read(plies: list[Any], ply_type: Any = LONDON.ply_type, **keys: Any) -> tuple[Any, ...]:
    line = json.dumps({"type": "play", "id": "a1", "plies": plies} | keys).encode()
    answer = decode_answer(line)
    assert isinstance(answer, Play)
    return read_plies(answer, line, list_of(ply_type), "a-game")


def test_unknown_keys_of_plies_are_dropped_up_to_64_a_line() -> None:
    odd = {f"k{n}": n for n in range(31)}
    plies = read([STEP | odd, STEP | odd], mine=1, yours=2)
    assert plies == read([STEP, STEP])
    with pytest.raises(RemoteProtocolError, match="65 unknown keys") as caught:
        read([STEP | odd, STEP | odd], mine=1, yours=2, theirs=3)
    assert "at most 64 are ignored" in caught.value.text


def test_many_known_keys_are_no_unknown_ones() -> None:
    """Forty plies have a hundred and twenty keys, and the game knows all of them."""
    assert len(read([STEP] * 40)) == 40


def test_key_that_tells_plies_apart_is_known() -> None:
    go = {"do": "go", "to": "Rome"}
    assert read([go] * 70, Tagged) == (Tagged(to="Rome"),) * 70


def test_plies_of_another_game_are_refused_with_the_line_and_where_an_example_stands() -> None:
    with pytest.raises(
        RemoteProtocolError, match=r"no plies of a-game .*`\$\[0\]\.to`.*Paris"
    ) as caught:
        read([{"do": "go", "to": "Paris"}])
    assert "SPEC.md" in caught.value.hint
