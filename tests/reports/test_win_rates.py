"""Shares and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from reports.win_rates import by_bot, matrix, share, wilson
from tests.reports import known
from tests.reports.known import played, score


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_scipy(case: tuple[int, int]) -> None:
    wins, games = case
    low, high = wilson(np.array([wins]), np.array([games]))
    expected = binomtest(wins, games).proportion_ci(method="wilson")
    assert low[0] == pytest.approx(expected.low, abs=1e-12)
    assert high[0] == pytest.approx(expected.high, abs=1e-12)


def test_a_clean_sheet_keeps_a_width() -> None:
    assert share(0, 10).low == 0.0
    assert share(0, 10).high == pytest.approx(0.27753)
    assert share(10, 10).high == 1.0


def test_no_games_are_no_share() -> None:
    assert share(0, 0).rate is None
    assert share(0, 0).low is None


def test_matrix_counts_every_game_once() -> None:
    data = played(known.three_bots())
    made = matrix(data, ["C", "A", "B"])
    assert made.mister_x == made.detectives == ["C", "A", "B"]
    assert sum(cell.games for row in made.cells for cell in row) == 240
    assert sum(cell.wins for row in made.cells for cell in row) == 84
    assert made.cells[0][0].rate is None
    assert made.cells[1][0].wins == known.THREE_BOTS["AC"].count("1")


def test_averages_take_each_opponent_alike() -> None:
    games = score("A", "B", 1, 0) + score("A", "C", 0, 99) + score("B", "C", 1, 1)
    made = matrix(played(games))
    assert made.mister_x == ["A", "B"]
    assert made.detectives == ["B", "C"]
    assert made.mister_x_average == [0.5, 0.5]
    assert made.detectives_average == [0.0, 0.75]


def test_by_bot_tells_the_sides_apart() -> None:
    shares = by_bot(played(known.two_bots(14, 21, 9, 56)))
    assert (shares["A"][0].wins, shares["A"][0].games) == (35, 100)
    assert (shares["A"][1].wins, shares["A"][1].games) == (77, 100)
    assert (shares["B"][0].wins, shares["B"][1].wins) == (23, 65)
