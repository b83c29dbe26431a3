"""`arena report`: the report of a run, written again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from arena.cli import answers
from arena.cli.options import PathName, data_option, talking
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
from arena.cli.talk import Talk
from arena.errors import ConfigError
from arena.tournament.paths import is_file, is_folder

if TYPE_CHECKING:
    from reports.choosing import Wanted

__all__ = ["command"]

WORDS: tuple[Literal["none", "faults", "losses", "all"], ...] = ("none", "faults", "losses", "all")


class ReplaysType(click.ParamType["Wanted"]):
    """Which games get a replay: a word, or how many."""

    name = "replays"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Wanted:
        """Return the word or the number."""
        for word in WORDS:
            if value == word:
                return word
        text = str(value)
        if text.isascii() and text.isdecimal() and len(text) <= 9:
            return int(text)
        raise click.BadParameter(
            f"{text!r} is none of {', '.join(WORDS)}, and no number of games from 0.", ctx, param
        )


@click.command("report")
@run_argument
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=PathName(path_type=Path),
    help="Where to; left out, reports/RUN in the data folder. A file with --single.",
)
@click.option("--single", is_flag=True, help="One page with everything but replays.")
@click.option(
    "--replays",
    type=ReplaysType(),
    metavar="WHICH",
    help="Games that get one: none, faults, losses, all or a number. Left out, all of up to 1,000,"
    " else 300: every kind of fault, then the closest, shortest, longest of each pairing.",
)
@ruleset_of_run
@spoil_option
@data_option
@talking
def command(
    talk: Talk,
    run: str | None,
    output: Path | None,
    ruleset: str | None,
    data: Path,
    *,
    single: bool,
    replays: Wanted,
    spoil: bool,
) -> None:
    """Write the report of a run again.

    A folder with a page for each bot and each pairing, the games, their replays, and the same
    numbers as files; it opens from disk. RUN is the beginning of a run's id; left out, it is the
    last one.
    """
    if single and replays not in (None, "none"):
        raise click.UsageError(
            "--single holds no replays: leave --replays out, or --single for a folder with them."
        )
    with open_data(data) as database:
        found = find_run(database, run)
        check_open_to_all(found, spoil=spoil)
        check_no_database(output, data)
        target = output or data / "reports" / (f"{found.id}.html" if single else found.id)
        if single and is_folder(target):
            raise ConfigError(f"{target} is a folder: --single writes a file, name one with -o.")
        if not single and is_file(target):
            raise ConfigError(f"{target} is a file: name a folder with -o, or add --single.")
        sections = chosen(found, ruleset)
        if single and len(sections) > 1:
            raise ConfigError(
                f"run {found.id} has several rulesets, which are not pooled on one page: name one "
                f"with --ruleset: {', '.join(section.ruleset for section in sections)}."
            )
        from arena.cli.ending import Endings, ending_of, tell_games, tell_written, write_report
        from reports.site import write_single

        endings = Endings(each=tuple(ending_of(database, found, each) for each in sections))
        if single:
            (ending,) = endings.each
            written = write_single(ending.report, ending.table, target, make_folder=output is None)
        else:
            written = write_report(database, found, endings, target, replays=replays)
    tell_games(talk, endings)
    tell_written(talk, written)
    talk.answer(answers.Reported(run=found.id, report=str(target), files=written.files))
    talk.next("open it in a browser")
