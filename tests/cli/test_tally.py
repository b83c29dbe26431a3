"""Counting the games of a run while it goes on."""

from __future__ import annotations

import msgspec
import pytest

from arena.cli.tally import Tally, duration
from arena.referee.record import FaultKind, SideWord
from arena.tournament.benching import Judged


def judged(
    x: int,
    d: int,
    winner: SideWord | None,
    fault: tuple[SideWord, FaultKind] | None = None,
    *,
    is_played: bool = True,
) -> Judged:
    """The result of a game of which only this matters."""
    faults = dict([fault] if fault else [])
    return Judged(
        index=0,
        deal=0,
        mister_x=x,
        detectives=d,
        winner=winner,
        reason="fault" if fault else "captured",
        mister_x_fault=faults.get("mister_x"),
        detectives_fault=faults.get("detectives"),
        counts=winner is not None,
        is_played=is_played,
    )


def test_tally_counts_wins_by_side_and_faults_by_kind() -> None:
    tally = Tally(["a", "b"], 4, 0, 0.0)
    tally.add_judged(judged(0, 1, "mister_x"))
    tally.add_judged(judged(1, 0, "mister_x"))
    tally.add_judged(judged(0, 1, "mister_x", ("detectives", "crash")))
    rows = {row.name: msgspec.structs.asdict(row) for row in tally.standings()}
    assert rows["a"] == {
        "name": "a", "games_x": 2, "won_x": 2, "games_d": 1, "won_d": 0, "faults": 0,
    }  # fmt: skip
    assert rows["b"] == {
        "name": "b", "games_x": 1, "won_x": 1, "games_d": 2, "won_d": 0, "faults": 1,
    }  # fmt: skip
    assert dict(tally.faults) == {("b", "crash"): 1}
    assert [row.name for row in tally.standings()] == ["a", "b"]


def test_headline_tells_speed_time_left_faults_and_void_games() -> None:
    tally = Tally(["a", "b"], 40, 0, 0.0)
    assert tally.headline(0.0) == "0 of 40 games"
    for second in range(1, 11):
        tally.add_played(float(second))
    assert tally.headline(10.0) == "10 of 40 games, 1 a second, 0:30 left"
    tally.add_played(11.0)
    tally.add_judged(judged(0, 1, "mister_x", ("detectives", "timeout")))
    tally.add_void()
    assert tally.headline(11.0) == "11 of 40 games, 1 a second, 0:29 left, 1 fault, 1 void"


def test_speed_is_that_of_the_last_half_minute() -> None:
    tally = Tally(["a", "b"], 10_000, 0, 0.0)
    for tenth in range(1, 1001):  # ten a second for 100 s
        tally.add_played(tenth / 10)
    for second in range(101, 141):  # then one a second for 40 s
        tally.add_played(float(second))
    assert tally.rate_per_s(140.0) == pytest.approx(1.0, rel=0.1)


def test_games_of_an_earlier_start_count_but_not_for_the_speed() -> None:
    tally = Tally(["a", "b"], 10, 8, 0.0)
    assert tally.left_s(5.0) is None
    assert tally.headline(5.0) == "8 of 10 games"
    tally.add_played(6.0)
    assert tally.done == 9
    assert tally.left_s(6.0) == pytest.approx(6.0)


def test_forfeits_that_nobody_plays_are_done_all_the_same() -> None:
    tally = Tally(["a", "b"], 4, 0, 0.0)
    for _ in range(3):
        tally.add_judged(judged(0, 1, "mister_x", ("detectives", "benched"), is_played=False))
    tally.add_played(1.0)
    assert tally.done == 4
    assert tally.rows[1].faults == 3


def test_finished_run_has_no_time_left() -> None:
    tally = Tally(["a", "b"], 1, 0, 0.0)
    tally.add_played(1.0)
    assert tally.headline(1.0) == "1 of 1 games, 1 a second"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0:00"), (7, "0:07"), (59.6, "1:00"), (750, "12:30"), (10_800, "3:00:00")],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text
