"""Sequential tests on game pairs: play until one of two hypotheses is accepted; pure.

Decisions are made by Wald's test of a double dichotomy (Sequential Analysis, 1947, ch. 6): only
decided pairs count, so no luck of a deal and no advantage of a side can bias it, and nothing has to
be estimated. The generalized tests that runners of chess matches use stand beside it for
comparison: Van den Bergh's exact likelihood ratios, logistic and normalized.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from arena.errors import ConfigError
from reports.logistic import ELO
from reports.pairs import NO_COUNT, NORMAL_ELO, SCORES, GamePairs, PairCounts
from reports.played import Bools, Floats

__all__ = [
    "Hypotheses",
    "Outcome",
    "Verdict",
    "Walk",
    "dichotomy",
    "gsprt_logistic",
    "gsprt_normalized",
    "judge",
    "walk",
]

Verdict: TypeAlias = Literal["H0", "H1", "undecided"]

LARGEST_ELO = 10_000.0  # of a hypothesis
STEPS = 100  # of the search for a distribution with a given t-value; five are usual
TILT = 150.0  # far beyond the steepest shares that a hypothesis asks for
SETTLED = 1e-9  # change of a probability that ends it
FARTHEST = 200.0  # logit of how far to a pole the multiplier is looked for


class Hypotheses(msgspec.Struct, frozen=True, kw_only=True):
    """What is tested: a gap of `elo0` against one of `elo1`, in Elo points.

    Attributes:
        elo0: the gap if H0 is true.
        elo1: the gap if H1 is true; above `elo0`.
        alpha: how often H1 may be accepted although H0 is true.
        beta: how often H0 may be accepted although H1 is true.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def check(self) -> None:
        """Refuse what can't be tested.

        Raises:
            ConfigError: saying which number, and what to write instead.
        """
        for name, elo in (("elo0", self.elo0), ("elo1", self.elo1)):
            if not (math.isfinite(elo) and abs(elo) <= LARGEST_ELO):
                raise ConfigError(f"{name} is {elo}; write a number between -10000 and 10000.")
        if not self.elo1 - self.elo0 >= 0.01:
            raise ConfigError(
                f"elo1 ({self.elo1:g}) must be above elo0 ({self.elo0:g}), by 0.01 at the least."
            )
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 1e-6 <= rate < 0.5:
                raise ConfigError(f"{name} is {rate:g}; write 0.000001 to 0.499, such as 0.05.")

    @property
    def lower(self) -> float:
        """Log-likelihood ratio at which H0 is accepted: ln(beta / (1 - alpha)), below 0."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Log-likelihood ratio at which H1 is accepted: ln((1 - beta) / alpha), above 0."""
        return math.log((1 - self.beta) / self.alpha)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A log-likelihood ratio between its bounds, or past one of them."""

    llr: float
    lower: float
    upper: float
    verdict: Verdict


def judge(llr: float, hypotheses: Hypotheses) -> Outcome:
    """Compare a log-likelihood ratio with its bounds."""
    verdict: Verdict = "undecided"
    if llr >= hypotheses.upper:
        verdict = "H1"
    elif llr <= hypotheses.lower:
        verdict = "H0"
    return Outcome(llr=llr, lower=hypotheses.lower, upper=hypotheses.upper, verdict=verdict)


def _steps(hypotheses: Hypotheses) -> tuple[float, float]:
    """What a won and a lost pair add to the log-likelihood ratio of the dichotomy."""
    low, high = 2 * hypotheses.elo0 / ELO, 2 * hypotheses.elo1 / ELO
    won = math.log1p(math.exp(-abs(low))) - math.log1p(math.exp(-abs(high)))
    won += min(high, 0.0) - min(low, 0.0)  # log expit(z) = min(z, 0) - log1p(exp(-|z|))
    lost = math.log1p(math.exp(-abs(low))) - math.log1p(math.exp(-abs(high)))
    lost += max(low, 0.0) - max(high, 0.0)
    return won, lost


def dichotomy(counts: PairCounts, hypotheses: Hypotheses) -> float:
    """Log-likelihood ratio of Wald's double dichotomy; gaps are those on one deal.

    It is exact but for the last step past a bound, needs no pair of any kind to have been seen,
    and split pairs add nothing to it.
    """
    won, lost = _steps(hypotheses)
    return counts.won * won + counts.lost * lost


class Walk(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The dichotomy pair by pair.

    Attributes:
        llr: after each pair.
        outcome: at the deciding pair, or after the last one.
        deciding: number of the deciding pair, from 1; `None` if none decided.
    """

    llr: Floats
    outcome: Outcome
    deciding: int | None


def walk(pairs: GamePairs, hypotheses: Hypotheses) -> Walk:
    """Judge pairs one by one in plan order; what comes after the deciding one changes nothing.

    In the order of finishing the fast losses would come first, and bias the test.

    Args:
        pairs: of two bots, as `GamePairs.between` gives them.
        hypotheses: of the first bot's gap to the second.
    """
    won, lost = _steps(hypotheses)
    llr = won * np.cumsum(pairs.won) + lost * np.cumsum(pairs.lost)
    past: Bools = (llr >= hypotheses.upper) | (llr <= hypotheses.lower)
    deciding = int(np.argmax(past)) + 1 if np.any(past) else None
    at = (deciding or len(llr)) - 1
    return Walk(
        llr=llr,
        outcome=judge(float(llr[at]) if len(llr) else 0.0, hypotheses),
        deciding=deciding,
    )


