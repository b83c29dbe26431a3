"""What the printed rules leave open, A1 to A27: our choice, and the option's other value."""

from __future__ import annotations

import re
from collections import Counter
from importlib import resources
from typing import Any

import msgspec
import pytest

from arena.rules import registry
from arena.rules.europe import Europe, State
from arena.rules.europe.position import set_up
from arena.rules.europe.presets import bind, options_of
from arena.rules.europe.state import TICKETS, PutBack, Special, hand_of
from arena.rules.europe.views import Captured, Declared, Placed, Returned
from arena.rules.ruleset import Side
from tests.rules.europe.test_rules import (
    BELFAST,
    CORK,
    DOUBLE3,
    DUBLIN,
    EDINBURGH,
    FAR,
    GALWAY,
    GLASGOW,
    HIDDEN3,
    INVERNESS,
    LONDON,
    MANCHESTER,
    MINSK,
    PLYMOUTH,
    SMOLENSK,
    TEAM,
    WEST,
    X,
    done,
    europe,
    play,
    refusal,
    said,
    team_state,
    told,
)
from tests.strategies import deal_seed, play_out

WAYS = ("car", "rail", "air")
SPECIALS = [["car-double", "car-special"]] + [["air-special"]] * 4
SEND = ("pay p1 car-special", "pay p2 air-special", "pay p3 air-special")


def passing(path: Any, **options: Any) -> tuple[Europe, State]:
    """d1 comes to Manchester and can be sent on by a special mission."""
    return team_state([LONDON, *FAR[1:]], path, SPECIALS, options=options)


def test_a1_mister_x_first_notes_his_start_before_the_detectives_are_placed() -> None:
    rules = europe("europe-2009:setup_order=mister-x-first,mission=green")
    state = rules.deal(deal_seed(3), 3)
    assert state.figures == ()
    assert len(said(rules, state)) == 6
    played = done(rules, state, "start 21", more=True)
    after = played.state
    assert told(played, TEAM, Placed) == [Placed(tuple(f.city for f in after.figures))]
    assert after.figures == europe().deal(deal_seed(3), 3).figures
    assert after.stage == "move"


def test_a1_a_detective_placed_on_his_start_captures_only_in_the_check() -> None:
    rules, state = set_up([LONDON, *FAR[1:]], [LONDON], hand=("car-double", "rail-double"))
    assert play(rules, state, "car-double 36").ended is None
    rules, state = set_up([INVERNESS, *FAR[1:]], [INVERNESS], hand=("rail-double",) * 8)
    state = msgspec.structs.replace(state, stage="start", path=(), figures=state.figures[:0])
    assert "x starts in 21" in said(rules, state)
    rules, state = team_state([LONDON, *FAR[1:]], [LONDON], [[], ["air-double"]])
    ended = rules.play(state, (), more=False)
    assert told(ended, TEAM, Captured) == [Captured("d1", LONDON)]


def test_a2_a_capture_is_seen_at_each_step() -> None:
    rules, state = passing([*WEST, MANCHESTER])
    played = done(rules, state, "d1 car-double 36", more=True)
    assert rules.to_move(played.state) is None
    rules, state = passing([*WEST, PLYMOUTH])
    played = done(rules, state, "d1 car-double 36", *SEND, "special d1 46", "investigate")
    assert told(played, X, Captured) == [Captured("d1", PLYMOUTH)]
    assert played.counted == 5


def test_a2_by_check_who_moves_on_declares_the_present_city_and_captures_nothing() -> None:
    rules, state = passing([*WEST, MANCHESTER], capture="check")
    moved = play(rules, state, "d1 car-double 36", more=True)
    assert rules.to_move(moved) is TEAM
    stayed = done(rules, moved)
    assert told(stayed, TEAM, Captured) == [Captured("d1", MANCHESTER)]
    sent = done(rules, moved, *SEND, "special d1 46")
    assert told(sent, TEAM, Captured) == []
    assert told(sent, TEAM, Declared) == [Declared(6, MANCHESTER)]
    assert sent.state.ended is None


def test_a3_a_city_that_was_only_passed_counts() -> None:
    path = (BELFAST, DUBLIN, GALWAY, CORK, MANCHESTER, DUBLIN)
    for passed, expected in (("counts", [Declared(4, MANCHESTER)]), ("ignored", [])):
        rules, state = passing(path, passed=passed)
        played = done(rules, state, "d1 car-double 36", *SEND, "special d1 46")
        assert told(played, TEAM, Declared) == expected
    rules, state = passing(path, passed="ignored")
    assert told(done(rules, state, "d1 car-double 36"), TEAM, Declared) == [Declared(4, MANCHESTER)]


