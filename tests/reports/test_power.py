"""Pairs needed to see a gap, against the published table and each other."""

from __future__ import annotations

import pytest

from reports.power import pairs_needed, smallest_gap

TABLE = [  # Mister X's rate, deal sd in logits, pairs for 100, 50, 20 and 10 Elo
    (0.50, 0, (47, 189, 1184, 4736)),
    (0.50, 1, (57, 229, 1433, 5732)),
    (0.50, 2, (80, 315, 1957, 7823)),
    (0.35, 0, (52, 208, 1301, 5205)),
    (0.35, 1, (63, 250, 1558, 6232)),
    (0.35, 2, (87, 341, 2115, 8453)),
    (0.20, 0, (75, 297, 1851, 7403)),
    (0.20, 1, (88, 344, 2139, 8548)),
    (0.20, 2, (118, 458, 2834, 11321)),
    (0.10, 0, (135, 530, 3294, 13163)),
    (0.10, 1, (151, 586, 3630, 14501)),
    (0.10, 2, (196, 750, 4623, 18456)),
]


@pytest.mark.parametrize(("rate", "sd", "pairs"), TABLE)
def test_pairs_needed_are_those_of_the_table(
    rate: float, sd: float, pairs: tuple[int, ...]
) -> None:
    for gap, expected in zip((100, 50, 20, 10), pairs, strict=True):
        needed = pairs_needed(gap, mister_x_rate=rate, deal_sd=sd)
        assert needed == pytest.approx(expected, rel=0.005, abs=1.0)


@pytest.mark.parametrize("pairs", [5, 50, 5000])
def test_smallest_gap_needs_just_so_many_pairs(pairs: int) -> None:
    gap = smallest_gap(pairs, mister_x_rate=0.35, deal_sd=1)
    assert gap is not None
    assert pairs_needed(gap, mister_x_rate=0.35, deal_sd=1) == pytest.approx(pairs, rel=1e-4)


def test_no_gap_is_seen_in_fewer_than_five_pairs() -> None:
    assert smallest_gap(0, mister_x_rate=0.5) is None
    assert smallest_gap(4, mister_x_rate=0.5) is None
