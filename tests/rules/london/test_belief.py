"""The belief set, and the states between plies."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec

from arena.rules.registry import make
from arena.rules.ruleset import Side
from tests.strategies import deal_seed
from tests.watched import taken, watched_game


def test_belief_set_holds_mister_x_and_after_a_capture_him_alone() -> None:
    rules: Any = make("london-2013")
    captures = 0
    for number in range(12):
        trail = watched_game(rules, number)
        sets = rules.beliefs(trail)
        assert len(sets) == len(trail)
        assert all(state.path[-1] in found for state, found in zip(trail, sets, strict=True))
        ended = trail[-1].ended
        if ended is not None and ended.reason == "captured":
            captures += 1
            assert sets[-1] == {trail[-1].path[-1]}
    assert captures > 2


def test_belief_set_does_not_depend_on_where_hidden_mister_x_is() -> None:
    rules: Any = make("london-2013")
    trail = watched_game(rules, 1)[:12]
    assert all(state.ended is None for state in trail)
    moved = [msgspec.structs.replace(state, path=tuple(1 for _ in state.path)) for state in trail]
    assert rules.beliefs(moved) == rules.beliefs(trail)


def test_states_between_plies_differ_by_one_ply_each() -> None:
    rules: Any = make("london-2013")
    doubles = 0
    for number in range(20):
        trail = watched_game(rules, number)
        for before, after in itertools.pairwise(trail):
            stepped = len(after.log) - len(before.log)
            moved = sum(a != b for a, b in zip(taken(before), taken(after), strict=True))
            assert stepped + moved == 1
            assert len(after.path) == len(after.log) + 1
            if stepped and after.to_move is Side.MISTER_X:
                doubles += 1
                assert after.doubles == before.doubles - 1
                assert after.round == before.round
    assert doubles > 5


def test_nothing_lies_between_the_plies_of_a_turn_with_one_or_none() -> None:
    rules: Any = make("london-2013")
    state = rules.deal(deal_seed(0), 0)
    first = rules.legal(state)[:1]
    assert rules.between(state, first) == ()
    assert rules.between(rules.play(state, first, more=False).state, ()) == ()
