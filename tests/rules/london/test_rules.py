"""Each rule of London by its number, L1 to L35; RULES.md beside the code has their words."""

from __future__ import annotations

import itertools
import re
from importlib import resources
from typing import Any

import msgspec
import pytest

from arena.errors import IllegalMove
from arena.rules import registry
from arena.rules.london import London, State
from arena.rules.london.position import Pawn, set_up
from arena.rules.london.presets import EDITIONS
from arena.rules.london.state import Slot, Step, Tickets
from arena.rules.london.views import Captured, Doubled, Moved, Revealed, SatOut
from arena.rules.ruleset import Played, Ruleset, Side
from tests.strategies import all_texts, deal_seed, play_out

FULL = Tickets(11, 8, 4)
NONE = Tickets(0, 0, 0)
X, TEAM = Side.MISTER_X, Side.DETECTIVES


def london(text: str = "london-2013") -> London:
    made = registry.make(text)
    assert isinstance(made, London)
    return made


def steps(*texts: str) -> list[Step]:
    return [london().parse(text) for text in texts]


def play(rules: Ruleset[Any, Any], state: State, *texts: str, more: bool = False) -> State:
    after = rules.play(state, steps(*texts), more=more).state
    assert isinstance(after, State)
    return after


def events(played: Played, side: Side) -> list[Any]:
    return [event.what for event in played.events if event.seen_by in (None, side)]


def refusal(rules: London, state: State, *texts: str, more: bool = False) -> str:
    """The number of the rule that forbids it."""
    with pytest.raises(IllegalMove) as caught:
        rules.play(state, steps(*texts), more=more)
    assert str(caught.value).startswith(f"{caught.value.rule}: ")
    return caught.value.rule


def filled(count: int) -> tuple[Slot, ...]:
    return (Slot("taxi", None),) * count


# 1. Pieces


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_l1_mister_x_has_five_blacks_and_two_doubles_however_many_play(players: int) -> None:
    state = london(f"london-2013:players={players}").deal(deal_seed(0), 0)
    assert (state.blacks, state.doubles) == (5, 2)


def test_l1_a_black_ticket_that_is_not_there_pays_for_nothing() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104, blacks=0)
    assert refusal(rules, state, "x black 86") == "L1"
    rules, state = set_up([Pawn(1, FULL)], 104, blacks=1)
    assert refusal(rules, state, "x black 86", "x black 104") == "L1"
    assert play(rules, state, "x black 86", "x taxi 104").blacks == 0


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_l2_each_detective_has_its_own_tickets(players: int) -> None:
    state = london(f"london-2013:players={players}").deal(deal_seed(0), 0)
    detectives = [f for f in state.figures if f.kind == "detective"]
    assert [f.tickets for f in detectives] == [FULL] * len(detectives)
    assert state.pool is None


def test_l2_a_detective_pays_from_its_own_tickets_alone() -> None:
    rules, state = set_up([Pawn(128, Tickets(0, 8, 4)), Pawn(1, FULL)], 50, to_move=TEAM)
    assert refusal(rules, state, "d1 taxi 142") == "L2"
    after = play(rules, state, "d1 bus 142", more=True)
    assert after.figures[0].tickets == Tickets(0, 7, 4)
    assert after.figures[1].tickets == FULL


def test_l2_a_detective_without_tickets_or_pool_pays_with_nothing() -> None:
    rules, state = set_up([Pawn(128), Pawn(1, FULL)], 50, to_move=TEAM)
    assert {step.figure for step in rules.legal(state)} == {"d2"}
    assert refusal(rules, state, "d1 taxi 142") == "L2"


def test_l3_bobbies_need_no_tickets_and_start_from_d_cards() -> None:
    rules = london("london-2013:players=3")
    for number in range(50):
        state = rules.deal(deal_seed(number), number)
        bobbies = [f for f in state.figures if f.kind == "bobby"]
        assert [(f.figure, f.tickets) for f in bobbies] == [("b1", None), ("b2", None)]
        assert {f.station for f in bobbies} <= set(rules.numbers.cards.detectives)


