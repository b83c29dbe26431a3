"""Errors by drawing deals anew, against the clustered ones."""

from __future__ import annotations

import numpy as np
import pytest

from arena.errors import ConfigError
from reports.bootstrap import Drawn, bootstrap
from reports.logistic import ELO
from reports.ratings import Anchor, Settings, rate_bots, spread
from tests.reports import known
from tests.reports.known import Game, played, score

PLAIN = Settings(prior=0.0)


def drawn(games: list[Game], how: Settings, *, draws: int = 200, seed: int = 1) -> Drawn:
    data = played(games)
    (only,) = bootstrap(data, rate_bots(data, how), how, draws=draws, seed=seed)
    assert only is not None
    return only


def test_three_bots_have_the_known_errors_over_a_thousand_draws() -> None:
    errors = drawn(known.three_bots(), PLAIN, draws=1000).errors() * ELO
    assert errors == pytest.approx([31.0, 20.5, 20.3, 18.4], rel=0.05)


def test_equal_seeds_give_equal_draws() -> None:
    one, same, other = (drawn(known.three_bots(), PLAIN, seed=seed) for seed in (1, 1, 2))
    assert one.strength.tobytes() == same.strength.tobytes()
    assert one.strength.tobytes() != other.strength.tobytes()


def test_draws_do_not_depend_on_the_order_of_games() -> None:
    games = known.three_bots()
    one, other = drawn(games, PLAIN, draws=20), drawn(games[::-1], PLAIN, draws=20)
    assert one.strength.tobytes() == other.strength.tobytes()


def test_intervals_agree_with_clustered_ones() -> None:
    how = Settings()
    part = rate_bots(played(known.three_bots()), how).parts[0]
    ends = drawn(known.three_bots(), how, draws=1000).intervals()
    middles = [part.role, *part.strength.tolist()]
    for k, (low, high) in enumerate(ends.tolist()):
        se = spread(part, k)
        assert se is not None
        assert low < middles[k] < high
        assert (high - low) / 2 == pytest.approx(1.96 * se, rel=0.12)


def test_games_of_a_deal_are_drawn_together() -> None:
    """Forty games a deal, all alike: drawing games would find next to no error of the role."""
    games: list[Game] = []
    for deal in range(20):
        games += [("A", "B", deal % 2 == 0, str(deal)), ("B", "A", deal % 2 == 0, str(deal))] * 20
    errors = drawn(games, Settings()).errors()
    assert errors[0] == pytest.approx(2 / np.sqrt(20), rel=0.2)


def test_strengths_stand_about_the_mean_or_the_anchor() -> None:
    assert drawn(known.three_bots(), PLAIN).strength.sum(axis=1) == pytest.approx(0, abs=1e-9)
    how = Settings(anchors=(Anchor(bot="A", elo=1000.0),))
    anchored = drawn(known.three_bots(), how)
    assert anchored.strength[:, 0] * ELO == pytest.approx(1000)
    assert anchored.errors()[2] > 0.05
    loose = Settings(anchors=(Anchor(bot="A", elo=0.0), Anchor(bot="C", elo=0.0, sd=50.0)))
    assert drawn(known.three_bots(), loose).strength[:, 0] == pytest.approx(0, abs=1e-12)


def test_draws_without_a_finite_maximum_are_fitted_with_the_prior() -> None:
    """B won on one deal of twelve: in a third of the draws it never did, and each is finite."""
    games: list[Game] = []
    for deal in range(12):
        games += [("A", "B", True, str(deal)), ("B", "A", deal == 0, str(deal))]
        games += [("A", "A", deal % 2 == 0, str(deal)), ("B", "B", deal % 2 == 0, str(deal))]
    games.append(("A", "B", False, "0"))
    made = drawn(games, PLAIN)
    assert np.isfinite(made.strength).all()
    assert np.abs(made.strength * ELO).max() < 1500


def test_draws_that_lose_a_bot_are_fitted_with_the_prior() -> None:
    """C met the others on two deals of ten: some draws hold neither, and C stays at the mean."""
    games: list[Game] = []
    for deal in range(10):
        games += [("A", "B", deal % 2 == 0, str(deal)), ("B", "A", deal % 3 == 0, str(deal))]
    for deal in range(2):
        games += [("A", "C", deal == 0, str(deal)), ("C", "A", deal == 0, str(deal))]
    made = drawn(games, PLAIN)
    assert np.isfinite(made.strength).all()
    assert np.isfinite(made.role).all()


def test_parts_are_drawn_apart_and_one_deal_is_not_drawn_from() -> None:
    games = [*known.three_bots(), *[(*pair, True, "x") for pair in (("D", "E"), ("E", "D"))]]
    data = played(games)
    made = bootstrap(data, rate_bots(data, Settings()), Settings(), draws=5)
    assert made[0] is not None
    assert made[0].strength.shape == (5, 3)
    assert made[1] is None
    none = played([])
    assert bootstrap(none, rate_bots(none, Settings()), Settings()) == ()


def test_one_sided_bots_are_drawn_side_by_side() -> None:
    made = drawn(known.one_sided(), PLAIN, draws=300)
    assert made.strength[:, :2].sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert made.strength[:, 2:].sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert made.errors()[:2] * ELO == pytest.approx([50.62, 40.93], rel=0.15)


@pytest.mark.parametrize("draws", [0, 1, 100_001])
def test_draws_out_of_range_are_refused(draws: int) -> None:
    data = played(known.three_bots())
    with pytest.raises(ConfigError, match="write 2 to 100000, such as 1000"):
        bootstrap(data, rate_bots(data, PLAIN), PLAIN, draws=draws)


def test_too_many_bots_are_refused() -> None:
    games = [game for k in range(201) for game in score(f"b{k}", f"b{(k + 1) % 201}", 1, 1)]
    data = played(games)
    with pytest.raises(ConfigError, match="bootstrap of 201 bots"):
        bootstrap(data, rate_bots(data, Settings()), Settings(), draws=2)
