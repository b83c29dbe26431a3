"""Errors of ratings by drawing deals again: the check of the clustered ones; pure.

A draw takes as many deals as there are, with replacement, and all games of a deal together (games
of one deal share its luck, so drawing games would be wrong), and fits model A again.
"""

from __future__ import annotations

import msgspec
import numpy as np
import scipy.sparse

from arena.errors import ConfigError
from reports import graphs
from reports.played import Floats, Ints, Played, Table, tabulate
from reports.ratings import Part, Rated, Settings, anchors_of, split
from reports.zero import Anchors, place

__all__ = ["Drawn", "bootstrap"]

DRAWS = 1000
SEED = 1
MAX_DRAWS = 100_000
MAX_BOTS = 200  # in one part; with more a thousand fits take minutes


class Drawn(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One part, fitted again and again; in logits, with the zero of the part's ratings.

    Attributes:
        players: as in `Part`.
        role: one number a draw.
        strength: a row a draw, a column a player.
    """

    players: Ints
    role: Floats
    strength: Floats

    def errors(self) -> Floats:
        """Standard deviations of the role term and of each strength, over the draws."""
        return np.concatenate(
            ([np.std(self.role, ddof=1)], np.std(self.strength, axis=0, ddof=1))
        ).astype(np.float64)

    def intervals(self) -> Floats:
        """Both ends of 95 % percentile intervals: shape (1 + players, 2), the role term first."""
        every = np.column_stack((self.role, self.strength))
        return np.asarray(np.percentile(every, (2.5, 97.5), axis=0).T)


def bootstrap(
    played: Played, rated: Rated, settings: Settings, *, draws: int = DRAWS, seed: int = SEED
) -> tuple[Drawn | None, ...]:
    """Fit each part to deals drawn anew.

    Args:
        played: the games.
        rated: what `reports.ratings.rate_bots` made of them.
        settings: as they were used for that.
        draws: how often, 2 to 100,000.
        seed: of the draws; equal seeds give equal draws.

    Returns:
        For each part of `rated` its draws; `None` with one deal, which there is no drawing from.

    Raises:
        ConfigError: if there are too many bots or draws.
    """
    if not 2 <= draws <= MAX_DRAWS:
        raise ConfigError(f"{draws} draws make no sense; write 2 to {MAX_DRAWS}, such as {DRAWS}.")
    if not rated.parts:
        return ()
    largest = max(len(part.players) for part in rated.parts)
    if largest > MAX_BOTS:
        raise ConfigError(
            f"a bootstrap of {largest} bots that met would take too long; it is for {MAX_BOTS} at "
            "most, and the clustered errors do as well for so many."
        )
    table = tabulate(
        len(played.bots), played.mister_x, played.detectives, played.escaped, played.deal
    )
    label = graphs.parts(table)
    pieces = split(table, label, len(rated.parts))
    rng = np.random.default_rng(seed)
    return tuple(
        None
        if part.deals < 2
        else _draw(rows, part, anchors_of(settings, part.players, rated.bots), draws, rng)
        for (_, rows), part in zip(pieces, rated.parts, strict=True)
    )


def _draw(
    table: Table, part: Part, anchors: Anchors, draws: int, rng: np.random.Generator
) -> Drawn:
    """Fit one part to deals drawn anew, counted by who met whom."""
    cells, cell = np.unique(table.first * table.players + table.second, return_inverse=True)
    shape = (len(cells), table.deals)
    games = scipy.sparse.coo_array((table.games, (cell, table.deal)), shape=shape).tocsr()
    won = scipy.sparse.coo_array((table.won, (cell, table.deal)), shape=shape).tocsr()
    role = np.empty(draws)
    strength = np.empty((draws, table.players))
    for draw in range(draws):
        times = rng.multinomial(table.deals, np.full(table.deals, 1 / table.deals))
        games_now, won_now = games @ times, won @ times
        met = games_now > 0
        now = Table(
            players=table.players,
            deal=np.zeros(int(met.sum()), np.int64),
            first=cells[met] // table.players,
            second=cells[met] % table.players,
            games=games_now[met],
            won=won_now[met],
        )
        placed = place(
            now,
            prior=part.prior if part.prior > 0 or _is_finite(now, part) else 1.0,
            roles=2,
            levels=part.levels,
            anchors=anchors,
            role_held=False,
            role_told=part.sides == "compared",
        )
        role[draw] = placed.fit.role
        strength[draw] = placed.strength
    return Drawn(players=part.players, role=role, strength=strength)


def _is_finite(table: Table, part: Part) -> bool:
    """Whether plain maximum likelihood has an answer for this draw."""
    if graphs.parts(table).any():
        return False
    told = part.sides == "compared"
    if told and table.players > 1 and graphs.levels(table) is not None:
        return False
    return not graphs.bounds(table, role=told).any