def test_l3_a_bobby_goes_by_taxi_bus_and_metro_and_feeds_no_supply() -> None:
    rules, state = set_up([Pawn(128, bobby=True)], 50, to_move=TEAM, supply=Tickets(1, 1, 1))
    assert {(s.ticket, s.to) for s in rules.legal(state)} == {
        *(("taxi", to) for to in (142, 143, 160, 172, 188)),
        *(("bus", to) for to in (135, 142, 161, 187, 199)),
        *(("metro", to) for to in (89, 140, 185)),
    }
    after = play(rules, state, "b1 metro 89")
    assert after.supply == Tickets(1, 1, 1)
    assert after.figures[0].tickets is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("london-2013", Tickets(2, 5, 3)),
        ("london-2013:players=5", Tickets(13, 13, 7)),
        ("london-2013:players=4", Tickets(24, 21, 11)),
        ("london-2013:players=3", Tickets(35, 29, 15)),
        ("london-2013:players=2", Tickets(37, 29, 15)),
        ("london-2013:players=2,pool=22-16-8", Tickets(35, 29, 15)),
        ("london-2013:supply=unlimited", None),
        ("london-2013:supply=to-mister-x", Tickets(4, 3, 3)),
        ("london-classic", Tickets(4, 3, 3)),
        ("london-classic:supply=box", Tickets(7, 5, 3)),
        ("london-coursework", Tickets(4, 3, 3)),
    ],
)
def test_l4_the_supply_is_the_box_less_what_detectives_hold(
    text: str, expected: Tickets | None
) -> None:
    assert london(text).deal(deal_seed(0), 0).supply == expected


def test_l4_tickets_that_detectives_use_go_to_the_supply() -> None:
    rules, state = set_up([Pawn(128, FULL)], 50, to_move=TEAM, supply=NONE)
    assert play(rules, state, "d1 taxi 142").supply == Tickets(1, 0, 0)
    assert play(rules, state, "d1 bus 142").supply == Tickets(0, 1, 0)
    assert play(rules, state, "d1 metro 89").supply == Tickets(0, 0, 1)


def test_l4_tickets_that_mister_x_uses_leave_the_supply() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104, supply=Tickets(2, 1, 0))
    assert play(rules, state, "x taxi 86").supply == Tickets(1, 1, 0)
    assert play(rules, state, "x taxi 86", "x bus 52").supply == Tickets(1, 0, 0)
    assert play(rules, state, "x black 86").supply == Tickets(2, 1, 0)


def test_l4_mister_x_takes_no_ticket_that_is_not_there() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104, supply=Tickets(0, 3, 3))
    assert {step.ticket for step in rules.legal(state)} == {"black"}
    assert refusal(rules, state, "x taxi 86") == "L4"


def test_l4_both_steps_of_a_double_are_paid_from_the_supply_before_the_turn() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104, supply=Tickets(1, 0, 0), blacks=0)
    assert rules.followers(state, steps("x taxi 86")[0]) == ()
    assert refusal(rules, state, "x taxi 86", "x taxi 104") == "L4"


def test_l4_an_unlimited_supply_never_ends() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104, supply=None)
    after = play(rules, state, "x taxi 86", "x bus 52")
    assert after.supply is None
    assert play(rules, after, "d1 taxi 8").supply is None


@pytest.mark.parametrize("text", [t for edition in EDITIONS for t in all_texts(edition.name)])
def test_l5_the_deal_draws_cards_in_secret_and_apart(text: str) -> None:
    rules = london(text)
    cards = rules.numbers.cards
    starts = set()
    for number in range(40):
        state = rules.deal(deal_seed(number), number)
        team = [figure.station for figure in state.figures]
        assert len(set(team)) == len(team) == rules.numbers.detectives + rules.numbers.bobbies
        assert set(team) <= set(cards.detectives)
        assert state.path[0] in set(cards.mister_x) - set(team)
        assert state.path[0] not in msgspec.to_builtins(rules.view(state, TEAM)).values()
        starts.add(state.path[0])
    assert len(starts) > len(cards.mister_x) // 2