def test_a4_he_may_not_end_on_a_detectives_city() -> None:
    rules, state = set_up([MANCHESTER, *FAR[1:]], [LONDON], hand=("car-double", "car-hidden"))
    assert refusal(rules, state, "car-double 36") == "E15"


def surrounded(**options: Any) -> State:
    """Inverness with both of its neighbours held, as Mister X's turn begins."""
    rules, state = team_state(
        [GLASGOW, EDINBURGH, *FAR[2:]],
        [LONDON, INVERNESS],
        [["air-double"]] + [[]] * 4,
        options=options,
    )
    state = msgspec.structs.replace(state, hand=("car-double",) * 4)
    return play(rules, state)


def test_a5_an_encircled_mister_x_is_stuck() -> None:
    after = surrounded()
    assert (after.ended, after.tally.stuck, after.round) == (None, 1, 2)


def test_a5_or_it_is_his_loss() -> None:
    after = surrounded(encircled="loss")
    assert after.ended is not None
    assert (after.ended.winner, after.ended.reason) == (TEAM, "encircled")
    assert after.tally.stuck == 0


def test_a6_not_even_onto_a_target() -> None:
    rules, state = set_up([SMOLENSK, *FAR[1:]], [MINSK], hand=("car-double", "car-hidden"))
    assert refusal(rules, state, "car-double 34") == "E15"


def test_a7_no_double_move_is_hidden() -> None:
    rules, state = set_up(FAR, [LONDON], hand=(*DOUBLE3, *HIDDEN3, "car-special", "air-special"))
    assert refusal(rules, state, "pay car-double", "pay car-hidden") == "A7"


def test_a8_both_steps_must_be_possible_together() -> None:
    """From Belfast by rail to Glasgow, and on by car; from Galway no train leaves."""
    hand = (*DOUBLE3, "car-special", "rail-special")
    rules, state = set_up(FAR, [BELFAST], hand=hand)
    paid = play(rules, state, *["pay car-double"] * 3, more=True)
    assert refusal(rules, paid, "car-special 30", "rail-special 28") == "A8"
    assert "x goes by car-special to 30" not in said(rules, paid)
    assert play(rules, paid, "rail-special 22", "car-special 21").path == (
        BELFAST,
        GLASGOW,
        INVERNESS,
    )


def test_a9_paid_tickets_move_nobody() -> None:
    rules, state = set_up(FAR, [LONDON], hand=(*DOUBLE3, "rail-special", "air-special"))
    assert refusal(rules, state, *["pay car-double"] * 3, "car-double 36") == "E15"


def test_a10_the_first_step_over_24_and_25_is_hidden_and_the_second_open() -> None:
    path = [LONDON, PLYMOUTH] * 12  # 23 entries
    rules, state = set_up(FAR, path, hand=(*DOUBLE3, "car-special", "rail-special"))
    pays = ["pay car-double"] * 3
    stopped = play(rules, state, *pays, "car-special 36", more=True)
    assert msgspec.to_builtins(rules.view(stopped, TEAM))["entries"][-1] is None
    ended = play(rules, stopped, "rail-special 31", more=True)
    assert msgspec.to_builtins(rules.view(ended, TEAM))["entries"][-2:] == (MANCHESTER, DUBLIN)


def test_a11_a_city_twice_in_the_window_is_declared_twice_and_a12_again_without_a_ring() -> None:
    path = (BELFAST, MANCHESTER, DUBLIN, MANCHESTER, DUBLIN)
    rules, state = team_state([LONDON, *FAR[1:]], path, [["car-double"]], known=(1,))
    played = done(rules, state, "d1 car-double 36")
    assert told(played, TEAM, Declared) == [Declared(1, MANCHESTER), Declared(3, MANCHESTER)]
    assert played.state.rings == (3,)


def test_a13_mister_x_sees_how_many_tickets_each_player_holds() -> None:
    rules = europe("europe-2009:players=3")
    state = rules.deal(deal_seed(0), 0)
    own = msgspec.to_builtins(rules.view(state, X))
    assert own["hand_sizes"] == (7, 6)
    assert "hands" not in own
    team = msgspec.to_builtins(rules.view(state, TEAM))
    assert team["mister_x_hand"] == 8
    assert "hand" not in team


def test_a14_the_start_is_in_the_window_only_if_so_chosen() -> None:
    for chosen, expected in (("false", []), ("true", [Declared(0, MANCHESTER)])):
        for path in ([MANCHESTER, DUBLIN], [MANCHESTER, DUBLIN, GALWAY, CORK, DUBLIN]):
            rules, state = team_state(
                [LONDON, *FAR[1:]], path, [["car-double"]], options={"start_in_window": chosen}
            )
            assert told(done(rules, state, "d1 car-double 36"), TEAM, Declared) == expected
    path = [MANCHESTER, DUBLIN, GALWAY, CORK, DUBLIN, GALWAY]
    rules, state = team_state(
        [LONDON, *FAR[1:]], path, [["car-double"]], options={"start_in_window": "true"}
    )
    assert told(done(rules, state, "d1 car-double 36"), TEAM, Declared) == []


