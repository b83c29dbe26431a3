"""Writes the report folder: `index.html` and the same numbers as CSV, JSON, Markdown and SVG."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from arena.errors import cannot_write
from reports import charts
from reports.csv_texts import matrix_csv, ratings_csv
from reports.frames import Games
from reports.report import Report
from reports.site.markdown import markdown
from reports.site.page import page

__all__ = ["FILES", "write"]

FILES = (
    "ratings.csv",
    "matrix.csv",
    "games.csv",
    "report.json",
    "report.md",
    "ratings.svg",
    "win-rates.svg",
)


def write(report: Report, games: Games, folder: Path) -> Path:
    """Write a report into a folder, which is made where it is missing.

    Each file is replaced as a whole: a reader never sees half of one.

    Args:
        report: what to write.
        games: the games that it was built from, for `games.csv`.
        folder: where; other files in it stay.

    Returns:
        The page, `index.html` in the folder.

    Raises:
        StoreError: if the disk is full.
        ConfigError: if the folder can't be written to.
    """
    texts = {
        "ratings.csv": ratings_csv(report.ratings),
        "matrix.csv": matrix_csv(report),
        "games.csv": games.csv(),
        "report.json": msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n",
        "report.md": markdown(report),
        "ratings.svg": charts.rating_plot(report.ratings),
        "win-rates.svg": charts.heat_map(report.matrix),
    }
    texts["index.html"] = page(report, files_beside=FILES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            _replace(folder / file, text)
    except OSError as exc:
        raise cannot_write(f"the report can't be written to {folder}", exc) from exc
    return folder / "index.html"


def _replace(path: Path, text: str) -> None:
    """Write beside, then rename."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(text.encode())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