def test_l5_every_card_is_drawn_about_equally_often() -> None:
    rules = london()
    count = 4_000
    drawn = [rules.deal(deal_seed(number), number) for number in range(count)]
    for card in rules.numbers.cards.mister_x:
        share = sum(state.path[0] == card for state in drawn) / count
        assert share == pytest.approx(1 / 13, abs=0.02)
    for card in rules.numbers.cards.detectives:
        share = sum(state.figures[0].station == card for state in drawn) / count
        assert share == pytest.approx(1 / 16, abs=0.02)


def test_l6_the_start_cards_are_among_the_numbers_that_both_sides_get() -> None:
    cards = msgspec.json.decode(msgspec.json.encode(london().numbers))["cards"]
    assert len(cards["mister_x"]) == 13
    assert len(cards["detectives"]) == 16
    assert not set(cards["mister_x"]) & set(cards["detectives"])


@pytest.mark.parametrize(
    ("players", "detectives", "bobbies"), [(2, 2, 2), (3, 2, 2), (4, 3, 1), (5, 4, 0), (6, 5, 0)]
)
def test_players_decide_how_many_detectives_and_bobbies_there_are(
    players: int, detectives: int, bobbies: int
) -> None:
    state = london(f"london-2013:players={players}").deal(deal_seed(0), 0)
    names = [*(f"d{i + 1}" for i in range(detectives)), *(f"b{i + 1}" for i in range(bobbies))]
    assert [figure.figure for figure in state.figures] == names


@pytest.mark.parametrize("pool", ["20-16-8", "22-16-8"])
def test_with_two_players_both_detectives_pay_from_one_pool(pool: str) -> None:
    rules = london(f"london-2013:players=2,pool={pool}")
    state = rules.deal(deal_seed(0), 0)
    taxi = int(pool.split("-", maxsplit=1)[0])
    assert state.pool == Tickets(taxi, 16, 8)
    assert [figure.tickets for figure in state.figures] == [None] * 4
    rules, state = set_up(
        [Pawn(128), Pawn(104), Pawn(70, bobby=True)], 50, to_move=TEAM, pool=Tickets(1, 1, 0)
    )
    after = play(rules, state, "b1 taxi 54", "d1 taxi 142", more=True)
    assert after.pool == Tickets(0, 1, 0)  # d2 needs a taxi, and the pool has none left
    assert after.to_move is X
    assert refusal(rules, state, "d1 taxi 142", "d2 taxi 116") == "L2"


# 2. A round


def test_l10_turns_alternate_and_everybody_must_move() -> None:
    rules, state = set_up([Pawn(1, FULL), Pawn(2, FULL)], 104)
    assert refusal(rules, state) == "L10"
    assert refusal(rules, state, "d1 taxi 8") == "L10"
    state = play(rules, state, "x taxi 86")
    assert rules.to_move(state) is TEAM
    assert refusal(rules, state, "x taxi 104") == "L10"
    assert refusal(rules, state) == "L16"
    state = play(rules, state, "d1 taxi 8", "d2 taxi 20")
    assert rules.to_move(state) is X
    assert state.round == 2


def test_l11_a_step_goes_along_one_link_of_the_vehicle_that_is_paid_for() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104)
    assert refusal(rules, state, "x bus 86") == "L11"
    assert refusal(rules, state, "x taxi 103") == "L11"
    assert refusal(rules, state, "x taxi 104") == "L11"
    assert refusal(rules, state, "x taxi 500") == "L11"
    state = play(rules, state, "x taxi 86")
    assert refusal(rules, state, "d1 taxi 58") == "L11"  # by bus there is a link
    state = play(rules, state, "d1 bus 58")
    state = play(rules, state, "x taxi 104")  # back where he came from
    assert play(rules, state, "d1 bus 1").figures[0].tickets == Tickets(11, 6, 4)


