"""Ratings of very many bots from sparse pairings: as near the truth as was foretold."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest

from tests.at_scale.sparse_pairings import Season, season


def told(what: str, found: Season) -> Season:
    sys.stdout.write(f"{what}: {found}\n")
    return found


@pytest.mark.slow
def test_some_far_pairings_keep_the_scale_and_near_ones_tell_more() -> None:
    near, mixed, blind = (
        told(f"far every {every}", season(4_000, 40, seed=1, far_every=every))
        for every in (0, 3, 1)
    )
    assert near.told > mixed.told > blind.told
    # Who is near by ratings alone is often there by luck: the scale is stretched by it.
    assert near.stretch > 1.05
    assert near.error_elo > 1.08 * near.expected_elo
    for found in (mixed, blind):
        assert abs(found.stretch - 1) < 0.04
        assert found.error_elo < 1.06 * found.expected_elo
    assert mixed.expected_elo < 0.93 * blind.expected_elo
    assert mixed.error_elo < blind.error_elo


@pytest.mark.long
def test_a_hundred_thousand_bots_are_rated_within_the_stated_error() -> None:
    found = [
        told(f"{stages} stages", season(100_000, stages, seed=1, far_every=3))
        for stages in (10, 40, 160)
    ]
    for one in found:
        assert one.error_elo < 1.1 * one.expected_elo
    assert found[1].error_elo <= 50  # with 80 games a bot
    assert found[2].error_elo <= 25  # with 320
    for few, many in pairwise(found):  # four times the games, half the error
        assert 1.6 < few.error_elo / many.error_elo < 2.3
