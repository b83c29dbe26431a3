"""What `arena rate` tells: standings, the same without faults, game pairs, errors drawn anew.

Ratings of all games are averages over deals; those of pairs are gaps on one deal, a little larger
in size. They stand in tables of their own.
"""

from __future__ import annotations

import msgspec
import numpy as np

from reports import rounding
from reports.bootstrap import SEED, bootstrap
from reports.logistic import ELO
from reports.pairs import GamePairs, PairCounts, conditional, pair_up, rate_decided
from reports.played import Played
from reports.predictions import pair_score
from reports.ratings import Part, Rated, Settings, interval, rate_bots, spread
from reports.standings import Model, Standings, standings

__all__ = [
    "BootstrapStanding",
    "Bootstrapped",
    "PairRating",
    "Pairing",
    "Redrawn",
    "Results",
    "paired_up",
    "pairings",
    "results",
    "standings_without",
]

NOTHING = 1e-9  # logits: an error this small is that of a number which never changes
MAX_PAIRED = 100  # bots up to which every two of them have a line


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """Complete game pairs of two bots, counted for `one`; gaps in Elo points on one deal.

    Attributes:
        one: the first bot, by its place in the standings.
        other: the second.
        pairs: complete ones.
        lost: won twice by `other`.
        split: won once by each.
        both_escaped: of `split`: Mister X won both times.
        both_caught: of `split`: the detectives won both times.
        won: won twice by `one`.
        score: share of the points that `one` took, from 0 to 1.
        expected: the share that the ratings give it; `null` where these bots have none in common.
        elo_conditional: gap by the decided pairs; `null` unless each bot won some.
        se: its error; `null` likewise.
        low: lower end of the 95 % interval, with half a pair added on both sides.
        high: its upper end.
        los: likelihood that `one` is stronger.
        p: how often equal bots would differ at least so much, exactly.
    """

    one: str
    other: str
    pairs: int
    lost: int
    split: int
    both_escaped: int
    both_caught: int
    won: int
    score: float
    expected: float | None
    elo_conditional: float | None
    se: float | None
    low: float | None
    high: float | None
    los: float | None
    p: float | None


