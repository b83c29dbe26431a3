"""Ratings with two strengths a bot, one on each side: model B; pure.

    logit P(Mister X escapes) = role + x[X bot] - d[detectives bot]

It is model A with every bot cut into two players of one side each. A bot's strength is s = (x+d)/2,
and t = (x-d)/2 tells how much better it is as Mister X than as the detectives.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np
from scipy.special import chdtrc

from arena.errors import ConfigError
from reports import graphs
from reports.logistic import both_ways
from reports.played import Floats, Ints, Played, Table, tabulate
from reports.ratings import Anchor, Part, Rated, Settings, check, rate_players

__all__ = ["LikelihoodRatio", "RolePart", "RoleRated", "likelihood_ratio", "rate_roles"]


class RolePart(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One connected part with two strengths a bot.

    Attributes:
        bots: numbers of its bots, rising.
        part: the fit by players; a player is a bot on one side.
        as_mister_x: for each bot its place among the players, -1 if it never played that side.
        as_detectives: the same for the other side.
    """

    bots: Ints
    part: Part
    as_mister_x: Ints
    as_detectives: Ints

    def row(self, bot: int, what: Literal["mister_x", "detectives", "s", "t"]) -> Floats | None:
        """Weights of (role, players) that give a number of a bot; `None` if a side is missing.

        Args:
            bot: place in `bots`.
            what: its strength on a side, or s or t.
        """
        x, d = int(self.as_mister_x[bot]), int(self.as_detectives[bot])
        row = np.zeros(1 + len(self.part.players))
        if what in ("s", "t"):
            if x < 0 or d < 0:
                return None
            row[1 + x] = 0.5
            row[1 + d] = 0.5 if what == "s" else -0.5
            return row
        place = x if what == "mister_x" else d
        if place < 0:
            return None
        row[1 + place] = 1.0
        return row

    def value(self, row: Floats) -> float:
        """The combination `row` of (role, strengths), in logits."""
        return float(row @ np.concatenate(([self.part.role], self.part.strength)))


