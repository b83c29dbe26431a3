"""Decision 0012: what a fit on rows costs, how many rows there are, what its error leaves out.

The simulation is that of `tests/at_scale/`, which holds the page's other numbers.
"""

from __future__ import annotations

import math
import re
import sys
import time
import tracemalloc
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import expit

from arena.cli.plan import USUAL_DEAL_SD, USUAL_RATE
from reports.power import pairs_needed
from tests.at_scale.sparse_pairings import (
    ELO,
    NEAR,
    ROLE,
    SPREAD,
    Floats,
    Rows,
    expected_error,
    fitted,
    joined,
    paired,
)

_PAGE = Path(__file__).parents[2] / "arena/decisions/0012-beyond-one-building.md"
PAGE = " ".join(_PAGE.read_text("utf-8").split())


def in_page(pattern: str) -> list[float]:
    """Return the numbers that the page gives, in the order of the pattern's groups."""
    found = re.search(pattern, PAGE)
    assert found, pattern
    return [float(number.replace(",", "")) for number in found.groups()]


class Rated(NamedTuple):
    """What ratings from the whole field came to.

    Attributes:
        stretch: slope of ratings over true strengths.
        error_elo: root mean square error once that is set right.
        expected_elo: as the games' information foretells it.
    """

    stretch: float
    error_elo: float
    expected_elo: float


def rated(bots: int, opponents: int, *, deals: int, deal_sd: float, seed: int) -> Rated:
    """Simulate: every bot meets so many opponents on so many deals each, and is rated.

    Deal after deal is the same for all who play in a stage, and both games of a pair have it.
    """
    dice = np.random.default_rng(seed)
    truth = strengths(bots, dice)
    played = []
    for _ in range(opponents):
        both = whole_field(bots, dice)
        won = np.zeros(bots)
        for _ in range(deals):
            lead = ROLE + dice.normal(0, deal_sd) + truth[both[0]] - truth[both[1]]
            won += dice.random(bots) < expit(lead)
        played.append(Rows(*both, np.full(bots, float(deals)), won))
    rows = joined(played)
    role, strength = fitted(rows, bots, start=(0.0, np.zeros(bots)))
    stretch = float(np.polyfit(truth, strength, 1)[0])
    centred = strength - strength.mean()
    return Rated(
        stretch=stretch,
        error_elo=ELO * float(np.sqrt(np.mean((centred / stretch - truth) ** 2))),
        expected_elo=ELO * expected_error(rows, role, strength, dice),
    )


def strengths(bots: int, dice: np.random.Generator) -> Floats:
    truth = dice.normal(0, SPREAD / ELO, bots)
    return np.asarray(truth - truth.mean())


