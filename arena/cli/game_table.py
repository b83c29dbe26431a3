"""The games of a run as the table that reports and exports are made from."""

from __future__ import annotations

from collections.abc import Iterator

from arena.cli.stored import Row, rows
from arena.referee.record import FaultKind
from arena.store.database import Database
from arena.store.database import Seat as StoredSeat
from arena.store.runs import Run
from reports.frames import GameRow, Games, Seat

__all__ = ["collect", "table_row"]


def collect(database: Database, run: Run) -> Games:
    """Return all games of a run as they count: benching and void games included."""
    return Games.collect(table_rows(database, run))


def table_rows(database: Database, run: Run) -> Iterator[GameRow]:
    """Yield the rows of the table, in plan order."""
    return map(table_row, rows(database, run))


def table_row(row: Row) -> GameRow:
    """Return a game as the table takes it."""
    stored = row.stored
    return GameRow(
        game=row.game,
        index=row.index,
        deal=str(row.deal),
        mister_x=row.mister_x,
        detectives=row.detectives,
        winner=row.winner,
        reason=row.reason,
        rounds=stored.rounds if stored else None,
        marks=stored.marks if stored else (),
        x=seat(row.mister_x_fault, stored.mister_x if stored else None),
        d=seat(row.detectives_fault, stored.detectives if stored else None),
    )


def seat(fault: FaultKind | None, stored: StoredSeat | None) -> Seat:
    """Return a side's fault as it was judged, and its times as they were played."""
    if stored is None:
        return Seat(fault=fault)
    own = fault is not None and fault == stored.fault  # not one that benching put there
    return Seat(
        fault=fault,
        phase=stored.phase if own else None,
        text=stored.fault_text if own else None,
        start_ms=stored.start_ms,
        charged_ms=stored.charged_ms,
        off_turn_ms=stored.off_turn_ms,
    )
