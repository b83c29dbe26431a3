"""How many games a machine is given ahead, by their measured length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.tournament.executors.batches import MOST_HELD, Lengths, held, share


@pytest.mark.parametrize(
    ("at_once", "mean_s", "games"),
    [
        (4, None, 4),  # until a length is known, a game for each place
        (1, 0.1, 20),
        (4, 0.1, 80),
        (4, 0.5, 16),
        (4, 60.0, 4),  # long games: none waits behind another
        (1, 1.5, 1),
        (1, 0.0, MOST_HELD),
        (2, 1e-9, MOST_HELD),
        (2_000, 0.001, 2_000),
        (0, 0.1, 0),
        (0, None, 0),
    ],
)
def test_a_machine_has_games_for_two_seconds(
    at_once: int, mean_s: float | None, games: int
) -> None:
    assert held(at_once, mean_s, batch_s=2.0) == games


@given(st.integers(0, 5_000), st.none() | st.floats(0, 1e6), st.floats(0, 100))
def test_what_a_machine_has_is_bounded_and_fills_its_places(
    at_once: int, mean_s: float | None, batch_s: float
) -> None:
    games = held(at_once, mean_s, batch_s=batch_s)
    assert at_once <= games <= max(at_once, MOST_HELD)


def test_lengths_follow_the_newest_games() -> None:
    lengths = Lengths()
    lengths.add([])
    assert vars(lengths) == {"mean_s": None}
    lengths.add([1.0, 3.0])
    assert lengths.mean_s == 2.0
    lengths.add([])
    assert lengths.mean_s == 2.0
    lengths.add([12.0])
    assert lengths.mean_s == pytest.approx(5.0)
    for _ in range(50):
        lengths.add([0.5] * 4)
    assert lengths.mean_s == pytest.approx(0.5, abs=1e-3)


@given(st.integers(1, 1_024), st.lists(st.integers(0, 256), min_size=1, max_size=300))
def test_shares_add_up_to_the_jobs_and_go_by_threads(jobs: int, threads: list[int]) -> None:
    shares = [share(jobs, threads, place=place) for place in range(len(threads))]
    assert sum(shares) == jobs
    all_threads = sum(max(1, some) for some in threads)
    for games, some in zip(shares, threads, strict=True):
        assert abs(games - jobs * max(1, some) / all_threads) < 1


@pytest.mark.parametrize(
    ("jobs", "threads", "shares"),
    [
        (5, [8, 8], [3, 2]),
        (5, [8, 8, 8], [2, 2, 1]),
        (17, [16, 1], [16, 1]),
        (9, [1, 8], [1, 8]),
        (2, [4, 4, 4], [1, 1, 0]),  # more machines than games
        (100, [2, 2], [50, 50]),  # as many as were asked for, whatever threads there are
    ],
)
def test_a_small_machine_is_not_given_what_a_large_one_can_play(
    jobs: int, threads: list[int], shares: list[int]
) -> None:
    assert [share(jobs, threads, place=place) for place in range(len(threads))] == shares


@pytest.mark.parametrize(("threads", "games"), [(1, 1), (16, 16), (0, 1)])
def test_without_jobs_a_machine_plays_a_game_a_thread(threads: int, games: int) -> None:
    assert share(None, [2, threads, 3], place=1) == games
