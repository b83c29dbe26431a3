"""A run's games by bot and by pairing, counted once for all pages; pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from arena.referee.record import SideWord
from reports.choosing import closest_lost
from reports.game_rows import SIDES, GameLine
from reports.report import BotShares, End, Report, RoundCount
from reports.results import Pairing
from reports.site.places import pairing_slug
from reports.standings import Standing
from reports.win_rates import Share, share

__all__ = ["MAX_PAIRING_PAGES", "Summary", "ends_of", "rounds_of"]

MAX_PAIRING_PAGES = 1_225  # those of 50 bots


class Summary(msgspec.Struct, kw_only=True):
    """What the pages of bots and pairings are made from.

    Attributes:
        report: of the run.
        lines: all games, in plan order.
        names: every bot that was seated, in the order of the standings.
        of_bot: games by bot.
        of_two: games by the slug of the two bots.
        pairs: both bots of each slug, in the order of the standings.
        pairings: complete game pairs by slug.
        standing, shares: by bot; only of those that have a game with a winner.
        rated: a bot's place in the standings, from 0.
        lost: a bot's closest lost games by side.
        met: how often the one bot as Mister X escaped from the other; only of games with a winner.
    """

    report: Report
    lines: list[GameLine]
    names: list[str]
    of_bot: dict[str, list[GameLine]]
    of_two: dict[str, list[GameLine]]
    pairs: dict[str, tuple[str, str]]
    pairings: dict[str, Pairing]
    standing: dict[str, Standing]
    shares: dict[str, BotShares]
    rated: dict[str, int]
    lost: dict[tuple[str, str], list[GameLine]]
    met: dict[tuple[str, str], Share]

    @classmethod
    def of(cls, report: Report, lines: list[GameLine]) -> Summary:
        """Count the games of a report."""
        rated = [bot.name for bot in report.ratings.bots]
        of_bot: dict[str, list[GameLine]] = {name: [] for name in rated}
        of_two: dict[str, list[GameLine]] = {}
        slugs: dict[tuple[str, str], str] = {}
        for line in lines:
            x, d = line.mister_x, line.detectives
            of_bot.setdefault(x, []).append(line)
            if x == d:
                continue
            of_bot.setdefault(d, []).append(line)
            slug = slugs.get((x, d))
            if slug is None:
                slug = slugs[x, d] = slugs[d, x] = pairing_slug(x, d)
            of_two.setdefault(slug, []).append(line)
        names = rated + sorted(set(of_bot) - set(rated))
        place = {name: k for k, name in enumerate(names)}
        pairs = {}
        for (x, d), slug in slugs.items():
            pairs[slug] = (x, d) if place[x] < place[d] else (d, x)
        ordered = sorted(pairs, key=lambda slug: tuple(place[name] for name in pairs[slug]))
        return cls(
            report=report,
            lines=lines,
            names=names,
            of_bot=of_bot,
            of_two=of_two,
            pairs={slug: pairs[slug] for slug in ordered},
            pairings={pairing_slug(row.one, row.other): row for row in report.pairings or []},
            standing={bot.name: bot for bot in report.ratings.bots},
            shares={row.bot: row for row in report.shares},
            rated={name: k for k, name in enumerate(rated)},
            lost=closest_lost(lines),
            met={
                (x, d): cell
                for x, row in zip(report.matrix.mister_x, report.matrix.cells, strict=True)
                for d, cell in zip(report.matrix.detectives, row, strict=True)
            },
        )

    @property
    def paired_pages(self) -> frozenset[str]:
        """Slugs of the pairings that get a page; none if there are too many."""
        return frozenset(self.pairs) if len(self.pairs) <= MAX_PAIRING_PAGES else frozenset()

    def escapes(self, x: str, d: str) -> Share:
        """How often the one bot as Mister X escaped from the other."""
        return self.met.get((x, d)) or share(0, 0)

    def los(self, one: str, other: str) -> float | None:
        """Likelihood that the first bot is the stronger."""
        if one not in self.rated or other not in self.rated:
            return None
        return self.report.ratings.los[self.rated[one]][self.rated[other]]


def ends_of(lines: Sequence[GameLine]) -> list[End]:
    """How the games that count ended, the most frequent first."""
    found: dict[tuple[str, str, str], list[GameLine]] = {}
    for line in lines:
        if line.winner:
            lost = line.detectives_fault if line.winner == "mister_x" else line.mister_x_fault
            found.setdefault((line.reason, lost, line.winner), []).append(line)
    made = []
    for (reason, fault, winner), games in sorted(found.items()):
        known = [line.rounds for line in games if line.rounds is not None]
        made.append(
            End(
                reason=reason,
                fault=fault or None,
                winner=winner,
                games=len(games),
                rounds=round(sum(known) / len(known), 2) if known else None,
            )
        )
    return sorted(made, key=lambda end: -end.games)


def rounds_of(lines: Sequence[GameLine]) -> list[RoundCount]:
    """In which round games that were played out ended, without gaps from the first."""
    known = [
        (line.rounds, line.winner)
        for line in lines
        if line.winner and line.reason != "fault" and line.rounds is not None
    ]
    if not known:
        return []
    first, last = min(known)[0], max(known)[0]
    counts: dict[SideWord, list[int]] = {side: [0] * (last - first + 1) for side in SIDES}
    for number, winner in known:
        counts["mister_x" if winner == "mister_x" else "detectives"][number - first] += 1
    return [
        RoundCount(round=first + k, mister_x=x, detectives=d)
        for k, (x, d) in enumerate(zip(*counts.values(), strict=True))
    ]
