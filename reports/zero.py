"""One part's fit, and where its zero lies: at its players' mean, or where anchors put it; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

import msgspec
import numpy as np

from reports.logistic import ELO, Change, Fit, Prior, fit
from reports.played import Floats, Ints, Table

__all__ = ["Anchors", "Placed", "place"]

Anchors: TypeAlias = Mapping[int, tuple[float, float | None]]  # player → (elo, sd or exact)


class Placed(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A part's fit in logits, its zero where it belongs.

    Attributes:
        fit: relative to the mean of each level, or to a single exact anchor.
        shift: what to add to the strengths of `fit`, one a player.
        pool: relative to the mean, where an anchor moved the zero; else `None`.
        log_likelihood: of the games.
    """

    fit: Fit
    shift: Floats
    pool: Fit | None
    log_likelihood: float

    @property
    def strength(self) -> Floats:
        """Strengths as they are shown, one a player."""
        return np.asarray(self.fit.strength + self.shift)


def place(
    table: Table,
    *,
    prior: float,
    roles: int,
    levels: Ints,
    anchors: Anchors,
    role_held: bool,
    role_told: bool,
) -> Placed:
    """Fit one connected part and put its zero where it belongs.

    Args:
        table: its games.
        prior: virtual games a player and role, half of them won.
        roles: how many roles a player's strength stands for.
        levels: level of each player, all 0 where sides can be compared.
        anchors: known ratings of its players.
        role_held: whether the model has no role term.
        role_told: whether the games tell the role term from the strengths.
    """
    several = len(anchors) > 1 or any(sd is not None for _, sd in anchors.values())
    held = [0] if role_held or (prior == 0 and not role_told) else []
    if several:
        # The virtual games are against an average opponent: the mean of the anchors.
        middle = math.fsum(elo for elo, _ in anchors.values()) / len(anchors) / ELO
        raw = fit(
            table,
            Prior(
                player=prior * roles / 2,
                role=prior / 2,
                fixed={k: elo / ELO - middle for k, (elo, sd) in anchors.items() if sd is None},
                loose={
                    k: (elo / ELO - middle, sd / ELO)
                    for k, (elo, sd) in anchors.items()
                    if sd is not None
                },
            ),
            held=np.array(held, dtype=np.int64),
        )
        shift = np.full(table.players, middle)
        return Placed(fit=raw, shift=shift, pool=None, log_likelihood=raw.log_likelihood)
    if prior == 0:  # only gaps are identified: hold one player
        held.append(1)
    raw = fit(
        table,
        Prior(player=prior * roles / 2, role=prior / 2),
        held=np.array(held, dtype=np.int64),
    )
    pool = raw.mapped(_to_mean(levels))
    shift = np.zeros(table.players)
    for k, (elo, _) in anchors.items():
        shift[levels == levels[k]] = elo / ELO
        return Placed(
            fit=raw.mapped(_to_anchor(levels, k)),
            shift=shift,
            pool=pool,
            log_likelihood=raw.log_likelihood,
        )
    return Placed(fit=pool, shift=shift, pool=None, log_likelihood=raw.log_likelihood)


def _to_mean(levels: Ints) -> Change:
    """Centre each level on 0; with two levels the role term takes up what they lose."""
    count = np.bincount(levels)

    def change(beta: Floats) -> Floats:
        means = [beta[1 + np.flatnonzero(levels == k)].sum(axis=0) / n for k, n in enumerate(count)]
        moved = beta.copy()
        moved[1:] -= np.stack(means)[levels]
        if len(count) == 2:
            moved[0] += means[0] - means[1]
        return moved

    return change


def _to_anchor(levels: Ints, anchor: int) -> Change:
    """Put the anchor's level relative to the anchor instead."""
    centre = _to_mean(levels)
    level = 1 + np.flatnonzero(levels == levels[anchor])

    def change(beta: Floats) -> Floats:
        moved = centre(beta)
        moved[level] -= moved[1 + anchor].copy()
        return moved

    return change
