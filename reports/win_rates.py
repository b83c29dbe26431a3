"""Shares of games won, by side and by opponent, with Wilson's intervals; pure.

Nothing here is a rating: a share tells how a bot did against the bots that it met.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
import numpy as np

from reports.played import Floats, Ints, Played

__all__ = ["Matrix", "Share", "by_bot", "matrix", "share", "wilson"]

Z_95 = 1.959963984540054


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """A share of games won, with its 95 % interval; all `null` without games. From 0 to 1."""

    games: int
    wins: int
    rate: float | None
    low: float | None
    high: float | None


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """How often the row's bot escaped from the column's as Mister X.

    `cells[i][j]` belongs to `mister_x[i]` against `detectives[j]`. Averages take each opponent
    that was met alike, whatever the number of games: `mister_x_average[i]` is the mean escape rate
    of a row, `detectives_average[j]` the mean catch rate of a column.
    """

    mister_x: list[str]
    detectives: list[str]
    cells: list[list[Share]]
    mister_x_average: list[float | None]
    detectives_average: list[float | None]


def wilson(wins: Ints, games: Ints) -> tuple[Floats, Floats]:
    """Both ends of Wilson's 95 % interval (Wilson 1927), elementwise; 0 and 1 without games."""
    n = np.maximum(games, 1).astype(np.float64)
    p = wins / n
    scale = 1 + Z_95**2 / n
    middle = (p + Z_95**2 / (2 * n)) / scale
    half = Z_95 * np.sqrt(p * (1 - p) / n + Z_95**2 / (4 * n * n)) / scale
    # At no wins and at no losses an end is exactly 0 or 1, which rounding could miss.
    low = np.where(wins <= 0, 0.0, np.maximum(middle - half, 0.0))
    high = np.where(wins >= games, 1.0, np.minimum(middle + half, 1.0))
    return np.where(games > 0, low, 0.0), np.where(games > 0, high, 1.0)


@lru_cache(maxsize=50_000)  # pages ask for the same few counts again and again
def share(wins: int, games: int) -> Share:
    """One share, rounded to five places."""
    if games <= 0:
        return Share(games=0, wins=0, rate=None, low=None, high=None)
    low, high = wilson(np.array([wins]), np.array([games]))
    return Share(
        games=games,
        wins=wins,
        rate=round(wins / games, 5),
        low=round(float(low[0]), 5),
        high=round(float(high[0]), 5),
    )


def by_bot(played: Played) -> dict[str, tuple[Share, Share]]:
    """Each bot's share as Mister X, and as the detectives."""
    count = len(played.bots)
    as_x = np.bincount(played.mister_x, minlength=count)
    won_x = np.bincount(played.mister_x[played.escaped], minlength=count)
    as_d = np.bincount(played.detectives, minlength=count)
    won_d = np.bincount(played.detectives[~played.escaped], minlength=count)
    return {
        name: (share(int(won_x[k]), int(as_x[k])), share(int(won_d[k]), int(as_d[k])))
        for k, name in enumerate(played.bots)
    }


def matrix(played: Played, order: list[str] | None = None) -> Matrix:
    """Escape rate of every bot that played Mister X against every bot that hunted.

    Args:
        played: the games that count.
        order: bots in the order wanted, such as by rating; by name if `None`.
    """
    count = len(played.bots)
    names = {name: k for k, name in enumerate(played.bots)}
    key = played.mister_x * count + played.detectives
    games = np.bincount(key, minlength=count * count).reshape(count, count)
    wins = np.bincount(key[played.escaped], minlength=count * count).reshape(count, count)
    ordered = [names[name] for name in (order or played.bots) if name in names]
    rows = [k for k in ordered if games[k].any()]
    columns = [k for k in ordered if games[:, k].any()]
    games, wins = games[np.ix_(rows, columns)], wins[np.ix_(rows, columns)]
    low, high = wilson(wins, games)
    rate = np.divide(wins, games, out=np.full(games.shape, np.nan), where=games > 0)
    cells = [
        [
            Share(
                games=int(games[i, j]),
                wins=int(wins[i, j]),
                rate=round(float(rate[i, j]), 5),
                low=round(float(low[i, j]), 5),
                high=round(float(high[i, j]), 5),
            )
            if games[i, j]
            else Share(games=0, wins=0, rate=None, low=None, high=None)
            for j in range(len(columns))
        ]
        for i in range(len(rows))
    ]
    return Matrix(
        mister_x=[played.bots[k] for k in rows],
        detectives=[played.bots[k] for k in columns],
        cells=cells,
        mister_x_average=_averages(rate),
        detectives_average=_averages(1 - rate.T),
    )


def _averages(rate: Floats) -> list[float | None]:
    """Mean of each row over the cells that were played; every row has one."""
    return [round(float(np.nanmean(row)), 5) + 0.0 for row in rate]
