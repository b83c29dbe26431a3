"""Game pairs: how they are found, and what they tell, against published and known answers."""

from __future__ import annotations

import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.logistic import ELO
from reports.pairs import (
    GamePairs,
    PairCounts,
    conditional,
    five,
    modelled,
    pair_up,
    rate_decided,
    scored,
)
from reports.ratings import Part, Settings, rate_bots, superiority
from tests.reports import known
from tests.reports.known import Game, played

PLAIN = Settings(prior=0.0, small_sample=False)

# LL, S, WW; mean, variance; Elo of the score ±, normalized Elo ±; z, LOS, exact p; conditional gap.
KNOWN = [
    ((100, 300, 130), (0.528302, 0.107689), (19.687, 19.496), (21.188, 20.916)),
    ((220, 560, 220), (0.5, 0.11), (0, 14.292), (0, 15.227)),
    ((30, 400, 70), (0.54, 0.0484), (27.854, 13.493), (44.668, 21.534)),
    ((184, 508, 290), (0.553971, 0.117759), (37.650, 15.100), (38.639, 15.366)),
    ((0, 50, 10), (0.583321, 0.034728), (58.442, 33.816), (109.84, 62.16)),
    ((0, 0, 20), (0.999875, 0.000094), (1199.8, 128.3), None),
    ((0, 40, 0), (0.5, 0.000016), (0, 0.851), None),
]
CONDITIONAL = [
    ((100, 300, 130), (1.9781, 0.97604, 0.027807), (22.789, 11.553)),
    ((220, 560, 220), (0, 0.5, 0.519008), (0, 8.282)),
    ((30, 400, 70), (4.0, 0.99997, 0.000039), (73.595, 18.954)),
    ((184, 508, 290), (4.8687, 1, 0.000001), (39.516, 8.186)),
    ((0, 50, 10), (3.1623, 0.99922, 0.000977), None),
    ((0, 0, 20), (4.4721, 1, 0.000001), None),
    ((0, 40, 0), (0, 0.5, 1), None),
]


def of(counts: tuple[int, int, int]) -> PairCounts:
    lost, split, won = counts
    return PairCounts(lost=lost, split=split, won=won)


# Known answers


@pytest.mark.parametrize(("counts", "moments", "elo", "normalized"), KNOWN)
def test_score_view_of_pairs_without_draws(
    counts: tuple[int, int, int],
    moments: tuple[float, float],
    elo: tuple[float, float],
    normalized: tuple[float, float] | None,
) -> None:
    made = scored(five(of(counts)))
    assert (made.mean, made.variance) == pytest.approx(moments, abs=6e-7)
    digits = 6e-4 if elo[0] < 1000 else 6e-2
    assert (made.elo, made.elo_half) == pytest.approx(elo, abs=digits)
    if normalized is not None:
        digits = 6e-4 if normalized[0] < 100 else 6e-3
        assert (made.normalized, made.normalized_half) == pytest.approx(normalized, abs=digits)


@pytest.mark.parametrize(("counts", "sign", "gap"), CONDITIONAL)
def test_conditional_view_of_pairs(
    counts: tuple[int, int, int],
    sign: tuple[float, float, float],
    gap: tuple[float, float] | None,
) -> None:
    made = conditional(of(counts))
    assert made is not None
    assert made.z == pytest.approx(sign[0], abs=6e-5)
    assert made.los == pytest.approx(sign[1], abs=6e-6)
    assert made.p_better == pytest.approx(sign[2], abs=6e-7)
    if gap is None:
        assert made.elo is None
        assert made.se is None
    else:
        assert (made.elo, made.se) == pytest.approx(gap, abs=6e-4)
    assert np.isfinite([made.low, made.high]).all()
    assert made.high - made.low > 1  # never an interval of nothing


