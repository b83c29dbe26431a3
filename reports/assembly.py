"""Both models' fits of the same games, joined into one table of standings; pure."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from reports import rounding
from reports.logistic import ELO
from reports.played import Floats, Ints, Played
from reports.ratings import Part, Rated, Settings, interval, rate_bots, spread, superiority
from reports.roles import LikelihoodRatio, RolePart, RoleRated, likelihood_ratio, rate_roles
from reports.shown import (
    SCHEMA,
    Model,
    PartStanding,
    RoleAdvantage,
    RoleTest,
    Standing,
    Standings,
)

__all__ = ["Assembly"]

MAX_TESTED = 200  # bots up to which model B is tested against model A: it takes two more fits


class _Line(msgspec.Struct, kw_only=True):
    """What is known of one bot while the table is put together; in logits."""

    part: int = 0
    group: int = 1
    elo: float | None = None
    se: float | None = None
    se_pool: float | None = None
    ends: tuple[float | None, float | None] = (None, None)
    bounded: bool = False
    sides: dict[str, tuple[float | None, float | None]] = {}


class Assembly:
    """Both fits, joined into one table."""

    def __init__(
        self, played: Played, settings: Settings, model: Model, one: Rated, two: RoleRated
    ) -> None:
        self.played = played
        self.settings = settings
        self.model = model
        self.one = one
        self.two = two
        self.warnings = list(one.warnings)
        self.lines = [_Line() for _ in played.bots]
        count = len(played.bots)
        self.los: Floats = np.full((count, count), np.nan)
        played_x = np.bincount(played.mister_x, minlength=count)
        played_d = np.bincount(played.detectives, minlength=count)
        itself = played.mister_x == played.detectives
        self.counts: dict[str, Ints] = {
            "mister_x": played_x,
            "mister_x_wins": np.bincount(played.mister_x[played.escaped], minlength=count),
            "detectives": played_d,
            "detectives_wins": np.bincount(played.detectives[~played.escaped], minlength=count),
            "games": played_x + played_d - np.bincount(played.mister_x[itself], minlength=count),
        }
        self.low_rank = np.zeros(count, dtype=np.int64)
        self.high_rank = np.zeros(count, dtype=np.int64)

    def make(self) -> Standings:
        """The whole table."""
        for number, part in enumerate(self.one.parts, start=1):
            self.take_one(number, part)
        for role_part in self.two.parts:
            self.take_sides(role_part)
        advantages = [_advantage(part) for part in self.one.parts]
        if self.model == "b":
            self.warnings += [text for text in self.two.warnings if text not in self.warnings]
            self.warnings += [reason for _, reason in self.two.refused]
            self.use_two(advantages)
        self.rank()
        order = sorted(range(len(self.lines)), key=self.place)
        parts = [
            self.part_line(number, part, advantages[number - 1])
            for number, part in enumerate(self.one.parts, start=1)
        ]
        return Standings(
            schema=SCHEMA,
            model=self.model,
            prior=self.settings.prior,
            parts=len(parts),
            games=len(self.played.mister_x),
            role_advantage=advantages[0] if len(parts) == 1 else _UNKNOWN,
            bots=[self.standing(bot) for bot in order],
            los=_rounded_matrix(self.los[np.ix_(order, order)]),
            role_test=self.test(),
            part_list=parts,
            warnings=self.warnings,
        )

    def place(self, bot: int) -> tuple[int, int, float, str]:
        """What bots are ordered by: part, group, rating as it is shown, name."""
        line = self.lines[bot]
        elo = _points(line.elo)
        down = math.inf if elo is None else -elo
        return (line.part, line.group, down, self.played.bots[bot])

    def take_one(self, number: int, part: Part) -> None:
        """Ratings by model A. A bot without another one to compare it with has none."""
        alone = part.comparable().sum(axis=1) == 1
        if len(part.players) == 1:
            self.warnings.append(
                f"{self.played.bots[int(part.players[0])]} met no other bot, so it has no rating"
            )
        elif np.any(alone):
            self.warnings.append(
                "no bot to compare with, so no rating: "
                + ", ".join(self.played.bots[k] for k in part.players[alone].tolist()[:8])
            )
        anchored = {anchor.bot for anchor in self.settings.anchors}
        unsure = False
        for k, bot in enumerate(part.players.tolist()):
            line = self.lines[bot]
            line.part = number
            line.group = 1 + int(part.levels[k])
            if alone[k] and self.played.bots[bot] not in anchored:
                continue
            line.elo = float(part.strength[k])
            line.se = spread(part, 1 + k)
            line.ends = interval(part, k, line.se)
            line.bounded = bool(part.bounded[k])
            if part.pool is not None:
                pool = msgspec.structs.replace(part, covariance=part.pool)
                line.se_pool = spread(pool, 1 + k)
            if line.se is None and self.played.bots[bot] not in anchored:
                unsure = True
        if unsure and part.deals > 1:
            self.warnings.append(
                "every deal told the same about some bots, so their errors can't be told"
            )
        self.los[np.ix_(part.players, part.players)] = superiority(part)

    def take_sides(self, role_part: RolePart) -> None:
        """Strengths by side, by model B."""
        part = role_part.part
        alone = part.comparable().sum(axis=1) == 1
        for k, bot in enumerate(role_part.bots.tolist()):
            sides: dict[str, tuple[float | None, float | None]] = {}
            for side, place in (
                ("mister_x", int(role_part.as_mister_x[k])),
                ("detectives", int(role_part.as_detectives[k])),
            ):
                if place >= 0 and not alone[place]:
                    sides[side] = (float(part.strength[place]), spread(part, 1 + place))
            self.lines[bot].sides = sides

    def use_two(self, advantages: list[RoleAdvantage]) -> None:
        """Take the ratings of model B instead, wherever it has any."""
        for members, _ in self.two.refused:
            if len(members) <= 2:  # nothing that model A does not say already: no numbers
                for bot in members.tolist():
                    self.clear(bot)
                self.los[np.ix_(members, members)] = np.nan
                advantages[self.lines[int(members[0])].part - 1] = _UNKNOWN
            else:
                self.warnings.append("those bots are rated by model a")
        for role_part in self.two.parts:
            if np.any((role_part.as_mister_x >= 0) & (role_part.as_detectives >= 0)):
                self.use_role_part(role_part)
                part = role_part.part
                number = self.lines[int(role_part.bots[0])].part
                advantages[number - 1] = _advantage(part)

    def clear(self, bot: int) -> None:
        """Take a bot's rating back."""
        line = self.lines[bot]
        line.elo = line.se = line.se_pool = None
        line.ends = (None, None)
        line.bounded = False

    def use_role_part(self, role_part: RolePart) -> None:
        """Ratings by model B of one part: the mean of both sides."""
        part = role_part.part
        rows: list[Floats | None] = []
        for k, bot in enumerate(role_part.bots.tolist()):
            row = role_part.row(k, "s")
            rows.append(row)
            self.clear(bot)
            if row is None:
                self.warnings.append(
                    f"{self.played.bots[bot]} played one side only, so it has no common rating"
                )
                continue
            line = self.lines[bot]
            touched = row[1:] != 0
            line.elo = role_part.value(row)
            line.se = spread(part, row)
            line.bounded = bool(np.any(part.bounded[touched]))
            if part.pool is not None:
                line.se_pool = spread(msgspec.structs.replace(part, covariance=part.pool), row)
            if line.se is not None:
                half = part.quantile * line.se
                line.ends = (
                    None if np.any(part.below[touched]) else line.elo - half,
                    None if np.any(part.above[touched]) else line.elo + half,
                )
        self.los[np.ix_(role_part.bots, role_part.bots)] = _superiority_of_rows(role_part, rows)

    def rank(self) -> None:
        """Ranks that stay open: one down for each bot that is surely better (LOS 97.5 %)."""
        sure = np.nan_to_num(self.los, nan=0.5) >= 0.975
        told = ~np.isnan(self.los)
        self.low_rank = 1 + sure.sum(axis=0)
        self.high_rank = 1 + told.sum(axis=1) - sure.sum(axis=1)

    def standing(self, bot: int) -> Standing:
        """One bot's line, rounded."""
        line = self.lines[bot]
        counts = self.counts
        ranked = line.elo is not None and bool(np.any(~np.isnan(self.los[bot])))
        x, d = line.sides.get("mister_x", (None, None)), line.sides.get("detectives", (None, None))
        return Standing(
            name=self.played.bots[bot],
            part=line.part,
            group=line.group,
            elo=_points(line.elo),
            se=_error(line.se),
            se_pool=_error(line.se_pool),
            low=_points(line.ends[0]),
            high=_points(line.ends[1]),
            games=int(counts["games"][bot]),
            bounded=line.bounded,
            mister_x=_points(x[0]),
            mister_x_se=_error(x[1]),
            detectives=_points(d[0]),
            detectives_se=_error(d[1]),
            mister_x_games=int(counts["mister_x"][bot]),
            mister_x_wins=int(counts["mister_x_wins"][bot]),
            detectives_games=int(counts["detectives"][bot]),
            detectives_wins=int(counts["detectives_wins"][bot]),
            rank_low=int(self.low_rank[bot]) if ranked else None,
            rank_high=int(self.high_rank[bot]) if ranked else None,
        )

    def part_line(self, number: int, part: Part, advantage: RoleAdvantage) -> PartStanding:
        """One part's line."""
        inside = np.isin(self.played.mister_x, part.players)
        return PartStanding(
            part=number,
            bots=len(part.players),
            deals=part.deals,
            games=int(np.sum(inside)),
            prior=part.prior,
            sides_comparable=part.sides == "compared",
            role_advantage=advantage,
        )

    def test(self) -> RoleTest | None:
        """Model B against model A, by fits without a prior, where both have one."""
        if len(self.lines) > MAX_TESTED or self.two.refused:
            return None
        if any(part.bounded.any() for part in self.one.parts):
            return None
        bare = Settings(prior=0.0)
        told = likelihood_ratio(rate_bots(self.played, bare), rate_roles(self.played, bare))
        return None if told is None else _shown_test(told)


