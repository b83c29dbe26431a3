"""Derived secrets: stable, kept apart by label, and ids that never repeat."""

from __future__ import annotations

from itertools import islice

import pytest

from arena.referee.keys import derive, dice_seed, wire_ids

KEY = bytes(range(32))


def test_derive_gives_the_pinned_bytes() -> None:
    """A record made today replays in every later release."""
    assert derive(KEY, "deal", 0).hex() == (
        "7049d451989b478cc4557269c24c2d786a783fc912696eef7b35dbf2e10d7eec"
    )


@pytest.mark.parametrize(
    "other",
    [derive(KEY, "deal", 1), derive(KEY, "game", 0), derive(KEY[::-1], "deal", 0)],
    ids=["number", "label", "key"],
)
def test_derive_differs_when_anything_differs(other: bytes) -> None:
    assert derive(KEY, "deal", 0) != other


def test_derive_takes_a_text_and_a_number_alike() -> None:
    assert derive(KEY, "game", "7") == derive(KEY, "game", 7)


def test_dice_are_exact_in_a_double_and_differ_by_side() -> None:
    seeds = {dice_seed(KEY, side) for side in ("mister_x", "detectives")}
    assert len(seeds) == 2
    assert all(0 <= seed < 2**53 for seed in seeds)


def test_wire_ids_repeat_for_the_key_and_never_within_a_game() -> None:
    ids = list(islice(wire_ids(KEY), 5000))
    assert len(set(ids)) == 5000
    assert all(len(text) == 16 for text in ids)
    assert ids == list(islice(wire_ids(KEY), 5000))
    assert ids[:8] != list(islice(wire_ids(KEY[::-1]), 8))