@pytest.mark.parametrize(
    ("counts", "elo", "normalized", "mean"),
    [
        ((34, 54, 31 + 32, 64, 75), (55.58, 27.65), (57.94, 28.28), 0.579),
        ((332, 433, 457 + 41, 333, 334), (-8.64, 10.33), (-9.17, 10.96), None),
        ((7895, 8757, 5485 + 200, 568, 9999), (-21.04, 2.95), (-19.01, 2.65), None),
        ((379, 10170, 21828, 10640, 343), None, (3.05, 2.31), None),
    ],
)
def test_pentanomial_scores_are_as_fastchess_prints_them(
    counts: tuple[int, ...],
    elo: tuple[float, float] | None,
    normalized: tuple[float, float],
    mean: float | None,
) -> None:
    made = scored(counts)
    if elo is not None:
        assert (made.elo, made.elo_half) == pytest.approx(elo, abs=6e-3)
    assert (made.normalized, made.normalized_half) == pytest.approx(normalized, abs=6e-3)
    if mean is not None:
        assert made.mean == pytest.approx(mean, abs=6e-4)


def test_pentanomial_superiority_is_as_fastchess_prints_it() -> None:
    assert scored((332, 433, 498, 333, 334)).los == pytest.approx(0.0505, abs=6e-5)


def test_two_bots_have_the_known_pairs_and_views() -> None:
    pairs = pair_up(played(known.two_bots(14, 21, 9, 56)))
    counts = pairs.counts()
    assert counts == PairCounts(lost=9, split=70, won=21)
    escaped, caught = int(pairs.both_escaped.sum()), int(pairs.both_caught.sum())
    assert (escaped, caught) == (14, 56)
    model = modelled(escaped, caught, counts.won, counts.lost)
    assert model is not None
    assert (model.gap, model.gap_se) == pytest.approx((51.1835, 23.1256), abs=6e-5)
    assert (model.role, model.role_se) == pytest.approx((-158.7216, 31.3122), abs=6e-5)
    score = scored(five(counts), no_count=0)
    assert (score.mean, score.variance) == pytest.approx((0.56, 0.0714))
    assert (score.elo, score.elo_half) == pytest.approx((41.894, 37.069), abs=6e-4)
    assert score.los == pytest.approx(0.98763, abs=6e-6)
    told = conditional(counts)
    assert told is not None
    assert (told.elo, told.se) == pytest.approx((73.595, 34.605), abs=6e-4)
    assert (told.z, told.los) == pytest.approx((2.19089, 0.98577), abs=6e-6)
    assert (told.p_better, told.p_different) == pytest.approx((0.021387, 0.042773), abs=1e-6)


def test_model_view_is_the_joint_fit_of_two_bots() -> None:
    part = rate_bots(played(known.two_bots(30, 15, 8, 27)), PLAIN).parts[0]
    made = modelled(30, 27, 15, 8)
    assert made is not None
    assert part.covariance is not None
    assert made.gap == pytest.approx((part.strength[0] - part.strength[1]) * ELO)
    assert made.gap_se == pytest.approx(2 * np.sqrt(part.covariance[1, 1]) * ELO)
    assert made.role_se == pytest.approx(np.sqrt(part.covariance[0, 0]) * ELO)


@pytest.mark.parametrize("kinds", [(0, 5, 0, 5), (5, 0, 5, 0), (0, 0, 4, 0), (0, 0, 0, 0)])
def test_model_view_is_not_told_where_a_side_won_all_or_nothing(
    kinds: tuple[int, int, int, int],
) -> None:
    assert modelled(*kinds) is None


def test_three_bots_have_the_known_pairs() -> None:
    pairs = pair_up(played(known.three_bots()))
    for one, other, lost, escaped, caught, won in (
        ("A", "B", 3, 6, 20, 11),
        ("A", "C", 2, 10, 11, 17),
        ("B", "C", 3, 2, 23, 12),
    ):
        own = pairs.between(one, other)
        assert own.counts() == PairCounts(lost=lost, split=escaped + caught, won=won)
        assert (own.both_escaped.sum(), own.both_caught.sum()) == (escaped, caught)
        turned = pairs.between(other, one)
        assert turned.counts() == PairCounts(lost=won, split=escaped + caught, won=lost)
        assert (turned.both_escaped.sum(), turned.both_caught.sum()) == (escaped, caught)


def test_three_bots_have_the_known_ratings_by_decided_pairs() -> None:
    part = rate_decided(pair_up(played(known.three_bots())), PLAIN).parts[0]
    assert part.strength * ELO == pytest.approx([101.8885, 2.6065, -104.4951], abs=6e-5)
    errors = np.sqrt(np.diag(part.fisher))[1:] * ELO
    assert errors == pytest.approx([29.0885, 25.4250, 28.9241], abs=6e-5)