def test_l12_nobody_moves_to_a_station_of_the_team() -> None:
    rules, state = set_up([Pawn(86, FULL), Pawn(116, bobby=True)], 104)
    assert rules.legal(state) == ()
    assert refusal(rules, state, "x taxi 86") == "L12"
    assert refusal(rules, state, "x black 116") == "L12"
    rules, state = set_up([Pawn(52, FULL), Pawn(86, FULL)], 13, to_move=TEAM)
    assert refusal(rules, state, "d1 bus 86") == "L12"


def test_l12_a_double_move_passes_no_station_of_the_team() -> None:
    rules, state = set_up([Pawn(116, FULL)], 104)
    assert refusal(rules, state, "x taxi 116", "x taxi 127") == "L12"
    assert refusal(rules, state, "x taxi 86", "x bus 116") == "L12"


def test_l12_stations_between_two_stops_are_no_obstacle() -> None:
    """The bus from 86 to 116 goes by 104, whoever stands there."""
    rules, state = set_up([Pawn(104, FULL)], 86)
    assert play(rules, state, "x bus 116").path == (86, 116)


def test_l13_mister_x_blocks_nobody() -> None:
    rules, state = set_up([Pawn(86, FULL)], 104, to_move=TEAM)
    assert "d1 taxi 104" in {f"{s.figure} {s.ticket} {s.to}" for s in rules.legal(state)}
    assert rules.verdict(play(rules, state, "d1 taxi 104")) is not None


def test_l14_figures_move_once_each_in_any_order() -> None:
    rules, state = set_up([Pawn(1, FULL), Pawn(2, FULL), Pawn(3, FULL)], 104, to_move=TEAM)
    for order in itertools.permutations(["d1 taxi 8", "d2 taxi 20", "d3 taxi 11"]):
        assert [f.station for f in play(rules, state, *order).figures] == [8, 20, 11]
    assert refusal(rules, state, "d1 taxi 8", "d1 taxi 18") == "L14"
    assert refusal(rules, state, "d4 taxi 8") == "L14"
    assert refusal(rules, state, "b1 taxi 8") == "L14"
    part = play(rules, state, "d1 taxi 8", more=True)
    assert refusal(rules, part, "d1 taxi 1") == "L14"
    assert refusal(rules, part, more=True) == "L14"  # a part has a ply


def test_l14_neighbours_cannot_swap_but_a_station_left_free_can_be_entered() -> None:
    rules, state = set_up([Pawn(1, FULL), Pawn(8, FULL)], 104, to_move=TEAM)
    assert refusal(rules, state, "d1 taxi 8", "d2 taxi 1") == "L12"
    after = play(rules, state, "d2 taxi 18", "d1 taxi 8")
    assert [figure.station for figure in after.figures] == [8, 18]
    after = play(rules, state, "d1 taxi 9", "d2 taxi 1")
    assert [figure.station for figure in after.figures] == [9, 1]


def test_l14_parts_show_that_an_arrival_was_no_capture() -> None:
    rules, state = set_up([Pawn(1, FULL), Pawn(2, FULL)], 104, to_move=TEAM)
    part = rules.play(state, steps("d2 taxi 20"), more=True)
    assert rules.to_move(part.state) is TEAM
    assert events(part, TEAM) == [Moved("d2", "taxi", 20)]
    view = rules.view(part.state, TEAM)
    assert msgspec.to_builtins(view)["unmoved"] == ("d1",)
    assert {step.figure for step in rules.legal(part.state)} == {"d1"}


