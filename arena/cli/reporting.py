"""The report folder of a run."""

from __future__ import annotations

from pathlib import Path

from arena.cli.ending import Ending
from arena.errors import ConfigError
from arena.store.runs import Run

__all__ = ["write_report"]


def write_report(run: Run, ending: Ending, folder: Path) -> Path:
    """Write a run's report into a folder, over what was there; return the folder.

    Raises:
        ConfigError: if the folder can't be written.
    """
    from reports import site

    try:
        folder.mkdir(parents=True, exist_ok=True)
        site.write(ending.report, ending.table, folder)
    except OSError as error:
        raise ConfigError(
            f"{folder}: the report of run {run.id} can't be written ({error.strerror})."
        ) from error
    return folder