class PairRating(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's rating by decided pairs alone; as `Standing`, but of one deal."""

    name: str
    part: int
    elo: float | None
    se: float | None
    low: float | None
    high: float | None
    bounded: bool


class Redrawn(msgspec.Struct, frozen=True, kw_only=True):
    """Error and 95 % interval over deals drawn anew; an open end is `null`."""

    se: float | None
    low: float | None
    high: float | None


class BootstrapStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's error over deals drawn anew; `null` where it can't be told."""

    name: str
    error: Redrawn | None


class Bootstrapped(msgspec.Struct, frozen=True, kw_only=True):
    """Errors of model A by drawing deals; `role_advantage` is `null` with several parts."""

    draws: int
    seed: int
    role_advantage: Redrawn | None
    bots: list[BootstrapStanding]


class Results(Standings, frozen=True, kw_only=True):
    """What `arena rate --json` prints.

    Attributes:
        forfeits: games that were decided by a fault; they count.
        without_faults: the standings without them; `null` if there are none.
        pairings: every two bots with complete game pairs; `null` if there are too many bots.
        pair_ratings: bots by their decided pairs; `null` likewise.
        bootstrap: errors by drawing deals, if asked for.
    """

    forfeits: int
    without_faults: Standings | None
    pairings: list[Pairing] | None
    pair_ratings: list[PairRating] | None
    bootstrap: Bootstrapped | None


def results(
    played: Played,
    settings: Settings,
    *,
    model: Model = "a",
    clean: Played | None = None,
    draws: int = 0,
    seed: int = SEED,
) -> Results:
    """Work out everything that `arena rate` tells.

    Args:
        played: games in plan order.
        settings: how to rate.
        model: which ratings head the table.
        clean: the games that no fault decided; `None` if that is all of them.
        draws: of the bootstrap; 0 for none.
        seed: of its draws.

    Raises:
        ConfigError: if an anchor, the prior or the draws can't be met.
    """
    made = standings(played, settings, model=model)
    order = [bot.name for bot in made.bots]
    pairs = pair_up(played) if len(order) <= MAX_PAIRED else None
    return Results(
        **{name: getattr(made, name) for name in Standings.__struct_fields__},
        forfeits=0 if clean is None else len(played.mister_x) - len(clean.mister_x),
        without_faults=None if clean is None else standings_without(clean, settings, model=model),
        pairings=None if pairs is None else _expected(pairings(pairs, order), made),
        pair_ratings=None if pairs is None else _pair_ratings(pairs, settings),
        bootstrap=_bootstrapped(played, settings, order, draws, seed) if draws else None,
    )


def paired_up(played: Played, made: Standings) -> list[Pairing] | None:
    """Game pairs of every two bots with what the ratings expect; `None` if there are too many."""
    order = [bot.name for bot in made.bots]
    if len(order) > MAX_PAIRED:
        return None
    return _expected(pairings(pair_up(played), order), made)


def standings_without(clean: Played, settings: Settings, *, model: Model) -> Standings:
    """Rate the games that no fault decided; anchors without such a game are left out."""
    known = tuple(anchor for anchor in settings.anchors if anchor.bot in clean.bots)
    return standings(clean, msgspec.structs.replace(settings, anchors=known), model=model)


def pairings(pairs: GamePairs, order: list[str]) -> list[Pairing]:
    """Count the pairs of every two bots that have some, in the order of the standings."""
    place = {name: k for k, name in enumerate(order)}
    size = len(pairs.bots)
    cells, cell = np.unique(pairs.one * size + pairs.other, return_inverse=True)
    kinds = (pairs.lost, pairs.both_escaped, pairs.both_caught, pairs.won)
    counts = [np.bincount(cell[kind], minlength=len(cells)).tolist() for kind in kinds]
    made = []
    for number, lost, escaped, caught, won in zip(cells.tolist(), *counts, strict=True):
        one, other = pairs.bots[number // size], pairs.bots[number % size]
        if place[one] < place[other]:
            made.append(_pairing(one, other, lost, escaped, caught, won))
        else:
            made.append(_pairing(other, one, won, escaped, caught, lost))
    return sorted(made, key=lambda line: (place[line.one], place[line.other]))


def _pairing(one: str, other: str, lost: int, escaped: int, caught: int, won: int) -> Pairing:
    counts = PairCounts(lost=lost, split=escaped + caught, won=won)
    told = conditional(counts)
    assert told is not None  # noqa: S101 - only bots with pairs come here
    return Pairing(
        one=one,
        other=other,
        pairs=counts.pairs,
        lost=lost,
        split=counts.split,
        both_escaped=escaped,
        both_caught=caught,
        won=won,
        score=round((won + counts.split / 2) / counts.pairs, 5),
        expected=None,
        elo_conditional=rounding.elo(told.elo),
        se=rounding.error(told.se),
        low=rounding.elo(told.low),
        high=rounding.elo(told.high),
        los=rounding.chance(told.los),
        p=rounding.chance(told.p_different),
    )


def _expected(lines: list[Pairing], made: Standings) -> list[Pairing]:
    """Add what the ratings expect of each pairing."""
    bots = {bot.name: bot for bot in made.bots}
    added = []
    for line in lines:
        one, other = bots[line.one], bots[line.other]
        role = made.part_list[one.part - 1].role_advantage.elo
        share = None
        if one.elo is not None and other.elo is not None and one.group == other.group:
            share = None if role is None else round(pair_score(one.elo - other.elo, role), 5)
        added.append(msgspec.structs.replace(line, expected=share))
    return added


def _pair_ratings(pairs: GamePairs, settings: Settings) -> list[PairRating]:
    """Ratings by decided pairs, best first within each part; bots without such pairs are none."""
    rated = rate_decided(pairs, settings)
    made = []
    for number, part in enumerate(rated.parts, start=1):
        if len(part.players) > 1:
            lines = [_pair_rating(rated, part, number, k) for k in range(len(part.players))]
            made += sorted(lines, key=lambda line: (-(line.elo or 0.0), line.name))
    return made


def _pair_rating(rated: Rated, part: Part, number: int, k: int) -> PairRating:
    se = spread(part, 1 + k)
    low, high = interval(part, k, se)
    return PairRating(
        name=rated.bots[int(part.players[k])],
        part=number,
        elo=rounding.elo(_points(float(part.strength[k]))),
        se=rounding.error(_points(se)),
        low=rounding.elo(_points(low)),
        high=rounding.elo(_points(high)),
        bounded=bool(part.bounded[k]),
    )


def _points(logits: float | None) -> float | None:
    return None if logits is None else logits * ELO


def _bootstrapped(
    played: Played, settings: Settings, order: list[str], draws: int, seed: int
) -> Bootstrapped:
    rated = rate_bots(played, settings)
    drawn = bootstrap(played, rated, settings, draws=draws, seed=seed)
    lines: dict[str, Redrawn | None] = {}
    role: Redrawn | None = None
    for part, own in zip(rated.parts, drawn, strict=True):
        if own is None:
            continue
        se, ends = own.errors().tolist(), own.intervals().tolist()
        role = None
        if part.sides != "unknown":
            role = _redrawn(se[0], ends[0], below=part.role_bounded, above=part.role_bounded)
        alone = part.comparable().sum(axis=1) == 1
        for k, bot in enumerate(part.players.tolist()):
            if not alone[k]:
                lines[rated.bots[bot]] = _redrawn(
                    se[1 + k], ends[1 + k], below=bool(part.below[k]), above=bool(part.above[k])
                )
    return Bootstrapped(
        draws=draws,
        seed=seed,
        role_advantage=role if len(rated.parts) == 1 else None,
        bots=[BootstrapStanding(name=name, error=lines.get(name)) for name in order],
    )


def _redrawn(se: float, ends: list[float], *, below: bool, above: bool) -> Redrawn | None:
    """An error in Elo points; `None` where every draw told the same, as of an anchor."""
    if se < NOTHING:
        return None
    return Redrawn(
        se=rounding.error(se * ELO),
        low=None if below else rounding.elo(ends[0] * ELO),
        high=None if above else rounding.elo(ends[1] * ELO),
    )
