"""The belief set of Europe against every path that fits what the team was told, one by one.

On small boards with few tickets, made at random, all options mixed: there Mister X is often stuck,
pieces are shut in, and a detective can be placed on his start. What the team is told is read from
its events alone; the SDK's set and that of the rules have to be exactly what the paths leave.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
from misterx_europe import TRANSPORTS, Escape, Hunt

from arena.rules.europe import Europe
from arena.rules.europe.board import MISTER_X_HAND, SMALLEST_TEAM, Board
from arena.rules.europe.presets import Bound, options_of
from arena.rules.europe.ruleset import make_on
from arena.rules.ruleset import Side
from tests.bots.in_process import Table, plain
from tests.rules.europe.test_second import small_board
from tests.strategies_of_europe import turn as random_turn

GAMES = 250
MOST_PATHS = 4000  # a game with more is left

Path = tuple[int, ...]


class TooMany(Exception):
    """There are too many paths to list."""


class Paths:
    """All ways that Mister X can have gone by what the team was told.

    Attributes:
        all: each way, the start first; before the start is noted every start that is free.
    """

    def __init__(self, board: dict[str, Any], numbers: dict[str, Any], view: Any) -> None:
        self.numbers = numbers
        cities = [city["id"] for city in board["cities"]]
        self.near: dict[str, dict[int, set[int]]] = {
            way: {
                city: {sum(pair) - city for pair in board["links"][way] if city in pair}
                for city in cities
            }
            for way in TRANSPORTS
        }
        self.around = {
            city: set[int]().union(*[self.near[way][city] for way in TRANSPORTS]) for city in cities
        }
        self.colour: str | None = view["colour"]
        self.team = {one["figure"]: one["city"] for one in view["figures"]}
        self.told: set[int] = set()  # entries
        self.entered: set[int] = set()
        self.team_was_on = self.begun = self.moving = False
        self.all = self._starts()

    def _starts(self) -> set[Path]:
        missions = self.numbers["missions"]
        colours = missions if self.colour is None else [self.colour]
        starts = {city for colour in colours for city in missions[colour]["starts"]}
        return {(city,) for city in starts.difference(self.team.values())}

    def keep(self, fits: Callable[[Path], object]) -> None:
        self.all = {path for path in self.all if fits(path)}

    def asked(self) -> None:
        """Mister X is asked for a turn: the round before is over, and he can move."""
        self._check()
        team = set(self.team.values())
        self.keep(lambda path: self.around[path[-1]] - team)

    def _check(self) -> None:
        if not self.team_was_on:
            return
        team = set(self.team.values())
        entered = self.entered & team if self.numbers["passed"] == "ignored" else self.entered
        n = len(next(iter(self.all))) - 1
        first = 0 if self.numbers["start_in_window"] else 1
        for entry in range(max(first, n + 1 - self.numbers["window"]), n + 1):
            if entry not in self.told:
                self.all = {path for path in self.all if path[entry] not in entered}
        self.keep(lambda path: path[-1] not in team)
        self.entered, self.team_was_on = set(), False

    def happened(self, event: dict[str, Any]) -> None:
        """Take in what the team is told."""
        kind, was_moving = event["event"], self.moving
        his = "x" in (event.get("figure"), event.get("player"))
        self.moving = kind in ("pay", "move") and his
        if kind == "mission":
            self.colour = event["colour"]
            self.all = self._starts()
        elif kind == "start":
            self.all, self.begun = self._starts(), True
        elif kind == "place":
            self.team = {f"d{at}": city for at, city in enumerate(event["cities"], 1)}
        elif kind == "stuck":
            self._check()
            self._stuck(event["tickets"])
        elif kind == "lay":
            self._step(self.around, event["to"])
        elif his and kind in ("pay", "move"):
            if not was_moving:
                self.asked()
            if kind == "move":
                self._step(self.near[event["ticket"].partition("-")[0]], event["to"])
        elif kind == "sit_out":
            self.team_was_on = True
        elif kind in ("move", "special"):
            self.team_was_on = True
            self.team[event["figure"]] = event["to"]
            self.entered.add(event["to"])
            if self.numbers["capture"] == "immediate":
                self.keep(lambda path: path[-1] != event["to"])
        elif kind in ("investigate", "declare", "open"):
            self.told.add(event["entry"])
            self.keep(lambda path: path[event["entry"]] == event["city"])

    def _step(self, near: dict[int, set[int]], to: int | None) -> None:
        shut = {*self.team.values(), *self.numbers["missions"][self.colour]["targets"]}
        self.all = {(*path, end) for path in self.all for end in near[path[-1]] - shut}
        if to is not None:
            self.keep(lambda path: path[-1] == to)
            self.told.add(len(next(iter(self.all))) - 1)
        if len(self.all) > MOST_PATHS:
            raise TooMany

    def _stuck(self, tickets: int) -> None:
        """None of his tickets fits: of the transports that lead nowhere there are that many."""
        supply = dict.fromkeys(TRANSPORTS, 0)
        for ticket, count in self.numbers["tickets"].items():
            supply[ticket.partition("-")[0]] += count
        team = set(self.team.values())
        self.keep(
            lambda path: (
                not tickets
                or sum(supply[way] for way in TRANSPORTS if not self.near[way][path[-1]] - team)
                >= tickets
            )
        )


def small_game(dice: Random, **fixed: str) -> Europe:
    """A small board with few tickets, some of them with hardly any, and any options but these."""
    content = small_board(dice)
    if dice.random() < 0.5:
        for one in content["tickets"]:
            one["count"] = dice.choice((0, 0, 1, 2, 3, 7))
        missing = MISTER_X_HAND + SMALLEST_TEAM - sum(one["count"] for one in content["tickets"])
        content["tickets"][0]["count"] += max(0, missing)
    board = msgspec.convert(content, Board)
    options = {one.name: dice.choice(one.values) for one in options_of(board)}
    return make_on(Bound(board), {**options, **fixed})


class Compared:
    """A random game, many turns in parts, with the belief set of each side that is asked.

    Attributes:
        count: how often the sets were the same.
    """

    def __init__(self, number: int) -> None:
        self.dice = Random(number)
        self.rules = small_game(self.dice)
        self.table = Table(self.rules, number, None)
        self.trail = [self.table.state]
        view = plain(self.rules.view(self.table.state, Side.DETECTIVES))
        self.paths = Paths(plain(self.rules.board), plain(self.rules.numbers), view)
        self.count = 0

    def play(self) -> None:
        while (side := self.rules.to_move(self.table.state)) is not None:
            self._compare(side)
            self._play(side)

    def _compare(self, side: Side) -> None:
        state = self.table.state
        asked = self.table.turn(side)
        if side is Side.MISTER_X and self.paths.begun and state.stage == "move":
            self.paths.asked()
        belief = (Escape(asked) if side is Side.MISTER_X else Hunt(asked)).belief
        now = {path[-1] for path in self.paths.all}
        assert belief.now == now
        assert self.rules.beliefs(self.trail)[-1] == now
        if state.path:
            assert state.path in self.paths.all
            assert belief.sets == [{*cities} for cities in zip(*self.paths.all, strict=True)]
        self.count += 1

    def _play(self, side: Side) -> None:
        state = self.table.state
        plies = random_turn(self.rules, state, self.dice)
        more = len(plies) > 1 and self.dice.random() < 0.5
        if more:
            plies = plies[: self.dice.randint(1, len(plies))]
        played = self.rules.play(state, plies, more=more)
        self.trail += [*self.rules.between(state, plies[: played.counted]), played.state]
        self.table.play(side, plain(plies), more=more)
        for event in played.events:
            if event.seen_by is not Side.MISTER_X and played.state.ended is None:
                self.paths.happened(plain(event.what))


def test_belief_set_is_what_every_path_that_fits_leaves() -> None:
    compared = given_up = stuck = 0
    for number in range(GAMES):
        game = Compared(number)
        try:
            game.play()
        except TooMany:
            given_up += 1
        compared += game.count
        stuck += game.table.state.tally.stuck
    assert compared > 5 * GAMES
    assert stuck > GAMES
    assert given_up < GAMES // 20