def test_l14_a_part_that_leaves_nothing_to_do_closes_the_turn() -> None:
    rules, state = set_up([Pawn(1, FULL), Pawn(2, FULL)], 104, to_move=TEAM)
    whole = rules.play(state, steps("d1 taxi 8", "d2 taxi 20"), more=False)
    assert rules.play(state, steps("d1 taxi 8", "d2 taxi 20"), more=True) == whole


def test_l15_a_figure_without_a_step_sits_out_and_still_blocks() -> None:
    rules, state = set_up([Pawn(116, NONE), Pawn(1, FULL)], 86, to_move=TEAM)
    assert {step.figure for step in rules.legal(state)} == {"d2"}
    played = rules.play(state, steps("d2 taxi 8"), more=False)
    assert events(played, X) == [Moved("d2", "taxi", 8), SatOut("d1")]
    assert played.state.unmoved == ()
    assert refusal(rules, played.state, "x bus 116") == "L12"


def test_l15_fitting_stops_that_are_all_taken_hold_a_detective() -> None:
    """From 10 taxis lead to 2, 11, 21 and 34; it has taxi tickets alone."""
    pawns = [Pawn(10, FULL), *(Pawn(at, NONE) for at in (2, 11, 21, 34))]
    rules, state = set_up(pawns, 104, to_move=TEAM)
    assert rules.legal(state) == ()
    rules, state = set_up(pawns[:-1], 104, to_move=TEAM)
    assert [step.to for step in rules.legal(state)] == [34]  # it moves again when it can


def test_l15_a_bobby_sits_out_only_while_all_its_neighbours_are_taken() -> None:
    pawns = [*(Pawn(at, NONE) for at in (2, 11, 21, 34)), Pawn(10, bobby=True)]
    rules, state = set_up(pawns, 104, to_move=TEAM)
    assert rules.legal(state) == ()
    rules, state = set_up(pawns[1:], 104, to_move=TEAM)
    assert [step.to for step in rules.legal(state)] == [2]


def test_l16_a_figure_may_be_left_out_only_if_it_cannot_move_at_the_end() -> None:
    rules, state = set_up([Pawn(1, FULL), Pawn(2, FULL)], 104, to_move=TEAM)
    assert refusal(rules, state, "d1 taxi 8") == "L16"
    assert refusal(rules, state) == "L16"
    assert refusal(rules, play(rules, state, "d1 taxi 8", more=True)) == "L16"


def test_l16_the_team_need_not_find_the_order_that_moves_most() -> None:
    """d1 on 2 has one taxi neighbour free, 10; if d2 goes there first, d1 is left out."""
    pawns = [Pawn(2, Tickets(1, 0, 0)), Pawn(11, FULL), Pawn(20, NONE)]
    rules, state = set_up(pawns, 104, to_move=TEAM)
    after = play(rules, state, "d2 taxi 10")
    assert [figure.station for figure in after.figures] == [2, 10, 20]
    assert rules.to_move(after) is X
    # As things stand at the end: d2 goes where it does not hold d1, so d1 must move.
    assert refusal(rules, state, "d2 taxi 22") == "L16"


def test_l17_ferries_are_for_mister_x_with_a_black_ticket() -> None:
    rules, state = set_up([Pawn(1, FULL)], 115)
    assert play(rules, state, "x black 157").path == (115, 157)
    assert play(rules, state, "x black 108").path == (115, 108)
    assert not {108, 157} & {step.to for step in rules.legal(state) if step.ticket != "black"}
    rules, state = set_up([Pawn(115, FULL), Pawn(194, bobby=True)], 1, to_move=TEAM)
    assert refusal(rules, state, "d1 black 157") == "L17"
    assert refusal(rules, state, "b1 black 157") == "L17"
    assert not {108, 157} & {step.to for step in rules.legal(state) if step.figure == "d1"}


# 3. Mister X


