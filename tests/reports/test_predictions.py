"""Predictions: the same whoever is asked about first, and right on games that were held out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.logistic import ELO
from reports.predictions import escape_chance, pair_score
from reports.ratings import Settings, rate_bots
from tests.reports import known
from tests.reports.known import played

POINTS = st.floats(-4000, 4000)


@given(POINTS, POINTS)
def test_both_bots_of_a_pair_share_its_points(gap: float, role: float) -> None:
    assert pair_score(gap, role) + pair_score(-gap, role) == pytest.approx(1)
    assert 0 <= pair_score(gap, role) <= 1


@given(POINTS)
def test_equals_share_alike_whatever_the_role(role: float) -> None:
    assert pair_score(0, role) == pytest.approx(0.5)


def test_a_lead_of_400_makes_the_odds_ten_to_one() -> None:
    assert escape_chance(400, 0) == pytest.approx(10 / 11)
    assert escape_chance(0, -400) == pytest.approx(1 / 11)


def test_chances_hold_on_games_that_were_held_out() -> None:
    rng = np.random.default_rng(11)
    strengths = [0.9, 0.4, 0.0, -0.5, -0.8]
    seen = known.simulated(rng, strengths, role=-0.6, deals=500, deal_sd=1.0)
    held_out = known.simulated(rng, strengths, role=-0.6, deals=500, deal_sd=1.0)
    part = rate_bots(played(seen), Settings()).parts[0]
    elo = dict(zip(played(seen).bots, part.strength * ELO, strict=True))
    chance = np.array([escape_chance(elo[x] - elo[d], part.role * ELO) for x, d, _, _ in held_out])
    won = np.array([game[2] for game in held_out])
    edges = np.quantile(chance, [0.2, 0.4, 0.6, 0.8])
    for group in range(5):
        inside = np.digitize(chance, edges) == group
        assert won[inside].mean() == pytest.approx(chance[inside].mean(), abs=0.05)
