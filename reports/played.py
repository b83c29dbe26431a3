"""Games that have a winner, as arrays: what every statistic here starts from; pure.

The numbering is canonical: bots by name, deals by label. So no result depends on the order in
which the games are given, down to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Floats", "Ints", "Played", "Table", "added", "gather", "tabulate"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


class Played(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Games with a winner. The four arrays have one entry a game."""

    bots: tuple[str, ...]  # in the order of their names
    mister_x: Ints  # index into `bots`
    detectives: Ints  # index into `bots`
    escaped: Bools  # whether Mister X won
    deal: Ints  # games with the same number share a deal, and so its luck


class Table(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Counts of equal games: one row for each (deal, first, second) that was played.

    `first` and `second` are players of a fit: bots, or (in the model with two strengths a bot) a
    bot on one side. Rows are in the order of (deal, first, second).
    """

    players: int
    deal: Ints  # numbered from 0 without gaps
    first: Ints  # who played Mister X
    second: Ints  # who played the detectives
    games: Floats
    won: Floats  # games that `first` won

    @property
    def deals(self) -> int:
        """How many deals there are: the clusters of the error bars."""
        return int(self.deal[-1]) + 1 if len(self.deal) else 0


def gather(
    mister_x: Sequence[str],
    detectives: Sequence[str],
    escaped: Sequence[bool] | Bools,
    deals: Sequence[str | None],
) -> Played:
    """Number bots and deals; the four sequences have one entry a game, in any order.

    Args:
        mister_x: name of the bot that played Mister X.
        detectives: name of the bot that played the detectives.
        escaped: whether Mister X won.
        deals: label of the deal; `None` or an empty text is a deal that no other game shares.
    """
    names = sorted({*mister_x, *detectives})
    number = {name: k for k, name in enumerate(names)}
    first = _numbered(mister_x, number)
    second = _numbered(detectives, number)
    won = np.asarray(escaped, dtype=np.bool_)
    labels = sorted({label for label in deals if label})
    place: dict[str | None, int] = {label: k for k, label in enumerate(labels)}
    place[None] = place[""] = -1
    deal = _numbered(deals, place)
    alone = np.flatnonzero(deal < 0)
    # Such games differ only by who played and who won: that order makes the numbering canonical.
    order = np.lexsort((won[alone], second[alone], first[alone]))
    deal[alone[order]] = len(labels) + np.arange(len(alone))
    return Played(bots=tuple(names), mister_x=first, detectives=second, escaped=won, deal=deal)


def _numbered(labels: Sequence[str | None], number: dict[str, int] | dict[str | None, int]) -> Ints:
    return np.fromiter(map(number.__getitem__, labels), np.int64, len(labels))  # type: ignore[arg-type]


def added(index: Ints, values: Floats, length: int) -> Floats:
    """Sum of `values` for each index from 0 to `length - 1`."""
    return np.bincount(index, values, length).astype(np.float64, copy=False)


def tabulate(players: int, first: Ints, second: Ints, won: Bools, deal: Ints) -> Table:
    """Count equal games. The arrays have one entry a game; deals are numbered anew from 0."""
    if not len(first):
        none = np.zeros(0, np.int64)
        empty = np.zeros(0)
        return Table(players=players, deal=none, first=none, second=none, games=empty, won=empty)
    key = (deal * players + first) * players + second
    cells, inverse = np.unique(key, return_inverse=True)
    games = np.bincount(inverse, minlength=len(cells)).astype(np.float64)
    wins = added(inverse, won.astype(np.float64), len(cells))
    old = cells // (players * players)
    new = np.cumsum(np.concatenate(([0], (np.diff(old) != 0).astype(np.int64))))
    return Table(
        players=players,
        deal=new,
        first=cells // players % players,
        second=cells % players,
        games=games,
        won=wins,
    )
