"""The belief set of the rules against that of the SDK, after every ply."""

from __future__ import annotations

from typing import Any

import pytest
from misterx_sdk import Belief, Board

from arena.rules.london import London
from arena.rules.registry import make
from arena.rules.ruleset import Watched
from tests.bots.in_process import plain
from tests.watched import taken, watched_game

RULESETS = ("london-2013", "london-2013:players=2", "london-classic", "london-coursework")


@pytest.mark.parametrize("text", RULESETS)
def test_belief_set_is_that_of_the_sdk_after_every_ply_and_holds_mister_x(text: str) -> None:
    rules: Any = make(text)
    assert isinstance(rules, London)
    assert isinstance(rules, Watched)
    board = Board(plain(rules.board))
    sizes = []
    for number in range(12):
        trail = watched_game(rules, number)
        sets = rules.beliefs(trail)
        assert len(sets) == len(trail)
        other = Belief(board, rules.numbers.cards.mister_x, taken(trail[0]))
        assert sets[0] == other.stations
        for before, after, found in zip(trail, trail[1:], sets[1:], strict=False):
            assert after.path[-1] in found
            sizes.append(len(found))
            if after.ended is not None and after.ended.reason == "captured":
                assert found == {after.path[-1]}
                continue
            for slot in after.log[len(before.log) :]:
                other.ply(slot.ticket, taken(before), slot.station)
            other.arrive(taken(after))
            assert found == other.stations
    assert max(sizes) > 20
