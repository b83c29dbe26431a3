"""Time budgets, pure: what a turn may take, what it was charged, whether the flag fell.

A turn may take `move_ms` free and then draws on the bank; `increment_ms` is added to the bank when
the turn is complete (Fischer's clock: `move_ms = 0`). A turn that is sent in parts runs on over
them. All values are milliseconds; an infinite limit is a game without a clock.
"""

from __future__ import annotations

from math import inf

import msgspec

from protocol.messages import ClockSettings

__all__ = ["Clock", "charge", "in_ms", "start"]


class Clock(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One side's budget between two answers."""

    bank_ms: float  # at the beginning of the turn
    spent_ms: float  # in earlier parts of this turn
    limit_ms: float  # what the next answer may take
    left_ms: int | None  # whole milliseconds left in the bank now; None without a clock


def start(settings: ClockSettings | None, *, wall_ms: float = inf) -> Clock:
    """Return the budget that a side begins a game with.

    Args:
        settings: the game's clock; None for a game on nodes or without any clock.
        wall_ms: what a turn may take where no clock is kept: the wall stop of a game on nodes.
    """
    if settings is None:
        return Clock(bank_ms=0.0, spent_ms=0.0, limit_ms=wall_ms, left_ms=None)
    return _clock(settings, float(settings.bank_ms), 0.0)


def charge(
    settings: ClockSettings | None,
    clock: Clock,
    spent_ms: float,
    *,
    more: bool,
    wall_ms: float = inf,
) -> Clock | None:
    """Charge an answer to the budget.

    Args:
        settings: the game's clock; None for a game on nodes or without any clock.
        clock: the side's budget before the answer.
        spent_ms: from the last byte of the request to the newline of the answer.
        more: whether the turn goes on: then nothing is added yet.
        wall_ms: as in `start`.

    Returns:
        The budget after it; None if the flag fell. Exactly the limit is still in time.
    """
    if spent_ms > clock.limit_ms:
        return None
    spent = clock.spent_ms + spent_ms
    if settings is None:
        spent = spent if more else 0.0
        return Clock(bank_ms=0.0, spent_ms=spent, limit_ms=wall_ms - spent, left_ms=None)
    if more:
        return _clock(settings, clock.bank_ms, spent)
    over = spent - settings.move_ms
    if over <= 0 and not settings.increment_ms and not clock.spent_ms:
        return clock  # nothing was drawn and nothing is added: most answers end here
    return _clock(settings, clock.bank_ms - max(0.0, over) + settings.increment_ms, 0.0)


def in_ms(seconds: float) -> float:
    """Return seconds as milliseconds, to the whole microsecond: so times stand in records."""
    return round(seconds * 1e6) / 1000  # a `round` to three places takes five times as long


def _clock(settings: ClockSettings, bank_ms: float, spent_ms: float) -> Clock:
    free = settings.move_ms - spent_ms
    return Clock(
        bank_ms=bank_ms,
        spent_ms=spent_ms,
        limit_ms=bank_ms + free,
        left_ms=int(bank_ms if free >= 0 else max(0.0, bank_ms + free)),
    )
