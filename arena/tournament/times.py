"""What a bot was charged in a game: a compact text of every answer, and the usual percentiles."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import msgspec

from arena.referee.record import TurnTime

__all__ = ["Times", "charged_ms", "summary"]

_MOST_US = 2**32 - 1  # 71 minutes; longer answers are told as that


class Times(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Charged times of one seat in one game; percentiles are None if there was no answer."""

    answers: int
    total_ms: float
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None
    charged_us: bytes  # each answer in order, 32-bit little-endian microseconds


def summary(times: Sequence[TurnTime]) -> Times:
    """Return the charged times of a seat in compact form.

    Percentiles are nearest-rank: the smallest value that at least that share does not exceed.
    """
    charged = [round(time.charged_ms * 1000) for time in times]
    ranked = sorted(charged)
    if ranked and not 0 <= ranked[0] <= ranked[-1] <= _MOST_US:  # hardly ever
        charged = [min(max(us, 0), _MOST_US) for us in charged]
        ranked = sorted(charged)
    return Times(
        answers=len(charged),
        total_ms=sum(charged) / 1000,
        p50_ms=_percentile(ranked, 50),
        p95_ms=_percentile(ranked, 95),
        max_ms=_percentile(ranked, 100),
        charged_us=struct.pack(f"<{len(charged)}I", *charged),
    )


def charged_ms(charged_us: bytes) -> list[float]:
    """Return every answer's charged time in milliseconds, in order."""
    return [us / 1000 for us in struct.unpack(f"<{len(charged_us) // 4}I", charged_us)]


def _percentile(ranked: Sequence[int], percent: int) -> float | None:
    if not ranked:
        return None
    return ranked[math.ceil(len(ranked) * percent / 100) - 1] / 1000
