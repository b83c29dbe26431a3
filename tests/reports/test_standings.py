"""The table that `arena rate` prints."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import ConfigError
from reports.played import Played
from reports.ratings import Anchor
from reports.standings import parse_anchor, rate
from tests.reports import known
from tests.reports.known import Game, played, score


class Given(msgspec.Struct, eq=False):
    """Stands for a table of games."""

    games: list[Game]

    def played(self) -> Played:
        return played(self.games)


def rated(games: list[Game], **how: Any) -> dict[str, Any]:
    made: dict[str, Any] = rate(Given(games), **how)
    return made


def bots(made: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {bot["name"]: bot for bot in made["bots"]}


def walk(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in walk(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in walk(inner)]
    return [value]


def test_fields_that_scripts_rely_on_are_there() -> None:
    made = rated(known.three_bots(), prior=0.0)
    assert {"schema", "model", "parts", "role_advantage", "bots", "los", "warnings"} <= set(made)
    assert made["parts"] == 1
    assert made["model"] == "a"
    assert {"elo", "se"} <= set(made["role_advantage"])
    assert made["role_advantage"]["elo"] == -118.26
    assert [bot["name"] for bot in made["bots"]] == ["A", "B", "C"]
    first = made["bots"][0]
    wanted = ["name", "elo", "se", "low", "high", "games", "bounded", "mister_x", "detectives"]
    assert set(wanted) <= set(first)
    assert first["elo"] == 77.22
    assert first["se"] == pytest.approx(19.8496 * 1.012739, abs=0.006)
    assert (first["mister_x"], first["detectives"]) == (168.96, -23.68)
    assert first["low"] == pytest.approx(77.22 - 1.95996 * 20.1025, abs=0.01)
    assert first["games"] == 160
    assert first["mister_x_wins"] == sum(known.THREE_BOTS[pair].count("1") for pair in ("AB", "AC"))
    assert first["detectives_wins"] == sum(
        known.THREE_BOTS[pair].count("0") for pair in ("BA", "CA")
    )
    assert made["los"][0][0] is None
    assert made["los"][0][1] + made["los"][1][0] == pytest.approx(1)
    assert made["role_test"] == {"chi2": 10.9431, "df": 2, "p": 0.00420476}
    assert made["warnings"] == []


def test_model_b_rates_by_the_mean_of_both_sides() -> None:
    made = rated(known.three_bots(), prior=0.0, model="b")
    assert made["role_advantage"]["elo"] == -118.94
    assert [bot["elo"] for bot in made["bots"]] == [72.64, 9.31, -81.96]


def test_model_b_prints_no_numbers_for_two_bots() -> None:
    made = rated(known.two_bots(14, 21, 9, 56), model="b")
    assert [bot["elo"] for bot in made["bots"]] == [None, None]
    assert made["role_advantage"]["elo"] is None
    assert any("not identified" in text for text in made["warnings"])
    assert [bot["elo"] for bot in rated(known.two_bots(14, 21, 9, 56))["bots"]] != [None, None]


def test_model_b_falls_back_to_a_where_sides_fall_apart() -> None:
    games: list[Game] = []
    for one in "AB":
        for other in "CD":
            games += score(one, other, 3, 2) + score(other, one, 2, 3)
    made = rated(games, model="b")
    assert all(bot["elo"] is not None for bot in made["bots"])
    assert all(bot["mister_x"] is None for bot in made["bots"])
    assert "those bots are rated by model a" in made["warnings"]


def test_parts_have_lists_of_their_own() -> None:
    games = known.three_bots() + score("D", "E", 3, 2) + score("E", "D", 2, 3)
    made = rated(games)
    assert made["parts"] == 2
    assert [bot["part"] for bot in made["bots"]] == [1, 1, 1, 2, 2]
    assert made["role_advantage"]["elo"] is None
    assert made["part_list"][0]["role_advantage"]["elo"] == -117.45
    assert made["los"][0][3] is None


def test_one_bot_has_no_rating() -> None:
    made = rated(score("A", "A", 3, 2))
    assert made["bots"][0]["elo"] is None
    assert made["bots"][0]["games"] == 5
    assert any("no rating" in text for text in made["warnings"])


def test_no_games_are_an_empty_table() -> None:
    made = rated([])
    assert made["bots"] == []
    assert made["los"] == []
    assert made["warnings"] == ["there are no games with a winner"]


def test_bounded_bots_have_one_open_end() -> None:
    made = rated(score("A", "B", 10, 0) + score("B", "A", 0, 10))
    first, second = made["bots"]
    assert first["bounded"]
    assert second["bounded"]
    assert first["high"] is None
    assert first["low"] > second["elo"]
    assert second["low"] is None


def test_one_sided_bots_are_listed_by_side() -> None:
    made = rated(known.one_sided())
    assert [(bot["name"], bot["group"]) for bot in made["bots"]] == [
        ("P", 1),
        ("Q", 1),
        ("R", 2),
        ("S", 2),
    ]
    assert made["los"][0][2] is None
    assert any(text.startswith("sides not comparable") for text in made["warnings"])
    assert [bot["rank_low"] for bot in made["bots"]] == [1, 2, 1, 2]


def test_all_split_pairs_have_no_error_of_nothing() -> None:
    games: list[Game] = []
    for k in range(40):
        games += [("A", "B", k % 2 == 0, str(k)), ("B", "A", k % 2 == 0, str(k))]
    made = rated(games)
    assert [bot["elo"] for bot in made["bots"]] == [0.0, 0.0]
    assert [bot["se"] for bot in made["bots"]] == [None, None]
    assert any("errors can't be told" in text for text in made["warnings"])


def test_an_anchor_has_its_own_value_and_no_error() -> None:
    made = bots(rated(known.three_bots(), anchor="B=1500"))
    assert made["B"]["elo"] == 1500.0
    assert made["B"]["se"] is None
    assert made["A"]["se"] != made["A"]["se_pool"]
    assert made["A"]["se_pool"] == bots(rated(known.three_bots()))["A"]["se"]


def test_several_anchors_leave_sides_about_their_mean() -> None:
    anchors = [Anchor(bot="A", elo=1600.0), Anchor(bot="C", elo=1400.0)]
    made = bots(rated(known.three_bots(), anchor=anchors))
    assert made["A"]["elo"] == 1600.0
    assert made["C"]["elo"] == 1400.0
    assert 1400 < made["B"]["elo"] < 1600


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("greedy=1500", Anchor(bot="greedy", elo=1500.0)),
        ("a=b=-3.5", Anchor(bot="a=b", elo=-3.5)),
        ("greedy=1500~20", Anchor(bot="greedy", elo=1500.0, sd=20.0)),
    ],
)
def test_anchors_are_read(text: str, anchor: Anchor) -> None:
    assert parse_anchor(text) == anchor


@pytest.mark.parametrize("text", ["greedy", "=1500", "greedy=", "greedy=high", "greedy=1~", ""])
def test_anchors_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="write for instance greedy=1500"):
        parse_anchor(text)


BOTS = st.sampled_from("ABCD")
GAMES = st.lists(
    st.tuples(BOTS, BOTS, st.booleans(), st.sampled_from([None, "1", "2", "3"])), max_size=30
)


@settings(max_examples=80, deadline=None)
@given(GAMES, st.sampled_from([0.0, 1.0]), st.sampled_from(["a", "b"]), st.randoms())
def test_no_number_is_nan_infinite_or_a_zero_error(
    games: list[Game], prior: float, model: str, random: Any
) -> None:
    made = rated(games, prior=prior, model=model)
    text = json.dumps(made, allow_nan=False)
    for leaf in walk(made):
        if isinstance(leaf, float):
            assert math.isfinite(leaf)
            assert leaf != 0 or math.copysign(1, leaf) > 0
    for bot in made["bots"]:
        assert all(bot[key] is None or bot[key] > 0 for key in bot if key.endswith("se"))
        low, high = bot["low"], bot["high"]
        assert low is None or bot["elo"] >= low
        assert high is None or bot["elo"] <= high
    shuffled = list(games)
    random.shuffle(shuffled)
    assert json.dumps(rated(shuffled, prior=prior, model=model), allow_nan=False) == text


def test_win_probabilities_of_both_seats_add_up() -> None:
    """By the ratings, one bot's chance on a side and the other's on the other side are one."""
    made = rated(known.three_bots())
    elo = {name: bot["elo"] for name, bot in bots(made).items()}
    role = made["role_advantage"]["elo"]
    chance = {(x, d): 1 / (1 + 10 ** (-(role + elo[x] - elo[d]) / 400)) for x in elo for d in elo}
    data = played(known.three_bots())
    expected = sum(
        chance[data.bots[x], data.bots[d]]
        for x, d in zip(data.mister_x.tolist(), data.detectives.tolist(), strict=True)
    )
    assert expected == pytest.approx(np.sum(data.escaped), abs=1.0)
