"""Each rule of Europe by its number, 1 to 37; RULES.md beside the code has their words."""

from __future__ import annotations

import re
from collections import Counter
from importlib import resources
from typing import Any

import msgspec
import pytest

from arena.errors import IllegalMove
from arena.rules import registry
from arena.rules.europe import Europe, State
from arena.rules.europe.position import set_up
from arena.rules.europe.state import TICKETS, Move, PutBack, Slot, Special
from arena.rules.europe.views import (
    Captured,
    Declared,
    Drew,
    Ended,
    Investigated,
    Laid,
    MissionChosen,
    Moved,
    Opened,
    Paid,
    Returned,
    SatOut,
    SentOn,
    Shortage,
    Started,
    Stuck,
)
from arena.rules.ruleset import Played, Side
from tests.strategies import deal_seed, play_out
from tests.strategies_of_europe import stock

X, TEAM = Side.MISTER_X, Side.DETECTIVES

# Cities of the package's board. London: by car to Newcastle, Manchester, Plymouth; by rail to
# Edinburgh, Manchester, Plymouth, Amsterdam, Paris; by air to Dublin, Frankfurt, Paris.
EDINBURGH, BELFAST, NEWCASTLE, DUBLIN, MANCHESTER, LONDON = 23, 28, 29, 31, 36, 41
PLYMOUTH, PARIS, FRANKFURT = 46, 59, 53
SMOLENSK, MOSCOW, MINSK, WARSAW, KYIV, KHARKIV = 34, 26, 38, 45, 49, 50
INVERNESS, GLASGOW, GALWAY, CORK = 21, 22, 30, 35
FAR = (2, 6, 13, 27, 20)  # in the north-east, beside nothing of the west
DOUBLE3 = ("car-double", "car-double", "car-double")
HIDDEN3 = ("car-hidden", "car-hidden", "car-hidden")
WEST = (BELFAST, DUBLIN, BELFAST, DUBLIN, BELFAST, DUBLIN)  # six entries and no target


def europe(text: str = "europe-2009") -> Europe:
    made = registry.make(text)
    assert isinstance(made, Europe)
    return made


def plies(*texts: str) -> list[Any]:
    return [europe().parse(text) for text in texts]


def done(rules: Europe, state: State, *texts: str, more: bool = False) -> Played:
    return rules.play(state, plies(*texts), more=more)


def play(rules: Europe, state: State, *texts: str, more: bool = False) -> State:
    after = done(rules, state, *texts, more=more).state
    assert isinstance(after, State)
    return after


def told(played: Played, side: Side, *kinds: type) -> list[Any]:
    """The events of some kinds that a side is told."""
    events = [event.what for event in played.events if event.seen_by in (None, side)]
    return [what for what in events if isinstance(what, kinds)] if kinds else events


def refusal(rules: Europe, state: State, *texts: str, more: bool = False) -> str:
    """The number of the rule that forbids it."""
    with pytest.raises(IllegalMove) as caught:
        rules.play(state, plies(*texts), more=more)
    assert str(caught.value).startswith(f"{caught.value.rule}: ")
    return caught.value.rule


def said(rules: Europe, state: State) -> list[str]:
    return [rules.say(ply) for ply in rules.legal(state)]


def ends(rules: Europe, state: State, figure: str) -> set[tuple[str, int]]:
    """Transport and city of a figure's legal moves."""
    moves = [ply for ply in rules.legal(state) if isinstance(ply, Move) and ply.figure == figure]
    return {(ply.ticket.partition("-")[0], ply.to) for ply in moves}


def team_state(
    cities: Any, path: Any, hands: Any, *, options: Any = None, **rest: Any
) -> tuple[Europe, State]:
    own = ("car-hidden", "rail-hidden")
    return set_up(cities, path, hand=own, hands=hands, options=options, to_move=TEAM, **rest)


def all_stuck(**rest: Any) -> tuple[Europe, State]:
    """The team's turn in which no piece holds a ticket, but p1 has what the test says."""
    return team_state(rest.pop("cities", FAR), rest.pop("path"), rest.pop("hands", ()), **rest)


# 1. Data and terms


def test_rule_1_a_citys_kind_says_which_transports_stop_there() -> None:
    rules = europe()
    stops = {
        kind: {city for pair in getattr(rules.board.links, kind) for city in pair}
        for kind in ("car", "rail", "air")
    }
    for city in rules.board.cities:
        own = [kind for kind, cities in stops.items() if city.id in cities]
        assert own == ["car", "rail", "air"][: ["car", "rail", "air"].index(city.kind) + 1]


def test_rule_2_links_go_both_ways_for_everybody_and_two_cities_can_have_several() -> None:
    tickets = ("car-double", "rail-double", "air-double")
    rules, state = set_up(FAR, [LONDON], hand=tickets)
    own = ends(rules, state, "x")
    assert own == {
        *(("car", to) for to in (NEWCASTLE, MANCHESTER, PLYMOUTH)),
        *(("rail", to) for to in (EDINBURGH, MANCHESTER, PLYMOUTH, 47, PARIS)),
        *(("air", to) for to in (DUBLIN, FRANKFURT, PARIS)),
    }
    rules, state = team_state([LONDON, *FAR[1:]], [BELFAST], [tickets])
    assert ends(rules, state, "d1") == own
    rules, state = team_state([PARIS, *FAR[1:]], [BELFAST], [tickets])
    assert {("rail", LONDON), ("air", LONDON)} <= ends(rules, state, "d1")