def whole_field(bots: int, dice: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Put everybody into pairs, each bot once as Mister X and once as detectives."""
    first, second = paired(dice.random(bots), dice)
    return np.concatenate((first, second)), np.concatenate((second, first))


def test_the_page_reckons_the_cost_of_a_fit_from_that_of_a_row() -> None:
    row_us, row_bytes = in_page(r"takes ([\d.]+) µs of one core and (\d+) bytes a row")
    large_gb, large_min = in_page(r"10⁹ rows take (\d+) GB and (\d+) minutes")
    assert large_gb == row_bytes * 1e9 / 1e9
    assert large_min == round(row_us * 1e9 / 1e6 / 60)
    rows, *took_s, took_gb = in_page(
        r"10⁶ bots, (\d+) · 10⁶ rows, (\d+) and (\d+) s and ([\d.]+) GB"
    )
    assert took_gb == pytest.approx(row_bytes * rows * 1e6 / 1e9, rel=0.05)
    few_rows, *few_s = in_page(r"10⁵ bots, (\d+) · 10⁶ rows, (\d+) and (\d+) s of CPU time")
    seconds = sum(took_s) + sum(few_s)
    assert row_us == round(seconds / (2 * rows + 2 * few_rows))
    deals, opponents, kept = in_page(r"for (\d+) deals: (\d+) opponents, (\d+) · 10⁶ rows")
    (pairs,) = in_page(r"are [\d,]+ a bot, ([\d,]+) pairs")
    assert deals * opponents == pairs
    assert kept == opponents == rows  # 10⁶ bots, each once a side against each


@pytest.mark.slow
def test_a_row_costs_what_the_page_says() -> None:
    bots, stages = 50_000, 20
    dice = np.random.default_rng(1)
    truth = strengths(bots, dice)
    tracemalloc.start()
    both = np.concatenate([whole_field(bots, dice) for _ in range(stages)], axis=1)
    won = (dice.random(both.shape[1]) < expit(ROLE + truth[both[0]] - truth[both[1]])) * 1.0
    rows = Rows(both[0], both[1], np.ones(len(won)), won)
    began = time.process_time()
    fitted(rows, bots, start=(0.0, np.zeros(bots)))
    us = (time.process_time() - began) * 1e6 / len(won)
    bytes_ = tracemalloc.get_traced_memory()[1] / len(won)
    tracemalloc.stop()
    sys.stdout.write(f"{us:.2f} µs and {bytes_:.0f} bytes a row\n")
    row_us, row_bytes = in_page(r"takes ([\d.]+) µs of one core and (\d+) bytes a row")
    assert us < 4 * row_us  # hosts differ
    assert bytes_ == pytest.approx(row_bytes, rel=0.35)  # a few are for bots, not rows


def test_opponents_drawn_anew_hardly_ever_come_again() -> None:
    """Two in three are drawn from those near; in the whole field none comes twice."""
    bots, stages = 20_000, 60
    dice = np.random.default_rng(1)
    strength = dice.normal(0, 1, bots)
    met = [np.sort(paired(strength, dice), axis=0) for _ in range(stages)]
    different = len(np.unique(np.concatenate([first * bots + second for first, second in met])))
    again = 2 * (stages * bots // 2 - different) / bots  # a bot
    alike = again / math.comb(stages, 2) * bots  # two meetings are the same with this over N
    assert alike == pytest.approx(2 / 3 / NEAR, rel=0.1)  # and somewhat more at both ends
    of, pairs = in_page(r"meets (\d+) different ones in its ([\d,]+) pairs")
    assert of == round(pairs - alike * math.comb(round(pairs * 2 / 3), 2) / 1e6)


@pytest.mark.slow
def test_keeping_an_opponent_costs_what_the_page_says() -> None:
    anew, kept = (
        rated(6_000, 80 // deals, deals=deals, deal_sd=0.0, seed=1).expected_elo for deals in (1, 4)
    )
    (more,) = in_page(r"the error grows by (\d+) %")
    assert 100 * (kept / anew - 1) == pytest.approx(more, abs=1.0)


@pytest.mark.slow
def test_uneven_deals_cost_what_the_page_says() -> None:
    (sd,) = in_page(r"deals differ by (\d+) logit, which `arena plan` takes")
    assert sd == USUAL_DEAL_SD
    field, equal, elo = in_page(
        r"larger by (\d+) % \(opponents from the whole field\) to (\d+) % \(equal bots, by "
        r"`reports.power`\): (\d+) Elo"
    )
    needed = [pairs_needed(10, mister_x_rate=USUAL_RATE, deal_sd=some) for some in (sd, 0.0)]
    assert 100 * (math.sqrt(needed[0] / needed[1]) - 1) == pytest.approx(equal, abs=0.6)
    (best,) = in_page(r"give about (\d+) Elo")
    assert round(best * (1 + equal / 100)) == elo
    even, uneven = (
        [rated(10_000, 40, deals=1, deal_sd=some, seed=seed) for seed in (1, 2)]
        for some in (0.0, sd)
    )
    errors = [sum(one.error_elo for one in both) for both in (uneven, even)]
    sys.stdout.write(f"{errors}, stretched to {[one.stretch for one in uneven]}\n")
    assert 100 * (errors[0] / errors[1] - 1) == pytest.approx(field, abs=1.5)
    (drawn,) = in_page(r"drawn together by some (\d+) %")
    assert 100 * (1 - sum(one.stretch for one in uneven) / 2) == pytest.approx(drawn, abs=4)
    assert sum(one.stretch for one in even) / 2 == pytest.approx(1, abs=0.04)
