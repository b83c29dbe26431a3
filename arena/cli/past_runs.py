"""Ratings of the runs before one, for the history of its report."""

from __future__ import annotations

from arena.store.database import Database
from arena.store.runs import Run
from reports.played import gather
from reports.ratings import Settings
from reports.report import Meta, PastRun, past_run
from reports.standings import standings

__all__ = ["past_runs"]

MAX_RUNS = 30
MAX_GAMES = 300_000  # read for the history; older runs are left out


def past_runs(database: Database, run: Run) -> list[PastRun]:
    """Return the ratings of earlier runs of the same ruleset that are over, the oldest first."""
    earlier = [
        other
        for other in database.runs()
        if other.state == "over"
        and other.plan.rated
        and other.plan.ruleset == run.plan.ruleset
        and (other.created, other.key) < (run.created, run.key)
    ]
    earlier.sort(key=lambda other: (other.created, other.key), reverse=True)
    found: list[PastRun] = []
    games = 0
    for other in earlier[:MAX_RUNS]:
        games += other.plan.count
        if games > MAX_GAMES:
            break
        found.append(rated(database, other))
    return found[::-1]


def rated(database: Database, run: Run) -> PastRun:
    """Return a run's ratings."""
    names = [bot.name for bot in run.plan.entrants]
    counted = [game for game in database.judged(run) if game.counts and game.winner is not None]
    played = gather(
        [names[game.mister_x] for game in counted],
        [names[game.detectives] for game in counted],
        [game.winner == "mister_x" for game in counted],
        [str(game.deal) for game in counted],
    )
    return past_run(standings(played, Settings()), Meta(run=run.id, created=run.created))
