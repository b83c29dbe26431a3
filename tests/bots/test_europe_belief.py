"""The SDK's belief set of Europe against that of the rules, over whole games, for both sides."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from misterx_europe import Belief, Board, Escape, Hunt
from misterx_sdk import Turn

from arena.rules.europe import Europe
from arena.rules.registry import make
from arena.rules.ruleset import Side
from tests.bots.in_process import Table, plain
from tests.strategies_of_europe import turn as random_turn

TEXTS = (
    "europe-2009",
    "europe-2009:capture=check",
    "europe-2009:capture=check,passed=ignored,players=2",
    "europe-2009:passed=ignored,encircled=loss,players=4,mission=orange",
    "europe-2009:start_in_window=true,as_many=maximal,players=3",
    "europe-2009:setup_order=mister-x-first,mission=balanced,cap=100",
)
OWN = Board(plain(make("europe-2009").board))


class Watched(Table):
    """A table that keeps every state, so that the rules can tell what the team knows."""

    def __init__(self, rules: Europe, seed: int) -> None:
        super().__init__(rules, seed, None)
        self.europe = rules
        self.trail = [self.state]

    def play(self, side: Side, plies: Sequence[dict[str, Any]], *, more: bool) -> bool:
        before = self.state
        goes_on = super().play(side, plies, more=more)
        sent = [misterx_plies(self.europe, ply) for ply in plies]
        counted = self.europe.play(before, sent, more=more).counted
        self.trail += [*self.europe.between(before, sent[:counted]), self.state]
        return goes_on


def misterx_plies(rules: Europe, ply: dict[str, Any]) -> Any:
    import msgspec

    return msgspec.convert(ply, rules.ply_type)


def known(turn: Turn) -> Belief:
    side = Escape(turn) if turn.deal.side == "mister_x" else Hunt(turn)
    return side.belief


@pytest.mark.parametrize("text", TEXTS)
def test_belief_set_is_that_of_the_rules_whenever_a_side_is_asked(text: str) -> None:
    """Random turns, half of them in parts, asked at each part or only now and then."""
    rules: Any = make(text)
    assert isinstance(rules, Europe)
    compared, sizes = 0, []
    for number in range(5):
        dice = Random(number)
        table = Watched(rules, number)
        while (side := rules.to_move(table.state)) is not None:
            asked = table.turn(side)
            if dice.random() < 0.7:
                found = known(asked)
                assert found.now == rules.beliefs(table.trail)[-1], (number, table.state.round)
                assert not table.state.path or table.state.path[-1] in found.now
                compared += 1
                sizes.append(len(found.now))
            plies = plain(random_turn(rules, table.state, dice))
            if dice.random() < 0.5:
                table.play(side, plies, more=False)
            else:
                cut = dice.randint(1, len(plies)) if plies else 0
                goes_on = bool(cut) and table.play(side, plies[:cut], more=True)
                if goes_on or not cut:
                    rest = table.turn(side)
                    if goes_on:
                        assert known(rest).now == rules.beliefs(table.trail)[-1]
                        compared += 1
                    table.play(side, plies[cut:], more=False)
    assert compared > 60
    assert max(sizes) > 30
