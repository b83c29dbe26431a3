"""Writes a report: a folder of pages with the same numbers as files, or one page with all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from arena.errors import cannot_write
from arena.referee.record import GameRecord
from reports import charts
from reports.choosing import Wanted, choose
from reports.csv_texts import matrix_csv, ratings_csv
from reports.frames import Games
from reports.names import shortened
from reports.replacing import replace_file
from reports.report import Report
from reports.site.bot_page import bot_lead, bot_parts
from reports.site.drawing import draw
from reports.site.games.table import write as games_files
from reports.site.index import index_lead, index_parts
from reports.site.manifest import FolderWriter
from reports.site.markdown import markdown
from reports.site.markup import LONGEST_NAME, name, text
from reports.site.page import page
from reports.site.pairing_page import pairing_parts
from reports.site.places import Places, bot_slug
from reports.site.single import single_page
from reports.site.summary import Summary

__all__ = ["FILES", "Written", "write", "write_single"]

FILES = (
    "ratings.csv",
    "matrix.csv",
    "games.csv",
    "report.json",
    "report.md",
    "ratings.svg",
    "win-rates.svg",
)


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What was written.

    Attributes:
        page: the first page, `index.html`.
        files: paths in the folder, the first page at the beginning.
        replays: how many games have one.
        bytes: of all files together.
        notes: sentences on what is missing.
    """

    page: Path
    files: tuple[str, ...]
    replays: int
    bytes: int
    notes: list[str]


def write(
    report: Report,
    games: Games,
    folder: Path,
    *,
    record: Callable[[str], GameRecord] | None = None,
    replays: Wanted = None,
    above: str = "",
) -> Written:
    """Write a report into a folder, which is made where it is missing.

    Each file is replaced as a whole: a reader never sees half of one. Files of an earlier report
    that this one has no more are removed; other files stay.

    Args:
        report: what to write.
        games: the games that it was built from.
        folder: where.
        record: gives the record of a game, for its replay; without it there are none.
        replays: which games get one; see `reports.choosing.choose`.
        above: title of the page one folder up that leads here, if there is one.

    Raises:
        StoreError: if the disk is full.
        ConfigError: if the folder can't be written to, or a record is damaged.
    """
    with FolderWriter(folder) as writer:
        replays_made, notes = _write_pages(writer, report, games, record, replays, above)
    files = ("index.html", *(file for file in writer.files if file != "index.html"))
    return Written(
        page=folder / "index.html",
        files=files,
        replays=replays_made,
        bytes=writer.bytes,
        notes=notes,
    )


def _write_pages(
    writer: FolderWriter,
    report: Report,
    games: Games,
    record: Callable[[str], GameRecord] | None,
    replays: Wanted,
    above: str,
) -> tuple[int, list[str]]:
    """Write every file; return how many replays there are, and sentences on what is missing."""
    told = Summary.of(report, games.lines())
    paths: dict[str, str] = {}
    notes: list[str] = []
    if record is not None:
        paths, notes = draw(choose(told.lines, replays), record, writer)
    here = Places(bots=frozenset(told.names), pairings=told.paired_pages, replays=paths)
    for file, parts in data_files(report, games):
        writer.write_parts(file, parts)
    for file, content in games_files(games, paths):
        writer.write(file, content)
    below = msgspec.structs.replace(here, up="../")
    title = report.meta.title
    more = [("All games", below.games())]
    called = {bot: shortened(bot, LONGEST_NAME) for bot in told.names}
    for bot in told.names:
        made = page(
            f"{called[bot]} – {title}",  # noqa: RUF001 - a dash
            bot_parts(bot, told, below),
            heading=name(bot),
            lead=bot_lead(bot, told),
            path=((title, below.index()), ("Bots", below.index("pages"))),
            here=called[bot],
            more=more,
        )
        writer.write(f"bots/{bot_slug(bot)}.html", made)
    for slug in told.pairs if told.paired_pages else ():
        one, other = told.pairs[slug]
        made = page(
            f"{called[one]} – {called[other]} – {title}",  # noqa: RUF001 - dashes
            pairing_parts(slug, told, below),
            heading=f"{name(one)} against {name(other)}",
            path=((title, below.index()), ("Pairings", below.index("pages"))),
            here=f"{called[one]} – {called[other]}",  # noqa: RUF001 - a dash
            more=more,
        )
        writer.write(f"pairings/{slug}.html", made)
    beside = ", ".join(f'<a href="{text(file)}">{text(file)}</a>' for file in FILES)
    writer.write(
        "index.html",
        page(
            title,
            index_parts(told, here),
            lead=index_lead(report, notes),
            path=((above, "../index.html"),) if above else (),
            here=report.meta.ruleset or title,
            more=[("All games", here.games())],
            foot=f"<p>The same numbers as files: {beside}.</p>",
        ),
    )
    return len(paths), notes


def data_files(report: Report, games: Games) -> Iterator[tuple[str, Iterable[str]]]:
    """The report as files for programs: name, parts of the text."""
    yield "ratings.csv", [ratings_csv(report.ratings)]
    yield "matrix.csv", [matrix_csv(report)]
    yield "games.csv", games.csv_parts()
    encoded = msgspec.json.format(msgspec.json.encode(report), indent=1).decode()
    yield "report.json", [encoded, "\n"]
    yield "report.md", [markdown(report)]
    yield "ratings.svg", [charts.rating_plot(report.ratings)]
    yield "win-rates.svg", [charts.heat_map(report.matrix)]


def write_single(report: Report, games: Games, file: Path, *, make_folder: bool = True) -> Written:
    """Write a report as one page that holds everything but replays.

    Args:
        report: what to write.
        games: the games that it was built from.
        file: where.
        make_folder: whether the file's folder is made where it is missing.

    Raises:
        StoreError: if the disk is full.
        ConfigError: if the file can't be written.
    """
    data = {name: "".join(parts) for name, parts in data_files(report, games)}
    content = single_page(report, games, data).encode()
    try:
        replace_file(file, [content], make_folder=make_folder)
    except OSError as exc:
        raise cannot_write(f"{file}: can't be written", exc) from exc
    return Written(page=file, files=(file.name,), replays=0, bytes=len(content), notes=[])
