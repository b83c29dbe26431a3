"""Which games get a replay: every kind of fault, then what is telling of each pairing."""

from __future__ import annotations

import random
from typing import Any

import pytest

from reports.choosing import ALL_UP_TO, CHOSEN, Wanted, choose, closest_lost
from reports.frames import GameLine, Games
from tests.reports.rows import small_run


def line(index: int, **changed: Any) -> GameLine:
    told: dict[str, Any] = {
        "game": f"{index:04}",
        "index": index,
        "deal": "0",
        "mister_x": "a",
        "detectives": "b",
        "winner": "detectives",
        "reason": "captured",
        "rounds": 10,
        "specials": 3,
        "mister_x_fault": "",
        "detectives_fault": "",
        "mister_x_phase": "",
        "detectives_phase": "",
        "marks": "",
        "excluded": "",
    }
    return GameLine(**(told | changed))


def test_up_to_a_thousand_games_have_a_replay_each_and_of_more_three_hundred() -> None:
    lines = [line(k, mister_x=f"x{k % 7}", rounds=k % 24) for k in range(ALL_UP_TO + 1)]
    assert choose(lines[:-1]) == [one.game for one in lines[:-1]]
    assert len(choose(lines)) == CHOSEN == 300
    assert len(choose(lines, "all")) == ALL_UP_TO + 1
    assert choose(lines, "none") == []
    assert choose(lines, 0) == []


def test_void_and_benched_games_have_none() -> None:
    lines = [
        line(0, winner="", reason="void"),
        line(1, reason="fault", mister_x_fault="benched"),
        line(2),
    ]
    assert choose(lines) == ["0002"]


def test_every_kind_of_fault_comes_before_all_else() -> None:
    lines = [
        *(line(k) for k in range(10)),
        line(10, reason="fault", mister_x_fault="crash", mister_x_phase="turn"),
        line(11, reason="fault", mister_x_fault="crash", mister_x_phase="turn"),
        line(12, reason="fault", mister_x_fault="crash", mister_x_phase="start-up"),
        line(13, reason="fault", detectives_fault="timeout", detectives_phase="turn"),
    ]
    assert choose(lines, 3) == ["0010", "0012", "0013"]
    assert choose(lines, "faults") == ["0010", "0011", "0012", "0013"]


def test_each_pairing_has_its_closest_shortest_and_longest_game() -> None:
    lines = [
        line(0, rounds=9),
        line(1, rounds=3),
        line(2, rounds=23),
        line(3, rounds=24, winner="mister_x", reason="last round"),
        line(4, rounds=8),
        line(5, mister_x="b", detectives="a", rounds=6),
    ]
    # The closest is the latest capture; the shortest and the longest are as they are.
    assert choose(lines, 4) == ["0001", "0002", "0003", "0005"]
    assert choose(lines, 2) == ["0002", "0005"]


def test_lost_games_are_the_closest_of_each_bot_and_side_without_forfeits() -> None:
    lines = [
        line(0, rounds=20),
        line(1, rounds=22),
        line(2, winner="mister_x", reason="last round", specials=1),
        line(3, winner="mister_x", reason="last round", specials=7),
        line(4, reason="fault", rounds=24, mister_x_fault="crash", mister_x_phase="turn"),
    ]
    found = closest_lost(lines, 1)
    assert {key: [one.game for one in games] for key, games in found.items()} == {
        ("a", "mister_x"): ["0001"],
        ("b", "detectives"): ["0003"],
    }
    assert choose(lines, "losses") == ["0000", "0001", "0002", "0003"]


@pytest.mark.parametrize("wanted", [None, "all", "faults", "losses", "none", 7, 40, 100_000])
def test_the_choice_goes_by_the_games_and_not_by_their_order(wanted: Wanted) -> None:
    rows = small_run()
    shuffled = list(rows)
    random.Random(2).shuffle(shuffled)
    one = choose(Games.collect(rows).lines(), wanted)
    assert one == choose(Games.collect(shuffled).lines(), wanted)
    assert len(set(one)) == len(one)
    if isinstance(wanted, int):
        assert len(one) == min(wanted, 143)