def test_no_pairs_tell_nothing() -> None:
    assert conditional(of((0, 0, 0))) is None
    assert rate_decided(pair_up(played([])), Settings()).parts == ()


# How pairs are found


def test_a_pair_stands_where_its_later_game_stands() -> None:
    games: list[Game] = [
        ("A", "B", True, "2"),
        ("A", "B", True, "1"),
        ("B", "A", True, "1"),
        ("C", "A", False, "2"),
        ("B", "A", False, "2"),
        ("A", "C", False, "2"),
    ]
    pairs = pair_up(played(games))
    names = [(pairs.bots[a], pairs.bots[b]) for a, b in zip(pairs.one, pairs.other, strict=True)]
    assert names == [("A", "B"), ("A", "B"), ("A", "C")]
    assert pairs.deal.tolist() == [0, 1, 1]
    assert pairs.as_mister_x.tolist() == [True, True, False]
    assert pairs.as_detectives.tolist() == [False, True, True]
    assert pairs.unpaired == 0


def test_games_without_a_partner_are_counted() -> None:
    games: list[Game] = [
        ("A", "B", True, None),  # deals of their own
        ("B", "A", True, None),
        ("A", "A", True, "1"),
        ("A", "B", True, "1"),
        ("B", "A", True, "2"),
    ]
    pairs = pair_up(played(games))
    assert (len(pairs), pairs.unpaired) == (0, 5)


def test_games_repeated_on_a_deal_are_paired_in_their_order() -> None:
    games: list[Game] = [
        ("A", "B", True, "1"),
        ("A", "B", False, "1"),
        ("B", "A", False, "1"),
        ("B", "A", True, "1"),
        ("B", "A", True, "1"),
    ]
    pairs = pair_up(played(games))
    assert pairs.counts() == PairCounts(lost=1, split=0, won=1)
    assert pairs.won.tolist() == [True, False]
    assert pairs.unpaired == 1


def test_bots_that_are_not_known_have_no_pairs() -> None:
    pairs = pair_up(played(known.three_bots()))
    assert len(pairs.between("A", "nobody")) == 0


BOTS = st.sampled_from("ABC")
GAMES = st.lists(st.tuples(BOTS, BOTS, st.booleans(), st.sampled_from([None, "1", "2", "3"])))


@settings(max_examples=100, deadline=None)
@given(GAMES)
def test_every_game_is_in_one_pair_or_counted_as_unpaired(games: list[Game]) -> None:
    pairs = pair_up(played(games))
    assert 2 * len(pairs) + pairs.unpaired == len(games)
    total = sum(
        len(pairs.between(one, other)) for one, other in (("A", "B"), ("A", "C"), ("B", "C"))
    )
    assert total == len(pairs)
    counts = pairs.counts()
    kinds = (pairs.won, pairs.lost, pairs.both_escaped, pairs.both_caught)
    assert sum(int(kind.sum()) for kind in kinds) == counts.pairs == len(pairs)


# What must hold

COUNTS = st.tuples(*[st.integers(0, 10**6)] * 3).filter(any)


@settings(max_examples=200, deadline=None)
@given(COUNTS)
def test_views_turn_round_with_the_bots_and_stay_finite(counts: tuple[int, int, int]) -> None:
    one, other = conditional(of(counts)), conditional(of(counts[::-1]))
    assert one is not None
    assert other is not None
    assert one.los + other.los == pytest.approx(1)
    assert one.low == pytest.approx(-other.high)
    assert one.p_different == other.p_different
    assert 0 <= one.p_better <= 1
    assert np.isfinite([one.low, one.high, one.los, one.z]).all()
    score, turned = scored(five(of(counts))), scored(five(of(counts[::-1])))
    assert score.los + turned.los == pytest.approx(1)
    assert score.elo == pytest.approx(-turned.elo, abs=1e-6)
    assert np.isfinite([score.elo, score.elo_half, score.normalized, score.los]).all()


def test_pair_ratings_do_not_move_with_deals_that_suit_a_side() -> None:
    """Any effect of a deal changes split pairs alone, given which bot is better."""
    games = known.three_bots()
    # On ten more deals Mister X always escapes, whoever plays: nothing is learnt of the bots.
    easy = [(pair[0], pair[1], True, f"easy {k}") for k in range(10) for pair in known.THREE_BOTS]
    more = [*games, *easy]
    one = rate_decided(pair_up(played(games)), PLAIN).parts[0]
    other = rate_decided(pair_up(played(more)), PLAIN).parts[0]
    assert other.strength.tolist() == one.strength.tolist()
    assert other.fisher.tolist() == one.fisher.tolist()