def test_l20_a_black_ticket_pays_for_any_vehicle_and_tells_nothing() -> None:
    rules, state = set_up([Pawn(1, FULL)], 67)
    black = {step.to for step in rules.legal(state) if step.ticket == "black"}
    other = {step.to for step in rules.legal(state) if step.ticket != "black"}
    assert black == other
    told = [
        events(rules.play(state, [Step(figure="x", ticket="black", to=to)], more=False), TEAM)
        for to in sorted(black)
    ]
    assert told == [[Moved("x", "black", None)]] * len(black)


def test_l21_a_double_move_takes_two_steps_two_slots_and_one_card() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104)
    played = rules.play(state, steps("x black 86", "x black 104"), more=False)
    after = played.state
    assert (after.doubles, after.blacks, len(after.log), after.round) == (1, 3, 2, 1)
    assert events(played, TEAM) == [
        Doubled(),
        Moved("x", "black", None),
        Moved("x", "black", None),
    ]
    assert events(played, X) == [Doubled(), Moved("x", "black", 86), Moved("x", "black", 104)]
    assert rules.to_move(after) is TEAM


def test_l21_one_card_a_round_and_no_more_than_there_are() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104)
    assert refusal(rules, state, "x taxi 86", "x taxi 104", "x taxi 86") == "L21"
    rules, state = set_up([Pawn(1, FULL)], 104, doubles=0)
    assert refusal(rules, state, "x taxi 86", "x taxi 104") == "L21"
    assert rules.followers(state, steps("x taxi 86")[0]) == ()


def test_l21_every_pair_that_followers_gives_is_legal_and_no_other() -> None:
    rules, state = set_up([Pawn(116, FULL)], 104, supply=Tickets(1, 1, 0), blacks=1)
    for first in rules.legal(state):
        followers = set(rules.followers(state, first))
        for station in range(1, 201):
            for ticket in ("taxi", "bus", "metro", "black"):
                second = Step(figure="x", ticket=ticket, to=station)
                try:
                    rules.play(state, (first, second), more=False)
                except IllegalMove:
                    assert second not in followers
                else:
                    assert second in followers


def test_l22_a_double_move_is_sent_whole() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104)
    assert refusal(rules, state, "x taxi 86", more=True) == "L22"
    assert refusal(rules, state, "x taxi 86", "x taxi 104", more=True) == "L22"


def test_l22_an_impossible_second_step_makes_the_double_illegal_not_the_single() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104)
    assert refusal(rules, state, "x taxi 86", "x taxi 117") == "L11"
    assert play(rules, state, "x taxi 86").path == (104, 86)


@pytest.mark.parametrize("slot", range(1, 25))
def test_l23_stations_are_shown_after_the_reveal_slots(slot: int) -> None:
    rules, state = set_up([Pawn(1, FULL)], 104, edition="london-2013", log=filled(slot - 1))
    played = rules.play(state, steps("x taxi 86"), more=False)
    shown = slot in (3, 8, 13, 18, 24)
    assert played.state.log[-1] == Slot("taxi", 86 if shown else None)
    assert (Revealed(slot, 86) in events(played, TEAM)) is shown
    assert (Revealed(slot, 86) in events(played, X)) is shown
    assert Moved("x", "taxi", None) in events(played, TEAM)


def test_l23_a_reveal_shows_its_own_step_of_a_double_alone() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104, log=filled(2))
    after = play(rules, state, "x taxi 116", "x taxi 117")
    assert [slot.station for slot in after.log[2:]] == [116, None]
    rules, state = set_up([Pawn(1, FULL)], 104, log=filled(1))
    after = play(rules, state, "x taxi 116", "x taxi 117")
    assert [slot.station for slot in after.log[1:]] == [None, 117]


def test_l24_reveals_go_by_slot_and_the_end_by_round() -> None:
    rules = london()
    for number in range(30):
        state = play_out(rules, number, number).states[-1]
        if state.ended.reason == "escaped":
            assert state.round == 22
            assert len(state.log) == 22 + 2 - state.doubles
        for place, slot in enumerate(state.log, 1):
            assert (slot.station is not None) == (place in (3, 8, 13, 18, 24))


