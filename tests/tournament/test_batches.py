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


@given(st.integers(1, 1_024), st.integers(1, 300))
def test_shares_add_up_to_the_jobs(jobs: int, machines: int) -> None:
    shares = [share(jobs, 3, place=place, machines=machines) for place in range(machines)]
    assert sum(shares) == jobs
    assert max(shares) - min(shares) <= 1
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(("threads", "games"), [(1, 1), (16, 16), (0, 1)])
def test_without_jobs_a_machine_plays_a_game_a_thread(threads: int, games: int) -> None:
    assert share(None, threads, place=7, machines=9) == games
