"""Time budgets: free time, bank, increment, parts of a turn, and the flag."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.referee.clock import charge, in_ms, start
from protocol.messages import ClockSettings


class Case(NamedTuple):
    """Answers in order as (spent, more), and the bank told after each; None is the flag."""

    name: str
    settings: ClockSettings
    answers: tuple[tuple[float, bool], ...]
    banks: tuple[int | None, ...]


CASES = (
    Case("free time is free", ClockSettings(move_ms=100), ((100, False), (100, False)), (0, 0)),
    Case("just over is over", ClockSettings(move_ms=100), ((100.001, False),), (None,)),
    Case("the bank pays the rest", ClockSettings(move_ms=100, bank_ms=50), ((130, False),), (20,)),
    Case(
        "the bank is drawn on until it is empty",
        ClockSettings(move_ms=100, bank_ms=50),
        ((120, False), (130, False), (101, False)),
        (30, 0, None),
    ),
    Case(
        "an increment is added after each turn",
        ClockSettings(move_ms=0, bank_ms=1000, increment_ms=100),
        ((300, False), (50, False)),
        (800, 850),
    ),
    Case(
        "unused free time is not saved",
        ClockSettings(move_ms=100, bank_ms=10, increment_ms=1),
        ((0, False), (111, False), (101, False)),
        (11, 1, 1),
    ),
    Case(
        "a turn runs on over its parts",
        ClockSettings(move_ms=100, bank_ms=50),
        ((60, True), (60, True), (20, False), (110, False)),
        (50, 30, 10, 0),
    ),
    Case(
        "parts bring no increment of their own",
        ClockSettings(move_ms=0, bank_ms=100, increment_ms=7),
        ((10, True), (10, True), (10, False)),
        (90, 80, 77),
    ),
    Case("parts share one limit", ClockSettings(move_ms=100), ((60, True), (41, False)), (0, None)),
)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_charge_goes_by_the_case(case: Case) -> None:
    clock = start(case.settings)
    for (spent, more), bank in zip(case.answers, case.banks, strict=True):
        after = charge(case.settings, clock, spent, more=more)
        assert (None if after is None else after.left_ms) == bank
        if after is not None:
            clock = after


@pytest.mark.parametrize(
    ("seconds", "ms"),
    [
        (0.0, 0.0),
        (0.000_000_4, 0.0),
        (0.000_000_6, 0.001),
        (0.001_234_56, 1.235),
        (50.000_000_9, 50_000.001),
        (86_400.1, 86_400_100.0),
    ],
)
def test_times_are_told_to_the_whole_microsecond(seconds: float, ms: float) -> None:
    assert in_ms(seconds) == ms


def test_game_without_a_clock_has_no_limit() -> None:
    clock = start(None)
    assert clock.limit_ms == inf
    after = charge(None, clock, 1e9, more=False)
    assert after is not None
    assert after.left_ms is None


def test_game_on_nodes_has_a_wall_stop_over_all_parts_of_a_turn() -> None:
    clock = start(None, wall_ms=60_000.0)
    part = charge(None, clock, 40_000.0, more=True, wall_ms=60_000.0)
    assert part is not None
    assert part.limit_ms == 20_000.0
    assert charge(None, part, 20_001.0, more=False, wall_ms=60_000.0) is None
    whole = charge(None, part, 20_000.0, more=False, wall_ms=60_000.0)
    assert whole is not None
    assert whole.limit_ms == 60_000.0


@given(
    st.builds(
        ClockSettings,
        move_ms=st.integers(0, 1000),
        bank_ms=st.integers(0, 1000),
        increment_ms=st.integers(0, 100),
    ),
    st.lists(st.tuples(st.floats(0, 700), st.booleans()), max_size=30),
)
def test_nobody_thinks_longer_than_the_settings_give(
    settings: ClockSettings, answers: list[tuple[float, bool]]
) -> None:
    """All time of a game is at most free time and increments of its turns, and the bank."""
    clock, total, turns = start(settings), 0.0, 1
    for spent, more in answers:
        after = charge(settings, clock, spent, more=more)
        if after is None:
            assert spent > clock.limit_ms
            break
        clock = after
        total += spent
        turns += not more
        assert clock.limit_ms >= 0
        assert clock.left_ms is not None
        assert clock.left_ms >= 0
    given_ms = settings.bank_ms + turns * (settings.move_ms + settings.increment_ms)
    assert total <= given_ms + 1e-6
