"""Ratings as they are shown: in Elo points, rounded, with `null` where nothing can be said.

`rate` gives one plain object that goes to JSON as it is; numbers are rounded here and nowhere
else, so that equal games give equal bytes.
"""

from __future__ import annotations

import math
from typing import Literal, Protocol

import msgspec
import numpy as np

from arena.errors import ConfigError
from reports import rounding
from reports.logistic import ELO
from reports.played import Floats, Ints, Played
from reports.ratings import Anchor, Part, Rated, Settings, interval, rate_bots, spread, superiority
from reports.roles import LikelihoodRatio, RolePart, RoleRated, likelihood_ratio, rate_roles

__all__ = [
    "SCHEMA",
    "PartStanding",
    "RoleAdvantage",
    "RoleTest",
    "Standing",
    "Standings",
    "parse_anchor",
    "rate",
    "standings",
]

SCHEMA = "arena.ratings/1"
MAX_TESTED = 200  # bots up to which model B is tested against model A: it takes two more fits
Model = Literal["a", "b"]


class HasPlayed(Protocol):
    """Anything that has games with a winner, such as `reports.frames.Games`."""

    def played(self) -> Played:
        """The games that count, as arrays."""
        ...


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


def parse_anchor(text: str) -> Anchor:
    """Read `NAME=ELO`, or `NAME=ELO~SD` for an anchor known up to a normal error.

    Raises:
        ConfigError: if the text has another form.
    """
    name, _, value = text.rpartition("=")
    elo, tilde, sd = (value if name else "").partition("~")
    try:
        return Anchor(bot=name, elo=float(elo), sd=float(sd) if tilde else None)
    except ValueError as exc:
        raise ConfigError(
            f"--anchor {text!r} is not NAME=ELO; write for instance greedy=1500, or "
            "greedy=1500~20 for a rating known up to 20 Elo"
        ) from exc


def rate(
    games: HasPlayed,
    *,
    prior: float = 1.0,
    anchor: str | Anchor | list[Anchor] | tuple[Anchor, ...] | None = None,
    model: Model = "a",
) -> dict[str, object]:
    """Rate bots; the result holds only what JSON has, and never a NaN.

    Args:
        games: those with a winner count.
        prior: virtual games a bot and role; 0 for plain maximum likelihood.
        anchor: `NAME=ELO`, or anchors; `None` puts each part's mean at 0.
        model: `a` for one strength a bot, `b` for one a side (their mean is then the rating).

    Raises:
        ConfigError: if an anchor or the prior can't be met.
    """
    anchors: tuple[Anchor, ...] = ()
    if isinstance(anchor, str):
        anchors = (parse_anchor(anchor),)
    elif isinstance(anchor, Anchor):
        anchors = (anchor,)
    elif anchor is not None:
        anchors = tuple(anchor)
    settings = Settings(prior=prior, anchors=anchors)
    made = msgspec.to_builtins(standings(games.played(), settings, model=model))
    assert isinstance(made, dict)  # noqa: S101 - for the type checker; a struct gives a dict
    return made


def standings(played: Played, settings: Settings, *, model: Model = "a") -> Standings:
    """Rate bots by one of the models; strengths by side come from model B wherever it can tell.

    Raises:
        ConfigError: if an anchor or the prior can't be met.
    """
    one = rate_bots(played, settings)
    exact = len(settings.anchors) == 1 and settings.anchors[0].sd is None
    by_side = settings
    if model == "a" and settings.anchors and not exact:
        by_side = msgspec.structs.replace(settings, anchors=())
    two = rate_roles(played, by_side)
    return _Assembly(played, settings, model, one, two).make()


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


class _Assembly:
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
        line = self.lines[bot]
        line.elo = line.se = line.se_pool = None
        line.ends = (None, None)
        line.bounded = False

    def use_role_part(self, role_part: RolePart) -> None:
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
