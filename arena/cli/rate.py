"""`arena rate`: ratings of any results, from a CSV file."""

from __future__ import annotations

from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from arena.cli import results_csv
from arena.cli.options import NumberRange, PathName, talking
from arena.cli.ratings_shown import (
    advantage_line,
    bootstrap_table,
    los_table,
    pair_ratings_table,
    pairings_table,
    ratings_table,
    remarks,
    test_line,
)
from arena.cli.talk import Talk, plural
from arena.errors import ConfigError

if TYPE_CHECKING:
    from reports.played import Played
    from reports.results import Results

__all__ = ["command"]


@click.command("rate")
@click.argument("results", metavar="RESULTS.csv", type=PathName(dir_okay=False, path_type=Path))
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
    type=NumberRange(0.0, 1e6),
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
@click.option("--pairs", is_flag=True, help="Also every two bots by their game pairs.")
@click.option(
    "--bootstrap",
    "draws",
    metavar="DRAWS",
    type=click.IntRange(2, 100_000),
    help="Also errors by drawing deals anew, so often; 1000 are enough.",
)
@talking
def command(
    talk: Talk,
    results: Path,
    model: Literal["a", "b"],
    prior: float,
    anchors: tuple[str, ...],
    *,
    pairs: bool,
    draws: int | None,
) -> None:
    """Rate any results: Elo with intervals.

    RESULTS.csv has the columns deal, mister_x, detectives and winner (a side, or empty if nobody
    won); games on one deal share its luck, an empty deal is shared with none. Where it also has a
    column reason, games whose reason is `fault` count, and ratings without them stand beside.
    """
    # Statistics take a third of a second to load: only the command itself waits for them.
    from reports.ratings import Settings
    from reports.results import results as work_out
    from reports.standings import parse_anchor

    read = results_csv.read(results)
    if not read.escaped:
        raise ConfigError(f"{results}: no game in it has a winner, so there is nothing to rate.")
    made = work_out(
        played_of(read),
        Settings(prior=prior, anchors=tuple(map(parse_anchor, anchors))),
        model=model,
        clean=played_of(read, forfeits=False) if any(read.forfeit) else None,
        draws=draws or 0,
    )
    show(talk, made, pairs=pairs)
    rated = plural(len(read.escaped), "game")
    nobody = f"; {plural(read.nobody, 'game')} without a winner left out" if read.nobody else ""
    faults = (
        f"; {made.forfeits:,} of them decided by a fault (clean: without those)"
        if made.forfeits
        else ""
    )
    talk.say(f"{rated} rated{faults}{nobody}.")
    talk.answer(made)
    talk.next("arena run", "its report has ratings too")


def played_of(read: results_csv.Results, *, forfeits: bool = True) -> Played:
    """Return the games as arrays; without `forfeits` only those that no fault decided."""
    from reports.played import gather

    kept = [forfeits or not fault for fault in read.forfeit]
    return gather(
        list(compress(read.mister_x, kept)),
        list(compress(read.detectives, kept)),
        list(compress(read.escaped, kept)),
        list(compress(read.deals, kept)),
    )


def show(talk: Talk, made: Results, *, pairs: bool) -> None:
    """Print all tables, and what must be known beside them."""
    tables = [ratings_table(made, made.without_faults), los_table(made, talk.width)]
    if pairs and made.pairings is not None:
        tables.append(pairings_table(made))
        if len(made.bots) > 2:
            tables.append(pair_ratings_table(made))
    if made.bootstrap is not None:
        tables.append(bootstrap_table(made.bootstrap))
    for number, one in enumerate(tables):
        if number:
            talk.result("")
        talk.result(one)
    lines = [line for line in (advantage_line(made), test_line(made)) if line is not None]
    if lines:
        talk.result("\n" + "\n".join(lines))
    for line in remarks(made, talk.width):
        talk.warn(line)
    if pairs and made.pairings is None:
        talk.warn("there are too many bots to show every two of them by their pairs")
    if made.without_faults is not None and not made.without_faults.bots:
        talk.warn("a fault decided every game, so nothing is left without them")