def gsprt_logistic(counts: tuple[float, ...], hypotheses: Hypotheses) -> float | None:
    """Exact generalized log-likelihood ratio of two mean scores a pair, given in logistic Elo.

    Args:
        counts: of scores 0, ¼, ½, ¾ and 1, as `reports.pairs.five` makes them; their sum is above
            0, and zeros count as 0.001.
        hypotheses: Elo of the score.

    Returns:
        `None` where floating point is too coarse for so many pairs so far from the hypotheses.
    """
    total, shares = _shares(counts)
    low = _with_mean(shares, hypotheses.elo0 / ELO)
    high = _with_mean(shares, hypotheses.elo1 / ELO)
    return _ratio(total, shares, low, high)


def gsprt_normalized(counts: tuple[float, ...], hypotheses: Hypotheses) -> float | None:
    """Exact generalized log-likelihood ratio of two t-values, given in normalized Elo.

    Args:
        counts: as for `gsprt_logistic`.
        hypotheses: normalized Elo, 800/ln 10 times the t-value of one game.

    Returns:
        `None` where the most likely distribution with such a t-value was not found: hypotheses
        that lie far from everything that five scores can give.
    """
    total, shares = _shares(counts)
    low = _with_t_value(shares, math.sqrt(2) * hypotheses.elo0 / NORMAL_ELO)
    high = _with_t_value(shares, math.sqrt(2) * hypotheses.elo1 / NORMAL_ELO)
    return _ratio(total, shares, low, high)


def _ratio(total: float, shares: Floats, low: Floats | None, high: Floats | None) -> float | None:
    """Log-likelihood ratio of two distributions, `high` against `low`."""
    if low is None or high is None or min(low.min(), high.min()) <= 0:
        return None
    return total * float(shares @ (np.log(high) - np.log(low)))


def _shares(counts: tuple[float, ...]) -> tuple[float, Floats]:
    n = np.maximum(np.array(counts, dtype=np.float64), NO_COUNT)
    return float(n.sum()), n / n.sum()


def _with_mean(shares: Floats, logit: float) -> Floats | None:
    """The most likely distribution with this mean score, given as a logit."""
    # Score less mean, written so that a mean next to 1 loses no digits.
    return _balanced(shares, SCORES * expit(-logit) - (1 - SCORES) * expit(logit))


def _balanced(shares: Floats, weights: Floats) -> Floats | None:
    """The most likely distribution p with Σ p·weights = 0; `None` if there is none.

    It is shares / (1 + x·weights), where x lies between the two poles next to 0 and is the only
    zero there of a falling function (Van den Bergh, "support_MLE_multinomial").
    """
    if not weights.min() < 0 < weights.max():
        return None
    start = float(shares @ weights)
    if start == 0:
        return shares
    # x is written as pole·expit(u): next to the pole, where rare scores bring it, and next to 0,
    # where a pole far out leaves it, only that keeps its digits.
    nearest = int(np.argmin(weights) if start > 0 else np.argmax(weights))
    at_pole = 1 - weights / weights[nearest]

    def parts(u: float) -> Floats:
        return np.asarray(expit(u) * at_pole + expit(-u))

    def excess(u: float) -> float:
        return float(expit(-u) * np.sum(shares * weights / parts(u)))

    if not excess(-FARTHEST) * excess(FARTHEST) < 0:
        return None
    made = shares / parts(float(brentq(excess, -FARTHEST, FARTHEST, xtol=1e-13, rtol=1e-14)))
    return np.asarray(made / made.sum())


def _with_t_value(shares: Floats, t: float) -> Floats | None:
    """The most likely distribution whose mean lies t standard deviations above ½.

    The condition is not linear: it is replaced by its tangent at the last distribution until
    nothing changes any more (Van den Bergh, "normalized_elo_practical"). The first distribution
    has that t-value already, so that there is always one on the tangent.
    """
    tilt = float(brentq(lambda x: _t_value(_tilted(x)) - t, -TILT, TILT, xtol=1e-9))
    made = _tilted(tilt)
    for _ in range(STEPS):
        mean = float(made @ SCORES)
        sigma = math.sqrt(float(made @ (SCORES - mean) ** 2))
        weights = SCORES - 0.5 - t * sigma * (1 + ((mean - SCORES) / sigma) ** 2) / 2
        new = _balanced(shares, weights)
        if new is None:
            return None
        change = float(np.max(np.abs(new - made)))
        made = new
        if change < SETTLED:
            return made
    return None


def _tilted(x: float) -> Floats:
    """Shares of the five scores that grow, or with x below 0 fall, by the same factor each."""
    weights = np.exp(x * (SCORES - (1 if x > 0 else 0)))
    return np.asarray(weights / weights.sum())


def _t_value(made: Floats) -> float:
    mean = float(made @ SCORES)
    return (mean - 0.5) / math.sqrt(float(made @ (SCORES - mean) ** 2))
