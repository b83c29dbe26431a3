"""What stored games of the same rules tell: how often Mister X wins, and how often pairs split."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import msgspec

from arena.cli.stored import DATABASE, judged_in, open_data
from arena.store.database import Database
from arena.store.runs import Run
from arena.tournament.paths import kind_of
from arena.tournament.plan import Section

__all__ = ["Seen", "seen"]

FEW_PAIRS = 20  # below this nothing is read off them
MOST_GAMES = 100_000  # the first of a run: more tell no more, and take long to read


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Complete game pairs of one run, those that no fault decided.

    `mister_x_rate` and `deal_sd` are of equal bots: the strengths of the run's bots are taken off.
    """

    run: str
    pairs: int
    mister_x_rate: float  # how often Mister X wins, 0.05 to 0.95
    split_rate: float  # share of the pairs that the two bots split
    deal_sd: float  # by how much deals differ, in logits


def seen(data: Path, ruleset: str) -> Seen | None:
    """Return what the last run of these rules tells that has pairs enough; None without one.

    Args:
        data: the data folder; it need not exist.
        ruleset: the rules as a plan has them, options included.
    """
    if kind_of(data / DATABASE) is None:
        return None
    with open_data(data) as database:
        for run in database.runs():
            for section in run.plan.sections if run.plan.rated and run.plan.pairs else ():
                told = seen_in(database, run, section) if section.ruleset == ruleset else None
                if told is not None:
                    return told
    return None


def seen_in(database: Database, run: Run, section: Section) -> Seen | None:
    """Return what one run tells; None with too few pairs, or where they can't tell the sides."""
    # Statistics take a third of a second to load: only the command itself waits for them.
    from scipy.special import expit

    from reports.logistic import ELO
    from reports.pairs import pair_up
    from reports.played import gather
    from reports.power import deal_sd_seen
    from reports.ratings import Settings, rate_bots
    from reports.results import pairings

    names = [bot.name for bot in run.plan.entrants]
    games = [
        game
        for game in islice(judged_in(database, run, section), MOST_GAMES)
        if game.winner is not None and game.reason != "fault"
    ]
    played = gather(
        [names[game.mister_x] for game in games],
        [names[game.detectives] for game in games],
        [game.winner == "mister_x" for game in games],
        [str(game.deal) for game in games],
    )
    pairs = pair_up(played)
    rated = rate_bots(played, Settings())
    if len(pairs) < FEW_PAIRS or len(rated.parts) != 1:
        return None
    (part,) = rated.parts
    if part.sides != "compared" or part.role_bounded:
        return None
    elo = dict(zip(rated.bots, (part.strength * ELO).tolist(), strict=True))
    met = pairings(pairs, list(rated.bots))
    split = sum(one.split for one in met)
    rate = min(max(float(expit(part.role)), 0.05), 0.95)
    return Seen(
        run=run.id,
        pairs=len(pairs),
        mister_x_rate=rate,
        split_rate=split / len(pairs),
        deal_sd=deal_sd_seen(
            rate,
            [elo[one.one] - elo[one.other] for one in met],
            [one.pairs for one in met],
            split,
        ),
    )