def test_rule_3_a_ticket_is_spent_for_its_transport_or_for_its_action() -> None:
    hand = (*DOUBLE3, "car-hidden", "car-special")
    rules, state = set_up(FAR, [LONDON], hand=hand)
    assert "x goes by car-double to 29" in said(rules, state)
    assert "x pays car-double" in said(rules, state)
    assert refusal(rules, state, "pay car-special") == "E3"
    rules, state = all_stuck(path=WEST, hands=[["rail-double"] * 3], cities=(21, 2, 5, 1, 30))
    assert refusal(rules, state, "pay p1 rail-double") == "E3"
    assert sum(europe().numbers.tickets.__getattribute__(name) for name in tickets_fields()) == 120
    assert len(TICKETS) == 12


def tickets_fields() -> list[str]:
    return [ticket.replace("-", "_") for ticket in TICKETS]


@pytest.mark.parametrize("text", ["europe-2009", "europe-2009:players=2,mission=green"])
def test_rule_4_the_sum_of_all_places_is_always_120(text: str) -> None:
    trace = play_out(europe(text), 4, 4)
    for state in trace.states:
        assert sum(stock(europe(text), state).values()) == 120


def test_rule_5_entry_and_space_go_by_the_move_and_entry_0_is_the_start() -> None:
    rules, state = set_up(FAR, [LONDON], hand=("car-double", "rail-special"))
    after = play(rules, state, "x car-double 29")
    assert after.path == (LONDON, NEWCASTLE)
    assert after.board == (Slot("car-double", False),)
    assert rules.numbers.spaces == 24


