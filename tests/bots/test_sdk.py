"""The SDK's own rules against the ruleset's, its map, and what it needs of Python."""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Sequence
from typing import Any

import misterx_sdk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from misterx_sdk import Board, Deal, Team, Turn, move

from arena.errors import IllegalMove
from arena.rules.registry import make
from arena.rules.ruleset import Side
from protocol.codec import decode_answer
from protocol.messages import Log
from tests.bots.in_process import BOTS, load_bot, plain, play_game

LONDON = Board(plain(make("london-2013").board))
PRESETS = ("london-2013", "london-2013:supply=to-mister-x", "london-classic", "london-coursework")


@pytest.mark.parametrize("text", PRESETS)
def test_mister_x_moves_are_those_of_the_rules(text: str) -> None:
    """Singles are `legal`; a double is offered if and only if the rules would play it."""
    rules = make(text)
    bot = load_bot("random")
    dice = random.Random(text)
    offered = refused = 0

    def watch(state: Any, side: Side, turn: Turn) -> None:
        nonlocal offered, refused
        if side is Side.DETECTIVES:
            return
        legal = [(ply.ticket, ply.to) for ply in rules.legal(state)]
        assert turn.singles() == legal
        doubles = set(turn.doubles())
        assert len(doubles) == len(turn.doubles())
        for first in dice.sample(legal, min(3, len(legal))):
            for second in LONDON.x_steps[first[1]]:
                plies = [plain(move("x", *first)), plain(move("x", *second))]
                try:
                    rules.play(state, [rules.ply_type(**ply) for ply in plies], more=False)
                except IllegalMove:
                    refused += 1
                    assert (first, second) not in doubles
                else:
                    offered += 1
                    assert (first, second) in doubles

    for seed in range(6):
        brains = {Side.MISTER_X: bot.mister_x, Side.DETECTIVES: bot.detectives}
        play_game(rules, brains, seed, watch=watch)
    assert offered > 100
    assert refused > 100


@given(st.sampled_from(LONDON.stations), st.sampled_from(LONDON.stations), st.booleans())
def test_distances_are_symmetric_and_grow_by_one_a_step(a: int, b: int, ferry: bool) -> None:
    steps = LONDON.distance(a, b, ferry=ferry)
    assert steps == LONDON.distance(b, a, ferry=ferry)
    assert (steps == 0) == (a == b)
    near = LONDON.reach["black"][a] if ferry else [to for _, to in LONDON.steps[a]]
    if steps:
        assert steps == 1 + min(LONDON.distance(to, b, ferry=ferry) for to in near)
    assert LONDON.distance(a, b, ferry=True) <= LONDON.distance(a, b)


def test_ferries_shorten_some_ways_and_are_for_mister_x_alone() -> None:
    assert LONDON.distance(108, 115, ferry=True) == 1
    assert LONDON.distance(108, 115) > 1
    assert ("black", 115) in LONDON.x_steps[108]
    assert all(to != 115 for _, to in LONDON.steps[108])


def a_turn(side: Side, text: str = "london-2013") -> Turn:
    """Return the first turn of a game for a side."""
    found: list[Turn] = []

    def stop(turn: Turn) -> Sequence[dict[str, Any]]:
        found.append(turn)
        raise StopIteration

    bot = load_bot("random")
    with pytest.raises(StopIteration):
        play_game(
            make(text),
            {Side.MISTER_X: bot.mister_x, Side.DETECTIVES: bot.detectives, side: stop},
            0,
        )
    return found[0]


def by_hand(side: Side) -> Turn:
    """The same of a bot that wants nothing, without a referee behind it."""
    turn = a_turn(side)
    return Turn(turn.deal, {"view": turn.view, "bank_ms": None, "charged_ms": None})


def test_team_shares_one_pool_and_its_figures_block_each_other() -> None:
    turn = a_turn(Side.DETECTIVES, "london-2013:players=2")
    turn.view["pool"] = {"taxi": 1, "bus": 0, "metro": 0}
    for figure, station in zip(turn.view["figures"], (1, 8, 19, 43), strict=True):
        figure["station"] = station
    team = Team(turn)
    assert team.steps("d1") == [("taxi", 9)]  # 8 is taken, the bus can't be paid
    team.go("d1", "taxi", 9)
    assert team.steps("d2") == []  # the pool is empty
    assert ("taxi", 8) not in team.steps("b1")
    assert ("taxi", 9) not in team.steps("b1")
    assert team.waiting() == ["b1", "b2"]


def test_team_that_is_not_told_where_to_go_says_so() -> None:
    team = a_turn(Side.DETECTIVES).team()
    with pytest.raises(RuntimeError, match="d1 was not told"):
        list(team)


@pytest.mark.parametrize("name", ["legal", "events"])
def test_what_was_not_asked_for_is_named_with_the_cure(name: str) -> None:
    turn = by_hand(Side.MISTER_X)
    with pytest.raises(RuntimeError, match=rf"wants=\('board', '{name}'\)"):
        getattr(turn, name)


def test_deal_without_a_board_names_the_cure() -> None:
    deal = Deal({**vars(a_turn(Side.MISTER_X).deal), "budget": {"nodes": 7}, "board": None})
    assert deal.nodes == 7
    with pytest.raises(RuntimeError, match=r"wants=\('board',\)"):
        _ = deal.board


def test_turn_made_by_hand_sends_no_part() -> None:
    with pytest.raises(RuntimeError, match="no referee"):
        by_hand(Side.DETECTIVES).part([])


FILES = sorted(
    file for kind in ("sdk", "parts", "reference") for file in BOTS.glob(f"{kind}/**/*.py")
)
OURS = {file.stem for file in FILES} - {"bot"}


@pytest.mark.parametrize("file", FILES)
def test_sdk_and_bots_read_with_python_3_9_and_need_the_standard_library_alone(file: Any) -> None:
    tree = ast.parse(file.read_text(), feature_version=(3, 9))
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert names <= {*sys.stdlib_module_names, *OURS}
    if file.name == "misterx_sdk.py":
        assert names == {"__future__", "collections", "json", "os", "random", "sys", "typing"}


def test_log_of_bytes_that_are_no_text_can_be_sent() -> None:
    """A file's name may hold half of a surrogate pair, which no JSON line may."""
    said: list[bytes] = []
    talk = misterx_sdk._Talk(lambda: b"", said.append)
    talk.log("name \udcff")
    (line,) = said
    message = decode_answer(line.removesuffix(b"\n"))
    assert isinstance(message, Log)
    assert message.text == "name \\udcff"
