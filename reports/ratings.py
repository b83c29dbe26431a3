"""Ratings with a role term and errors clustered on the deal: model A; pure.

    logit P(Mister X escapes) = role + s[X bot] - s[detectives bot]

Strengths are in Elo points about the mean of their part, unless an anchor says otherwise. Parts
are bots that met, directly or through others; each part is rated alone.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from scipy.special import ndtr, stdtrit

from arena.errors import ConfigError
from reports import graphs
from reports.logistic import ELO
from reports.played import Bools, Floats, Ints, Played, Table, tabulate
from reports.zero import place

__all__ = [
    "Anchor",
    "Part",
    "Rated",
    "Settings",
    "Sides",
    "anchors_of",
    "check",
    "interval",
    "rate_bots",
    "rate_players",
    "split",
    "spread",
    "superiority",
]

Sides: TypeAlias = Literal["compared", "apart", "unknown"]

Z_95 = 1.959963984540054
FEW_DEALS = 30  # below this many, Student's t takes the place of the normal
NOTHING = 1e-9  # an error this small beside Fisher's is no error at all but equal deals


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """A bot whose rating is known: exactly, or with `sd` up to a normal error. In Elo points."""

    bot: str
    elo: float
    sd: float | None = None

    @property
    def logits(self) -> float:
        """The rating in logits."""
        return self.elo / ELO


def half_interval(deals: int) -> float:
    """How many errors half a 95 % interval has: by Student's t below `FEW_DEALS` deals.

    Args:
        deals: that errors are clustered on; with fewer than two there is no error.
    """
    return float(stdtrit(deals - 1, 0.975)) if 1 < deals < FEW_DEALS else Z_95


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How to rate.

    Attributes:
        prior: virtual games that each bot won and lost in each role, halved each; 0 is plain
            maximum likelihood.
        anchors: known ratings.
        small_sample: whether errors have the factor G/(G-1) for G deals, and Student's t below
            30 deals.
    """

    prior: float = 1.0
    anchors: tuple[Anchor, ...] = ()
    small_sample: bool = True


