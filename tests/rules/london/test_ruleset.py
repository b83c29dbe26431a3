"""What binds London together: plies off the wire, words for people, facts, bounds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from arena.errors import ConfigError
from arena.rules import registry
from arena.rules.london import London, Step
from arena.rules.london.position import Pawn, set_up
from arena.rules.london.state import Tickets
from arena.rules.ruleset import Side
from tests.strategies import deal_seed, play_out

RULES = registry.make("london-2013")


def test_a_ply_is_read_off_the_wire() -> None:
    plain = {"figure": "d3", "ticket": "metro", "to": 117, "why": "ignored"}
    assert msgspec.convert(plain, RULES.ply_type) == Step(figure="d3", ticket="metro", to=117)


@pytest.mark.parametrize(
    "plain",
    [
        {"figure": "d6", "ticket": "taxi", "to": 1},
        {"figure": "X", "ticket": "taxi", "to": 1},
        {"figure": "x", "ticket": "ferry", "to": 1},
        {"figure": "x", "ticket": "taxi", "to": "1"},
        {"figure": "x", "ticket": "taxi", "to": 1.0},
        {"figure": "x", "ticket": "taxi", "to": True},
        {"figure": "x", "ticket": "taxi", "to": 0},
        {"figure": "x", "ticket": "taxi", "to": -1},
        {"figure": "x", "ticket": "taxi", "to": 2**63},
        {"figure": "x", "ticket": "taxi"},
        ["x", "taxi", 1],
        None,
    ],
)
def test_what_is_no_ply_is_refused(plain: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(plain, RULES.ply_type)


def test_plies_are_said_in_words() -> None:
    assert RULES.say(Step(figure="d1", ticket="taxi", to=117)) == "d1 takes the taxi to 117"


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("d1 taxi 117", Step(figure="d1", ticket="taxi", to=117)),
        ("  D1: Taxi, to 117 ", Step(figure="d1", ticket="taxi", to=117)),
        ("b2 goes by metro to 1", Step(figure="b2", ticket="metro", to=1)),
        ("black 108", Step(figure="x", ticket="black", to=108)),
        ("x takes a black ticket to 108", Step(figure="x", ticket="black", to=108)),
    ],
)
def test_words_of_a_person_are_parsed(text: str, step: Step) -> None:
    assert RULES.parse(text) == step


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is no step: write a figure, a ticket (taxi, bus, metro, black) and a station"),
        ("d1 117", "is no step"),
        ("d1 taxi 117 now", "is no step"),
        ("d9 taxi 117", "no figure 'd9'"),
        ("d1 tram 117", "no ticket 'tram'"),
        ("d1 taxi 0", "'0' is no station"),
        ("d1 taxi 1e2", "'1e2' is no station"),
        ("d1 taxi \u0661", "is no station"),
        ("d1 taxi 9999999", "is no station"),
    ],
)
def test_what_is_no_step_is_answered_with_how_to_write_one(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RULES.parse(text)
    assert says in str(caught.value)
    assert "such as d1 taxi 117" in str(caught.value)


def test_facts_tell_the_start_the_tickets_and_the_end() -> None:
    rules, state = set_up([Pawn(86, Tickets(11, 8, 4)), Pawn(1, Tickets(11, 8, 4))], 104)
    assert rules.facts(state) == {
        "x_start": 104,
        "rounds": 0,
        "slots": 0,
        "blacks_used": 0,
        "doubles_used": 0,
        "capture_station": 0,
    }
    double = [rules.parse("black 116"), rules.parse("taxi 104")]
    state = rules.play(state, double, more=False).state
    state = rules.play(state, [rules.parse("d1 taxi 104")], more=False).state
    assert rules.facts(state) == {
        "x_start": 104,
        "rounds": 1,
        "slots": 2,
        "blacks_used": 1,
        "doubles_used": 1,
        "capture_station": 104,
    }


def test_facts_count_the_rounds_in_which_mister_x_moved() -> None:
    for number in range(40):
        trace = play_out(RULES, number, number)
        sides = [trace.ruleset.to_move(state) for state in trace.states]
        assert RULES.facts(trace.states[-1])["rounds"] == sides.count(Side.MISTER_X)


def test_bounds_of_turns_and_plies() -> None:
    bounds = {text: registry.make(text) for text in ("london-2013", "london-classic")}
    assert [rules.max_turns for rules in bounds.values()] == [44, 48]
    assert RULES.max_plies == 5
    assert RULES.behaviour == 1
    assert registry.make("london-2013:players=2").max_plies == 4
    assert registry.make("london-classic:players=3").max_plies == 2


def test_views_say_what_each_side_may_know() -> None:
    rules = registry.make("london-2013:players=2")
    assert isinstance(rules, London)
    state = rules.deal(deal_seed(1), 1)
    team = msgspec.to_builtins(rules.view(state, Side.DETECTIVES))
    own = msgspec.to_builtins(rules.view(state, Side.MISTER_X))
    assert {key: own[key] for key in team} == team
    assert set(own) - set(team) == {"station", "path"}
    assert (own["station"], own["path"]) == (state.path[0], state.path)
    assert team["pool"] == {"taxi": 20, "bus": 16, "metro": 8}
    assert [f["kind"] for f in team["figures"]] == ["detective", "detective", "bobby", "bobby"]
    assert team["unmoved"] == ()
    after = rules.play(state, rules.legal(state)[:1], more=False).state
    assert msgspec.to_builtins(rules.view(after, Side.DETECTIVES))["unmoved"] == (
        "d1",
        "d2",
        "b1",
        "b2",
    )


def test_mister_xs_view_has_the_whole_open_log_in_mid_game() -> None:
    trace = play_out(RULES, 3, 3)
    for state in trace.states:
        team = msgspec.to_builtins(RULES.view(state, Side.DETECTIVES))
        own = msgspec.to_builtins(RULES.view(state, Side.MISTER_X))
        assert own == team | {"station": state.path[-1], "path": state.path}
        assert len(own["log"]) == len(own["path"]) - 1
        for slot, station in zip(own["log"], own["path"][1:], strict=True):
            assert slot["station"] in (None, station)


def test_what_may_follow_a_step_of_the_team_are_the_others_steps() -> None:
    full = Tickets(11, 8, 4)
    rules, state = set_up([Pawn(1, full), Pawn(2, full)], 8, to_move=Side.DETECTIVES)
    after = rules.followers(state, rules.parse("d2 taxi 20"))
    assert {step.figure for step in after} == {"d1"}
    assert rules.followers(state, rules.parse("d1 taxi 8")) == ()  # the capture


def test_start_cards_of_a_pile_for_everybody_never_meet() -> None:
    rules = registry.make("london-classic")
    for number in range(500):
        state = rules.deal(deal_seed(number), number)
        stations = [figure.station for figure in state.figures]
        assert state.path[0] not in stations
