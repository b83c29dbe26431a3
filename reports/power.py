"""How many game pairs it takes to tell two bots apart, and what a number of pairs can see; pure.

A pair is one deal played twice with sides swapped. Its score is 1, ½ or 0 for the first bot; the
gap is that of one deal, as the strengths of Bradley & Terry (1952) with a role term give it, and
deals differ by a normal amount in how good they are for Mister X.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from reports.logistic import ELO
from reports.played import Floats

__all__ = ["deal_sd_seen", "pairs_needed", "sequential_pairs", "smallest_gap"]

NODES = 60  # of the Gauss-Hermite rule for a normal deal effect
FEWEST = 5  # pairs
LARGEST = 2_000.0  # Elo points; wider gaps are not looked for
MOST_UNEVEN = 8.0  # logits: a deal effect beyond this is taken for it


def pairs_needed(
    gap_elo: float,
    *,
    mister_x_rate: float,
    deal_sd: float = 0.0,
    confidence: float = 0.95,
    power: float = 0.8,
) -> float:
    """Return how many pairs show a gap of two bots, two-sided.

    Args:
        gap_elo: the true gap, above 0.
        mister_x_rate: how often Mister X wins among equal bots, between 0 and 1.
        deal_sd: standard deviation of the deals' effect, in logits.
        confidence: of the interval that must leave out 0.
        power: how often it does.
    """
    mean, variance = _pair_score(gap_elo / ELO, *_deals(mister_x_rate, deal_sd))
    z = float(ndtri(0.5 + confidence / 2) + ndtri(power))
    return z * z * variance / (mean - 0.5) ** 2


def sequential_pairs(
    gap_elo: float, *, mister_x_rate: float, deal_sd: float = 0.0, alpha: float = 0.05
) -> float:
    """Return how many pairs a sequential test of no gap against this one plays, if it is true.

    On average and nearly: by Wald's formula with the variance of a pair's score.

    Args:
        gap_elo: the true gap, above 0, and that of the test's H1.
        mister_x_rate: as for `pairs_needed`.
        deal_sd: see there.
        alpha: both error rates of the test.
    """
    mean, variance = _pair_score(gap_elo / ELO, *_deals(mister_x_rate, deal_sd))
    information = (1 - 2 * alpha) * math.log((1 - alpha) / alpha)
    return information * 2 * variance / (mean - 0.5) ** 2


def deal_sd_seen(
    mister_x_rate: float, gaps_elo: Sequence[float], pairs: Sequence[int], split: int
) -> float:
    """Return by how much deals differ, in logits, if so many pairs were split.

    Args:
        mister_x_rate: how often Mister X wins among equal bots, between 0 and 1.
        gaps_elo: of the two bots of each pairing.
        pairs: how many each pairing had; one at least.
        split: how many of all pairs the two bots split.

    Returns:
        0 where even deals would split more pairs; 8 at most.
    """
    gaps = np.array(gaps_elo)[:, None] / ELO
    each = np.array(pairs, dtype=np.float64)

    def lack(sd: float) -> float:
        logits, weights = _deals(mister_x_rate, sd)
        won = expit(logits + gaps) * expit(gaps - logits)
        lost = expit(-logits - gaps) * expit(logits - gaps)
        return float(each @ ((1 - won - lost) @ weights)) - split

    if lack(0.0) >= 0:
        return 0.0
    if lack(MOST_UNEVEN) <= 0:
        return MOST_UNEVEN
    return float(brentq(lack, 0.0, MOST_UNEVEN, xtol=1e-6))


def smallest_gap(
    pairs: int,
    *,
    mister_x_rate: float,
    deal_sd: float = 0.0,
    confidence: float = 0.95,
    power: float = 0.8,
) -> float | None:
    """Return the smallest gap in Elo points that so many pairs show; None if it is over 2,000.

    Below five pairs nothing is told: the normal approximation does not hold there.

    Args:
        pairs: of two bots.
        mister_x_rate: as for `pairs_needed`, as are the others.
        deal_sd: see there.
        confidence: see there.
        power: see there.
    """
    if pairs < FEWEST:
        return None

    def lack(gap_elo: float) -> float:
        needed = pairs_needed(
            gap_elo,
            mister_x_rate=mister_x_rate,
            deal_sd=deal_sd,
            confidence=confidence,
            power=power,
        )
        return math.log(needed / pairs)

    if lack(LARGEST) > 0:
        return None
    return float(brentq(lack, 1e-3, LARGEST, xtol=1e-6))


def _deals(rate: float, sd: float) -> tuple[Floats, Floats]:
    """Logits of Mister X between equal bots on typical deals, with the deals' weights."""
    points, weights = np.polynomial.hermite.hermgauss(NODES)
    effect = math.sqrt(2) * sd * points
    weights = weights / math.sqrt(math.pi)
    role = brentq(lambda role: float(weights @ expit(role + effect)) - rate, -40.0, 40.0)
    return role + effect, weights


def _pair_score(gap: float, logits: Floats, weights: Floats) -> tuple[float, float]:
    """Mean and variance of the stronger bot's score in a pair."""
    as_mister_x = expit(logits + gap)
    as_detectives = expit(gap - logits)
    mean = float(weights @ (as_mister_x + as_detectives)) / 2
    both = float(weights @ (as_mister_x * as_detectives))
    square = mean / 2 + both / 2  # E[a²] for a = (first + second)/2 of two yes-or-no games
    return mean, square - mean * mean
