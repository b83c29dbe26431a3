"""A game as cells of the table: texts, numbers, and what its charged times come to; pure."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from reports.game_rows import SIDES, GameRow

__all__ = ["COLUMNS", "NUMBERS", "TEXTS", "Charged", "number", "numbers_of", "summary", "texts_of"]

RULES = {
    "void": "void: our own fault, or stopped by hand",
    "benched": "both bots were benched",
    "fault": "both bots failed",
    "none": "nobody won",
}


class Charged(msgspec.Struct, frozen=True):
    """All charged times of a bot on one side: how many, and nearest-rank percentiles in ms."""

    answers: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None
    max_ms: float | None = None


_SEAT = (
    "fault",
    "phase",
    "start_ms",
    "answers",
    "p50_ms",
    "p95_ms",
    "max_ms",
    "off_turn_ms",
    "bank_ms",
    "given_back_ms",
)
COLUMNS = (
    "game",
    "index",
    "deal",
    "mister_x",
    "detectives",
    "winner",
    "reason",
    "excluded",
    "rounds",
    "marks",
    "words",
    "x_start",
    "x_specials",
    *(f"{side}_{name}" for side in SIDES for name in _SEAT),
)
TEXTS = (
    "game",
    "deal",
    "mister_x",
    "detectives",
    "winner",
    "reason",
    "excluded",
    "marks",
    "words",
    *(f"{side}_{name}" for side in SIDES for name in _SEAT[:2]),
    "x_text",
    "d_text",
)
NUMBERS = (
    "index",
    "rounds",
    "x_start",
    "x_specials",
    *(f"{side}_{name}" for side in SIDES for name in _SEAT[2:]),
)


def texts_of(row: GameRow) -> tuple[str, ...]:
    """The row's texts behind its id, in the order of `TEXTS`; a missing one is empty."""
    x, d = row.x, row.d
    return (
        row.deal,
        row.mister_x,
        row.detectives,
        row.winner or "",
        row.reason,
        "" if row.winner else _rule(row),
        " ".join(row.marks),
        " ".join(row.words),
        x.fault or "",
        x.phase or "",
        d.fault or "",
        d.phase or "",
        x.text or "",
        d.text or "",
    )


def numbers_of(row: GameRow) -> tuple[float | None, ...]:
    """The row's numbers in the order of `NUMBERS`."""
    x, d = row.x, row.d
    return (
        row.index,
        row.rounds,
        row.start,
        row.specials,
        x.start_ms,
        len(x.charged_ms),
        *_ranks(sorted(x.charged_ms)),
        x.off_turn_ms,
        x.bank_ms,
        x.given_back_ms,
        d.start_ms,
        len(d.charged_ms),
        *_ranks(sorted(d.charged_ms)),
        d.off_turn_ms,
        d.bank_ms,
        d.given_back_ms,
    )


def _rule(row: GameRow) -> str:
    """Why a game counts for nobody."""
    if row.reason == "void":
        return RULES["void"]
    if row.x.fault == row.d.fault == "benched":
        return RULES["benched"]
    return RULES["fault"] if row.x.fault or row.d.fault else RULES["none"]


def _ranks(ranked: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Nearest-rank percentiles: the smallest values that 50, 95 and 100 % do not exceed."""
    if not ranked:
        return None, None, None
    return ranked[_place(len(ranked), 50)], ranked[_place(len(ranked), 95)], ranked[-1]


def _place(count: int, percent: int) -> int:
    return -(-count * percent // 100) - 1


def summary(values: array[float]) -> Charged:
    """What all of a bot's charged times on a side come to; they are put into another order."""
    count = len(values)
    places = (_place(count, 50), _place(count, 95), count - 1)
    ranked = np.frombuffer(values)  # no copy: of a million games there are many
    ranked.partition(sorted(set(places)))
    return Charged(count, *(number(ranked[place], 3) for place in places))


def number(value: Any, digits: int) -> float | None:
    """A rounded number, never -0; `None` for what is no finite one."""
    told = float(value)
    return round(told, digits) + 0.0 if math.isfinite(told) else None
