"""What a bot uses while it is not asked: pure arithmetic over looks that are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.sandbox.pondering import CAUGHT_AT_S, CAUGHT_AT_SHARE, OffTurn


def watched(*looks: tuple[float, float, float | None], allowed: bool = False) -> OffTurn:
    """Looks as (when, CPU time, since when it is idle)."""
    off_turn = OffTurn(allowed=allowed)
    for look in looks:
        off_turn.look(*look)
    return off_turn


def test_time_between_two_looks_at_an_idle_bot_counts() -> None:
    off_turn = watched((1.0, 5.0, 0.9), (1.1, 5.05, 0.9), (1.2, 5.06, 0.9))
    assert off_turn.used_s == pytest.approx(0.06)
    assert off_turn.watched_s == pytest.approx(0.2)
    assert off_turn.use() == (off_turn.used_s, False)


@pytest.mark.parametrize(
    "looks",
    [
        [(1.0, 5.0, None), (1.1, 5.1, None)],
        [(1.0, 5.0, None), (1.1, 5.1, 1.05)],
        [(1.0, 5.0, 0.9), (1.1, 5.1, None)],
        [(1.0, 5.0, 0.9), (1.1, 5.1, 1.05)],  # asked and answered in between
        [(1.0, 5.0, 0.9)],
    ],
    ids=["asked", "answered", "asked again", "a whole turn", "first look"],
)
def test_time_in_which_it_was_asked_does_not(
    looks: list[tuple[float, float, float | None]],
) -> None:
    assert watched(*looks).use() == (0.0, False)


def test_who_uses_more_than_both_bounds_is_caught() -> None:
    slow = [(t * 1.0, t * CAUGHT_AT_SHARE * 0.9, 0.0) for t in range(100)]
    assert not watched(*slow).is_caught  # much, but over a long time
    quick = [(t * 0.1, min(t * 0.1, CAUGHT_AT_S * 0.9), 0.0) for t in range(100)]
    assert not watched(*quick).is_caught  # at once, but little
    assert watched((0.0, 0.0, 0.0), (0.3, 0.3, 0.0)).is_caught


def test_who_was_caught_stays_so() -> None:
    off_turn = watched((0.0, 0.0, 0.0), (0.3, 0.3, 0.0), *((t, 0.3, 0.0) for t in range(1, 60)))
    assert off_turn.used_s < CAUGHT_AT_SHARE * off_turn.watched_s
    assert off_turn.is_caught


def test_who_may_ponder_is_measured_and_never_caught() -> None:
    assert watched((0.0, 0.0, 0.0), (9.0, 9.0, 0.0), allowed=True).use() == (9.0, False)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 4), st.booleans()), min_size=1, max_size=20)
)
def test_never_more_counts_than_was_used(steps: list[tuple[float, float, bool]]) -> None:
    off_turn, now, cpu_s = OffTurn(), 0.0, 0.0
    for after_s, used_s, is_idle in steps:
        now, cpu_s = now + after_s, cpu_s + used_s
        off_turn.look(now, cpu_s, 0.0 if is_idle else None)
    assert 0.0 <= off_turn.used_s <= cpu_s + 1e-9
    assert 0.0 <= off_turn.watched_s <= now + 1e-9
