"""Several schedules as one: every game once, a deal of each in turn, in no memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.tournament.interleaving import Interleaved, Place
from arena.tournament.pairings import RoundRobin

PARTS = st.lists(st.tuples(st.integers(2, 4), st.integers(1, 5)), min_size=1, max_size=4)


@given(PARTS)
def test_every_game_of_every_part_comes_once_deal_by_deal(shapes: list[tuple[int, int]]) -> None:
    parts = [(RoundRobin(range(n), range(n), deals=deals), deals) for n, deals in shapes]
    whole = Interleaved(parts)
    assert whole.count == whole.known(0) == sum(schedule.count for schedule, _ in parts)
    assert whole.pairs == sum(schedule.pairs for schedule, _ in parts)
    places = [whole.place(index) for index in range(whole.count)]
    assert set(places) == {
        Place(part, n) for part, (schedule, _) in enumerate(parts) for n in range(schedule.count)
    }
    order = [(whole.pairing(index).deal, place.part) for index, place in enumerate(places)]
    assert order == sorted(order)
    for index, (part, inner) in enumerate(places):
        assert whole.pairing(index) == parts[part][0].pairing(inner)


@given(PARTS)
def test_games_of_one_part_keep_their_order(shapes: list[tuple[int, int]]) -> None:
    parts = [(RoundRobin(range(n), range(n), deals=deals), deals) for n, deals in shapes]
    whole = Interleaved(parts)
    for part in range(len(parts)):
        inner = [place.within for n in range(whole.count) if (place := whole.place(n)).part == part]
        assert inner == list(range(len(inner)))


def test_a_game_that_there_is_not() -> None:
    whole = Interleaved([(RoundRobin([0, 1], [0, 1], deals=2), 2)])
    for index in (-1, 4):
        with pytest.raises(IndexError, match=f"game {index} of a plan of 4 games"):
            whole.pairing(index)


def test_ten_million_games_are_found_by_reckoning() -> None:
    bots = range(100)
    whole = Interleaved([(RoundRobin(bots, bots, deals=d), d) for d in (1_000, 10)])
    assert whole.count == 9_900 * 1_010
    assert whole.place(whole.count - 1) == Place(0, 9_900_000 - 1)
    assert whole.place(9_900) == Place(1, 0)
    assert whole.place(2 * 9_900 * 10) == Place(0, 9_900 * 10)
