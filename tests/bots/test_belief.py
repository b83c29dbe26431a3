"""The belief set against the truth, and against a set found in another way."""

from __future__ import annotations

from typing import Any

import pytest
from misterx_sdk import Belief, Board, Turn, after

from arena.rules.registry import make
from arena.rules.ruleset import Side
from tests.bots.in_process import load_bot, plain, play_game

RULESETS = (
    "london-2013",
    "london-2013:players=2",
    "london-2013:players=4",
    "london-classic",
    "london-coursework",
)
LONDON = Board(plain(make("london-2013").board))


class Paths:
    """Where Mister X may be, by brute force: all states (station) of every path, kept backwards.

    For each station that is possible now, one asks again from the start whether some path fits
    all that was seen: a search in the other direction, over the raw links.
    """

    def __init__(self, board: dict[str, Any], cards: list[int]) -> None:
        self.links = board["links"]
        self.cards = cards
        self.seen: list[tuple[str, int | None, frozenset[int]]] = []  # ticket, shown, taken then
        self.arrivals: list[frozenset[int]] = []  # where the team stood when that ply was over

    def neighbours(self, at: int, ticket: str) -> set[int]:
        vehicles = self.links if ticket == "black" else (ticket,)
        ends = (pair for vehicle in vehicles for pair in self.links[vehicle] if at in pair)
        return {a if b == at else b for a, b in ends}

    def possible(self, start_taken: frozenset[int]) -> set[int]:
        """Return every station that ends a path, by search backwards from each with memory."""
        fits: dict[tuple[int, int], bool] = {}

        def reached(step: int, at: int) -> bool:
            if step == 0:
                return at in self.cards and at not in start_taken
            key = (step, at)
            if key not in fits:
                ticket, shown, taken = self.seen[step - 1]
                fits[key] = (
                    at not in taken
                    and at not in self.arrivals[step - 1]
                    and shown in (None, at)
                    and any(reached(step - 1, before) for before in self.neighbours(at, ticket))
                )
            return fits[key]

        return {at for at in range(1, 200) if reached(len(self.seen), at)}


@pytest.mark.parametrize("text", RULESETS)
def test_belief_set_holds_the_truth_and_is_exactly_what_brute_force_finds(text: str) -> None:
    rules = make(text)
    bot = load_bot("random")
    board = plain(rules.board)
    cards = plain(rules.numbers)["cards"]["mister_x"]
    sizes: list[int] = []
    for seed in range(8):
        paths = Paths(board, cards)
        start: list[frozenset[int]] = []

        def watch(
            state: Any,
            side: Side,
            turn: Turn,
            paths: Paths = paths,
            start: list[frozenset[int]] = start,
        ) -> None:
            taken = frozenset(turn.stations.values())
            if side is Side.MISTER_X:
                start[:] = start or [taken]
                paths.arrivals[-1:] = [taken] if paths.arrivals else []
            else:
                new = turn.view["log"][len(paths.seen) :]
                for slot in new:
                    paths.seen.append((slot["ticket"], slot["station"], taken))
                    paths.arrivals.append(taken)
            expected = paths.possible(start[0])
            assert turn.belief == expected
            assert state.path[-1] in turn.belief
            sizes.append(len(expected))

        play_game(
            rules, {Side.MISTER_X: bot.mister_x, Side.DETECTIVES: bot.detectives}, seed, watch=watch
        )
    assert max(sizes) > 20  # the games were long enough to say something


def test_belief_set_is_the_same_whenever_it_is_asked_for() -> None:
    """A bot that looks at it once, late, sees what one that looked at it each turn sees."""
    rules = make("london-2013")
    bot = load_bot("random")
    each: list[set[int]] = []
    late: list[set[int]] = []
    for found, every in ((each, 1), (late, 7)):
        asked = 0

        def watch(
            state: Any, side: Side, turn: Turn, found: list[set[int]] = found, every: int = every
        ) -> None:
            nonlocal asked
            del state
            if side is Side.DETECTIVES:
                asked += 1
                if asked % every == 0:
                    found.append(set(turn.belief))

        play_game(
            rules, {Side.MISTER_X: bot.mister_x, Side.DETECTIVES: bot.detectives}, 3, watch=watch
        )
    assert late
    assert late == each[6::7]


def test_double_move_is_followed_step_by_step() -> None:
    """X 104 doubles taxi, bus: 86 and 116, then the bus stops of both."""
    belief = Belief(LONDON, [104], [117])
    belief.ply("taxi", [117])
    assert belief.stations == {86, 116}
    belief.ply("bus", [117])
    assert belief.stations == {52, 87, 102, 116, 86, 108, 127, 142}


def test_black_ticket_takes_ferries_and_every_vehicle() -> None:
    assert after(LONDON, [194], "black", []) == {157, 192, 193, 195}
    assert after(LONDON, [194], "taxi", []) == {192, 193, 195}


def test_reveal_leaves_the_station_shown_alone() -> None:
    belief = Belief(LONDON, [104], [])
    belief.ply("taxi", [], 116)
    assert belief.stations == {116}


def test_taken_stations_are_never_possible() -> None:
    belief = Belief(LONDON, [104, 45], [45])
    assert belief.stations == {104}
    belief.ply("taxi", [86])
    assert belief.stations == {116}
    belief.ply("taxi", [86])
    belief.arrive([104, 118])
    assert belief.stations == {117, 127}
