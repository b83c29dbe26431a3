"""The page of one bot: its ratings, opponents, ends, faults, times and closest lost games; pure."""

from __future__ import annotations

import html

from reports.game_rows import GameLine
from reports.ratings import half_interval
from reports.report import BotShares
from reports.site import endings
from reports.site.markup import (
    NA,
    Cell,
    Column,
    elo,
    linked,
    minus,
    na,
    name,
    percent,
    plus_minus,
    share,
    table,
)
from reports.site.page import Part, facts_list, notes_list
from reports.site.places import Places, pairing_slug
from reports.site.strengths import bot_interval, likelihood, rank
from reports.site.summary import Summary, ends_of, rounds_of
from reports.standings import Standing
from reports.win_rates import share as counted

__all__ = ["bot_lead", "bot_parts"]

MAX_DRAWN = 12  # bots up to which each page has a plot
MANY = 200  # bots up to which each page lists all opponents
IN_ONE = 24  # opponents of a bot where there are more bots, or all is one page
_MANY = na("with so many bots, game pairs are not looked at two by two")
_NONE = na("no deal was played both ways")


def bot_lead(bot: str, told: Summary) -> str:
    """Facts for the head of the page."""
    standing, shares = told.standing.get(bot), told.shares.get(bot)
    games = len(told.of_bot[bot])
    if standing is None or shares is None:
        shown = [("Games", f"{games:,}", "big")]
        return facts_list(shown) + notes_list(["None of its games has a winner."])
    left_out = games - standing.games
    made = told.report.ratings
    deals = {part.part: part.deals for part in made.part_list}
    errors = half_interval(deals.get(standing.part, 0))
    shown = [
        ("Rank", _plain(rank(standing)), "big"),
        ("Elo", _elo(standing.elo), "big"),
        ("95 %", _plain(bot_interval(standing)), "big"),
        ("Games that count", f"{standing.games:,}", "big"),
        *([("Count for nobody", f"{left_out:,}", "big")] if left_out else []),
        ("Escaped", _rate(shares, "mister_x"), "big"),
        ("Caught", _rate(shares, "detectives"), "big"),
        ("Elo as Mister X", _side(standing, "mister_x", errors), ""),
        ("Elo as detectives", _side(standing, "detectives", errors), ""),
    ]
    notes = []
    if standing.bounded:
        notes.append("Only the prior keeps its rating finite: its interval has an open end.")
    if made.parts > 1:
        notes.append(
            f"It is in part {standing.part} of {made.parts}: ratings of bots that met, directly or "
            "through others, and of no others can be compared."
        )
    return facts_list(shown) + notes_list(notes)


def _plain(cell: Cell) -> str:
    return "n/a" if cell.why else cell.markup


def _elo(value: float | None) -> str:
    return "n/a" if value is None else elo(value).markup


def _side(standing: Standing, side: str, errors: float) -> str:
    """A strength on one side with its error; why there is none."""
    value, se = getattr(standing, side), getattr(standing, f"{side}_se")
    if value is None:
        return "n/a: it takes three bots or more that met on both sides"
    error = "" if se is None else f" {plus_minus(se, errors)}"
    return minus(f"{value:+.0f}{error}")


def _rate(shares: BotShares, side: str) -> str:
    rate = getattr(shares, side).rate
    return html.unescape(percent(rate))


def bot_parts(bot: str, told: Summary, places: Places) -> list[Part]:
    """The sections of the page."""
    lines = told.of_bot[bot]
    made = [
        Part("lost", "Closest lost games", _lost(bot, told, places)),
        Part("opponents", "Opponents", _opponents(bot, told, places)),
        Part("ends", "How its games ended", _ends(bot, lines, drawn=len(told.names) <= MAX_DRAWN)),
    ]
    faults = [fault for fault in told.report.faults if fault.bot == bot]
    times = [row for row in told.report.times if row.bot == bot]
    return [
        *made,
        Part("faults", "Its faults", endings.faults(faults, places, whose=bot)),
        Part("times", "Its time use", endings.times(times, places, whose=bot)),
    ]


def _lost(bot: str, told: Summary, places: Places) -> str:
    parts = []
    for side, how in (
        ("mister_x", "As Mister X: those in which it was caught latest"),
        ("detectives", "As the detectives: those in which Mister X spent most special tickets"),
    ):
        lines = told.lost.get((bot, side))
        if lines:
            parts.append(endings.games_list(how, lines, places, specials=side == "detectives"))
    if not parts:
        parts.append("<p>It lost no game that was played out.</p>")
    every = linked("All of its lost games", places.games(bot=bot, winner="opponent"))
    games = linked("all of its games", places.games(bot=bot))
    parts.append(f"<p>{every}, {games}.</p>")
    return "\n".join(parts)


def _opponents(bot: str, told: Summary, places: Places) -> str:
    """A line for each bot that it met, in the order of the standings."""
    rows: list[list[Cell | str]] = []
    met = [other for other in told.names if pairing_slug(bot, other) in told.pairs and other != bot]
    most = IN_ONE if places.single or len(told.names) > MANY else endings.MAX_ROWS
    for other in met[:most]:
        slug = pairing_slug(bot, other)
        as_d = told.escapes(other, bot)
        pairs = told.pairings.get(slug)
        score, gap = (_MANY, _MANY) if told.report.pairings is None else (_NONE, _NONE)
        if pairs is not None:
            mine = pairs.one == bot
            score = Cell(percent(pairs.score if mine else 1 - pairs.score))
            if pairs.elo_conditional is not None:
                gap = elo(pairs.elo_conditional if mine else -pairs.elo_conditional)
            else:
                gap = na("each of the two must have won some deal both ways")
        los = told.los(bot, other)
        rows.append(
            [
                linked(name(other), places.bot(other)),
                share(told.escapes(bot, other)),
                share(counted(as_d.games - as_d.wins, as_d.games)),
                score,
                gap,
                NA if los is None else likelihood(los),
                linked("their games", places.pairing(bot, other))
                if places.pairing(bot, other)
                else linked("their games", places.games(bot=bot, against=other)),
            ]
        )
    if not rows:
        return "<p>It met no other bot.</p>"
    heads = [
        Column("opponent", "name text"),
        Column("escaped from it"),
        Column("caught it"),
        Column("score in pairs"),
        Column("gap on one deal"),
        Column("stronger"),
        Column("pairing", "text"),
    ]
    lead = (
        "<p>A pair is one deal played both ways. The gap, in Elo points, is of pairs that one bot "
        "won twice; it is a little larger in size than that of ratings, which are averages over "
        "deals. Stronger: the likelihood, by the ratings.</p>"
    )
    cut = ""
    if len(met) > most:
        cut = f"<p>The first {most} of {len(met):,} opponents.</p>"
    return lead + table("Best opponents first", heads, rows) + cut


def _ends(bot: str, lines: list[GameLine], *, drawn: bool) -> str:
    """How its games ended, on each side."""
    parts = []
    for side, as_side in (("mister_x", "As Mister X"), ("detectives", "As the detectives")):
        own = [line for line in lines if getattr(line, side) == bot]
        if not own:
            continue
        none = sum(not line.winner for line in own)
        parts.append(f"<h3>{as_side}</h3>")
        parts.append(endings.ends(ends_of(own), counted=len(own) - none, excluded=none))
        if drawn:
            about = f"of {bot} as {endings.SIDES[side]}"
            parts.append(endings.rounds(rounds_of(own), about))
    return "\n".join(parts)