def test_a15_put_back_tickets_are_in_the_bag_before_the_draw() -> None:
    """Everything else is gone: what is put back is what is drawn."""
    rules, state = set_up(FAR, [LONDON], hand=("car-double", "car-hidden", "air-special"))
    state = msgspec.structs.replace(state, bag=(0,) * 12)
    after = play(rules, state, "car-double 36", "back car-hidden", "back air-special")
    assert after.hand == ("car-hidden", "air-special")


def test_a16_nobody_is_shown_what_is_put_back() -> None:
    rules, state = set_up(FAR, [LONDON], hand=("car-double", "car-hidden", "air-special"))
    one, two = (
        done(rules, state, "car-double 36", f"back {ticket}", more=True)
        for ticket in ("car-hidden", "air-special")
    )
    assert told(one, TEAM, Returned) == told(two, TEAM, Returned) == [Returned("x", None)]
    assert told(one, X, Returned) != told(two, X, Returned)
    rules, state = team_state(FAR, [DUBLIN], [["air-double", "air-hidden"]])
    one, two = (
        done(rules, state, f"back p1 {ticket}", more=True)
        for ticket in ("air-double", "air-hidden")
    )
    assert told(one, X, Returned) == told(two, X, Returned) == [Returned("p1", None)]
    assert told(one, TEAM, Returned) != told(two, TEAM, Returned)


def test_a17_each_ticket_in_the_bag_is_equally_likely() -> None:
    rules = europe()
    drawn: Counter[str] = Counter()
    count = 1500
    for number in range(count):
        drawn.update(rules.deal(deal_seed(number), number).hand)
    for ticket, there in zip(TICKETS, (14,) * 4 + (10,) * 4 + (6,) * 4, strict=True):
        assert drawn[ticket] == pytest.approx(count * 8 * there / 120, rel=0.12)


def test_a17_the_same_seed_gives_the_same_tickets_and_another_seed_others() -> None:
    rules = europe()
    one, two = rules.deal(deal_seed(1), 0), rules.deal(deal_seed(2), 0)
    assert rules.deal(deal_seed(1), 5).hands == one.hands
    assert (one.hand, one.hands) != (two.hand, two.hands)
    assert play_out(rules, 3, 4).states == play_out(rules, 3, 4).states


def test_a18_a_known_entry_can_be_asked_for_again() -> None:
    rules, state = team_state(FAR, WEST, [["air-investigate"]] * 5, known=(1,))
    pays = [f"pay p{i} air-investigate" for i in (1, 2, 3)]
    after = play(rules, state, *pays, "investigate", more=True)
    assert (after.known, after.rings, after.tally.investigations) == ((1,), (), 1)


def test_a19_investigations_go_on_after_move_25() -> None:
    path = [LONDON, PLYMOUTH] * 13 + [LONDON]  # 26 entries
    rules, state = team_state(FAR, path, [["air-investigate"]] * 5, known=(24, 25, 26))
    pays = [f"pay p{i} air-investigate" for i in (1, 2, 3)]
    after = play(rules, state, *pays, "investigate", more=True)
    assert after.known == (22, 24, 25, 26)
    assert after.rings == (22,)


def test_a20_a_special_mission_can_go_to_a_piece_that_stood_still() -> None:
    rules, state = passing(WEST)
    moved = play(rules, state, "d1 car-double 36", more=True)
    paid = play(rules, moved, *SEND, more=True)
    to = next(
        ply.to for ply in rules.legal(paid) if isinstance(ply, Special) and ply.figure == "d2"
    )
    assert play(rules, paid, f"special d2 {to}", more=True).figures[1].city == to


def test_a21_tickets_are_not_passed_on() -> None:
    rules, state = team_state([LONDON, *FAR[1:]], [DUBLIN], [[], ["car-double"]])
    assert not [text for text in said(rules, state) if text.startswith("d1")]
    assert refusal(rules, state, "d1 car-double 36") in {"E23", "E24"}


def test_a22_nobody_stands_still_to_save_tickets() -> None:
    rules, state = team_state([LONDON, *FAR[1:]], [DUBLIN], [["car-double"]])
    assert refusal(rules, state) == "E25"