@pytest.mark.parametrize(
    ("players", "pieces", "sizes"),
    [
        (2, (5,), (9,)),
        (3, (3, 2), (7, 6)),
        (4, (2, 2, 1), (6, 6, 5)),
        (5, (2, 1, 1, 1), (6, 5, 5, 5)),
        (6, (1, 1, 1, 1, 1), (5, 5, 5, 5, 5)),
    ],
)
def test_rule_6_five_detectives_are_led_evenly(
    players: int, pieces: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    rules = europe(f"europe-2009:players={players}")
    assert (rules.numbers.pieces, rules.numbers.hand_sizes) == (pieces, sizes)
    state = rules.deal(deal_seed(0), 0)
    leads = Counter(figure.player for figure in state.figures)
    assert list(leads) == [f"p{i + 1}" for i in range(players - 1)]
    assert tuple(leads.values()) == pieces
    assert tuple(len(hand) for hand in state.hands) == sizes


def test_rule_6_a_player_pays_for_his_own_pieces_alone() -> None:
    rules, state = team_state(
        [LONDON, EDINBURGH, *FAR[2:]], [WARSAW], [["car-double"], ["rail-double"]]
    )
    assert refusal(rules, state, "d1 rail-double 36") == "E24"
    assert play(rules, state, "d1 car-double 36", more=True).hands[:2] == ((), ("rail-double",))


def test_rule_6_there_is_no_other_player() -> None:
    rules, state = all_stuck(path=[LONDON], hands=[["air-double"]], options={"players": 5})
    assert refusal(rules, state, "back p5 air-double") == "E6"
    assert refusal(rules, state, "back x air-double") == "E6"


def test_rule_7_a_mission_has_a_colour_starts_and_targets() -> None:
    missions = europe().numbers.missions
    assert list(missions) == ["green", "yellow", "orange"]
    assert missions["green"].starts == (21, 28, 30, 35, 46, 51)
    assert missions["green"].targets == (34, 39, 50, 57, 58, 68)


def test_rule_8_nothing_of_the_tables_aids_is_in_a_view() -> None:
    rules = europe()
    state = rules.deal(deal_seed(0), 0)
    for side in Side:
        assert not {"chips", "visor", "screen"} & set(msgspec.to_builtins(rules.view(state, side)))


# 2. SETUP


def test_rule_9_mister_x_draws_8_and_each_player_4_and_one_a_piece() -> None:
    for players in (2, 3, 4, 5, 6):
        rules = europe(f"europe-2009:players={players}")
        state = rules.deal(deal_seed(players), 0)
        assert len(state.hand) == 8
        assert sum(state.bag) == 120 - 8 - sum(rules.numbers.hand_sizes)
        assert state.box == (0,) * 12


def test_rule_10_the_detectives_start_on_different_cards() -> None:
    rules = europe()
    seen: Counter[int] = Counter()
    for number in range(600):
        state = rules.deal(deal_seed(number), number)
        cities = [figure.city for figure in state.figures]
        assert len(set(cities)) == 5
        seen.update(cities)
    assert set(seen) == set(rules.numbers.detective_starts)
    assert all(140 < count < 260 for count in seen.values())  # 200 each


def test_rule_11_mister_x_chooses_a_mission_and_notes_a_start_in_secret() -> None:
    rules = europe()
    state = rules.deal(deal_seed(1), 1)
    assert said(rules, state) == [f"x chooses {c}" for c in ("green", "yellow", "orange")]
    assert refusal(rules, state, "start 21") == "E11"
    assert refusal(rules, state, "mission mauve") == "E11"
    assert refusal(rules, state, "car-double 22") == "E11"
    assert refusal(rules, state, "pay car-double") == "E11"
    assert refusal(rules, state, "lay car-double 22") == "E11"
    assert refusal(rules, state) == "E11"
    state = play(rules, state, "mission green", more=True)
    assert refusal(rules, state, "start 22") == "E11"
    assert refusal(rules, state) == "E11"
    played = done(rules, state, "start 21", more=True)
    assert told(played, X, Started) == [Started(21)]
    assert told(played, TEAM, Started) == [Started(None)]
    assert refusal(rules, played.state, "start 28") == "E11"
    team = msgspec.to_builtins(rules.view(played.state, TEAM))
    assert team["entries"] == (None,)


def test_rule_11_no_start_where_a_detective_stands() -> None:
    rules, state = set_up([INVERNESS, *FAR[1:]], [LONDON])
    state = msgspec.structs.replace(state, stage="start", path=())
    assert "x starts in 21" not in said(rules, state)
    assert refusal(rules, state, "start 21") == "E11"


def test_rule_12_the_colour_is_named() -> None:
    rules = europe()
    played = done(rules, rules.deal(deal_seed(1), 1), "mission yellow", more=True)
    assert told(played, TEAM) == [MissionChosen("yellow")]
    assert msgspec.to_builtins(rules.view(played.state, TEAM))["colour"] == "yellow"
    assert refusal(rules, played.state, "mission green") == "E12"


@pytest.mark.parametrize("colour", ["green", "yellow", "orange"])
def test_rule_13_a_plan_may_fix_the_mission(colour: str) -> None:
    rules = europe(f"europe-2009:mission={colour}")
    state = rules.deal(deal_seed(1), 1)
    assert state.colour == colour
    assert {ply["city"] for ply in msgspec.to_builtins(rules.legal(state))} == set(
        rules.numbers.missions[colour].starts
    )


def test_rule_13_balanced_missions_follow_each_other_by_the_deals_number() -> None:
    rules = europe("europe-2009:mission=balanced")
    colours = [rules.deal(deal_seed(0), number).colour for number in range(6)]
    assert colours == ["green", "yellow", "orange"] * 2


def test_rule_13_detectives_are_placed_before_the_mission_is_chosen() -> None:
    assert len(europe().deal(deal_seed(0), 0).figures) == 5


# X_MOVE


def test_rule_14_one_move_or_action_a_turn_from_round_1_on() -> None:
    rules, state = set_up(FAR, [LONDON], hand=(*DOUBLE3, *HIDDEN3, "car-special", "air-special"))
    kinds = {ply["do"] for ply in msgspec.to_builtins(rules.legal(state))}
    assert (state.round, kinds) == (1, {"move", "pay"})
    assert refusal(rules, state, "car-special 36", "car-hidden 41") == "E14"
    assert refusal(rules, state, "car-special 36", "pay car-double") == "E14"
    assert refusal(rules, state, "d1 car-double 11") == "E14"
    assert refusal(rules, state, "pay p1 car-double") == "E14"
    assert refusal(rules, state, "car-special 36", "back p1 car-double") == "E14"
    with pytest.raises(IllegalMove, match="E27"):
        rules.play(state, plies("investigate"), more=False)
    with pytest.raises(IllegalMove, match="at least one ply"):
        rules.play(state, (), more=True)


def test_rule_15_a_normal_move_takes_a_ticket_and_a_link_of_its_transport() -> None:
    rules, state = set_up([MANCHESTER, *FAR[1:]], [LONDON], hand=("car-double", "rail-special"))
    assert refusal(rules, state, "air-double 31") == "E15"  # no such ticket
    assert refusal(rules, state, "car-double 23") == "E15"  # a rail link alone
    assert refusal(rules, state, "car-double 36") == "E15"  # a detective
    played = done(rules, state, "rail-special 23")
    assert played.state.board == (Slot("rail-special", False),)
    assert played.state.path == (LONDON, EDINBURGH)
    assert told(played, X, Moved) == [Moved("x", "rail-special", EDINBURGH)]
    assert told(played, TEAM, Moved) == [Moved("x", "rail-special", None)]


def test_rule_16_he_must_move_if_he_can() -> None:
    rules, state = set_up(FAR, [LONDON], hand=("car-double",))
    assert refusal(rules, state) == "E16"
    assert refusal(rules, state, "back x car-double") == "E22"


def test_rule_16_and_20_if_a_hidden_move_is_all_there_is_he_must_make_it() -> None:
    rules, state = set_up(FAR, [INVERNESS], hand=("rail-hidden",) * 3 + ("air-double",))
    assert said(rules, state) == ["x pays rail-hidden"]
    assert refusal(rules, state) == "E16"
    before = msgspec.structs.replace(state, to_move=TEAM, stage="action")
    assert rules.play(before, (), more=False).state.tally.stuck == 0


def test_rule_17_a_double_move_is_paid_first_and_enters_two_cities() -> None:
    hand = (*DOUBLE3, "rail-special", "car-special", "air-special")
    rules, state = set_up([MANCHESTER, *FAR[1:]], [LONDON], hand=hand)
    pays = ["pay car-double"] * 3
    played = done(rules, state, *pays, "rail-special 23", "car-special 22")
    after = played.state
    assert after.path == (LONDON, EDINBURGH, GLASGOW)
    assert after.board == (Slot("rail-special", False), Slot("car-special", False))
    assert after.box[0] == 3
    assert after.tally.doubles == 1
    assert told(played, TEAM, Paid) == [Paid("x", "car-double")] * 3
    assert refusal(rules, state, *pays, "rail-special 36", "car-special 22") == "E15"  # the stop
    assert refusal(rules, state, *pays, "rail-special 23", "car-special 36") == "E15"
    assert refusal(rules, state, *pays[:2], "rail-special 23") == "A8"
    assert refusal(rules, state, *pays, "rail-special 23") == "A8"
    assert refusal(rules, state, *pays, "lay rail-special 23") == "A8"
    assert refusal(rules, state, *pays, "pay car-double") == "A8"
    assert refusal(rules, state, "pay rail-double") == "E17"


def test_rule_17_a_double_move_needs_five_tickets() -> None:
    rules, state = set_up(FAR, [LONDON], hand=(*DOUBLE3, "rail-special"))
    assert refusal(rules, state, "pay car-double") == "E17"
    assert not [text for text in said(rules, state) if "pays" in text]


def test_rule_17_tickets_are_paid_in_the_order_of_their_list() -> None:
    hand = (*DOUBLE3, "rail-double", "rail-special", "car-special")
    rules, state = set_up(FAR, [LONDON], hand=hand)
    assert refusal(rules, state, "pay rail-double") == "E17"  # no more doubles behind it
    paid = play(rules, state, "pay car-double", "pay car-double", more=True)
    assert [text for text in said(rules, paid) if "pays" in text] == [
        "x pays car-double",
        "x pays rail-double",
    ]
    mixed = (*DOUBLE3[:2], "rail-double", "rail-double", "rail-special", "car-special")
    rules, state = set_up(FAR, [LONDON], hand=mixed)
    paid = play(rules, state, "pay car-double", "pay rail-double", more=True)
    assert refusal(rules, paid, "pay car-double") == "E17"


def test_rule_17_a_double_move_may_be_sent_in_parts() -> None:
    rules, state = set_up(FAR, [LONDON], hand=(*DOUBLE3, "rail-special", "car-special"))
    now = state
    for text in (*["pay car-double"] * 3, "rail-special 23", "car-special 22"):
        played = done(rules, now, text, more=True)
        now = played.state
    assert now == play(
        rules, state, *["pay car-double"] * 3, "rail-special 23", "car-special 22", more=True
    )


def test_rule_18_a_hidden_move_goes_by_any_link_and_its_ticket_lies_face_down() -> None:
    hand = (*HIDDEN3, "air-double", "rail-hidden")
    rules, state = set_up([MANCHESTER, *FAR[1:]], [INVERNESS, EDINBURGH], hand=hand)
    pays = ["pay car-hidden"] * 3
    played = done(rules, state, *pays, "lay air-double 41")
    after = played.state
    assert after.path == (INVERNESS, EDINBURGH, LONDON)
    assert after.board[-1] == Slot("air-double", True)
    assert after.tally.hiddens == 1
    assert after.box[1] == 3
    assert told(played, TEAM, Laid) == [Laid(None, None)]
    assert told(played, X, Laid) == [Laid("air-double", LONDON)]
    assert msgspec.to_builtins(rules.view(after, TEAM))["board"][-1] == {
        "ticket": None,
        "hidden": True,
    }
    assert done(rules, state, *pays, "lay rail-hidden 29").state.path[-1] == NEWCASTLE
    assert refusal(rules, state, "lay air-double 41") == "E18"
    assert refusal(rules, state, *pays, "lay car-double 41") == "E18"
    assert refusal(rules, state, *pays, "lay air-double 31") == "E18"
    assert refusal(rules, state, *pays, "car-double 29") == "A8"
    assert refusal(rules, state, "pay rail-hidden") == "E18"
    rules, state = set_up([LONDON, *FAR[1:]], [INVERNESS, EDINBURGH], hand=hand)
    assert refusal(rules, state, *pays, "lay air-double 41") == "E18"


def test_rule_18_a_hidden_move_needs_four_tickets() -> None:
    rules, state = set_up(FAR, [LONDON], hand=HIDDEN3)
    assert refusal(rules, state, "pay car-hidden") == "E18"
    rules, state = set_up(FAR, [LONDON], hand=("car-hidden",) * 4)
    assert play(rules, state, *["pay car-hidden"] * 3, "lay car-hidden 59").path[-1] == PARIS


def test_rule_18_no_hidden_move_where_every_city_is_held() -> None:
    rules, state = set_up(
        [GLASGOW, EDINBURGH, *FAR[2:]], [INVERNESS], hand=(*HIDDEN3, "air-double", "car-double")
    )
    assert refusal(rules, state, "pay car-hidden") == "E18"


def test_rule_19_he_wins_at_once_on_any_target() -> None:
    rules, state = set_up(FAR, [MINSK], hand=("car-double", "rail-special"))
    played = done(rules, state, "car-double 34", "car-double 26", "car-double 1")
    assert played.counted == 1
    assert rules.to_move(played.state) is None
    verdict = rules.verdict(played.state)
    assert verdict is not None
    assert (verdict.winner, verdict.reason) == (X, "escaped")
    assert told(played, TEAM, Ended) == [Ended((MINSK, SMOLENSK), ("car-double",))]


def test_rule_19_the_first_step_of_a_double_move_counts_as_well() -> None:
    rules, state = set_up(FAR, [MINSK], hand=(*DOUBLE3, "car-special", "rail-special"))
    played = done(rules, state, *["pay car-double"] * 3, "car-special 34")
    assert played.state.ended is not None
    assert played.state.ended.winner is X
    rules, state = set_up(FAR, [MINSK], hand=(*DOUBLE3, "car-special"))
    assert play(rules, state, *["pay car-double"] * 3, "car-special 34").ended is not None
    assert refusal(rules, state, *["pay car-double"] * 3, "car-special 45") in {"A8", "E15"}


def test_rule_19_a_hidden_move_ends_on_a_target_too() -> None:
    rules, state = set_up(FAR, [MINSK], hand=(*HIDDEN3, "air-double"))
    after = play(rules, state, *["pay car-hidden"] * 3, "lay air-double 34")
    assert after.ended is not None
    assert after.ended.reason == "escaped"


def test_rule_20_a_stuck_mister_x_stays_and_changes_all_his_tickets() -> None:
    rules, state = set_up(FAR, [LONDON, EDINBURGH, INVERNESS], hand=("rail-special",) * 8)
    state = msgspec.structs.replace(state, to_move=TEAM, stage="action")
    played = rules.play(state, (), more=False)
    after = played.state
    assert told(played, TEAM, Stuck) == [Stuck(8)]
    assert Drew("x", 8, None) in told(played, TEAM, Drew)
    assert after.path == state.path
    assert after.board == state.board
    assert len(after.hand) == 8
    assert after.hand != state.hand
    assert (after.round, rules.to_move(after)) == (2, TEAM)  # asked twice running
    assert not played.goes_on
    assert after.tally.stuck == 1


def test_rule_20_stuck_on_the_start_itself() -> None:
    hands = [["car-double"]]
    rules, state = set_up(FAR, [LONDON], hand=("rail-special",) * 8, hands=hands)
    state = msgspec.structs.replace(state, stage="start", path=())
    played = done(rules, state, "start 21", more=True)
    assert told(played, X, Stuck) == [Stuck(8)]
    assert rules.to_move(played.state) is TEAM
    assert refusal(rules, state, "start 21", "rail-special 22") == "E20"


def test_rule_20_also_when_every_fitting_link_ends_on_a_detective() -> None:
    rules, state = set_up([BELFAST, *FAR[1:]], [EDINBURGH, GLASGOW], hand=("rail-special",) * 8)
    state = msgspec.structs.replace(state, to_move=TEAM, stage="action")
    assert rules.play(state, (), more=False).state.tally.stuck == 1


def test_rule_21_from_the_25th_move_on_he_moves_openly() -> None:
    path = [LONDON, PLYMOUTH] * 12  # 23 entries
    rules, state = set_up(FAR, [*path], hand=("car-double", "rail-special"))
    played = done(rules, state, "car-double 36")
    assert len(played.state.board) == 24
    assert told(played, TEAM, Moved) == [Moved("x", "car-double", None)]
    rules, state = set_up(FAR, [*path, LONDON], hand=("car-double", "rail-special"))
    played = done(rules, state, "car-double 36")
    after = played.state
    assert len(after.board) == 24
    assert told(played, TEAM, Opened, Moved) == [
        Opened(24, LONDON),
        Moved("x", "car-double", MANCHESTER),
    ]
    assert after.known == (24, 25)
    assert after.rings == ()
    assert told(played, X, Moved) == [Moved("x", "car-double", MANCHESTER)]
    assert stock(rules, after) == stock(rules, state)  # the ticket is in the bag, not on the board
    again = msgspec.structs.replace(after, to_move=X, stage="move", hand=("car-hidden",) * 4)
    hidden = done(rules, again, *["pay car-hidden"] * 3, "lay car-hidden 41")
    assert told(hidden, TEAM, Opened) == []
    assert told(hidden, TEAM, Laid) == [Laid(None, LONDON)]
    assert len(hidden.state.board) == 24


def test_rule_21_a_double_move_over_24_and_25_is_hidden_and_then_open() -> None:
    path = [LONDON, PLYMOUTH] * 12
    rules, state = set_up(FAR, path, hand=(*DOUBLE3, "car-special", "rail-special"))
    played = done(rules, state, *["pay car-double"] * 3, "car-special 36", "rail-special 31")
    assert told(played, TEAM, Moved, Opened) == [
        Moved("x", "car-special", None),
        Opened(24, MANCHESTER),
        Moved("x", "rail-special", DUBLIN),
    ]
    assert played.state.known == (24, 25)


def test_rule_22_he_may_put_tickets_back_and_draws_up_to_eight() -> None:
    rules, state = set_up(FAR, [LONDON], hand=("car-double", "car-hidden", "air-special"))
    moved = play(rules, state, "car-double 36", more=True)
    assert said(rules, moved) == ["x puts back car-hidden", "x puts back air-special"]
    assert len(play(rules, moved).hand) == 8
    played = done(rules, moved, "back air-special")
    assert told(played, X, Returned) == [Returned("x", "air-special")]
    assert told(played, TEAM, Returned) == [Returned("x", None)]
    drawn = told(played, X, Drew)[0]
    assert (drawn.player, drawn.count, len(drawn.tickets)) == ("x", 7, 7)
    assert told(played, TEAM, Drew)[0] == Drew("x", 7, None)
    assert refusal(rules, moved, "back air-special", "back car-hidden") == "E22"
    assert refusal(rules, moved, "back car-special") == "E22"
    assert refusal(rules, state, "back car-hidden") == "E22"


# D_MOVE


def test_rule_23_the_team_moves_in_any_order_each_piece_once_if_it_can() -> None:
    hands = [["car-double"]] * 5
    rules, state = team_state([LONDON, 32, 43, 45, 53], [1], hands)
    assert state.unmoved == ("d1", "d2", "d3", "d4", "d5")
    texts = ("d5 car-double 48", "d1 car-double 36", "d4 car-double 33", "d3 car-double 40")
    assert refusal(rules, state, *texts) == "E25"
    after = play(rules, state, *texts, "d2 car-double 24")
    assert [figure.city for figure in after.figures] == [36, 24, 40, 33, 48]
    assert refusal(rules, state, texts[0], "d5 car-double 53") == "E23"
    assert refusal(rules, state, "x car-double 36") == "E23"
    assert refusal(rules, state, "mission green") == "E23"


def test_rule_23_nobody_moves_when_the_moves_are_over() -> None:
    rules, state = all_stuck(path=[LONDON], hands=[["air-double"]])
    assert state.stage == "action"
    assert refusal(rules, state, "d1 air-double 5") == "E23"


def test_rule_24_a_move_takes_a_ticket_of_the_player_and_a_link_to_a_free_city() -> None:
    rules, state = team_state([LONDON, MANCHESTER, *FAR[2:]], [1], [["car-double"], ["car-double"]])
    assert refusal(rules, state, "d1 rail-double 23") == "E24"
    assert refusal(rules, state, "d1 car-double 23") == "E24"
    assert refusal(rules, state, "d1 car-double 36") == "E24"
    after = play(rules, state, "d2 car-double 46", "d1 car-double 36", more=True)
    assert [figure.city for figure in after.figures[:2]] == [MANCHESTER, PLYMOUTH]


def test_rule_25_as_many_pieces_as_possible_move_and_the_rest_stay() -> None:
    """One car and one rail ticket: but London all go by car alone, so London takes the train."""
    hands = [["car-double", "rail-double"]]
    where = [GALWAY, LONDON, 1, 5, INVERNESS]
    rules, state = team_state(where, [3], hands, options={"players": 2})
    assert ends(rules, state, "d1") == {("car", to) for to in (BELFAST, DUBLIN, CORK)}
    assert {transport for transport, _ in ends(rules, state, "d2")} == {"rail"}
    assert refusal(rules, state, "d2 car-double 36") == "A23"
    played = done(rules, state, "d2 rail-double 36", "d1 car-double 31")
    assert told(played, TEAM, SatOut) == [SatOut(name) for name in ("d3", "d4", "d5")]


def test_rule_25_a_piece_that_is_shut_in_stays() -> None:
    rules, state = team_state(
        [INVERNESS, GLASGOW, EDINBURGH, 2, 6], [1], [["car-double"]] + [[]] * 4
    )
    assert state.stage == "action"  # d1 can't move, the others have no ticket
    assert refusal(rules, state, "d1 car-double 22") == "E23"


def test_rule_25_maximal_lets_fewer_pieces_move() -> None:
    hands = [["car-double", "rail-double"]]
    where = [GALWAY, LONDON, 1, 5, INVERNESS]
    rules, state = team_state(where, [3], hands, options={"players": 2, "as_many": "maximal"})
    after = play(rules, state, "d2 car-double 36", more=True)
    assert after.stage == "action"


def test_rule_26_spent_tickets_lie_open_and_go_into_the_bag_after_the_refill() -> None:
    hands = [["car-double"], [], [], [], []]
    rules, state = team_state([LONDON, *FAR[1:]], [1, 2, 3, 4, 1, 2], hands)
    played = done(rules, state, "d1 car-double 36")
    assert told(played, X, Moved) == [Moved("d1", "car-double", MANCHESTER)]
    assert played.state.spent == ()
    assert stock(rules, played.state) == stock(rules, state)
    hands = [["car-double", "air-double"], [], [], [], []]
    rules, state = team_state([LONDON, *FAR[1:]], [1], hands)
    moved = play(rules, state, "d1 car-double 36", more=True)
    for side in Side:
        assert msgspec.to_builtins(rules.view(moved, side))["spent"] == ("car-double",)


# D_ACTION


INVESTIGATE = [["car-investigate"]] * 5
SPECIAL = [["car-special"]] * 5
STUCK_CITIES = FAR


def action_state(kind: str, *, path: Any = WEST, **options: Any) -> tuple[Europe, State]:
    """All pieces have moved, and each player holds a ticket of the action."""
    rules, state = team_state(
        options.pop("cities", FAR), path, [[f"air-{kind}"]] * 5, options=options
    )
    assert state.stage == "action"
    return rules, state


def test_rule_27_actions_begin_with_the_fifth_entry() -> None:
    rules, state = action_state("investigate", path=WEST[:5])
    assert refusal(rules, state, "pay p1 air-investigate") == "E27"
    assert not [text for text in said(rules, state) if "pays" in text]
    rules, state = action_state("investigate")
    assert "p1 pays air-investigate" in said(rules, state)


def test_rule_27_one_action_a_round_or_none_after_the_moves_and_before_the_refill() -> None:
    rules, state = action_state("investigate")
    pays = [f"pay p{i} air-investigate" for i in (1, 2, 3)]
    assert rules.to_move(play(rules, state)) is X
    assert refusal(rules, state, *pays) == "E27"
    assert refusal(rules, state, *pays[:2], "investigate") == "E28"
    assert refusal(rules, state, *pays[:2], "back p3 air-investigate") == "E30"
    assert refusal(rules, state, "back p1 air-investigate", pays[1]) == "E27"
    acted = play(rules, state, *pays, "investigate", more=True)
    assert refusal(rules, acted, "pay p4 air-investigate") == "E27"
    assert refusal(rules, acted, "investigate") == "E28"
    hands = [["car-investigate", "car-special"]] + [["air-investigate", "air-special"]] * 4
    rules, state = team_state([LONDON, *FAR[1:]], WEST, hands)
    assert refusal(rules, state, "pay p1 car-investigate") == "E25"
    assert refusal(rules, state, "back p1 car-investigate") == "E25"
    moved = play(rules, state, "d1 car-special 36", more=True)
    assert refusal(rules, moved, "pay p1 car-investigate", "pay p2 air-special") == "E27"


def test_rule_27_a_player_gives_at_most_as_many_tickets_as_he_leads_pieces() -> None:
    options = {"players": 5}  # two, one, one, one
    rules, state = team_state(
        FAR, WEST, [["air-investigate"] * 3] + [["air-investigate"]] * 3, options=options
    )
    pay = "pay p1 air-investigate"
    assert refusal(rules, state, pay, pay, pay) == "E27"
    after = play(rules, state, pay, pay, "pay p3 air-investigate", "investigate", more=True)
    assert after.box[10] == 3
    assert after.paid == ()


def test_rule_27_tickets_are_paid_in_the_order_of_players() -> None:
    rules, state = action_state("investigate")
    paid = play(rules, state, "pay p2 air-investigate", more=True)
    assert refusal(rules, paid, "pay p1 air-investigate") == "E30"
    assert refusal(rules, state, "pay p4 air-investigate") == "E27"  # only two would be left
    assert refusal(rules, state, "pay p1 rail-investigate") == "E24"


@pytest.mark.parametrize(("price", "back"), [(3, 4), (4, 3), (5, 2)])
def test_rule_28_an_investigation_tells_an_entry_by_its_price(price: int, back: int) -> None:
    rules, state = action_state("investigate", path=(*WEST, CORK))
    pays = [f"pay p{i + 1} air-investigate" for i in range(price)]
    played = done(rules, state, *pays, "investigate", more=True)
    entry = 6 - back
    assert told(played, TEAM, Investigated) == [Investigated(entry, state.path[entry])]
    assert played.state.known == (entry,)
    assert played.state.rings == (entry,)
    team = msgspec.to_builtins(rules.view(played.state, TEAM))["entries"]
    assert team == tuple(city if place == entry else None for place, city in enumerate(state.path))


@pytest.mark.parametrize(("price", "transport"), [(3, "car"), (4, "rail"), (5, "air")])
def test_rule_29_a_special_mission_goes_by_the_transport_of_its_price(
    price: int, transport: str
) -> None:
    hands = [["car-double", "car-special", "air-double"]] + [["air-special"]] * 4
    rules, state = team_state([MANCHESTER, *FAR[1:]], WEST, hands)
    moved = play(rules, state, "d1 car-double 41", more=True)
    pays = ["pay p1 car-special", *[f"pay p{i + 1} air-special" for i in range(1, price)]]
    paid = play(rules, moved, *pays, more=True)
    near = {"car": {29, 36, 46}, "rail": {23, 36, 46, 47, 59}, "air": {31, 53, 59}}
    own = {ply.to for ply in rules.legal(paid) if isinstance(ply, Special) and ply.figure == "d1"}
    assert own == near[transport]
    end = max(own)
    played = done(rules, paid, f"special d1 {end}", more=True)
    assert told(played, X, SentOn) == [SentOn("d1", transport, end)]  # type: ignore[arg-type]
    assert played.state.figures[0].city == end
    assert played.state.entered == (LONDON, end)
    assert played.state.tally.specials == 1
    assert sum(played.state.box) == price
    assert refusal(rules, paid, "special d1 1") == "E29"


def test_rule_29_no_special_mission_onto_a_colleague_or_without_its_price() -> None:
    rules, state = action_state("special", cities=(MANCHESTER, INVERNESS, GLASGOW, EDINBURGH, 2))
    pays = [f"pay p{i} air-special" for i in (1, 2, 3)]
    assert refusal(rules, state, *pays, "special d2 22") == "E29"
    assert refusal(rules, state, *pays[:2], "special d1 41") == "E29"
    assert refusal(rules, state, "special d1 41") == "E29"
    rules, state = action_state("investigate")
    pays = [f"pay p{i} air-investigate" for i in (1, 2, 3)]
    assert refusal(rules, state, *pays, "special d1 11") == "E29"


def test_rule_29_a_piece_that_stood_still_can_be_sent() -> None:
    rules, state = action_state("special")
    pays = [f"pay p{i} air-special" for i in (1, 2, 3)]
    assert play(rules, state, *pays, "special d1 5", more=True).figures[0].city == 5


def test_rule_29_a_price_without_a_link_cant_be_paid() -> None:
    """No piece is on a city with planes, so the fifth ticket leads nowhere."""
    rules, state = action_state("special")
    pays = [f"pay p{i} air-special" for i in (1, 2, 3, 4)]
    paid = play(rules, state, *pays, more=True)
    assert not [text for text in said(rules, paid) if "pays" in text]
    assert refusal(rules, paid, "pay p5 air-special") == "E27"


# D_REFILL and CHECK


def test_rule_30_each_player_may_put_back_and_draws_up_to_his_number() -> None:
    rules, state = action_state("double", path=[LONDON])
    assert said(rules, state) == [f"p{i + 1} puts back air-double" for i in range(5)]
    played = done(rules, state, "back p2 air-double", "back p4 air-double")
    assert told(played, TEAM, Returned) == [
        Returned("p2", "air-double"),
        Returned("p4", "air-double"),
    ]
    assert told(played, X, Returned) == [Returned("p2", None), Returned("p4", None)]
    assert [len(hand) for hand in played.state.hands] == [5] * 5
    drawn = [(one.player, one.count, one.tickets) for one in told(played, X, Drew)][:5]
    assert drawn == [
        ("p1", 4, None),
        ("p2", 5, None),
        ("p3", 4, None),
        ("p4", 5, None),
        ("p5", 4, None),
    ]
    assert refusal(rules, state, "back p2 air-double", "back p1 air-double") == "E30"
    assert refusal(rules, state, "back p2 car-double") == "E24"


def test_rule_30_a_team_sees_the_answer_before_it_puts_back() -> None:
    rules, state = action_state("investigate")
    pays = [f"pay p{i} air-investigate" for i in (1, 2, 3)]
    played = done(rules, state, *pays, "investigate", more=True)
    assert played.goes_on
    assert told(played, TEAM, Investigated)
    assert {type(ply) for ply in rules.legal(played.state)} == {PutBack}
    assert rules.to_move(play(rules, played.state, "back p4 air-investigate")) is X


def check_state(cities: Any, path: Any, **options: Any) -> tuple[Europe, State]:
    return team_state(cities, path, [["car-double"]] + [[]] * 4, options=options)


def test_rule_31_the_check_looks_at_the_last_five_entries() -> None:
    """Six entries: entry 1 is out of the window, entry 2 in it."""
    path = (28, MANCHESTER, NEWCASTLE, 23, 22, 21, 22)
    rules, state = check_state([LONDON, *FAR[1:]], path)
    assert told(done(rules, state, "d1 car-double 36"), TEAM, Declared) == []
    assert told(done(rules, state, "d1 car-double 29"), TEAM, Declared) == [Declared(2, NEWCASTLE)]


def test_rule_32_every_entry_of_a_city_that_was_moved_onto_is_declared() -> None:
    path = (28, MANCHESTER, NEWCASTLE, MANCHESTER, 22)
    rules, state = check_state([LONDON, *FAR[1:]], path)
    played = done(rules, state, "d1 car-double 36")
    assert told(played, TEAM, Declared) == [Declared(1, MANCHESTER), Declared(3, MANCHESTER)]
    assert played.state.known == (1, 3)
    assert told(played, X, Declared) == told(played, TEAM, Declared)


def test_rule_32_who_stood_on_it_before_has_not_moved_onto_it() -> None:
    path = (28, LONDON, MANCHESTER, 22)
    rules, state = check_state([LONDON, *FAR[1:]], path)
    assert told(done(rules, state, "d1 car-double 46"), TEAM, Declared) == []


def test_rule_33_a_detective_on_mister_xs_city_wins_at_once() -> None:
    rules, state = check_state([LONDON, *FAR[1:]], [28, MANCHESTER])
    played = done(rules, state, "d1 car-double 36", "d2 car-double 1")
    assert played.counted == 1
    verdict = rules.verdict(played.state)
    assert verdict is not None
    assert (verdict.winner, verdict.reason) == (TEAM, "captured")
    assert told(played, X, Captured) == [Captured("d1", MANCHESTER)]
    assert rules.facts(played.state)["capture_city"] == MANCHESTER


def test_rule_33_the_start_is_a_present_city_too() -> None:
    rules, state = check_state([LONDON, *FAR[1:]], [PLYMOUTH])
    assert play(rules, state, "d1 car-double 46").ended is not None


def test_rule_34_rings_mark_what_is_new_and_the_oldest_moves_on() -> None:
    path = (28, *[31, 28] * 4)  # eight entries
    rules, state = team_state(FAR, path, [["air-investigate"]] * 5)
    assert state.rings == ()
    pays = [f"pay p{i} air-investigate" for i in (1, 2, 3)]
    state = msgspec.structs.replace(state, known=(0, 1, 2, 3, 5), rings=(0, 1, 2, 3, 5), ringed=5)
    after = play(rules, state, *pays, "investigate", more=True)  # entry 4
    assert after.rings == (4, 1, 2, 3, 5)
    assert after.known == (0, 1, 2, 3, 4, 5)
    again = msgspec.structs.replace(state, known=(4,), rings=(4,), ringed=1)
    assert play(rules, again, *pays, "investigate", more=True).rings == (4,)  # nothing new


def test_rule_35_an_empty_bag_is_filled_from_the_box() -> None:
    rules, state = set_up(FAR, [LONDON], hand=("car-double", "rail-special"))
    bag = list(state.bag)
    short = msgspec.structs.replace(state, bag=(*(0,) * 11, 1), box=(*bag[:11], bag[11] - 1))
    played = done(rules, short, "car-double 36")
    assert told(played, TEAM, Shortage) == [Shortage(sum(short.box))]
    assert len(played.state.hand) == 8
    assert sum(played.state.box) == 0
    none = msgspec.structs.replace(state, bag=(0,) * 12, box=(0,) * 12)
    played = done(rules, none, "car-double 36")
    assert played.state.hand == ("rail-special",)  # short
    assert told(played, X, Drew) == []


def test_rule_35_a_team_without_move_or_ticket_is_not_asked() -> None:
    rules, state = set_up(FAR, [LONDON], hand=("car-double", "rail-special"))
    none = msgspec.structs.replace(state, bag=(0,) * 12, box=(0,) * 12)
    played = done(rules, none, "car-double 36")
    assert rules.to_move(played.state) is X
    assert played.state.round == 2
    assert not played.goes_on


def test_rule_36_nothing_can_be_played_when_the_game_is_over() -> None:
    rules, state = set_up(FAR, [MINSK], hand=("car-double", "rail-special"))
    over = play(rules, state, "car-double 34")
    assert rules.legal(over) == ()
    assert refusal(rules, over, "car-double 34") == "E36"


def test_rule_37_after_the_end_entries_and_ticket_board_are_shown() -> None:
    rules, state = set_up(FAR, [LONDON, MINSK], hand=(*HIDDEN3, "air-double"))
    over = play(rules, state, *["pay car-hidden"] * 3, "lay air-double 34")
    team = msgspec.to_builtins(rules.view(over, TEAM))
    assert team["entries"] == (LONDON, MINSK, SMOLENSK)
    assert team["board"][-1] == {"ticket": "air-double", "hidden": True}


def test_every_numbered_rule_has_a_test() -> None:
    text = (resources.files("arena.rules.europe") / "RULES.md").read_text()
    rules = {int(number) for number in re.findall(r"^\| E(\d+) ", text, re.MULTILINE)}
    tested = {
        int(number) for name in globals() for number in re.findall(r"^test_rule_(\d+)_", name)
    }
    assert rules == tested == set(range(1, 38))