def test_l24_in_classic_the_game_ends_by_slots_and_the_last_takes_no_double() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104, edition="london-classic", log=filled(23), round=23)
    assert refusal(rules, state, "x taxi 86", "x taxi 104") == "L24"
    assert rules.followers(state, steps("x taxi 86")[0]) == ()
    after = play(rules, state, "x taxi 86")
    assert rules.verdict(after) is None  # the detectives have their turn
    end = play(rules, after, "d1 taxi 8")
    assert end.ended is not None
    assert (end.ended.winner, end.ended.reason, end.round) == (X, "escaped", 23)


@pytest.mark.parametrize("edition", ["london-classic", "london-coursework"])
def test_l24_with_two_slots_left_there_is_a_double_and_with_one_the_game_goes_on(
    edition: str,
) -> None:
    rules, state = set_up([Pawn(1, FULL)], 104, edition=edition, log=filled(22), round=22)
    after = play(rules, state, "x taxi 86", "x taxi 104")
    assert len(after.log) == 24
    assert play(rules, after, "d1 taxi 8").to_move is None
    after = play(rules, state, "x taxi 86")
    assert play(rules, after, "d1 taxi 8").to_move is X


# 4. The end


def test_l30_entering_his_station_ends_the_game_and_the_rest_is_not_played() -> None:
    rules, state = set_up([Pawn(86, FULL), Pawn(1, FULL)], 104, to_move=TEAM)
    played = rules.play(state, steps("d1 taxi 104", "d1 metro 1", "x bus 7"), more=False)
    assert played.counted == 1
    assert events(played, X) == [Moved("d1", "taxi", 104), Captured("d1", 104)]
    assert rules.verdict(played.state) is not None
    assert rules.verdict(played.state).winner is TEAM  # type: ignore[union-attr]
    assert played.state.figures[1].station == 1
    assert rules.facts(played.state)["capture_station"] == 104
    assert refusal(rules, played.state, "d2 taxi 8") == "L30"


def test_l30_a_bobby_captures_too() -> None:
    rules, state = set_up([Pawn(1, FULL), Pawn(86, bobby=True)], 104, to_move=TEAM)
    end = play(rules, state, "d1 taxi 8", "b1 taxi 104")
    assert end.ended is not None
    assert end.ended.reason == "captured"


def test_l30_plies_before_the_capture_are_checked() -> None:
    rules, state = set_up([Pawn(86, FULL), Pawn(1, FULL)], 104, to_move=TEAM)
    assert refusal(rules, state, "d2 taxi 2", "d1 taxi 104") == "L11"


def test_l31_without_a_free_station_that_he_can_pay_for_he_has_lost() -> None:
    pawns = [Pawn(87, FULL), Pawn(116, NONE)]
    rules, state = set_up(pawns, 104, to_move=TEAM)
    end = play(rules, state, "d1 bus 86")
    assert end.ended is not None
    assert (end.ended.winner, end.ended.reason) == (TEAM, "enclosed")
    assert rules.facts(end)["capture_station"] == 0


def test_l31_a_double_move_does_not_help() -> None:
    """He has one bus ticket, a card and no link by bus from where he stands."""
    rules, state = set_up(
        [Pawn(1, Tickets(0, 5, 0))], 104, to_move=TEAM, supply=Tickets(0, 1, 0), blacks=0
    )
    end = play(rules, state, "d1 bus 46")
    assert end.ended is not None
    assert end.ended.reason == "enclosed"


def test_l32_when_round_22_is_over_mister_x_has_won() -> None:
    rules, state = set_up([Pawn(1, FULL)], 104, edition="london-2013", round=22)
    state = play(rules, state, "x taxi 86")
    assert rules.verdict(state) is None
    end = play(rules, state, "d1 taxi 8")
    assert end.ended is not None
    assert (end.ended.winner, end.ended.reason, end.round) == (X, "escaped", 22)