class RoleRated(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """All parts of model B that can be told, and why others can't.

    Attributes:
        bots: names.
        parts: fitted parts.
        refused: numbers of the bots of each part that was refused, and the reason.
        warnings: what else to tell.
        log_likelihood: of the games of all parts, refused ones included.
    """

    bots: tuple[str, ...]
    parts: tuple[RolePart, ...]
    refused: tuple[tuple[Ints, str], ...]
    warnings: tuple[str, ...]
    log_likelihood: float


class LikelihoodRatio(msgspec.Struct, frozen=True, kw_only=True):
    """Test of two strengths a bot (model B) against one (model A)."""

    statistic: float  # chi-squared if one strength a bot is the truth
    df: int
    p: float


def rate_roles(played: Played, settings: Settings) -> RoleRated:
    """Rate bots with two strengths each (model B), part by part.

    A part whose games fall apart once its sides are told apart is refused. Two bots that never met
    themselves are the usual case: only x[A]-d[B] and x[B]-d[A] are seen.

    Raises:
        ConfigError: if anchors can't be met; this model takes one exact anchor at most.
    """
    check(settings, played.bots)
    if len(settings.anchors) > 1 or any(anchor.sd is not None for anchor in settings.anchors):
        raise ConfigError("model b takes one exact anchor at most; use model a for more")
    count = len(played.bots)
    if not len(played.mister_x):
        return RoleRated(bots=played.bots, parts=(), refused=(), warnings=(), log_likelihood=0.0)
    label = graphs.parts(
        tabulate(count, played.mister_x, played.detectives, played.escaped, played.deal)
    )
    table = tabulate(
        2 * count, played.mister_x, played.detectives + count, played.escaped, played.deal
    )
    used, table = _drop_unused(table)
    names = tuple(
        f"{played.bots[k % count]} as {'Mister X' if k < count else 'the detectives'}"
        for k in used.tolist()
    )
    rated = rate_players(table, names, msgspec.structs.replace(settings, anchors=()), roles=1)
    pieces = np.bincount(
        [label[used[part.players[0]] % count] for part in rated.parts], minlength=label.max() + 1
    )
    kept: list[RolePart] = []
    warnings = list(rated.warnings[1:] if len(rated.parts) > 1 else rated.warnings)
    for part in rated.parts:
        if pieces[label[used[part.players[0]] % count]] == 1:
            role_part, told = _role_part(part, used, count, settings, played.bots)
            kept.append(role_part)
            warnings += told
    refused = tuple(
        (members, _tell_refused(members, played.bots))
        for members in (np.flatnonzero(label == k) for k in np.flatnonzero(pieces > 1))
    )
    return RoleRated(
        bots=played.bots,
        parts=tuple(kept),
        refused=refused,
        warnings=tuple(warnings),
        log_likelihood=rated.log_likelihood,
    )


def _drop_unused(table: Table) -> tuple[Ints, Table]:
    """Leave out the sides that a bot never played."""
    used = np.unique(np.concatenate((table.first, table.second)))
    place = np.zeros(table.players, dtype=np.int64)
    place[used] = np.arange(len(used))
    return used, msgspec.structs.replace(
        table, players=len(used), first=place[table.first], second=place[table.second]
    )


def _tell_refused(members: Ints, names: tuple[str, ...]) -> str:
    shown = ", ".join(names[k] for k in members.tolist()[:8])
    if len(members) > 8:
        shown += f" and {len(members) - 8} more"
    start = f"strengths by side are not identified for {shown}"
    if len(members) == 2:
        return f"{start}: with two bots they need a third one, or games of a bot against itself"
    return f"{start}: who met whom falls apart once the sides are told apart"


def _role_part(
    part: Part, used: Ints, count: int, settings: Settings, names: tuple[str, ...]
) -> tuple[RolePart, list[str]]:
    """Look up the sides of each bot, and move the zero to the anchor if it is here."""
    players = used[part.players]
    bots = np.unique(players % count)
    place = {player: k for k, player in enumerate(players.tolist())}
    made = RolePart(
        bots=bots,
        part=part,
        as_mister_x=np.array([place.get(bot, -1) for bot in bots.tolist()], dtype=np.int64),
        as_detectives=np.array([place.get(bot + count, -1) for bot in bots.tolist()], np.int64),
    )
    for anchor in settings.anchors:
        where = np.flatnonzero(bots == names.index(anchor.bot))
        if len(where):
            return _anchored(made, int(where[0]), anchor)
    return made, []


def _anchored(made: RolePart, bot: int, anchor: Anchor) -> tuple[RolePart, list[str]]:
    """Shift both strengths of every bot so that the anchor's s is as given."""
    row = made.row(bot, "s")
    if row is None:
        text = f"anchor {anchor.bot} played one side only: strengths by side stay about the mean"
        return made, [text]
    part = made.part

    def change(beta: Floats) -> Floats:
        moved = beta.copy()
        moved[1:] -= row @ beta
        return moved

    clustered = part.covariance
    moved = msgspec.structs.replace(
        part,
        strength=part.strength + (anchor.logits - made.value(row)),
        covariance=None if clustered is None else both_ways(clustered, change),
        fisher=both_ways(part.fisher, change),
        pool=clustered,
    )
    return msgspec.structs.replace(made, part=moved), []


def likelihood_ratio(one: Rated, two: RoleRated) -> LikelihoodRatio | None:
    """Test model B against model A, both fitted to the same games without a prior.

    Returns:
        `None` unless every part was fitted by plain maximum likelihood in both models.
    """
    if two.refused or not two.parts:
        return None
    fitted = (*one.parts, *(role_part.part for role_part in two.parts))
    if any(part.prior != 0 for part in fitted):
        return None
    df = sum(_parameters(role_part.part) for role_part in two.parts)
    df -= sum(_parameters(part) for part in one.parts)
    statistic = 2 * (two.log_likelihood - one.log_likelihood)
    if df < 1 or statistic < 0:
        return None
    return LikelihoodRatio(statistic=statistic, df=df, p=float(chdtrc(df, statistic)))


def _parameters(part: Part) -> int:
    """How many numbers the games of a part determine."""
    return len(part.players) if part.sides == "compared" else len(part.players) - 1
