"""Pairs needed to see a gap, against the published table and each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from reports.power import deal_sd_seen, pairs_needed, sequential_pairs, smallest_gap

# Mister X's rate, deal sd in logits, pairs for 100, 50, 20 and 10 Elo, pairs of a sequential test,
# and by how much games taken as independent waste.
TABLE = [
    (0.50, 0, (47, 189, 1184, 4736), (32, 128, 799, 3198), 1.00),
    (0.50, 1, (57, 229, 1433, 5732), (39, 155, 968, 3871), 1.21),
    (0.50, 2, (80, 315, 1957, 7823), (54, 213, 1322, 5283), 1.65),
    (0.35, 0, (52, 208, 1301, 5205), (35, 140, 879, 3515), 1.10),
    (0.35, 1, (63, 250, 1558, 6232), (42, 169, 1052, 4208), 1.31),
    (0.35, 2, (87, 341, 2115, 8453), (59, 230, 1428, 5708), 1.78),
    (0.20, 0, (75, 297, 1851, 7403), (50, 201, 1250, 4999), 1.56),
    (0.20, 1, (88, 344, 2139, 8548), (59, 232, 1444, 5772), 1.80),
    (0.20, 2, (118, 458, 2834, 11321), (80, 309, 1914, 7645), 2.38),
    (0.10, 0, (135, 530, 3294, 13163), (91, 358, 2224, 8888), 2.77),
    (0.10, 1, (151, 586, 3630, 14501), (102, 396, 2451, 9792), 3.05),
    (0.10, 2, (196, 750, 4623, 18456), (132, 506, 3122, 12463), 3.88),
]


@pytest.mark.parametrize(("rate", "sd", "pairs", "sequential", "waste"), TABLE)
def test_pairs_needed_are_those_of_the_table(
    rate: float, sd: float, pairs: tuple[int, ...], sequential: tuple[int, ...], waste: float
) -> None:
    for gap, expected, tested in zip((100, 50, 20, 10), pairs, sequential, strict=True):
        needed = pairs_needed(gap, mister_x_rate=rate, deal_sd=sd)
        assert needed == pytest.approx(expected, rel=0.005, abs=1.0)
        needed = sequential_pairs(gap, mister_x_rate=rate, deal_sd=sd)
        assert needed == pytest.approx(tested, rel=0.005, abs=1.0)
    # Of nearly equal bots half of the games are won: taken as independent, two of them have a
    # score with a variance of 1/8; that of a pair is a quarter of the share of decided pairs.
    assert 0.125 / (decided(rate, sd) / 4) == pytest.approx(waste, rel=0.005)


def decided(rate: float, sd: float) -> float:
    """Share of pairs that equal bots do not split."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()

    def over_deals(role: float, power: int) -> float:
        chance = 1 / (1 + np.exp(-role - sd * nodes))
        return float(weights @ (chance * (1 - chance) if power == 2 else chance))

    role = brentq(lambda role: over_deals(role, 1) - rate, -20, 20)
    return 2 * over_deals(role, 2)


@pytest.mark.parametrize(("rate", "sd"), [(0.5, 1.0), (0.35, 1.5), (0.2, 0.5), (0.1, 2.0)])
def test_deal_effect_is_found_in_split_pairs(rate: float, sd: float) -> None:
    split = round((1 - decided(rate, sd)) * 10**7)
    assert deal_sd_seen(rate, [0.0], [10**7], split) == pytest.approx(sd, abs=1e-4)


def test_deal_effect_takes_gaps_of_the_bots_off() -> None:
    """Bots that are far apart split few pairs, however uneven the deals are."""
    alike = deal_sd_seen(0.35, [0.0, 0.0], [100, 100], 110)
    apart = deal_sd_seen(0.35, [0.0, 600.0], [100, 100], 110)
    assert apart > alike + 0.5


@pytest.mark.parametrize(("split", "sd"), [(0, 0.0), (40, 0.0), (100, 8.0)])
def test_deal_effect_stays_in_its_range(split: int, sd: float) -> None:
    assert deal_sd_seen(0.5, [0.0], [100], split) == sd


@pytest.mark.parametrize("pairs", [5, 50, 5000])
def test_smallest_gap_needs_just_so_many_pairs(pairs: int) -> None:
    gap = smallest_gap(pairs, mister_x_rate=0.35, deal_sd=1)
    assert gap is not None
    assert pairs_needed(gap, mister_x_rate=0.35, deal_sd=1) == pytest.approx(pairs, rel=1e-4)


def test_no_gap_is_seen_in_fewer_than_five_pairs() -> None:
    assert smallest_gap(0, mister_x_rate=0.5) is None
    assert smallest_gap(4, mister_x_rate=0.5) is None
