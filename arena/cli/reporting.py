"""The report folder of a run."""

from __future__ import annotations

from pathlib import Path

from arena.cli.ending import Ending
from arena.store.database import Database
from arena.store.runs import Run

__all__ = ["write_report"]


def write_report(database: Database, run: Run, ending: Ending, data: Path) -> Path | None:
    """Write a run's report; return its folder."""
    return None
