"""The data of a report: standings, win rates, ends, faults, times, games that count for nobody.

`build` makes them from a table of games; `report.json` is this structure, and its JSON Schema is
published in `reports/schema/`. Everything here is in plan order or in the order of the standings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import msgspec

from reports.played import Played
from reports.ratings import Settings
from reports.results import Pairing, paired_up
from reports.standings import Model, Standings, standings
from reports.win_rates import Matrix, Share, by_bot, matrix

__all__ = [
    "SCHEMA",
    "BotShares",
    "Counts",
    "End",
    "Excluded",
    "FaultCount",
    "Meta",
    "PastRating",
    "PastRun",
    "Report",
    "RoundCount",
    "Source",
    "StartCount",
    "TimeUse",
    "WordCount",
    "build",
    "past_run",
    "schema",
]

SCHEMA = "arena.report-data/1"
_NO_NAMES: Mapping[int, str] = MappingProxyType({})


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """What is told about the run itself; what is not known is left out.

    Attributes:
        title: heading of the page.
        run: id of the run.
        ruleset: its text, options included.
        arena: version of the arena.
        created, finished: UTC, ISO 8601.
        facts: more lines for the head of the page, such as clock and seed: name, value.
        notes: sentences that a reader must know, such as a run that is not over.
    """

    title: str = "Report"
    run: str | None = None
    ruleset: str | None = None
    arena: str | None = None
    created: str | None = None
    finished: str | None = None
    facts: list[tuple[str, str]] = []
    notes: list[str] = []


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Games by what became of them: `games` is `counted` and `excluded` together."""

    games: int
    counted: int  # have a winner, and go into ratings
    excluded: int  # count for nobody
    forfeits: int  # of `counted`: decided by a fault
    deals: int


