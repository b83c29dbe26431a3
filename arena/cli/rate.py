"""`arena rate`: ratings of any results, from a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from arena.cli import results_csv
from arena.cli.options import talking
from arena.cli.ratings_shown import los_table, ratings_table, remarks
from arena.cli.talk import Talk, plural
from arena.errors import ConfigError

__all__ = ["command"]


@click.command("rate")
@click.argument("results", metavar="RESULTS.csv", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--model",
    type=click.Choice(["a", "b"]),
    default="a",
    show_default=True,
    help="One strength a bot, or one on each side.",
)
@click.option(
    "--prior",
    metavar="NU",
    type=click.FloatRange(0.0, 1e6),
    default=1.0,
    show_default=True,
    help="Virtual games of each bot in each role, half of them won; 0 is plain likelihood.",
)
@click.option(
    "--anchor",
    "anchors",
    metavar="NAME=ELO",
    multiple=True,
    help="A bot whose rating is known; NAME=ELO~SD if only nearly. Can be given again.",
)
@talking
def command(
    talk: Talk,
    results: Path,
    model: Literal["a", "b"],
    prior: float,
    anchors: tuple[str, ...],
) -> None:
    """Rate any results: Elo with intervals.

    RESULTS.csv has the columns deal, mister_x, detectives and winner (a side, or empty if nobody
    won); games on one deal share its luck, an empty deal is shared with none.
    """
    # Statistics take a third of a second to load: only the command itself waits for them.
    from reports.played import gather
    from reports.ratings import Settings
    from reports.standings import parse_anchor, standings

    read = results_csv.read(results)
    if not read.escaped:
        raise ConfigError(f"{results}: no game in it has a winner, so there is nothing to rate.")
    played = gather(read.mister_x, read.detectives, read.escaped, read.deals)
    settings = Settings(prior=prior, anchors=tuple(map(parse_anchor, anchors)))
    made = standings(played, settings, model=model)
    talk.result(ratings_table(made))
    talk.result("")
    talk.result(los_table(made, talk.width))
    for line in remarks(made, talk.width):
        talk.warn(line)
    rated = plural(len(read.escaped), "game")
    nobody = f"; {plural(read.nobody, 'game')} without a winner left out" if read.nobody else ""
    talk.say(f"{rated} rated{nobody}.")
    talk.answer(made)
    talk.next("arena run", "its report has ratings too")
