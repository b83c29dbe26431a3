"""Faults and time use as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.cli.talk import plural, table

if TYPE_CHECKING:
    from rich.table import Table

    from reports.report import FaultCount, TimeUse

__all__ = ["MOST_ROWS", "faults_table", "left_out", "times_table"]

MOST_ROWS = 20  # of a table on the terminal; the report has them all
SIDES = {"mister_x": "Mister X", "detectives": "detectives"}


def faults_table(faults: Sequence[FaultCount]) -> Table:
    """Return faults by bot, kind and phase, with the first game of each to look at."""
    return table(
        ("faults of", "kind", "phase", "#games", "first game", "#of its games"),
        (
            (
                fault.bot,
                fault.kind,
                fault.phase or "·",
                f"{fault.games:,}",
                fault.first_game[:10],
                f"{100 * fault.share:.1f} %",
            )
            for fault in faults[:MOST_ROWS]
        ),
    )


def times_table(times: Sequence[TimeUse]) -> Table:
    """Return the charged times of answers by bot and side, in milliseconds."""
    return table(
        (
            "ms an answer",
            "side",
            "#median",
            "#95 %",
            "#longest",
            "#answers",
            "#too late",
            "#start-up",
            "#off turn",
        ),
        (
            (
                row.bot,
                SIDES.get(row.side, row.side),
                in_ms(row.p50_ms),
                in_ms(row.p95_ms),
                in_ms(row.max_ms),
                f"{row.answers:,}",
                f"{row.time_losses:,}",
                in_ms(row.start_p50_ms),
                in_ms(row.off_turn_mean_ms),
            )
            for row in times[:MOST_ROWS]
        ),
    )


def left_out(count: int) -> str | None:
    """Return the line below a table that has no room for all of its rows."""
    if count <= MOST_ROWS:
        return None
    return f"… and {plural(count - MOST_ROWS, 'line')} more in the report"


def in_ms(value: float | None) -> str:
    """Return a time with about three digits."""
    if value is None:
        return "·"
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"
