"""Check a record's other half against its core: times against the clock, texts against faults."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from arena.errors import RecordError
from arena.referee import clock as clocks
from arena.referee.faults import Caught, describe
from arena.referee.record import Aside, Core, SeatAside, SideWord
from arena.referee.recording import VOID

__all__ = ["check_aside"]

_ROUNDING_MS = 0.001  # charged times are written with three digits
_SIDES: tuple[SideWord, ...] = ("mister_x", "detectives")


def check_aside(core: Core, aside: Aside, goes_on: Sequence[bool]) -> None:
    """Check what the two halves of a record both know.

    Args:
        core: the one half.
        aside: the other.
        goes_on: for each play, whether the same turn went on after it.

    Raises:
        RecordError: if a charge or a bank is not what the clock makes of it, if a play has no
            time, or if only one half tells of a fault or of a void game.
    """
    if (aside.void is None) is (core.reason == VOID):
        raise RecordError("only one half of the record says that the game is void")
    for side in _SIDES:
        seat = aside.mister_x if side == "mister_x" else aside.detectives
        limit_ms = _check_times(core, seat, side, goes_on)
        if core.reason != VOID:
            _check_fault(core, seat, side, limit_ms)


def _check_times(core: Core, seat: SeatAside, side: SideWord, goes_on: Sequence[bool]) -> float:
    """Run the side's clock again over what it was charged; returns the limit of a next answer."""
    plays = [index for index, play in enumerate(core.plays) if play.side == side]
    if plays != [time.play for time in seat.times]:
        raise RecordError(f"the times of {side} are not those of its plays")
    settings = None if core.nodes is not None else core.clock
    clock = clocks.start(settings)
    for time in seat.times:
        limit_ms = clock.limit_ms
        if not 0 <= time.charged_ms <= limit_ms + _ROUNDING_MS:
            raise RecordError(
                f"play {time.play}: charged {time.charged_ms:,} ms, and the limit is "
                f"{limit_ms:,.0f} ms"
            )
        charged_ms = min(time.charged_ms, limit_ms)
        # Within the limit the flag never falls.
        clock = clocks.charge(settings, clock, charged_ms, more=goes_on[time.play]) or clock
        if time.bank_ms != clock.left_ms:
            raise RecordError(
                f"play {time.play}: the bank is recorded as {time.bank_ms} ms, and the clock "
                f"makes it {clock.left_ms} ms"
            )
    return clock.limit_ms


def _check_fault(core: Core, seat: SeatAside, side: SideWord, limit_ms: float) -> None:
    """See that texts and time tell of the fault that the core has, or of none."""
    faults = [fault for fault in core.faults if fault.side == side]
    if not faults:
        told_of = (seat.fault_text, seat.hint, seat.evidence, seat.fault_ms)
        if any(one is not None for one in told_of):
            raise RecordError(f"a fault of {side} is told, and the verdict knows of none")
        return
    [fault] = faults
    caught = Caught(side=side, kind=fault.kind, phase=fault.phase, text="", hint="")
    bot = (core.mister_x if side == "mister_x" else core.detectives).name
    told = describe(caught, bot=bot, game=core.game, play=len(core.plays))
    if seat.fault_text is None or not seat.fault_text.startswith(told):
        raise RecordError(f"the fault of {side} is told otherwise than “{told}…”")
    if seat.fault_ms is None:  # off turn, or an older record
        return
    least_ms = limit_ms if fault.kind == "timeout" and isfinite(limit_ms) else 0.0
    if fault.phase != "turn" or seat.fault_ms < least_ms - _ROUNDING_MS:
        raise RecordError(
            f"the fault of {side} is charged {seat.fault_ms:,} ms, and as a {fault.kind} in the "
            f"phase {fault.phase} it can't be"
        )
