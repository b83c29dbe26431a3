"""The rules of Europe against a second telling of them (`second.py`), in random games.

After each ply both say the same: what can be done, whether the turn may end, what each side sees,
where each ticket is, what happened, who won. Most games are on small boards with few tickets, made
at random: there the way is often shut, and hands run short.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from arena.errors import IllegalMove
from arena.rules.europe import Europe
from arena.rules.europe.board import MISTER_X_HAND, SMALLEST_TEAM, load_board
from arena.rules.europe.presets import Bound, bind, options_of
from arena.rules.europe.ruleset import make_on
from arena.rules.europe.state import Pay
from arena.rules.ruleset import Event, Played, Side
from tests.rules.europe.second import ACTIONS, TRANSPORTS, Drawn, Game, Ply, TooLong

TOLD = ("declare", "investigate", "capture", "open", "stuck", "shortage", "sit_out")
UNTOLD_HERE = {"stage", "paid"}  # words of the wire that the rule book has not


def plain(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def as_tuple(ply: Any) -> Ply:
    return tuple(plain(ply).values())


def taken_in(events: tuple[Event, ...], draws: list[Drawn], told: list[Any]) -> None:
    """Sort what the rules told into draws and what happened."""
    for event in events:
        what = plain(event.what)
        if what["event"] == "draw" and what["tickets"] is not None:
            draws.append((what["player"], what["tickets"]))
        elif what["event"] in TOLD:
            assert event.seen_by is None
            told.append(tuple(what.values()))


def small_board(dice: Random) -> dict[str, Any]:
    """A sound board of ten to sixteen cities, with few tickets; a tree and some links more."""
    cities = range(1, dice.randint(10, 16) + 1)
    links: dict[str, set[tuple[int, ...]]] = {way: set() for way in TRANSPORTS}
    for city in cities[1:]:
        links[dice.choice(("car", "car", "rail"))].add((dice.choice(cities[: city - 1]), city))
    for way, share in (("car", 2), ("rail", 3), ("air", 4)):
        for _ in range(len(cities) // share):
            links[way].add(tuple(sorted(dice.sample(cities, 2))))
    ends = {way: {city for pair in links[way] for city in pair} for way in TRANSPORTS}
    missions = {}
    for colour in ("red", "blue")[: dice.randint(1, 2)]:
        places = dice.sample(cities, 8)
        missions[colour] = {"starts": places[:6], "targets": places[6 : 6 + dice.randint(1, 2)]}
    rich = dice.choice((*ACTIONS, "none"))  # so that what costs five tickets can be paid
    counts = {
        (way, action): dice.choice((0, 1, 2, 4, 9)) + (8 if action == rich else 0)
        for way in TRANSPORTS
        for action in ACTIONS
    }
    missing = MISTER_X_HAND + SMALLEST_TEAM - sum(counts.values())
    counts["car", ACTIONS[0]] += max(0, missing)  # the smallest table must be dealt
    return {
        "name": "small",
        "format": 1,
        "origin": "made at random",
        "projection": "none",
        "transports": TRANSPORTS,
        "cities": [
            {
                "id": city,
                "name": f"City {city}",
                "lat": None,
                "lon": None,
                "x": city,
                "y": 0,
                "kind": max((w for w in TRANSPORTS if city in ends[w]), key=TRANSPORTS.index),
            }
            for city in cities
        ],
        "links": {way: sorted(pairs) for way, pairs in links.items()},
        "missions": missions,
        "detective_starts": dice.sample(cities, dice.randint(5, 7)),
        "tickets": [
            {"transport": way, "action": action, "count": count}
            for (way, action), count in counts.items()
        ],
    }


class Compared:
    """One random game, played by both."""

    def __init__(self, board: Any, bound: Bound, options: dict[str, Any], dice: Random) -> None:
        self.rules: Europe = make_on(bound, options)
        self.dice = dice
        number, seed = dice.randrange(9), dice.randbytes(32)
        self.state = self.rules.deal(seed, number)
        hands = (self.state.hand, *self.state.hands)
        names = ("x", "p1", "p2", "p3", "p4", "p5")
        dealt: list[Drawn] = [
            (name, list(hand)) for name, hand in zip(names, hands, strict=False) if hand
        ]
        first = make_on(bound, {**options, "setup_order": "detectives-first"}).deal(seed, number)
        cards = [figure.city for figure in first.figures]
        assert len({*cards}) == 5
        assert {*cards} <= {*board["detective_starts"]}
        self.told: list[Any] = []
        self.second = Game(board, options, number, cards, dealt, [])

    def play(self) -> str:
        """Play it to its end; returns the reason."""
        while True:
            self.look()
            if self.second.over is not None:
                return self.second.over[1]
            may_end = self.choose()
            if may_end and self.dice.random() < 0.4:
                played = self.rules.play(self.state, (), more=False)
                taken_in(played.events, self.second.draws, self.told)
                self.second.close()
            else:
                ply, played = self.throw()
                for _ in range(3):  # long games have more in them
                    if self.rules.verdict(played.state) is not None and self.dice.random() < 0.8:
                        ply, played = self.throw()
                taken_in(played.events, self.second.draws, self.told)
                assert played.goes_on == self.second.play(as_tuple(ply))
            self.state = played.state

    def throw(self) -> tuple[Any, Played]:
        """A kind of ply, then one of it, and what comes of it."""
        kinds: dict[type, list[Any]] = {}
        for one in self.rules.legal(self.state):
            kinds.setdefault(type(one), []).append(one)
        kind = self.dice.choice(list(kinds))
        if Pay in kinds and self.dice.random() < 0.5:
            kind = Pay  # what costs most is rare
        ply = self.dice.choice(kinds[kind])
        return ply, self.rules.play(self.state, (ply,), more=True)

    def look(self) -> None:
        """Both see the same, and the same happened."""
        second = self.second
        for side in Side:
            view = plain(self.rules.view(self.state, side))
            assert {key: view[key] for key in view if key not in UNTOLD_HERE} == second.view(side)
        assert second.is_whole()
        assert second.told == self.told
        assert second.draws == []
        verdict = self.rules.verdict(self.state)
        assert second.over == (None if verdict is None else (verdict.winner, verdict.reason))
        assert self.rules.to_move(self.state) == (second.side if second.over is None else None)

    def choose(self) -> bool:
        """Both allow the same; True if the turn may end."""
        legal = [as_tuple(ply) for ply in self.rules.legal(self.state)]
        found, may_end = self.second.next()
        assert len(legal) == len(found)
        assert set(legal) == found
        try:
            self.rules.play(self.state, (), more=False)
        except IllegalMove:
            assert not may_end
        else:
            assert may_end
        return may_end


def compared(seed: int, *, small: bool, folder: Path) -> str | None:
    """Why a game ended; None if its moves were too many to try."""
    dice = Random(seed)
    if small:
        board = small_board(dice)
        file = folder / "small.json"
        file.write_bytes(msgspec.json.encode(board))
        bound = Bound(load_board(file))
    else:
        bound = bind()
        board = plain(bound.board)
    options = {option.name: dice.choice(option.values) for option in options_of(bound.board)}
    if not small and options["players"] != 6:
        options["as_many"] = "maximal"  # all moves of several pieces are too many to try there
    if small and dice.random() < 0.6:
        options |= {"as_many": "most", "players": dice.choice((2, 3, 4))}
    try:
        return Compared(board, bound, options, dice).play()
    except TooLong:
        return None


def test_small_boards_are_played_by_the_same_rules_twice(tmp_path: Path) -> None:
    ends = Counter(compared(seed, small=True, folder=tmp_path) for seed in range(60))
    assert {"captured", "escaped", "encircled"} <= set(ends)
    assert ends[None] < 3


def test_our_board_is_played_by_the_same_rules_twice(tmp_path: Path) -> None:
    ends = Counter(compared(seed, small=False, folder=tmp_path) for seed in range(8))
    assert ends[None] == 0


@pytest.mark.long
def test_thousands_of_games_are_played_by_the_same_rules_twice(tmp_path: Path) -> None:
    ends = Counter(compared(seed, small=True, folder=tmp_path) for seed in range(1000, 3000))
    ends += Counter(compared(seed, small=False, folder=tmp_path) for seed in range(1000, 1200))
    assert {"captured", "escaped", "encircled", "cap"} <= set(ends)
    assert ends[None] < 100
