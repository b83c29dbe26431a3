"""The SDK's turns of Europe against the rules: all that they offer is legal, and all of it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
import pytest
from misterx_europe import Escape, Hunt, board
from misterx_sdk import Deal, Turn

from arena.errors import IllegalMove
from arena.rules.europe import Europe, State
from arena.rules.europe.board import Board
from arena.rules.europe.presets import Bound
from arena.rules.europe.ruleset import make_on
from arena.rules.registry import make
from arena.rules.ruleset import Side
from tests.bots.in_process import Brain, Table, load_bot, plain, play_game
from tests.rules.europe.test_second import small_board

Plies = list[dict[str, Any]]


def is_legal(rules: Europe, state: Any, plies: Plies) -> bool:
    """True if the rules would play a whole turn."""
    sent = [msgspec.convert(ply, rules.ply_type) for ply in plies]
    try:
        rules.play(state, sent, more=False)
    except IllegalMove:
        return False
    return True


def test_mister_x_is_offered_every_normal_move_and_actions_that_the_rules_play() -> None:
    rules: Any = make("europe-2009:mission=balanced")
    bot = load_bot("random")
    dice = Random(1)
    seen = {"hidden": 0, "doubles": 0}

    def watch(state: Any, side: Side, turn: Turn) -> None:
        if side is Side.DETECTIVES or state.stage != "move":
            return
        legal = [ply for ply in plain(rules.legal(state)) if ply["do"] == "move"]
        assert Escape(turn).steps() == [(ply["ticket"], ply["to"]) for ply in legal]
        for step in (found := Escape(turn).hidden())[:: max(1, len(found) // 5)]:
            seen["hidden"] += 1
            assert is_legal(rules, state, Escape(turn).hide(*step))
        doubles = Escape(turn).doubles()
        for steps in dice.sample(doubles, min(5, len(doubles))):
            seen["doubles"] += 1
            x = Escape(turn)
            plies = x.double(*steps)
            back = [] if steps[1][1] in x.board.targets[x.colour or ""] else x.back(x.hand)
            assert is_legal(rules, state, [*plies, *back])

    for seed in range(8):
        play_game(
            rules, {Side.MISTER_X: bot.mister_x, Side.DETECTIVES: bot.detectives}, seed, watch=watch
        )
    assert min(seen.values()) > 20


@pytest.mark.parametrize(("players", "least"), [(6, 10), (2, 1), (4, 5)])
def test_the_team_is_offered_every_step_and_pays_as_the_rules_ask(players: int, least: int) -> None:
    rules: Any = make(f"europe-2009:players={players}")
    bot = load_bot("greedy")
    dice = Random(players)
    acted = {"investigate": 0, "special": 0}

    def detectives(turn: Turn) -> Sequence[dict[str, Any]]:
        team = Hunt(turn)
        while team.waiting():
            legal = [ply for ply in team.turn.legal if ply["do"] == "move"]
            if not team.plies:  # nothing is planned that the referee doesn't know
                offered = [(name, *step) for name in team.waiting() for step in team.steps(name)]
                assert offered == [(ply["figure"], ply["ticket"], ply["to"]) for ply in legal]
            figure = dice.choice(team.waiting())
            team.go(figure, *dice.choice(team.steps(figure)))
        what = dice.choice(("investigate", "special"))
        prices = team.prices(what)
        if prices and what == "investigate":
            before = set(team.belief.now)
            entry = team.asked_entry(prices[-1])
            team.investigate(prices[-1])
            assert team.plies == []
            assert len(team.belief.sets[entry]) == 1
            assert team.belief.now <= before
            acted[what] += 1
        elif prices and (missions := team.missions(prices[-1])):
            team.special(prices[-1], *dice.choice(missions))
            acted[what] += 1
        team.back(
            [(name, ticket) for name, hand in team.hands.items() for ticket in hand[::-1][:2]]
        )
        return team.plies

    for seed in range(12):
        play_game(rules, {Side.MISTER_X: bot.mister_x, Side.DETECTIVES: detectives}, seed)
    assert sum(acted.values()) >= least  # two players have few tickets left after the moves


@pytest.mark.parametrize("capture", ["immediate", "check"])
def test_he_is_where_the_planned_steps_leave_him_if_the_game_goes_on(capture: str) -> None:
    """By check a piece that a special mission takes away again captures nothing (A2)."""
    dice, seen, left = Random(capture), list[set[int]](), 0

    def detectives(turn: Turn) -> Sequence[dict[str, Any]]:
        nonlocal left
        team = Hunt(turn)
        for figure, steps in team:
            team.go(figure, *dice.choice(steps))
        prices = team.prices("special")
        if prices and (missions := team.missions(prices[0])):
            from_him = [one for one in missions if team.cities[one[0]] in team.belief.now]
            figure, to = dice.choice(from_him or missions)
            left += bool(from_him)
            team.special(prices[0], figure, to)
        seen.append(team.possible)
        return team.plies

    def watch(state: State, side: Side, turn: Turn) -> None:
        del turn
        if side is Side.MISTER_X and seen and state.stage == "move":
            assert state.path[-1] in seen[-1]
            seen.clear()

    bot = load_bot("random")
    for number in range(150):
        content = small_board(Random(number))
        for ticket in content["tickets"]:
            ticket["count"] = 40 if ticket["action"] == "special" else 4
        rules = make_on(Bound(msgspec.convert(content, Board)), {"capture": capture})
        brains: dict[Side, Brain] = {Side.MISTER_X: bot.mister_x, Side.DETECTIVES: detectives}
        play_game(rules, brains, number, watch=watch)
        seen.clear()
    assert left > 5


@pytest.mark.parametrize("name", ["greedy", "belief"])
def test_mister_x_who_can_not_move_at_all_sends_his_choice_alone(name: str) -> None:
    """E20: he is stuck with his first turn, and nothing can follow."""
    rules: Any = make("europe-2009:mission=yellow")
    turn = Table(rules, 0, None).turn(Side.MISTER_X)
    turn.view["hand"] = ["air-double"] * 2  # no plane leaves from any start of a mission
    assert [ply["do"] for ply in load_bot(name).mister_x(turn)] == ["start"]


def test_distances_are_moves_by_whatever_transport() -> None:
    rules: Any = make("europe-2009")
    table = Table(rules, 0, None)
    own = board(table.deals[Side.MISTER_X])
    assert own is board(table.deals[Side.DETECTIVES])
    away = own.to_target("green")
    assert {away[city] for city in own.targets["green"]} == {0}
    for city in own.cities:
        assert own.distance(city, own.cities[0]) == own.distance(own.cities[0], city)
        if away[city]:
            assert away[city] == 1 + min(away[end] for end in own.around[city])
    assert set(own.reach(None)[own.cities[0]]) == set(own.around[own.cities[0]])


def test_what_europe_needs_is_named_with_the_cure() -> None:
    rules: Any = make("europe-2009")
    deal = Table(rules, 0, None).deals[Side.DETECTIVES]
    with pytest.raises(RuntimeError, match=r"has no map of London: see deal\.raw_board"):
        _ = deal.board
    assert deal.is_europe
    bare = Deal({**vars(deal), "budget": None, "board": None})
    with pytest.raises(RuntimeError, match=r"wants=\('board', 'events'\)"):
        board(bare)
    turn = Turn(deal, {"view": deal.view, "bank_ms": None, "charged_ms": None})
    with pytest.raises(RuntimeError, match=r"wants=\('board', 'events'\)"):
        _ = Hunt(turn).belief
    with pytest.raises(RuntimeError, match="no start yet"):
        Escape(Table(rules, 0, None).turn(Side.MISTER_X)).steps()
