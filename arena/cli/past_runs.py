"""Ratings of the runs before one, for the history of its report."""

from __future__ import annotations

from arena.cli.stored import judged_in
from arena.store.database import Database
from arena.store.runs import Run
from arena.tournament.plan import Section
from reports.played import gather
from reports.ratings import Settings
from reports.report import Meta, PastRun, past_run
from reports.standings import standings

__all__ = ["past_runs"]

MAX_RUNS = 30
MAX_GAMES = 300_000  # read for the history; older runs are left out


def past_runs(database: Database, run: Run, ruleset: str) -> list[PastRun]:
    """Return the ratings of earlier runs of a ruleset that are over, the oldest first.

    Args:
        database: where they are stored.
        run: before which.
        ruleset: its text; of runs with several only its games are rated.
    """
    earlier = [
        (other, section)
        for other in database.runs()
        for section in other.plan.sections
        if other.state == "over"
        and other.plan.rated
        and section.ruleset == ruleset
        and (other.created, other.key) < (run.created, run.key)
    ]
    earlier.sort(key=lambda found: (found[0].created, found[0].key), reverse=True)
    found: list[PastRun] = []
    games = 0
    for other, section in earlier[:MAX_RUNS]:
        games += other.plan.count_of(section)
        if games > MAX_GAMES:
            break
        found.append(rated(database, other, section))
    return found[::-1]


def rated(database: Database, run: Run, section: Section) -> PastRun:
    """Return a run's ratings in one ruleset."""
    names = [bot.name for bot in run.plan.entrants]
    counted = [
        game
        for game in judged_in(database, run, section)
        if game.counts and game.winner is not None
    ]
    played = gather(
        [names[game.mister_x] for game in counted],
        [names[game.detectives] for game in counted],
        [game.winner == "mister_x" for game in counted],
        [str(game.deal) for game in counted],
    )
    return past_run(standings(played, Settings()), Meta(run=run.id, created=run.created))