def test_l33_a_team_without_a_step_has_lost() -> None:
    rules, state = set_up([Pawn(1, NONE), Pawn(2, NONE)], 104)
    end = play(rules, state, "x taxi 86")
    assert end.ended is not None
    assert (end.ended.winner, end.ended.reason) == (X, "stuck")
    assert rules.legal(end) == ()


def test_l33_bobbies_count_unless_the_option_says_detectives() -> None:
    pawns = [Pawn(1, NONE), Pawn(2, bobby=True)]
    rules, state = set_up(pawns, 104)
    assert rules.verdict(play(rules, state, "x taxi 86")) is None
    rules, state = set_up(pawns, 104, stuck="detectives")
    end = play(rules, state, "x taxi 86")
    assert end.ended is not None
    assert end.ended.reason == "stuck"


def test_l33_a_team_held_by_its_own_bobbies_sits_out_without_being_asked() -> None:
    """d1 on 7 may go to 6 and 17; both have Bobbies that detectives hold in turn."""
    pawns = [
        Pawn(7, Tickets(1, 0, 0)),
        Pawn(29, NONE),
        Pawn(30, NONE),
        Pawn(6, bobby=True),
        Pawn(17, bobby=True),
    ]
    for stuck, reason in (("all", "stuck"), ("detectives", None)):
        rules, state = set_up(pawns, 104, stuck=stuck)
        played = rules.play(state, steps("x taxi 86"), more=False)
        verdict = rules.verdict(played.state)
        assert (verdict.reason if verdict else None) == reason
        if reason is None:
            assert rules.to_move(played.state) is X
            assert played.state.round == 2
            assert [e.figure for e in events(played, TEAM) if isinstance(e, SatOut)] == [
                "d1", "d2", "d3", "b1", "b2",
            ]  # fmt: skip


def test_l34_if_his_own_step_leaves_both_without_a_step_he_wins() -> None:
    """He steps to 104 with his last ticket, between two detectives without tickets."""
    rules, state = set_up([Pawn(1, NONE)], 86, supply=Tickets(1, 0, 0), blacks=0)
    end = play(rules, state, "x taxi 104")
    assert end.ended is not None
    assert (end.ended.winner, end.ended.reason) == (X, "stuck")


def test_l34_if_the_teams_turn_leaves_both_without_a_step_the_team_wins() -> None:
    rules, state = set_up([Pawn(87, Tickets(0, 1, 0)), Pawn(116, NONE)], 104, to_move=TEAM)
    end = play(rules, state, "d1 bus 86")
    assert end.ended is not None
    assert (end.ended.winner, end.ended.reason) == (TEAM, "enclosed")


def test_l34_unless_round_22_is_over() -> None:
    rules, state = set_up(
        [Pawn(87, Tickets(0, 1, 0)), Pawn(116, NONE)],
        104,
        edition="london-2013",
        to_move=TEAM,
        round=22,
    )
    end = play(rules, state, "d1 bus 86")
    assert end.ended is not None
    assert (end.ended.winner, end.ended.reason) == (X, "escaped")


@pytest.mark.parametrize("name", [edition.name for edition in EDITIONS])
def test_l35_nobody_is_caught_before_mister_xs_first_move(name: str) -> None:
    rules = london(name)
    for number in range(300):
        state = rules.deal(deal_seed(number), number)
        assert rules.to_move(state) is X
        assert state.path[0] not in {figure.station for figure in state.figures}


def test_every_rule_of_the_book_has_a_test() -> None:
    text = (resources.files("arena.rules.london") / "RULES.md").read_text()
    rules = {number.lower() for number in re.findall(r"^\| (L\d+) ", text, re.MULTILINE)}
    tested = {name.split("_")[1] for name in globals() if re.match(r"test_l\d+_", name)}
    assert rules == tested
    assert len(rules) == 25
