"""`arena games`: the games of a run, or those that match."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

import click

from arena.cli import answers
from arena.cli.options import Word, data_option, talking
from arena.cli.stored import (
    Row,
    check_open_to_all,
    chosen,
    find_run,
    open_data,
    rows,
    ruleset_of_run,
    run_argument,
    spoil_option,
)
from arena.cli.talk import Talk, plural, table
from arena.referee.record import FaultKind
from arena.store.runs import Run

__all__ = ["command"]

WINNER_WORDS = ("mister_x", "detectives", "nobody")
WINNERS = {"mister_x": "Mister X", "detectives": "detectives", None: "nobody"}


@click.command("games")
@run_argument
@click.option("--bot", metavar="NAME", type=Word(), help="Only games of this bot, on either side.")
@click.option(
    "--winner", metavar="WHO", type=Word(), help="Only games won by this bot, a side, or `nobody`."
)
@click.option(
    "--reason",
    metavar="WORD",
    type=Word(),
    help="Only games that ended so: `captured`, `fault`, `timeout`, …",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1), help="At most the first N that match."
)
@ruleset_of_run
@spoil_option
@data_option
@talking
def command(
    talk: Talk,
    run: str | None,
    bot: str | None,
    winner: str | None,
    reason: str | None,
    limit: int | None,
    ruleset: str | None,
    data: Path,
    *,
    spoil: bool,
) -> None:
    """List the games of a run, or those that match.

    RUN is the beginning of a run's id; left out, it is the last one.
    """
    with open_data(data) as database:
        found = find_run(database, run)
        check_open_to_all(found, spoil=spoil)
        check_name(found, bot)
        check_name(found, winner, others=WINNER_WORDS)
        sections = chosen(found, ruleset)
        plan = found.plan
        seen: set[str] = set()
        matching = (
            row
            for row in noting(rows(database, found), seen)
            if matches(row, bot, winner, reason) and plan.section(row.index) in sections
        )
        games = tuple(shown(row, plan.section(row.index).ruleset) for row in first(matching, limit))
        several = len(plan.sections) > 1
    talk.result(
        table(
            (
                "game",
                "#no.",
                *(("ruleset",) if several else ()),
                "#deal",
                "Mister X",
                "detectives",
                "winner",
                "reason",
                "#rounds",
                "marks",
            ),
            (
                (
                    game.game[:10],
                    game.index,
                    *((game.ruleset,) if several else ()),
                    game.deal,
                    game.mister_x,
                    game.detectives,
                    WINNERS[game.winner],
                    f"{game.reason} ({game.fault})" if game.fault else game.reason,
                    game.rounds,
                    marks_of(game),
                )
                for game in games
            ),
        )
    )
    if reason is not None and reason not in seen:
        ends = ", ".join(sorted(seen)) or "nothing yet"
        talk.warn(f"no game of this run ended with {reason!r}; there are {ends}")
    talk.say(f"{plural(len(games), 'game')} of run {found.id} ({found.plan.count:,} planned).")
    talk.answer(answers.Games(run=found.id, total=found.plan.count, games=games))
    talk.next(f"arena verify {found.id}", "are they right?", data=True)


def first(found: Iterator[Row], limit: int | None) -> Iterator[Row]:
    """Pass on at most so many rows, however large the number is."""
    return islice(found, limit if limit is None else min(limit, sys.maxsize))


def noting(found: Iterator[Row], seen: set[str]) -> Iterator[Row]:
    """Pass rows on, and note the words by which they ended."""
    for row in found:
        seen.update(word for word in (row.reason, *faults_of(row)) if word is not None)
        yield row


def faults_of(row: Row) -> tuple[FaultKind | None, FaultKind | None]:
    """Return the faults of both sides."""
    return row.mister_x_fault, row.detectives_fault


def check_name(run: Run, bot: str | None, *, others: tuple[str, ...] = ()) -> None:
    """Refuse the name of a bot that is not in the run, with the nearest.

    Args:
        run: where to look.
        bot: the name; None is always right.
        others: words that may stand for a bot here.
    """
    names = [*(entrant.name for entrant in run.plan.entrants), *others]
    if bot is None or bot in names:
        return
    near = get_close_matches(bot, names, n=1)
    meant = f"did you mean {near[0]}?" if near else f"it has {', '.join(names)}."
    raise click.UsageError(f"run {run.id} has no bot {bot}; {meant}")


def matches(row: Row, bot: str | None, winner: str | None, reason: str | None) -> bool:
    """Whether a game is asked for."""
    if bot is not None and bot not in (row.mister_x, row.detectives):
        return False
    if reason is not None and reason not in (row.reason, *faults_of(row)):
        return False
    if winner is None:
        return True
    if row.winner is None:
        return winner == "nobody"
    return winner in (row.winner, row.mister_x if row.winner == "mister_x" else row.detectives)


def marks_of(game: answers.Game) -> str:
    """Return a game's marks; with the time that was given back where that is one of them."""
    told = {"overloaded": f"overloaded ({game.given_back_ms:,.0f} ms)"}
    shows = told if game.given_back_ms else {}
    return ", ".join(shows.get(mark, mark) for mark in game.marks)


def shown(row: Row, ruleset: str) -> answers.Game:
    """Return a game as it is listed."""
    stored = row.stored
    sides = (stored.mister_x, stored.detectives) if stored else ()
    return answers.Game(
        game=row.game,
        index=row.index,
        ruleset=ruleset,
        deal=row.deal,
        mister_x=row.mister_x,
        detectives=row.detectives,
        winner=row.winner,
        reason=row.reason,
        fault=row.mister_x_fault or row.detectives_fault,
        rounds=stored.rounds if stored else 0,
        marks=stored.marks if stored else (),
        given_back_ms=round(sum(side.given_back_ms or 0.0 for side in sides), 3),
    )