class Part(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One connected part. Arrays go by its players, in the order of `players`; all in logits.

    Attributes:
        players: numbers of its players.
        levels: level of each player if sides can't be compared, else zeros.
        sides: `compared`; `apart` if no bot played both sides; `unknown` if bots did and yet the
            role term can't be told from their strengths.
        role: advantage of Mister X; with `apart` the mean logit.
        strength: one a player, about the part's mean or as anchored.
        covariance: of (role, strengths) by clustering on deals; `None` with one deal.
        fisher: of the same as if games were independent.
        pool: of the same about the part's mean, where an anchor moved the zero.
        above, below: players whose strength only the prior bounds.
        role_bounded: whether only the prior bounds the role term.
        prior: virtual games that were used.
        deals: clusters.
        quantile: standard errors that half a 95 % interval has.
        log_likelihood: of the games.
    """

    players: Ints
    levels: Ints
    sides: Sides
    role: float
    strength: Floats
    covariance: Floats | None
    fisher: Floats
    pool: Floats | None
    above: Bools
    below: Bools
    role_bounded: bool
    prior: float
    deals: int
    quantile: float
    log_likelihood: float

    @property
    def bounded(self) -> Bools:
        """Players that the prior bounds, on either end."""
        return self.above | self.below

    def comparable(self) -> Bools:
        """Pairs of players whose gap the games can tell."""
        return np.asarray(self.levels[:, None] == self.levels[None, :], dtype=np.bool_)


class Rated(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """All parts, and what to tell about them."""

    bots: tuple[str, ...]
    parts: tuple[Part, ...]
    warnings: tuple[str, ...]

    @property
    def log_likelihood(self) -> float:
        """Of all games."""
        return math.fsum(part.log_likelihood for part in self.parts)


def rate_bots(played: Played, settings: Settings) -> Rated:
    """Rate bots with one strength each (model A).

    Raises:
        ConfigError: if an anchor names a bot without games, or names one twice.
    """
    check(settings, played.bots)
    table = tabulate(
        len(played.bots), played.mister_x, played.detectives, played.escaped, played.deal
    )
    return rate_players(table, played.bots, settings, roles=2)


def check(settings: Settings, bots: tuple[str, ...]) -> None:
    """Refuse settings that can't be met.

    Raises:
        ConfigError: saying which setting, and what to write instead.
    """
    if not (math.isfinite(settings.prior) and 0 <= settings.prior <= 1e6):
        raise ConfigError(
            f"a prior of {settings.prior} virtual games makes no sense; write 0 to 1000000, "
            "such as 1"
        )
    seen: set[str] = set()
    for anchor in settings.anchors:
        if anchor.bot not in bots:
            known = ", ".join(bots[:20]) + (", …" if len(bots) > 20 else "")
            raise ConfigError(
                f"anchor {anchor.bot!r} has no games with a winner; bots that have: "
                f"{known or 'none'}"
            )
        if anchor.bot in seen:
            raise ConfigError(f"anchor {anchor.bot!r} is given twice; leave one out")
        seen.add(anchor.bot)
        if not (math.isfinite(anchor.elo) and abs(anchor.elo) <= 1e5):
            raise ConfigError(
                f"anchor {anchor.bot!r} at {anchor.elo} Elo makes no sense; "
                "write a number between -100000 and 100000"
            )
        if anchor.sd is not None and not (math.isfinite(anchor.sd) and 0.01 <= anchor.sd <= 1e5):
            raise ConfigError(
                f"anchor {anchor.bot!r} has an error of {anchor.sd} Elo; write 0.01 to 100000, "
                "or leave it out for an exact anchor"
            )


def rate_players(
    table: Table,
    names: tuple[str, ...],
    settings: Settings,
    *,
    roles: Literal[1, 2],
    role_term: bool = True,
) -> Rated:
    """Rate the players of a table part by part.

    Args:
        table: games, counted.
        names: of the players.
        settings: anchors name players here.
        roles: how many roles a player's strength stands for: it has the virtual games of each.
        role_term: whether being `first` is an advantage of its own.
    """
    if not len(table.games):
        return Rated(bots=names, parts=(), warnings=("there are no games with a winner",))
    label = graphs.parts(table)
    rated: list[Part] = []
    warnings: list[str] = []
    count = int(label.max()) + 1
    if count > 1:
        warnings.append(
            f"the games fall into {count} parts that never met; each is rated alone about a zero "
            "of its own, and ratings of different parts can't be compared"
        )
    for players, rows in split(table, label, count):
        part, told = _rate_part(rows, players, names, settings, roles, role_term)
        rated.append(part)
        prefix = f"part {len(rated)}: " if count > 1 else ""
        warnings += [prefix + text for text in told]
    return Rated(bots=names, parts=tuple(rated), warnings=tuple(warnings))


def split(table: Table, label: Ints, count: int) -> list[tuple[Ints, Table]]:
    """Cut a table into its parts, with players and deals numbered anew."""
    of_row = label[table.first]
    rows = np.argsort(of_row, kind="stable")
    ends = np.searchsorted(of_row[rows], np.arange(count + 1))
    players = np.argsort(label, kind="stable")
    player_ends = np.searchsorted(label[players], np.arange(count + 1))
    place = np.empty_like(players)
    cut: list[tuple[Ints, Table]] = []
    for k in range(count):
        mine = players[player_ends[k] : player_ends[k + 1]]
        place[mine] = np.arange(len(mine))
        row = rows[ends[k] : ends[k + 1]]
        _, deal = np.unique(table.deal[row], return_inverse=True)
        part = Table(
            players=len(mine),
            deal=deal,
            first=place[table.first[row]],
            second=place[table.second[row]],
            games=table.games[row],
            won=table.won[row],
        )
        cut.append((mine, part))
    return cut


def _rate_part(
    table: Table,
    players: Ints,
    names: tuple[str, ...],
    settings: Settings,
    roles: Literal[1, 2],
    role_term: bool,
) -> tuple[Part, list[str]]:
    told: list[str] = []
    level = graphs.levels(table) if role_term and table.players > 1 else None
    sides: Sides = "compared"
    if level is not None:
        sides = "apart" if level.max() == 1 else "unknown"
    open_ends = graphs.bounds(table, role=role_term and level is None)
    prior = settings.prior
    if open_ends.any:
        told += _tell_bounds(open_ends, players, names)
        if prior == 0:
            prior = 1.0
            told.append("plain maximum likelihood is infinite here: fitted with prior 1 instead")
    if roles == 2 and sides != "compared":
        told.append(_tell_sides(sides))

    groups = np.zeros(table.players, dtype=np.int64) if level is None else level
    anchors = anchors_of(settings, players, names)
    placed = place(
        table,
        prior=prior,
        roles=roles,
        levels=groups,
        anchors=anchors,
        role_held=not role_term,
        role_told=level is None,
    )
    if anchors and sides != "compared":
        told.append("an anchor moves only the bots that can be compared with it")

    factor = 1.0
    deals = table.deals
    if settings.small_sample and deals > 1:
        factor = deals / (deals - 1)
    if deals == 1:
        told.append("all games are on one deal, so errors can't be told: play two deals or more")
    elif deals <= table.players:
        # The sandwich has at most `deals` - 1 dimensions: some gaps get an error of nothing.
        told.append(
            f"{deals} deals are too few for {table.players} bots: their errors come out too "
            f"small; play {max(table.players + 1, FEW_DEALS)} deals or more"
        )
    part = Part(
        players=players,
        levels=groups,
        sides=sides,
        role=placed.fit.role,
        strength=placed.strength,
        covariance=placed.fit.clustered * factor if deals > 1 else None,
        fisher=placed.fit.fisher,
        pool=placed.pool.clustered * factor if deals > 1 and placed.pool is not None else None,
        above=open_ends.above,
        below=open_ends.below,
        role_bounded=open_ends.role,
        prior=prior,
        deals=deals,
        quantile=half_interval(deals) if settings.small_sample else Z_95,
        log_likelihood=placed.log_likelihood,
    )
    return part, told


def anchors_of(
    settings: Settings, players: Ints, names: tuple[str, ...]
) -> dict[int, tuple[float, float | None]]:
    """Anchors among a part's players, by their place in it."""
    known = {anchor.bot: (anchor.elo, anchor.sd) for anchor in settings.anchors}
    if not known:
        return {}
    return {
        place: known[names[player]]
        for place, player in enumerate(players.tolist())
        if names[player] in known
    }


def _tell_bounds(open_ends: graphs.Bounds, players: Ints, names: tuple[str, ...]) -> list[str]:
    told = []
    for mask, text in (
        (open_ends.above & ~open_ends.below, "no result speaks against any higher rating of"),
        (open_ends.below & ~open_ends.above, "no result speaks against any lower rating of"),
        (open_ends.above & open_ends.below, "results leave open, both ways, the rating of"),
    ):
        which = [names[k] for k in players[mask].tolist()]
        if which:
            shown = ", ".join(which[:8]) + (f" and {len(which) - 8} more" if which[8:] else "")
            told.append(f"{text} {shown}: bounded by prior")
    if open_ends.role:
        told.append("results do not bound the role advantage: bounded by prior")
    return told


def _tell_sides(sides: Sides) -> str:
    if sides == "apart":
        return (
            "sides not comparable: no bot played both sides, so each side is rated about a zero "
            "of its own, and the role advantage is the mean over both"
        )
    return (
        "sides not comparable: too few bots played both sides to tell the role advantage from "
        "strength; bots are compared only where they stand alike"
    )


def spread(part: Part, what: int | Floats) -> float | None:
    """Standard error, in logits, or `None` if it can't be told.

    Where the prior bounds one of the players in it, Fisher's error is taken if it is larger:
    games that all ended alike look certain to the sandwich.

    Args:
        part: the fit.
        what: 0 for the role term, 1 + k for player k, or weights of all of these.
    """
    bounded = np.concatenate(([part.role_bounded], part.bounded))
    if part.covariance is None:
        return None
    if isinstance(what, int):
        fisher = float(part.fisher[what, what])
        variance = float(part.covariance[what, what])
        touched = bool(bounded[what])
    else:
        fisher = float(what @ part.fisher @ what)
        variance = float(what @ part.covariance @ what)
        touched = bool(np.any(bounded & (what != 0)))
    if touched:
        variance = max(variance, fisher)
    if not (fisher > 0 and variance > NOTHING**2 * fisher):
        return None
    return math.sqrt(variance)


def interval(part: Part, player: int, se: float | None) -> tuple[float | None, float | None]:
    """95 % interval of a player's strength, in logits; an end that is open is `None`."""
    if se is None:
        return None, None
    half = part.quantile * se
    middle = float(part.strength[player])
    low = None if part.below[player] else middle - half
    high = None if part.above[player] else middle + half
    return low, high


def superiority(part: Part) -> Floats:
    """Likelihood that a row's player is stronger than a column's; NaN where it can't be told."""
    size = len(part.players)
    if part.covariance is None:
        return np.full((size, size), np.nan)
    gap = part.strength[:, None] - part.strength[None, :]
    clustered = _of_gaps(part.covariance[1:, 1:])
    fisher = _of_gaps(part.fisher[1:, 1:])
    touched = part.bounded[:, None] | part.bounded[None, :]
    variance = np.where(touched, np.maximum(clustered, fisher), clustered)
    known = part.comparable() & (variance > NOTHING**2 * fisher) & (fisher > 0)
    np.fill_diagonal(known, val=False)
    z = np.divide(gap, np.sqrt(np.where(known, variance, 1.0)))
    return np.where(known, ndtr(z), np.nan)


def _of_gaps(covariance: Floats) -> Floats:
    own = np.diag(covariance)
    return np.asarray(own[:, None] + own[None, :] - 2 * covariance, dtype=np.float64)
