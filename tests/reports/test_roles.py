"""Model B against known answers, and when it is refused."""

from __future__ import annotations

import numpy as np
import pytest

from arena.errors import ConfigError
from reports.logistic import ELO
from reports.ratings import Anchor, Settings, rate_bots, spread
from reports.roles import RolePart, likelihood_ratio, rate_roles
from tests.reports import known
from tests.reports.known import Game, played, score

PLAIN = Settings(prior=0.0, small_sample=False)


def only_part(games: list[Game], how: Settings = PLAIN) -> RolePart:
    rated = rate_roles(played(games), how)
    assert not rated.refused
    assert len(rated.parts) == 1
    return rated.parts[0]


def values(role_part: RolePart, what: str) -> list[float]:
    rows = [role_part.row(k, what) for k in range(len(role_part.bots))]  # type: ignore[arg-type]
    return [role_part.value(row) * ELO for row in rows if row is not None]


def spreads(role_part: RolePart, what: str) -> list[float]:
    rows = [role_part.row(k, what) for k in range(len(role_part.bots))]  # type: ignore[arg-type]
    told = [spread(role_part.part, row) for row in rows if row is not None]
    return [se * ELO for se in told if se is not None]


def test_three_bots_have_the_known_strengths_by_side() -> None:
    role_part = only_part(known.three_bots())
    part = role_part.part
    assert part.role * ELO == pytest.approx(-118.9396, abs=6e-5)
    se, fisher = spread(part, 0), np.sqrt(part.fisher[0, 0])
    assert se is not None
    assert se * ELO == pytest.approx(31.3684, abs=6e-5)
    assert fisher * ELO == pytest.approx(25.5531, abs=6e-5)
    assert values(role_part, "s") == pytest.approx([72.6435, 9.3144, -81.9579], abs=6e-5)
    assert values(role_part, "t") == pytest.approx([96.3191, -108.4158, 12.0966], abs=6e-5)
    assert values(role_part, "mister_x") == pytest.approx([168.9627, -99.1014, -69.8613], abs=6e-5)
    assert values(role_part, "detectives") == pytest.approx(
        [-23.6756, 117.7302, -94.0546], abs=6e-5
    )
    assert spreads(role_part, "mister_x") == pytest.approx([37.6056, 39.6983, 36.8042], abs=6e-5)
    assert spreads(role_part, "detectives") == pytest.approx([39.8621, 45.2628, 40.7734], abs=6e-5)
    assert part.log_likelihood == pytest.approx(-139.515857, abs=6e-7)


def test_likelihood_ratio_of_three_bots() -> None:
    data = played(known.three_bots())
    test = likelihood_ratio(rate_bots(data, PLAIN), rate_roles(data, PLAIN))
    assert test is not None
    assert test.statistic == pytest.approx(10.943076, abs=6e-7)
    assert test.df == 2
    assert test.p == pytest.approx(0.00420476, abs=6e-9)


def test_no_likelihood_ratio_with_a_prior() -> None:
    data = played(known.three_bots())
    assert likelihood_ratio(rate_bots(data, Settings()), rate_roles(data, Settings())) is None


def test_two_bots_are_refused_in_a_sentence() -> None:
    rated = rate_roles(played(known.two_bots(14, 21, 9, 56)), PLAIN)
    assert rated.parts == ()
    assert len(rated.refused) == 1
    members, reason = rated.refused[0]
    assert members.tolist() == [0, 1]
    assert "not identified for A, B" in reason


def test_two_bots_that_also_met_themselves_are_told_apart() -> None:
    games = known.two_bots(14, 21, 9, 56) + score("A", "A", 10, 10) + score("B", "B", 6, 14)
    assert len(only_part(games).bots) == 2


def test_a_field_that_falls_apart_by_side_is_refused() -> None:
    """A and B hunt C and D, who hunt A and B: no X bot of one group met the other's hunters."""
    games: list[Game] = []
    for one in "AB":
        for other in "CD":
            games += score(one, other, 3, 2) + score(other, one, 2, 3)
    rated = rate_roles(played(games), PLAIN)
    assert rated.parts == ()
    assert "falls apart" in rated.refused[0][1]


def test_a_bot_that_never_hunted_has_no_common_strength() -> None:
    role_part = only_part(known.three_bots() + score("D", "A", 3, 3) + score("D", "B", 3, 3))
    assert role_part.row(3, "mister_x") is not None
    assert role_part.row(3, "detectives") is None
    assert role_part.row(3, "s") is None


def test_one_sided_bots_have_the_same_strengths_in_both_models() -> None:
    data = played(known.one_sided())
    one, two = rate_bots(data, PLAIN).parts[0], rate_roles(data, PLAIN).parts[0]
    assert two.part.strength == pytest.approx(one.strength)
    assert two.part.role == pytest.approx(one.role)


def test_an_anchor_shifts_both_sides() -> None:
    games = known.three_bots()
    free = only_part(games)
    how = Settings(prior=0.0, small_sample=False, anchors=(Anchor(bot="A", elo=1000.0),))
    role_part = only_part(games, how)
    assert values(role_part, "s")[0] == pytest.approx(1000)
    assert values(role_part, "t") == pytest.approx(values(free, "t"))
    row = role_part.row(0, "s")
    assert row is not None
    assert spread(role_part.part, row) is None
    assert len(spreads(role_part, "mister_x")) == 3


def test_several_anchors_are_refused() -> None:
    anchors = (Anchor(bot="A", elo=0.0), Anchor(bot="B", elo=0.0))
    with pytest.raises(ConfigError, match="use model a"):
        rate_roles(played(known.three_bots()), Settings(anchors=anchors))


def test_no_games_are_no_parts() -> None:
    assert rate_roles(played([]), Settings()).parts == ()
