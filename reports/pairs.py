"""Game pairs: one deal played twice with sides swapped, and what they tell of two bots; pure.

A pair is won both times (WW), lost both times (LL) or split. Split pairs are those that both Mister
X sides won (XX) or both detectives sides (DD): they tell how uneven deals are, not who is stronger.
Given that a pair is decided, P(WW) = 1/(1 + exp(-2 gap)) whatever the deal (Cox 1958; Rasch 1960).
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from scipy.special import bdtrc, ndtr

from reports.logistic import ELO
from reports.played import Bools, Ints, Played, tabulate
from reports.ratings import Part, Rated, Settings, rate_players

__all__ = [
    "Z_95",
    "Conditional",
    "GamePairs",
    "Modelled",
    "PairCounts",
    "Scored",
    "conditional",
    "five",
    "modelled",
    "pair_up",
    "rate_decided",
    "scored",
]

Z_95 = 1.959963984540054
NO_COUNT = 1e-3  # stands for a count of zero, as in fishtest's tests
EDGE = 1e-3  # scores nearer to 0 or 1 are taken for this far, as fishtest does
SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # of [LL, LD, WL or DD, WD, WW] in chess
NORMAL_ELO = 800 / math.log(10)  # normalized Elo in one unit of t of a game


class PairCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many pairs ended how, for the first of two bots. From 0."""

    lost: int  # LL
    split: int  # both XX and DD
    won: int  # WW

    @property
    def pairs(self) -> int:
        """All of them."""
        return self.lost + self.split + self.won

    @property
    def decided(self) -> int:
        """Those that one bot won both times."""
        return self.lost + self.won


