"""What `arena rate` tells: pairings, the same without faults, drawn errors; never a NaN."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.ratings import Anchor, Settings
from reports.results import MAX_PAIRED, Results, results
from reports.standings import Model
from tests.reports import known
from tests.reports.known import Game, played, score


def of(games: list[Game], how: Settings | None = None, **options: Any) -> Results:
    return results(played(games), how or Settings(), **options)


def test_pairings_stand_in_the_order_of_the_ratings() -> None:
    made = of(known.three_bots())
    assert made.pairings is not None
    lines = [(one.one, one.other, one.lost, one.split, one.won) for one in made.pairings]
    assert lines == [("A", "B", 3, 26, 11), ("A", "C", 2, 21, 17), ("B", "C", 3, 25, 12)]
    first = made.pairings[0]
    assert (first.both_escaped, first.both_caught, first.pairs) == (6, 20, 40)
    assert first.score == 0.6
    assert first.expected == pytest.approx(0.593, abs=6e-4)


def test_pairings_of_two_bots_have_the_known_gap() -> None:
    made = of(known.two_bots(14, 21, 9, 56))
    assert made.pairings is not None
    (line,) = made.pairings
    assert (line.elo_conditional, line.se) == (73.6, 34.61)
    assert line.los == pytest.approx(0.98577, abs=6e-6)
    assert line.p == pytest.approx(0.042773, abs=1e-6)
    assert line.low is not None
    assert line.low < 73.6


def test_pairings_turn_round_where_the_second_name_is_better() -> None:
    made = of([(d, x, won, deal) for x, d, won, deal in known.two_bots(14, 9, 21, 56)])
    assert made.pairings is not None
    (line,) = made.pairings
    assert line.one == made.bots[0].name
    assert line.won > line.lost


def test_pair_ratings_are_those_of_decided_pairs() -> None:
    made = of(known.three_bots(), Settings(prior=0.0))
    assert made.pair_ratings is not None
    assert [(one.name, one.elo, one.se) for one in made.pair_ratings] == [
        ("A", 101.89, 29.09),
        ("B", 2.61, 25.42),
        ("C", -104.5, 28.92),
    ]


def test_pair_ratings_that_only_the_prior_bounds_have_an_open_end() -> None:
    made = of(known.two_bots(5, 8, 0, 5))
    assert made.pair_ratings is not None
    first, second = made.pair_ratings
    assert first.bounded
    assert first.high is None
    assert first.low is not None
    assert second.low is None
    assert made.pairings is not None
    assert made.pairings[0].elo_conditional is None
    assert made.pairings[0].high is not None


def test_bots_without_decided_pairs_have_no_pair_rating() -> None:
    made = of(known.two_bots(5, 0, 0, 5))
    assert made.pair_ratings == []
    assert made.pairings is not None
    assert made.pairings[0].low == -made.pairings[0].high  # type: ignore[operator]


def test_ratings_without_faults_stand_beside_those_with_them() -> None:
    games = known.three_bots()
    clean = games[3:]
    made = of(games, Settings(), clean=played(clean))
    assert made.forfeits == 3
    assert made.without_faults is not None
    assert made.without_faults.bots == of(clean).bots
    assert made.bots == of(games).bots
    assert of(games).without_faults is None


def test_anchor_that_only_has_games_with_faults_is_left_out_without_them() -> None:
    games = known.three_bots() + score("D", "A", 1, 1)
    how = Settings(anchors=(Anchor(bot="D", elo=1000.0),))
    made = of(games, how, clean=played(known.three_bots()))
    assert made.without_faults is not None
    assert sum(bot.elo or 0.0 for bot in made.without_faults.bots) == pytest.approx(0, abs=0.05)


def test_too_many_bots_are_not_paired() -> None:
    count = MAX_PAIRED + 1
    games = [game for k in range(count) for game in score(f"b{k}", f"b{(k + 1) % count}", 1, 1)]
    made = of(games)
    assert made.pairings is None
    assert made.pair_ratings is None


def test_drawn_errors_are_near_the_clustered_ones() -> None:
    made = of(known.three_bots(), draws=300)
    assert made.bootstrap is not None
    assert made.bootstrap.role_advantage is not None
    assert made.bootstrap.role_advantage.se == pytest.approx(31, rel=0.15)
    for bot, drawn in zip(made.bots, made.bootstrap.bots, strict=True):
        assert drawn.name == bot.name
        assert drawn.error is not None
        assert drawn.error.se == pytest.approx(bot.se, rel=0.15)


def test_drawn_errors_of_an_anchor_and_of_a_single_deal_are_not_told() -> None:
    how = Settings(anchors=(Anchor(bot="A", elo=1000.0),))
    made = of(known.three_bots(), how, draws=20)
    assert made.bootstrap is not None
    assert made.bootstrap.bots[0].error is None
    assert made.bootstrap.bots[1].error is not None
    made = of([("A", "B", True, "1"), ("B", "A", True, "1")], draws=20)
    assert made.bootstrap is not None
    assert made.bootstrap.role_advantage is None
    assert [bot.error for bot in made.bootstrap.bots] == [None, None]


BOTS = st.sampled_from("ABCD")
GAMES = st.lists(
    st.tuples(BOTS, BOTS, st.booleans(), st.sampled_from([None, "1", "2", "3", "4"])),
    min_size=1,
    max_size=40,
)


def every_number(value: object) -> list[float]:
    """All numbers of a JSON value."""
    if isinstance(value, dict):
        return [number for one in value.values() for number in every_number(one)]
    if isinstance(value, list):
        return [number for one in value for number in every_number(one)]
    return [value] if isinstance(value, float) else []


def every_error(value: object) -> list[float]:
    """All numbers of a JSON value that are errors."""
    if isinstance(value, dict):
        inner = [number for one in value.values() for number in every_error(one)]
        own = [value[key] for key in value if key.endswith("se") and value[key] is not None]
        return inner + [number for number in own if isinstance(number, float)]
    if isinstance(value, list):
        return [number for one in value for number in every_error(one)]
    return []


@settings(max_examples=80, deadline=None)
@given(
    GAMES,
    st.lists(st.booleans(), min_size=40, max_size=40),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from(["a", "b"]),
    st.sampled_from([None, "A"]),
)
def test_no_output_has_a_nan_an_infinity_a_negative_zero_or_an_error_of_nothing(
    games: list[Game], faults: list[bool], prior: float, model: Model, anchor: str | None
) -> None:
    data = played(games)
    anchors = (Anchor(bot="A", elo=0.0),) if anchor in data.bots else ()
    clean = [game for game, fault in zip(games, faults, strict=False) if not fault]
    made = results(
        data,
        Settings(prior=prior, anchors=anchors),
        model=model,
        clean=played(clean),
        draws=3,
    )
    text = msgspec.json.encode(made)  # NaN would come out as null, so look at the values first
    plain = msgspec.to_builtins(made)
    for number in every_number(plain):
        assert math.isfinite(number)
        assert not (number == 0 and math.copysign(1, number) < 0)
    assert all(number > 0 for number in every_error(plain))
    assert b"nan" not in text.lower()
    assert json.loads(text)["forfeits"] == len(games) - len(clean)
