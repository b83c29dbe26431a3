"""Charged times of a seat: what is kept, and its percentiles."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from arena.referee.record import TurnTime
from arena.tournament.times import charged_ms, summary


def turn_times(values: list[float]) -> list[TurnTime]:
    return [TurnTime(play=n, charged_ms=value, bank_ms=None) for n, value in enumerate(values)]


@given(st.lists(st.floats(0, 4e6), max_size=60))
def test_every_answer_is_kept_to_the_microsecond(values: list[float]) -> None:
    times = summary(turn_times(values))
    assert times.answers == len(values)
    for kept, value in zip(charged_ms(times.charged_us), values, strict=True):
        assert abs(kept - value) <= 0.000501
    assert math.isclose(times.total_ms, sum(charged_ms(times.charged_us)), abs_tol=1e-6)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=60))
def test_percentiles_are_values_that_enough_answers_do_not_exceed(values: list[int]) -> None:
    times = summary(turn_times([value / 1000 for value in values]))
    for percent, told in ((50, times.p50_ms), (95, times.p95_ms), (100, times.max_ms)):
        assert told is not None
        us = round(told * 1000)
        assert us in values
        assert sum(value <= us for value in values) * 100 >= percent * len(values)
        assert sum(value < us for value in values) * 100 < percent * len(values)


def test_no_answer_has_no_percentiles() -> None:
    times = summary([])
    assert (times.answers, times.total_ms, times.charged_us) == (0, 0, b"")
    assert times.p50_ms is times.p95_ms is times.max_ms is None


def test_times_out_of_range_are_told_as_the_nearest() -> None:
    assert charged_ms(summary(turn_times([-1.0, 1e9])).charged_us) == [0.0, 4294967.295]


def test_what_no_clock_can_tell_is_kept_as_the_nearest_that_can_be_kept() -> None:
    times = summary(turn_times([1.0, -3.0, 5e6]))
    assert charged_ms(times.charged_us) == [1.0, 0.0, (2**32 - 1) / 1000]
    assert times.max_ms == (2**32 - 1) / 1000
