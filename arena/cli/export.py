"""`arena export`: the games of a run as CSV, JSON lines or Parquet."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import click
import msgspec

from arena.cli import answers
from arena.cli.exits import Exit
from arena.cli.options import PathName, data_option, talking
from arena.cli.record_files import Line, transcript
from arena.cli.stored import (
    check_no_database,
    check_open_to_all,
    chosen,
    find_run,
    open_data,
    ruleset_of_run,
    run_argument,
    spoil_option,
)
from arena.cli.streams import is_unread
from arena.cli.talk import Talk, plural, visible_json
from arena.errors import ConfigError, cannot_write
from arena.store.database import Database
from arena.store.runs import Run
from arena.tournament.plan import Section
from reports.replacing import replace_file

__all__ = ["command"]


@click.command("export")
@run_argument
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    required=True,
    help="A table (csv, parquet), or whole records with what was said (jsonl).",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=PathName(dir_okay=False, path_type=Path),
    help="Where to; left out, stdout.",
)
@ruleset_of_run
@spoil_option
@data_option
@talking
def command(
    talk: Talk,
    run: str | None,
    kind: Literal["csv", "jsonl", "parquet"],
    output: Path | None,
    ruleset: str | None,
    data: Path,
    *,
    spoil: bool,
) -> int:
    """Write the games of a run as CSV, JSON lines or Parquet.

    RUN is the beginning of a run's id; left out, it is the last one. A CSV file can be rated by
    `arena rate`, a file of JSON lines be checked by `arena verify`.
    """
    if output is None and (talk.json or (kind == "parquet" and sys.stdout.isatty())):
        raise click.UsageError("name a file with -o: stdout is taken.")
    with open_data(data) as database:
        found = find_run(database, run)
        check_open_to_all(found, spoil=spoil)
        check_no_database(output, data)
        sections = chosen(found, ruleset)
        if kind != "jsonl" and len(sections) > 1:
            raise ConfigError(
                f"run {found.id} has several rulesets, and who rates a table would pool them: name "
                f"one with --ruleset: {', '.join(section.ruleset for section in sections)}."
            )
        chunks, count = content(database, found, kind, sections)
        try:
            if output is None:
                sys.stdout.flush()
                for chunk in chunks:
                    sys.stdout.buffer.write(chunk)
                    if is_unread():
                        break
                sys.stdout.buffer.flush()
                if is_unread():  # of a part there is no verdict
                    return Exit.UNREAD
            else:
                replace_file(output, chunks, make_folder=False)
        except OSError as error:
            if output is None:
                raise
            raise cannot_write(f"{output}: can't be written", error) from error
    talk.say(f"{plural(count, 'game')} of run {found.id}.")
    talk.answer(
        answers.Exported(
            run=found.id, format=kind, file=None if output is None else str(output), games=count
        )
    )
    name = shlex.quote(str(output)) if output else "FILE"
    if kind == "csv":
        talk.next(f"arena rate {name}")
    elif kind == "jsonl":
        talk.next(f"arena verify {name}")
    else:
        talk.next(f"arena report {found.id}", data=True)
    return Exit.DONE


def content(
    database: Database, run: Run, kind: str, sections: tuple[Section, ...]
) -> tuple[Iterator[bytes], int]:
    """Return what is written, piece by piece, and the number of games in it."""
    if kind == "jsonl":
        count = sum(run.plan.section(game.index) in sections for game in database.stored_games(run))
        return json_lines(database, run, sections), count
    from arena.cli.game_table import collect

    games = collect(database, run, sections[0])
    if kind == "csv":
        return (part.encode() for part in games.csv_parts()), len(games)
    try:
        frame = games.frame.drop(columns=["x_text", "d_text"])  # prose, as in the CSV
        return iter([frame.to_parquet(index=False)]), len(games)
    except ImportError as error:
        raise ConfigError(
            "Parquet needs the extra of that name: pip install 'misterx-arena[parquet]'."
        ) from error


def json_lines(database: Database, run: Run, sections: tuple[Section, ...]) -> Iterator[bytes]:
    """Yield a line for each game that was played, in plan order."""
    for record in database.records(run):
        if run.plan.section(record.core.index) not in sections:
            continue
        line = msgspec.json.encode(Line(record=record, transcript=transcript(record)))
        yield visible_json(line) + b"\n"
