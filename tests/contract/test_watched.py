"""What a ruleset must keep to that tells those who look on more than a game needs."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from arena.rules import registry
from arena.rules.ruleset import Side, Watched
from tests.strategies import Trace, all_texts, hooks, play_out

TEXTS = [
    text
    for name in registry.names()
    for text in all_texts(name)
    if isinstance(registry.make(text), Watched)
]


def trail_of(trace: Trace) -> list[Any]:
    """The states of a game, ply by ply."""
    rules: Any = trace.ruleset
    found = [trace.states[0]]
    rows = zip(trace.states, trace.turns, trace.played, strict=False)
    for state, plies, played in rows:
        between = rules.between(state, plies[: played.counted])
        assert len(between) == max(0, played.counted - 1)
        found += [*between, played.state]
    return found


def test_there_are_such_rulesets() -> None:
    assert TEXTS


@pytest.mark.parametrize("text", TEXTS)
def test_belief_set_of_every_state_depends_on_what_the_detectives_know_alone(text: str) -> None:
    trace = play_out(registry.make(text), 3, 5)
    rules: Any = trace.ruleset
    trail = trail_of(trace)
    sets = rules.beliefs(trail)
    assert len(sets) == len(trail)
    assert all(sets)
    dice = Random(7)
    twins = [hooks(rules).twin(rules, state, Side.DETECTIVES, dice) for state in trail]
    assert rules.beliefs(twins) == sets


@pytest.mark.parametrize("text", TEXTS)
def test_states_between_show_both_sides_only_what_the_turn_does(text: str) -> None:
    """Each view can be had, and no two states on the way look the same to Mister X."""
    trace = play_out(registry.make(text), 1, 2)
    trail = trail_of(trace)
    views = [trace.ruleset.view(state, Side.MISTER_X) for state in trail]
    assert all(one != other for one, other in zip(views[1:], views, strict=False))
