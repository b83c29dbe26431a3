"""Tables as CSV texts; no cell is taken for a formula, and names come back whole; pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from reports.names import guarded
from reports.report import Report
from reports.standings import Standing, Standings

__all__ = ["csv_text", "matrix_csv", "ratings_csv"]


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Lines of cells."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def ratings_csv(made: Standings) -> str:
    """`ratings.csv`: the standings, a line a bot; an empty cell is a number that can't be told."""
    fields = Standing.__struct_fields__
    lines = ([_cell(getattr(bot, field)) for field in fields] for bot in made.bots)
    return csv_text([fields, *lines])


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return guarded(value)
    return "" if value is None else value


def matrix_csv(report: Report) -> str:
    """`matrix.csv`: a line for each Mister X bot against each detectives bot that met."""
    made = report.matrix
    lines = (
        (guarded(x), guarded(d), cell.games, cell.wins, cell.rate, cell.low, cell.high)
        for x, row in zip(made.mister_x, made.cells, strict=True)
        for d, cell in zip(made.detectives, row, strict=True)
        if cell.games
    )
    head = ("mister_x", "detectives", "games", "mister_x_wins", "rate", "low", "high")
    return csv_text([head, *lines])
