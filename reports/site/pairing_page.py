"""The page of two bots: their game pairs, win rates, ends and games; pure."""

from __future__ import annotations

from reports.game_rows import GameLine
from reports.names import shortened
from reports.results import Pairing
from reports.site import endings
from reports.site.markup import (
    LONGEST_NAME,
    NA,
    Cell,
    Column,
    elo,
    linked,
    na,
    name,
    percent,
    plus_minus,
    share,
    table,
)
from reports.site.page import Part
from reports.site.places import Places
from reports.site.strengths import interval, likelihood
from reports.site.summary import Summary, ends_of

__all__ = ["pairing_parts"]

IN_ONE = 20  # games of a pairing where all is one page


def pairing_parts(slug: str, told: Summary, places: Places) -> list[Part]:
    """The sections of the page."""
    one, other = told.pairs[slug]
    lines = told.of_two[slug]
    return [
        Part("rates", "Who won", _rates(one, other, told, places)),
        Part("pairs", "Game pairs", _pairs(told.pairings.get(slug), told, places)),
        Part("ends", "How games ended", _ends(one, other, lines)),
        Part("games", "Games", _games(one, other, lines, places)),
    ]


def _rates(one: str, other: str, told: Summary, places: Places) -> str:
    rows: list[list[Cell | str]] = []
    for x, d in ((one, other), (other, one)):
        escaped = told.escapes(x, d)
        rows.append(
            [
                linked(name(x), places.bot(x)),
                linked(name(d), places.bot(d)),
                share(escaped),
                f"{escaped.wins:,}",
                f"{escaped.games - escaped.wins:,}",
            ]
        )
    heads = [
        Column("Mister X", "name text"),
        Column("detectives", "name text"),
        Column("escaped"),
        Column("won by Mister X"),
        Column("won by the detectives"),
    ]
    los = told.los(one, other)
    sentence = ""
    if los is not None:
        sentence = (
            f"<p>By the ratings of all games, {name(one)} is stronger with a likelihood of "
            f"{likelihood(los)}.</p>"
        )
    return table("Games that count, each way", heads, rows) + sentence


def _pairs(pairs: Pairing | None, told: Summary, places: Places) -> str:
    if told.report.pairings is None:
        return "<p>n/a: with so many bots, game pairs are not looked at two by two.</p>"
    if pairs is None:
        return "<p>n/a: no deal of theirs was played both ways and has a winner each time.</p>"
    one, other = name(pairs.one), name(pairs.other)
    lead = (
        "<p>A pair is one deal played both ways. Only pairs that one bot won twice tell who is "
        "stronger; the others tell how uneven deals are.</p>"
    )
    counts = table(
        "Pairs by their result",
        [
            Column("result", "text"),
            Column("pairs"),
            Column("share"),
        ],
        [
            [f"{one} won twice", f"{pairs.won:,}", percent(pairs.won / pairs.pairs)],
            [f"{other} won twice", f"{pairs.lost:,}", percent(pairs.lost / pairs.pairs)],
            [
                "Mister X escaped twice",
                f"{pairs.both_escaped:,}",
                percent(pairs.both_escaped / pairs.pairs),
            ],
            [
                "Mister X was caught twice",
                f"{pairs.both_caught:,}",
                percent(pairs.both_caught / pairs.pairs),
            ],
            ["all", f"{pairs.pairs:,}", percent(1.0)],
        ],
    )
    undecided = na("each of the two must have won some deal both ways")
    gap = elo(pairs.elo_conditional, undecided)
    error = undecided if pairs.se is None else Cell(plus_minus(pairs.se))
    numbers = table(
        f"What they tell of {shortened(pairs.one, LONGEST_NAME)}",
        [
            Column("score", "text"),
            Column("by the ratings"),
            Column("gap on one deal, Elo"),
            Column("error"),
            Column("95&nbsp;%"),
            Column("stronger"),
            Column("p if equal"),
        ],
        [
            [
                percent(pairs.score, 1),
                NA if pairs.expected is None else percent(pairs.expected, 1),
                gap,
                error,
                interval(pairs.low, pairs.high),
                NA if pairs.los is None else likelihood(pairs.los),
                NA if pairs.p is None else _p(pairs.p),
            ]
        ],
    )
    return lead + counts + numbers


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 0.001 else "&lt; 0.001"


def _ends(one: str, other: str, lines: list[GameLine]) -> str:
    parts = []
    for x, d in ((one, other), (other, one)):
        own = [line for line in lines if line.mister_x == x]
        if own:
            none = sum(not line.winner for line in own)
            parts.append(f"<h3>{name(x)} as Mister X, {name(d)} as the detectives</h3>")
            parts.append(endings.ends(ends_of(own), counted=len(own) - none, excluded=none))
    return "\n".join(parts)


def _games(one: str, other: str, lines: list[GameLine], places: Places) -> str:
    shown = lines
    same = linked("The same in the table of games", places.games(bot=one, against=other))
    cut = f"<p>{same}.</p>"
    most = IN_ONE if places.single else endings.MAX_ROWS
    if len(lines) > most:
        # Those with a replay first: the others are in the table of games.
        drawn = [line for line in lines if places.replay(line.game) is not None]
        rest = [line for line in lines if places.replay(line.game) is None]
        kept = {line.index for line in (drawn + rest)[:most]}
        shown = [line for line in lines if line.index in kept]
        every = linked("all of them", places.games(bot=one, against=other))
        cut = f"<p>{most} of {len(lines):,}; {every} are in the table of games.</p>"
    return endings.games_list("In the order of the plan", shown, places) + cut
