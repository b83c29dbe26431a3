"""Time budgets, pure: what a turn may take, what it was charged, whether the flag fell.

A turn may take `move_ms` free and then draws on the bank; `increment_ms` is added to the bank when
the turn is complete (Fischer's clock: `move_ms = 0`). A turn that is sent in parts runs on over
them. All values are milliseconds; an infinite limit is a game without a clock.
"""

from __future__ import annotations

from math import inf

import msgspec

from protocol.messages import ClockSettings

__all__ = ["Clock", "charge", "left_ms", "limit_ms", "start"]


class Clock(msgspec.Struct, frozen=True, gc=False):
    """One side's budget between two answers."""

    bank_ms: float  # at the beginning of the turn
    spent_ms: float = 0.0  # in earlier parts of this turn


def start(settings: ClockSettings) -> Clock:
    """Return the budget that a side begins a game with."""
    return Clock(float(settings.bank_ms))


def limit_ms(settings: ClockSettings | None, clock: Clock, *, wall_ms: float = inf) -> float:
    """Return what the next answer may take.

    Args:
        settings: the game's clock; None for a game on nodes or without any clock.
        clock: the side's budget.
        wall_ms: what a turn may take where no clock is kept: the wall stop of a game on nodes.
    """
    if settings is None:
        return wall_ms - clock.spent_ms
    return settings.move_ms + clock.bank_ms - clock.spent_ms


def left_ms(settings: ClockSettings | None, clock: Clock) -> int | None:
    """Return what is left in the bank now, in whole milliseconds; None without a clock."""
    if settings is None:
        return None
    over = clock.spent_ms - settings.move_ms
    return int(clock.bank_ms - over if over > 0 else clock.bank_ms)


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
        wall_ms: as in `limit_ms`.

    Returns:
        The budget after it; None if the flag fell. Exactly the limit is still in time.
    """
    spent = clock.spent_ms + spent_ms
    if settings is None:
        if spent > wall_ms:
            return None
        return Clock(0.0, spent) if more else Clock(0.0)
    over = spent - settings.move_ms
    if over > clock.bank_ms:
        return None
    if more:
        return Clock(clock.bank_ms, spent)
    bank = clock.bank_ms - over if over > 0 else clock.bank_ms
    return Clock(bank + settings.increment_ms)
