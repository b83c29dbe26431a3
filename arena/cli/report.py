"""`arena report`: the report of a run, written again."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli import answers
from arena.cli.options import data_option, talking
from arena.cli.stored import check_open_to_all, find_run, open_data, run_argument, spoil_option
from arena.cli.talk import Talk

__all__ = ["command"]


@click.command("report")
@run_argument
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to; left out, reports/RUN in the data folder.",
)
@spoil_option
@data_option
@talking
def command(talk: Talk, run: str | None, output: Path | None, data: Path, *, spoil: bool) -> None:
    """Write the report of a run again.

    RUN is the beginning of a run's id; left out, it is the last one.
    """
    from arena.cli.ending import ending_of, tell_games
    from reports.site.folder import FILES, write

    with open_data(data) as database:
        found = find_run(database, run)
        check_open_to_all(found, spoil=spoil)
        ending = ending_of(database, found)
    folder = output or data / "reports" / found.id
    page = write(report=ending.report, games=ending.table, folder=folder)
    tell_games(talk, ending)
    talk.result(f"\nReport: {page}")
    talk.answer(answers.Reported(run=found.id, report=str(folder), files=(page.name, *FILES)))
    talk.next("open it in a browser")