def test_a23_as_many_as_the_hand_allows_or_until_nobody_can() -> None:
    """Galway goes by car alone, so by "most" London must leave the one car ticket to it."""
    where, hands = [GALWAY, LONDON, 1, 5, INVERNESS], [["car-double", "rail-double"]]
    for chosen, allowed in (("most", False), ("maximal", True)):
        rules, state = team_state(where, [3], hands, options={"players": 2, "as_many": chosen})
        assert ("d2 goes by car-double to 36" in said(rules, state)) is allowed


def test_a24_after_the_last_round_the_detectives_win() -> None:
    for cap, last in ((50, 50), (25, 25), (100, 100)):
        rules, state = team_state(
            FAR, [DUBLIN], [["air-double"]], options={"cap": cap}, round=last - 1
        )
        after = rules.play(state, (), more=False).state
        assert (after.ended, after.round) == (None, last)
        rules, state = team_state(FAR, [DUBLIN], [["air-double"]], options={"cap": cap}, round=last)
        after = rules.play(state, (), more=False).state
        assert after.ended is not None
        assert (after.ended.winner, after.ended.reason, after.round) == (TEAM, "cap", last)


def test_a26_there_are_120_tickets_of_all_kinds_and_more_by_car_than_by_air() -> None:
    counts = Counter(
        {name: getattr(europe().numbers.tickets, name.replace("-", "_")) for name in TICKETS}
    )
    assert counts.total() == 120
    assert min(counts.values()) > 0
    by = {way: sum(n for name, n in counts.items() if name.startswith(way)) for way in WAYS}
    assert by["car"] > by["rail"] > by["air"]


def test_every_gap_has_a_test() -> None:
    """A25, what a bot's fault brings, is the referee's and no rule."""
    text = (resources.files("arena.rules.europe") / "RULES.md").read_text()
    gaps = text.partition("## Gaps")[2].partition("## Options")[0]
    listed = {
        int(number)
        for row in re.findall(r"^\| (A[^|]+)\|", gaps, re.MULTILINE)
        for number in re.findall(r"A(\d+)", row)
    }
    tested = {int(number) for name in globals() for number in re.findall(r"_a(\d+)_", name)}
    assert tested == set(range(1, 28)) - {25}
    assert listed == tested


def test_a27_he_may_go_back() -> None:
    rules, state = set_up(FAR, [LONDON, PLYMOUTH], hand=("car-double",))
    assert play(rules, state, "car-double 41").path == (LONDON, PLYMOUTH, LONDON)


def test_the_stream_of_tickets_goes_on_where_it_was() -> None:
    """A state is all there is: played on from a copy, it draws the same."""
    rules: Any = europe()
    trace = play_out(rules, 7, 7)
    for state, plies, played in zip(trace.states, trace.turns, trace.played, strict=False):
        copy = msgspec.convert(msgspec.to_builtins(state, builtin_types=(bytes,)), State)
        assert copy == state
        assert rules.play(copy, plies, more=False) == played
        assert played.state.drawn >= state.drawn


def test_what_is_put_back_can_be_anything_in_hand() -> None:
    rules, state = team_state(FAR, [DUBLIN], [["air-double", "air-hidden"]])
    plies = [ply for ply in rules.legal(state) if isinstance(ply, PutBack)]
    assert [ply.ticket for ply in plies] == ["air-double", "air-hidden"]
    after = rules.play(state, plies, more=False).state
    assert sum(len(hand) for hand in after.hands) == 25
    assert len(hand_of(after.bag)) == sum(after.bag)


def test_the_options_of_the_document_are_those_of_the_code() -> None:
    text = (resources.files("arena.rules.europe") / "RULES.md").read_text()
    table = text.partition("## Options")[2].partition("## On the wire")[0]
    told = {
        name: values.split(", ")
        for name, values in re.findall(r"^\| `(\w+)` \| ([^|]*) \|", table, re.MULTILINE)
    }
    found = {o.name: [str(value) for value in o.values] for o in options_of(bind().board)}
    assert told == found
    assert registry.make("europe-2009:cap=25,players=2").options["cap"] == 25


@pytest.mark.parametrize("side", list(Side))
def test_the_fields_of_views_and_events_stand_in_the_document(side: Side) -> None:
    text = (resources.files("arena.rules.europe") / "RULES.md").read_text()
    rules = europe()
    view = msgspec.to_builtins(rules.view(rules.deal(deal_seed(0), 0), side))
    assert not [name for name in view if f"`{name}`" not in text]
    trace = play_out(rules, 5, 5)
    text = text.partition("| event | who sees it |")[2]
    events = [one.what for played in trace.played for one in played.events]
    for plain in msgspec.to_builtins(events):
        row = re.search(rf"^\| `{plain['event']}`([^|]*)\|", text, re.MULTILINE)
        assert row is not None
        assert re.findall(r"`(\w+)`", row[1]) == [key for key in plain if key != "event"]
