"""Numbers as they are shown: rounded, never a NaN, an infinity, a negative zero or an error of 0.

Equal games then give equal bytes. What can't be told is `None`.
"""

from __future__ import annotations

import math

__all__ = ["chance", "elo", "error", "ratio"]

SMALLEST_ERROR = 0.01  # Elo points; smaller ones are shown as this


def elo(value: float | None) -> float | None:
    """Elo points to two places."""
    if value is None or not math.isfinite(value):
        return None
    return round(value, 2) + 0.0  # -0.0 + 0.0 is 0.0


def error(value: float | None) -> float | None:
    """A standard error in Elo points, never rounded down to nothing."""
    if value is None or not math.isfinite(value):
        return None
    return max(round(value, 2), SMALLEST_ERROR)


def ratio(value: float) -> float:
    """A log-likelihood ratio or a test statistic, which is finite, to four places."""
    return round(value, 4) + 0.0


def chance(value: float | None) -> float | None:
    """A probability to six digits, however small."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.6g}") + 0.0