_UNKNOWN = RoleAdvantage(elo=None, se=None, low=None, high=None, bounded=False)


def _advantage(part: Part) -> RoleAdvantage:
    if part.sides == "unknown":
        return _UNKNOWN
    se = spread(part, 0)
    shown = se is not None and not part.role_bounded
    half = part.quantile * se if se is not None else 0.0
    return RoleAdvantage(
        elo=_points(part.role),
        se=_error(se),
        low=_points(part.role - half) if shown else None,
        high=_points(part.role + half) if shown else None,
        bounded=part.role_bounded,
    )


def _superiority_of_rows(role_part: RolePart, rows: list[Floats | None]) -> Floats:
    """LOS of the bots' s; NaN where one of them has none."""
    part = role_part.part
    size = len(rows)
    told: Ints = np.array([k for k, row in enumerate(rows) if row is not None], dtype=np.int64)
    los = np.full((size, size), np.nan)
    if not len(told):
        return los
    combine = np.array([row for row in rows if row is not None])
    above = combine[:, 1:] @ part.above > 0
    below = combine[:, 1:] @ part.below > 0
    covariance = part.covariance
    as_bots = msgspec.structs.replace(
        part,
        players=told,
        levels=np.zeros_like(told),
        strength=combine[:, 1:] @ part.strength,
        covariance=None if covariance is None else _with_role(combine @ covariance @ combine.T),
        fisher=_with_role(combine @ part.fisher @ combine.T),
        above=above,
        below=below,
    )
    los[np.ix_(told, told)] = superiority(as_bots)
    return los


def _with_role(covariance: Floats) -> Floats:
    """Put an empty row and column in front, where a part keeps its role term."""
    return np.pad(covariance, ((1, 0), (1, 0)))


def _shown_test(test: LikelihoodRatio) -> RoleTest:
    return RoleTest(chi2=rounding.ratio(test.statistic), df=test.df, p=float(f"{test.p:.6g}"))


def _points(logits: float | None) -> float | None:
    return None if logits is None else rounding.elo(logits * ELO)


def _error(logits: float | None) -> float | None:
    return None if logits is None else rounding.error(logits * ELO)


def _rounded_matrix(los: Floats) -> list[list[float | None]]:
    rounded = np.round(los, 6).tolist()
    return [[None if value != value else value for value in row] for row in rounded]
