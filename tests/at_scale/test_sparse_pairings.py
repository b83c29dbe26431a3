"""Ratings of very many bots from sparse pairings: as near the truth as was foretold."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.at_scale.sparse_pairings import Season, season

_PAGE = Path(__file__).parents[2] / "arena/decisions/0012-beyond-one-building.md"
PAGE = _PAGE.read_text("utf-8").replace("\n", " ")
ROUNDED = 0.6  # what is left of a number in the page, and of sums added in another order


def told(what: str, found: Season) -> Season:
    sys.stdout.write(f"{what}: {found}\n")
    return found


def in_page(*patterns: str) -> list[float]:
    """Return the numbers that the decision page gives, in the order of the patterns' groups."""
    found = []
    for pattern in patterns:
        match = re.search(pattern, PAGE)
        assert match, pattern
        found += [float(number.replace(",", "")) for number in match.groups()]
    return found


def test_the_page_reckons_a_years_games_right() -> None:
    """10⁹ games a year of 10⁶ bots; two bots play each."""
    games, bots, year_s = 1e9, 1e6, 365 * 24 * 3600
    a_bot, pairs, a_second, cores = in_page(
        r"are ([\d,]+) a bot, ([\d,]+) pairs",
        r"10⁹ games a year are (\d+) a second",
        r"CPU time a game takes (\d+) cores",
    )
    assert a_bot == 2 * pairs == 2 * games / bots
    assert a_second == cores == round(games / year_s)
    then, least, error = in_page(
        r"so ([\d,]+) games a bot\s+give", r"160 stages (\d+)", r"about (\d+) Elo"
    )
    assert then == a_bot
    assert error == round(least * (320 / a_bot) ** 0.5)


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
    stretches = in_page(r"stretched by (\d+) %", r"the stretch was (\d+) %")
    assert stretches == pytest.approx(
        [100 * (found.stretch - 1) for found in (near, mixed)], abs=ROUNDED
    )
    for found, words in (
        (near, r"error of (\d+) Elo \((\d+) foretold"),
        (mixed, r"the error (\d+) \((\d+)\)"),
        (blind, r"the error was (\d+) \((\d+)\)"),
    ):
        assert in_page(words) == pytest.approx([found.error_elo, found.expected_elo], abs=ROUNDED)


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
    of_page = in_page(
        r"square error of (\d+) Elo, 40 stages (\d+), 160 stages (\d+);",
        r"foretold (\d+), (\d+), (\d+)\.",
    )
    real = [one.error_elo for one in found] + [one.expected_elo for one in found]
    assert of_page == pytest.approx(real, abs=ROUNDED)
    for few, many in pairwise(found):  # four times the games, half the error
        assert 1.6 < few.error_elo / many.error_elo < 2.3