class GamePairs(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Complete pairs in the order in which they were completed; arrays have one entry a pair.

    Attributes:
        bots: names.
        one: index into `bots`.
        other: the same; never equal to `one`.
        deal: as in `Played`.
        as_mister_x: whether `one` won as Mister X.
        as_detectives: whether `one` won as the detectives.
        unpaired: games without a partner, games of a bot against itself among them.
    """

    bots: tuple[str, ...]
    one: Ints
    other: Ints
    deal: Ints
    as_mister_x: Bools
    as_detectives: Bools
    unpaired: int

    def __len__(self) -> int:
        return len(self.one)

    @property
    def won(self) -> Bools:
        """Pairs that `one` won both times."""
        return self.as_mister_x & self.as_detectives

    @property
    def lost(self) -> Bools:
        """Pairs that `one` lost both times."""
        return ~(self.as_mister_x | self.as_detectives)

    @property
    def both_escaped(self) -> Bools:
        """XX: pairs in which Mister X won both games."""
        return self.as_mister_x & ~self.as_detectives

    @property
    def both_caught(self) -> Bools:
        """DD: pairs in which the detectives won both games."""
        return ~self.as_mister_x & self.as_detectives

    def counts(self) -> PairCounts:
        """Counts for `one`; of use where that is the same bot in every pair."""
        won, lost = int(np.sum(self.won)), int(np.sum(self.lost))
        return PairCounts(lost=lost, split=len(self) - won - lost, won=won)

    def between(self, one: str, other: str) -> GamePairs:
        """The pairs of two bots, seen from `one`; none if either is not known."""
        number = {name: k for k, name in enumerate(self.bots)}
        a, b = number.get(one, -1), number.get(other, -1)
        straight = (self.one == a) & (self.other == b)
        turned = (self.one == b) & (self.other == a)
        which = straight | turned
        back = turned[which]
        return GamePairs(
            bots=self.bots,
            one=np.where(back, self.other[which], self.one[which]),
            other=np.where(back, self.one[which], self.other[which]),
            deal=self.deal[which],
            as_mister_x=np.where(back, ~self.as_detectives[which], self.as_mister_x[which]),
            as_detectives=np.where(back, ~self.as_mister_x[which], self.as_detectives[which]),
            unpaired=self.unpaired,
        )


def pair_up(played: Played) -> GamePairs:
    """Find the complete pairs; a pair stands where the later of its games stands.

    Where two bots met more than once on a deal with the same sides, the first of these games goes
    with the first of the others, and so on.

    Args:
        played: games in plan order, if the order of the pairs is of interest.
    """
    count = len(played.bots)
    one = np.minimum(played.mister_x, played.detectives)
    other = np.maximum(played.mister_x, played.detectives)
    key = (played.deal * count + one) * count + other
    there = np.flatnonzero(played.mister_x < played.detectives)
    back = np.flatnonzero(played.mister_x > played.detectives)
    times = max(_most(key[there]), _most(key[back]), 1)
    _, first, second = np.intersect1d(
        key[there] * times + _occurrence(key[there]),
        key[back] * times + _occurrence(key[back]),
        assume_unique=True,
        return_indices=True,
    )
    first, second = there[first], back[second]
    order = np.argsort(np.maximum(first, second), kind="stable")
    first, second = first[order], second[order]
    return GamePairs(
        bots=played.bots,
        one=one[first],
        other=other[first],
        deal=played.deal[first],
        as_mister_x=played.escaped[first],
        as_detectives=~played.escaped[second],
        unpaired=len(key) - 2 * len(first),
    )


def _most(key: Ints) -> int:
    """How often the most frequent key stands there."""
    return int(np.unique(key, return_counts=True)[1].max(initial=0))


def _occurrence(key: Ints) -> Ints:
    """For each entry how often the same key stands before it."""
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    start = np.searchsorted(ranked, ranked)
    place = np.empty_like(order)
    place[order] = np.arange(len(key)) - start
    return np.asarray(place, dtype=np.int64)


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs as fishtest and fastchess score them, for comparison. Halves are of 95 % intervals.

    It understates strength when the sides are uneven, because the two games of a pair then lie on
    different slopes.

    Attributes:
        mean: score a pair, from 0 to 1.
        variance: of one pair's score.
        elo: of the mean score.
        elo_half: half the width of its interval.
        normalized: normalized Elo, by the t-value of a game.
        normalized_half: half the width of its interval.
        los: likelihood that the first bot is stronger.
    """

    mean: float
    variance: float
    elo: float
    elo_half: float
    normalized: float
    normalized_half: float
    los: float


def five(counts: PairCounts) -> tuple[float, ...]:
    """Counts as [LL, 0, split, 0, WW], the form of tests for games that can be drawn."""
    return (float(counts.lost), 0.0, float(counts.split), 0.0, float(counts.won))


def scored(counts: tuple[float, ...], *, no_count: float = NO_COUNT) -> Scored:
    """Score view of pairs.

    Args:
        counts: five, as `five` makes them; their sum is above 0.
        no_count: what counts of zero are taken for; 0 only with counts of two kinds or more.
    """
    n = np.maximum(np.array(counts, dtype=np.float64), no_count)
    pairs = float(n.sum())
    mean = float(n @ SCORES) / pairs
    variance = float(n @ (SCORES - mean) ** 2) / pairs
    error = math.sqrt(variance / pairs)
    low, high = mean - Z_95 * error, mean + Z_95 * error
    return Scored(
        mean=mean,
        variance=variance,
        elo=_elo_of_score(mean),
        elo_half=(_elo_of_score(high) - _elo_of_score(low)) / 2,
        normalized=(mean - 0.5) / math.sqrt(2 * variance) * NORMAL_ELO,
        normalized_half=Z_95 * NORMAL_ELO / math.sqrt(2 * pairs),
        los=float(ndtr((mean - 0.5) / error)),
    )


def _elo_of_score(score: float) -> float:
    score = min(max(score, EDGE), 1 - EDGE)
    return ELO * math.log(score / (1 - score))


class Modelled(msgspec.Struct, frozen=True, kw_only=True):
    """Gap and role advantage of two bots by the joint model, in Elo points; errors by pairs."""

    gap: float
    gap_se: float
    role: float
    role_se: float


def modelled(both_escaped: int, both_caught: int, won: int, lost: int) -> Modelled | None:
    """Model A of two bots in closed form, without a prior.

    Args:
        both_escaped: pairs that Mister X won both times.
        both_caught: pairs that the detectives won both times.
        won: pairs that the first bot won both times.
        lost: pairs that it lost both times.

    Returns:
        `None` where the first bot won all or no games on a side: then the gap is infinite.
    """
    n = both_escaped + both_caught + won + lost
    as_x, as_d = won + both_escaped, won + both_caught
    if min(as_x, as_d) == 0 or max(as_x, as_d) == n:
        return None
    p, q = as_x / n, as_d / n
    of_p, of_q = n * p * (1 - p), n * q * (1 - q)
    together = 2 * n * (won / n - p * q) / (of_p * of_q)
    apart = 1 / of_p + 1 / of_q
    logit_p, logit_q = math.log(p / (1 - p)), math.log(q / (1 - q))
    return Modelled(
        gap=ELO * (logit_p + logit_q) / 2,
        gap_se=ELO * math.sqrt(max(apart + together, 0.0)) / 2,
        role=ELO * (logit_p - logit_q) / 2,
        role_se=ELO * math.sqrt(max(apart - together, 0.0)) / 2,
    )


class Conditional(msgspec.Struct, frozen=True, kw_only=True):
    """Gap of two bots on one deal, by the decided pairs alone; in Elo points.

    Attributes:
        elo: `None` unless the first bot won a pair and lost one.
        se: its error; `None` likewise.
        low: lower end of the 95 % interval, with half a pair added on both sides.
        high: its upper end.
        los: likelihood that the first bot is stronger, by the sign statistic.
        z: that statistic.
        p_better: exact: how often equal bots would do at least so well.
        p_different: exact: how often they would differ at least so much.
    """

    elo: float | None
    se: float | None
    low: float
    high: float
    los: float
    z: float
    p_better: float
    p_different: float


def conditional(counts: PairCounts) -> Conditional | None:
    """Conditional view, which no effect of a deal can bias; `None` without any pair."""
    if not counts.pairs:
        return None
    won, lost, decided = counts.won, counts.lost, counts.decided
    middle = math.log((won + 0.5) / (lost + 0.5)) / 2
    half = Z_95 * math.sqrt(1 / (won + 0.5) + 1 / (lost + 0.5)) / 2
    z = (won - lost) / math.sqrt(decided) if decided else 0.0
    told = won > 0 and lost > 0
    more = max(won, lost)
    return Conditional(
        elo=ELO * math.log(won / lost) / 2 if told else None,
        se=ELO * math.sqrt(1 / won + 1 / lost) / 2 if told else None,
        low=ELO * (middle - half),
        high=ELO * (middle + half),
        los=float(ndtr(z)),
        z=z,
        p_better=_at_least(won, decided),
        p_different=min(1.0, 2 * _at_least(more, decided)),
    )


def _at_least(won: int, decided: int) -> float:
    """How often equal bots have at least so many wins among so many decided pairs."""
    return float(bdtrc(won - 1, decided, 0.5)) if won > 0 else 1.0


def rate_decided(pairs: GamePairs, settings: Settings) -> Rated:
    """Rate any number of bots by their decided pairs: gaps on one deal, not averages over deals.

    It is Bradley & Terry's model with logit P(WW) = 2 (s[one] - s[other]). The ratings are a little
    larger in size than those of all games: the two belong in different tables.

    Args:
        pairs: split ones tell nothing and are left out.
        settings: the prior is of virtual pairs; there can be no anchors.
    """
    decided = pairs.won | pairs.lost
    table = tabulate(
        len(pairs.bots),
        pairs.one[decided],
        pairs.other[decided],
        pairs.won[decided],
        pairs.deal[decided],
    )
    how = msgspec.structs.replace(settings, anchors=())
    rated = rate_players(table, pairs.bots, how, roles=1, role_term=False)
    return msgspec.structs.replace(rated, parts=tuple(map(_halved, rated.parts)))


def _halved(part: Part) -> Part:
    """From logits of a decided pair, in which a gap counts twice, to logits of a game.

    Given its deals, decided pairs are independent: Fisher's errors are the right ones here.
    """
    fisher = part.fisher / 4
    return msgspec.structs.replace(
        part,
        strength=part.strength / 2,
        covariance=fisher,
        fisher=fisher,
        quantile=Z_95,
    )
