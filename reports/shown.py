"""Ratings as they are shown: one line a bot, in Elo points, with `null` where nothing can be said.

`Standings` is what `arena rate --json` prints and what reports hold.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

__all__ = [
    "SCHEMA",
    "Model",
    "PartStanding",
    "RoleAdvantage",
    "RoleTest",
    "Standing",
    "Standings",
]

SCHEMA = "arena.ratings/1"
Model: TypeAlias = Literal["a", "b"]


class RoleAdvantage(msgspec.Struct, frozen=True, kw_only=True):
    """Advantage of Mister X over the detectives among equal bots, in Elo points."""

    elo: float | None
    se: float | None
    low: float | None
    high: float | None
    bounded: bool  # whether only the prior bounds it


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One bot's line. Elo points about its part's mean, or as anchored; 95 % intervals.

    Attributes:
        name: of the bot.
        part: number of its part, from 1; ratings of different parts can't be compared.
        group: within its part, from 1; more than one where sides can't be compared.
        elo: rating; `null` if there is nobody to compare it with.
        se: error of `elo` by clustering on deals, with G/(G-1); with one anchor, of the gap to it.
        se_pool: the same about the mean of the part, where an anchor moved the zero.
        low: lower end of the interval; `null` if it is open or unknown.
        high: upper end.
        games: with a winner.
        bounded: whether only the prior keeps the rating finite: the interval has an open end.
        mister_x: strength as Mister X by the model with two strengths a bot; `null` if not told.
        detectives: strength as the detectives.
        mister_x_se, detectives_se: their errors.
        mister_x_games, mister_x_wins, detectives_games, detectives_wins: counts.
        rank_low, rank_high: ranks in its part that the games leave open, by LOS 97.5 %.
    """

    name: str
    part: int
    group: int
    elo: float | None
    se: float | None
    se_pool: float | None
    low: float | None
    high: float | None
    games: int
    bounded: bool
    mister_x: float | None
    mister_x_se: float | None
    detectives: float | None
    detectives_se: float | None
    mister_x_games: int
    mister_x_wins: int
    detectives_games: int
    detectives_wins: int
    rank_low: int | None
    rank_high: int | None


class PartStanding(msgspec.Struct, frozen=True, kw_only=True):
    """One connected part: its own zero, its own role advantage."""

    part: int
    bots: int
    deals: int
    games: int
    prior: float
    sides_comparable: bool
    role_advantage: RoleAdvantage


class RoleTest(msgspec.Struct, frozen=True, kw_only=True):
    """Likelihood-ratio test: do bots differ in how they are better on one side?"""

    chi2: float
    df: int
    p: float


class Standings(msgspec.Struct, frozen=True, kw_only=True):
    """What `arena rate --json` prints.

    `los[i][j]` is the likelihood that bot i is stronger than bot j, both in the order of `bots`.
    `role_advantage` has `null`s if there are several parts; `part_list` has it for each.
    """

    schema: str
    model: Model
    prior: float
    parts: int
    games: int
    role_advantage: RoleAdvantage
    bots: list[Standing]
    los: list[list[float | None]]
    role_test: RoleTest | None
    part_list: list[PartStanding]
    warnings: list[str]
