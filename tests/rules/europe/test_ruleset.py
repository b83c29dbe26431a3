"""What binds Europe together: plies off the wire, words for people, facts, bounds, positions."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from arena.errors import ConfigError
from arena.rules.europe.position import set_up
from arena.rules.europe.state import (
    ChooseMission,
    ChooseStart,
    Investigate,
    Lay,
    Move,
    Pay,
    PutBack,
    Special,
)
from arena.rules.ruleset import NamesPlaces, Side
from tests.rules.europe.test_rules import FAR, LONDON, MINSK, europe, play
from tests.strategies import deal_seed, play_out

EXAMPLES: list[tuple[dict[str, Any], Any, str]] = [
    ({"do": "mission", "colour": "green"}, ChooseMission(colour="green"), "x chooses green"),
    ({"do": "start", "city": 21}, ChooseStart(city=21), "x starts in 21"),
    (
        {"do": "move", "figure": "d1", "ticket": "rail-special", "to": 32},
        Move(figure="d1", ticket="rail-special", to=32),
        "d1 goes by rail-special to 32",
    ),
    (
        {"do": "pay", "player": "x", "ticket": "car-double"},
        Pay(player="x", ticket="car-double"),
        "x pays car-double",
    ),
    (
        {"do": "lay", "ticket": "air-hidden", "to": 41},
        Lay(ticket="air-hidden", to=41),
        "x lays air-hidden and goes to 41",
    ),
    ({"do": "investigate"}, Investigate(), "investigate"),
    (
        {"do": "special", "figure": "d2", "to": 43},
        Special(figure="d2", to=43),
        "special: d2 to 43",
    ),
    (
        {"do": "put_back", "player": "p1", "ticket": "car-hidden"},
        PutBack(player="p1", ticket="car-hidden"),
        "p1 puts back car-hidden",
    ),
]


@pytest.mark.parametrize(("plain", "ply", "words"), EXAMPLES)
def test_a_ply_is_read_off_the_wire_and_said_in_words(
    plain: dict[str, Any], ply: Any, words: str
) -> None:
    rules = europe()
    assert msgspec.convert(plain | {"why": "ignored"}, rules.ply_type) == ply
    assert msgspec.to_builtins(ply) == plain
    assert rules.say(ply) == words
    assert rules.parse(words) == ply


@pytest.mark.parametrize(
    "plain",
    [
        {"do": "jump"},
        {"figure": "d1", "ticket": "car-double", "to": 1},
        {"do": "move", "figure": "d6", "ticket": "car-double", "to": 1},
        {"do": "move", "figure": "d1", "ticket": "car", "to": 1},
        {"do": "move", "figure": "d1", "ticket": "car-double", "to": 0},
        {"do": "move", "figure": "d1", "ticket": "car-double", "to": 1.0},
        {"do": "move", "figure": "d1", "ticket": "car-double", "to": True},
        {"do": "move", "figure": "d1", "ticket": "car-double"},
        {"do": "special", "figure": "x", "to": 1},
        {"do": "pay", "player": "d1", "ticket": "car-double"},
        {"do": "mission", "colour": ""},
        ["investigate"],
        None,
    ],
)
def test_what_is_no_ply_is_refused(plain: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(plain, europe().ply_type)


@pytest.mark.parametrize(
    ("text", "ply"),
    [
        ("car-double 29", Move(figure="x", ticket="car-double", to=29)),
        ("  D1: Car-Double, to 29 ", Move(figure="d1", ticket="car-double", to=29)),
        ("mission green", ChooseMission(colour="green")),
        ("start in 21", ChooseStart(city=21)),
        ("pay car-double", Pay(player="x", ticket="car-double")),
        ("pay p2 car-special", Pay(player="p2", ticket="car-special")),
        ("lay car-double 29", Lay(ticket="car-double", to=29)),
        ("special d1 45", Special(figure="d1", to=45)),
        ("put back air-double", PutBack(player="x", ticket="air-double")),
        ("back p3 air-double", PutBack(player="p3", ticket="air-double")),
        ("put_back p3 air-double", PutBack(player="p3", ticket="air-double")),
    ],
)
def test_words_of_a_person_are_parsed(text: str, ply: Any) -> None:
    assert europe().parse(text) == ply


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is no ply; write one such as d1 car-double 45, mission green, "),
        ("d1 45", "is no ply"),
        ("d9 car-double 45", "has no figure where it says 'd9'; write one such as d1 car-double"),
        ("d1 car 45", "has no ticket where it says 'car'"),
        ("d1 car-double 0", "has no city's number where it says '0'"),
        ("d1 car-double \u0661", "has no city's number"),
        ("d1 car-double 9999999", "has no city's number"),
        ("pay p7 car-double", "has no player where it says 'p7'; write one such as pay p1"),
        ("special x 45", "has no detective where it says 'x'"),
        ("mission", "is no ply; write one such as mission green"),
        ("mission " + "a" * 31, "has no colour"),
        ("pay back p1 car-double", "is pay and back at once"),
        ("investigate 3", "is no ply; write one such as investigate"),
    ],
)
def test_what_is_no_ply_is_answered_with_how_to_write_one(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        europe().parse(text)
    assert says in str(caught.value)


@pytest.mark.parametrize("colour", ["to", "special", "start", "mission", "x", "d1", "back", "is"])
def test_a_colour_can_be_any_word(colour: str) -> None:
    """A board that was typed in calls its missions as it likes."""
    ply = ChooseMission(colour=colour)
    assert europe().parse(europe().say(ply)) == ply
    assert europe().parse(f"mission {colour}") == ply
    assert europe().parse(f"X chooses the {colour}") == ply


def test_facts_tell_mission_start_rounds_and_what_was_done() -> None:
    rules = europe()
    state = rules.deal(deal_seed(0), 0)
    assert rules.facts(state) == {
        "mission": "",
        "x_start": 0,
        "rounds": 1,
        "entries": 0,
        "doubles_used": 0,
        "hiddens_used": 0,
        "stuck": 0,
        "investigations": 0,
        "specials": 0,
        "entries_known": 0,
        "x_end": 0,
        "capture_city": 0,
    }
    rules, state = set_up(FAR, [LONDON, MINSK], hand=("car-double", "rail-special"))
    over = play(rules, state, "car-double 34")
    facts = rules.facts(over)
    assert (facts["mission"], facts["x_start"], facts["entries"]) == ("green", LONDON, 2)
    assert (facts["x_end"], facts["capture_city"]) == (34, 0)


def test_facts_agree_with_the_plies_of_whole_games() -> None:
    rules = europe("europe-2009:players=2")
    for number in range(6):
        trace = play_out(rules, number, number)
        kinds = [type(ply) for turn in trace.turns for ply in turn]
        facts = rules.facts(trace.states[-1])
        assert facts["investigations"] == kinds.count(Investigate)
        assert facts["specials"] == kinds.count(Special)
        assert facts["hiddens_used"] == kinds.count(Lay)


def test_every_city_has_its_name() -> None:
    rules = europe()
    assert isinstance(rules, NamesPlaces)
    names = rules.place_names()
    assert names[LONDON] == "London"
    assert names.keys() == {city.id for city in rules.board.cities}


def test_bounds_of_turns_and_plies() -> None:
    assert europe().max_turns == 100
    assert europe("europe-2009:cap=25").max_turns == 50
    assert europe().max_plies == 26
    assert europe("europe-2009:players=2").max_plies == 10
    assert europe().behaviour == 1


def test_what_may_follow_a_ply() -> None:
    rules, state = set_up(FAR, [LONDON], hand=("car-double", "rail-special"))
    after = rules.followers(state, rules.parse("car-double 36"))
    assert [rules.say(ply) for ply in after] == ["x puts back rail-special"]
    over, state = set_up(FAR, [MINSK], hand=("car-double", "rail-special"))
    assert over.followers(state, over.parse("car-double 34")) == ()


def test_states_between_show_what_each_ply_does() -> None:
    rules, state = set_up(FAR, [LONDON], hand=("car-double", "rail-special"))
    turn = [rules.parse("car-double 36"), rules.parse("back rail-special")]
    (between,) = rules.between(state, turn)
    assert between.path == (LONDON, 36)
    assert between.hand == ("rail-special",)
    assert rules.between(state, turn[:1]) == ()


def test_views_of_both_sides_differ_in_what_is_hidden_alone() -> None:
    trace = play_out(europe(), 2, 2)
    for state in trace.states:
        team = msgspec.to_builtins(europe().view(state, Side.DETECTIVES))
        own = msgspec.to_builtins(europe().view(state, Side.MISTER_X))
        assert set(team) - set(own) == {"hands", "mister_x_hand"}
        assert set(own) - set(team) == {"hand", "hand_sizes"}
        shared = set(team) & set(own)
        assert {key for key in shared if team[key] != own[key]} <= {"board", "entries", "city"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"path": [0]}, "no city 0 on the board Europe"),
        ({"hand": ["car"]}, "no ticket 'car'; there are car-double"),
        ({"hand": ["air-double"] * 7}, "there are 7 air-double, 1 more than in the game"),
    ],
)
def test_a_position_that_cant_be_is_refused(change: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {"path": [LONDON]} | change
    with pytest.raises(ConfigError, match=says):
        set_up(FAR, given.pop("path"), **given)


def test_a_position_can_be_set_up_on_any_board() -> None:
    rules, state = set_up(
        FAR, [LONDON], on=europe().board, box=["car-double"], board=(), colour="yellow"
    )
    assert (state.colour, sum(state.box), sum(state.bag)) == ("yellow", 1, 119)
    assert rules.board_hash == europe().board_hash