class BotShares(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's shares of games won on each side."""

    bot: str
    mister_x: Share
    detectives: Share


class End(msgspec.Struct, frozen=True, kw_only=True):
    """How games that count ended: the ruleset's word, or `fault` with its kind."""

    reason: str
    fault: str | None  # the loser's
    winner: str  # a side
    games: int
    rounds: float | None  # mean


class RoundCount(msgspec.Struct, frozen=True, kw_only=True):
    """Games that count, without forfeits, that ended in a round."""

    round: int
    mister_x: int  # won by Mister X
    detectives: int


class StartCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often Mister X escaped from one start station, in games that were played out."""

    station: int
    name: str  # empty where it has none
    escaped: Share


class WordCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often Mister X escaped in games that their ruleset calls so, and were played out."""

    fact: str  # such as `mission`
    word: str  # such as `green`
    escaped: Share


class PastRating(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's rating in one run, about the mean of that run's bots; `null` where not told."""

    bot: str
    elo: float | None
    low: float | None
    high: float | None


class PastRun(msgspec.Struct, frozen=True, kw_only=True):
    """The ratings of one run of the same ruleset."""

    run: str
    created: str  # UTC, ISO 8601
    games: int  # with a winner
    ratings: list[PastRating]


class FaultCount(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's faults of one kind in one phase."""

    bot: str
    kind: str
    phase: str | None
    games: int
    share: float  # of the games that the bot was seated in
    first_game: str  # id
    text: str | None  # of that game: what was expected, what came


class TimeUse(msgspec.Struct, frozen=True, kw_only=True):
    """Charged times of a bot's answers on one side, over all its games. In milliseconds."""

    bot: str
    side: str
    games: int
    answers: int
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None
    start_p50_ms: float | None  # from spawn to the first `ready`
    time_losses: int  # games lost because an answer did not come in time; not among the answers
    off_turn_mean_ms: float | None  # CPU time a game that it used while it was not asked
    bank_left_p50_ms: float | None  # median over games of what was left; `null` without a bank
    bank_left_min_ms: float | None  # the least of them
    given_back_ms: float | None  # by which deadlines were moved in all games, for want of a CPU


class Excluded(msgspec.Struct, frozen=True, kw_only=True):
    """A game that counts for nobody, with the rule that says so."""

    game: str
    index: int
    deal: str
    mister_x: str
    detectives: str
    rule: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All that the page, the tables and `report.json` tell."""

    schema: str
    meta: Meta
    counts: Counts
    ratings: Standings
    without_faults: Standings | None  # the same without forfeits; `null` if there are none
    shares: list[BotShares]
    matrix: Matrix
    ends: list[End]
    rounds: list[RoundCount]
    starts: list[StartCount]
    words: list[WordCount]  # by fact and word; empty where a ruleset has none
    pairings: list[Pairing] | None  # complete game pairs of every two bots; `null` of too many bots
    history: list[PastRun]  # runs of the same ruleset, this one too, the oldest first
    faults: list[FaultCount]
    times: list[TimeUse]
    excluded: list[Excluded]


class Source(Protocol):
    """What a report asks of a table of games; `reports.frames.Games` is one."""

    def __len__(self) -> int: ...

    def played(self, *, forfeits: bool = True) -> Played:
        """The games that count; without `forfeits` only those that were played out."""
        ...

    def forfeits(self) -> int:
        """How many games that count were decided by a fault."""
        ...

    def deals(self) -> int:
        """How many deals there are."""
        ...

    def ends(self) -> list[End]:
        """How the games that count ended."""
        ...

    def rounds(self) -> list[RoundCount]:
        """In which round games ended."""
        ...

    def starts(self, names: Mapping[int, str]) -> list[StartCount]:
        """How often Mister X escaped by his start station.

        Args:
            names: of stations; those without one are missing.
        """
        ...

    def words(self) -> list[WordCount]:
        """How often Mister X escaped by what the ruleset calls the game."""
        ...

    def faults(self) -> list[FaultCount]:
        """Faults by bot, kind and phase."""
        ...

    def times(self, order: list[str]) -> list[TimeUse]:
        """Time use by bot and side, bots in this order."""
        ...

    def excluded(self) -> list[Excluded]:
        """Games that count for nobody."""
        ...


def build(
    games: Source,
    meta: Meta,
    *,
    settings: Settings | None = None,
    model: Model = "a",
    past: Sequence[PastRun] = (),
    names: Mapping[int, str] = _NO_NAMES,
) -> Report:
    """Work out everything that a report tells.

    Args:
        games: all games of the run, those that count for nobody too.
        meta: what to tell about the run.
        settings: how to rate.
        model: which ratings head the page.
        past: ratings of earlier runs, the oldest first; this run's are added at the end.
        names: of the board's places, where they have any.

    Raises:
        ConfigError: if an anchor or the prior can't be met.
    """
    how = settings or Settings()
    played = games.played()
    rated = standings(played, how, model=model)
    forfeits = games.forfeits()
    without = None
    if forfeits:
        clean = games.played(forfeits=False)
        known = tuple(anchor for anchor in how.anchors if anchor.bot in clean.bots)
        without = standings(clean, msgspec.structs.replace(how, anchors=known), model=model)
    order = [bot.name for bot in rated.bots]
    shares = by_bot(played)
    return Report(
        schema=SCHEMA,
        meta=meta,
        counts=Counts(
            games=len(games),
            counted=len(played.mister_x),
            excluded=len(games) - len(played.mister_x),
            forfeits=forfeits,
            deals=games.deals(),
        ),
        ratings=rated,
        without_faults=without,
        shares=[
            BotShares(bot=name, mister_x=shares[name][0], detectives=shares[name][1])
            for name in order
        ],
        matrix=matrix(played, order),
        ends=games.ends(),
        rounds=games.rounds(),
        starts=games.starts(names),
        words=games.words(),
        pairings=paired_up(played, rated),
        history=[*past, past_run(rated, meta)],
        faults=games.faults(),
        times=games.times(order),
        excluded=games.excluded(),
    )


def past_run(rated: Standings, meta: Meta) -> PastRun:
    """A run's ratings as a point of the history."""
    return PastRun(
        run=meta.run or "",
        created=meta.created or "",
        games=rated.games,
        ratings=[
            PastRating(bot=bot.name, elo=bot.elo, low=bot.low, high=bot.high) for bot in rated.bots
        ],
    )


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `report.json`."""
    made = msgspec.json.schema(Report)
    defs = made["$defs"]
    defs["Report"]["properties"]["schema"] = {"const": SCHEMA}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "report.json of a report folder",
        **made,
    }