def test_superiority_by_decided_pairs_is_that_of_the_sign_statistic_nearly() -> None:
    pairs = pair_up(played(known.two_bots(14, 21, 9, 56)))
    part = rate_decided(pairs, PLAIN).parts[0]
    told = conditional(pairs.counts())
    assert told is not None
    assert told.elo is not None
    assert (part.strength[0] - part.strength[1]) * ELO == pytest.approx(told.elo, abs=1e-6)
    assert superiority(part)[0, 1] == pytest.approx(told.los, abs=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pairs", "gap", "most"),
    [(20, 0.0, 1.0), (80, 0.0, 0.98), (80, 120.0, 0.98), (300, -60.0, 0.98)],
)
def test_conditional_intervals_cover_the_truth_on_uneven_deals(
    pairs: int, gap: float, most: float
) -> None:
    """2,000 matches of two bots, X winning a third, deals differing by 1.5 logits.

    Of twenty pairs six are decided: half a pair on both sides then makes intervals too wide.
    """
    rng = np.random.default_rng(pairs)
    luck = -1.0 + 1.5 * rng.normal(size=(2000, pairs))
    as_mister_x = rng.random(luck.shape) < 1 / (1 + np.exp(-luck - gap / ELO))
    as_detectives = rng.random(luck.shape) < 1 / (1 + np.exp(luck - gap / ELO))
    won = (as_mister_x & as_detectives).sum(axis=1)
    lost = (~as_mister_x & ~as_detectives).sum(axis=1)
    inside = 0
    for w, n in zip(won.tolist(), lost.tolist(), strict=True):
        told = conditional(of((n, pairs - w - n, w)))
        assert told is not None
        inside += told.low <= gap <= told.high
    assert 0.92 <= inside / 2000 <= most


# A second implementation, for data without a role term


def decided_wins(pairs: GamePairs) -> tuple[list[str], list[str]]:
    """Winner and loser of each decided pair."""
    decided = pairs.won | pairs.lost
    first = [pairs.bots[k] for k in np.where(pairs.won, pairs.one, pairs.other)[decided]]
    second = [pairs.bots[k] for k in np.where(pairs.won, pairs.other, pairs.one)[decided]]
    return first, second


def gaps_by_evalica(winners: list[str], losers: list[str]) -> dict[str, float]:
    """Natural logarithms of strengths, about their mean."""
    made = evalica.bradley_terry(
        winners, losers, [evalica.Winner.X] * len(winners), tolerance=1e-13, limit=100_000
    )
    logs = np.log(made.scores)
    return dict(logs - logs.mean())


def gaps_of(part: Part, names: tuple[str, ...]) -> dict[str, float]:
    return {names[bot]: float(part.strength[k]) for k, bot in enumerate(part.players.tolist())}


@pytest.mark.parametrize("seed", range(3))
def test_ratings_by_decided_pairs_agree_with_evalica(seed: int) -> None:
    rng = np.random.default_rng(seed)
    games = known.simulated(rng, [0.6, 0.2, 0.0, -0.2, -0.6], role=-0.7, deals=60, deal_sd=1.0)
    pairs = pair_up(played(games))
    part = rate_decided(pairs, PLAIN).parts[0]
    expected = gaps_by_evalica(*decided_wins(pairs))
    doubled = {name: 2 * value for name, value in gaps_of(part, pairs.bots).items()}
    assert doubled == pytest.approx(expected, abs=1e-6)


def test_tennis_agrees_with_evalica() -> None:
    games = known.tennis()
    expected = gaps_by_evalica([game[0] for game in games], [game[1] for game in games])
    about = np.mean([1.17612, 1.13578, -0.56852, -0.06185, 0])
    published = {
        "Djokovic": 1.17612,
        "Federer": 1.13578,
        "Murray": -0.56852,
        "Nadal": -0.06185,
        "Wawrinka": 0.0,
    }
    assert {name: value - about for name, value in published.items()} == pytest.approx(
        expected, abs=1e-5
    )
