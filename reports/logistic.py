"""The joint logistic fit with a role term, and its errors clustered on the deal; pure.

Every model here is logit P(first wins) = role + strength[first] - strength[second]: strengths are
one a bot in model A, and one a bot and side in model B. The formulas are those of Bradley & Terry
(1952) with an order effect (Davidson & Beaver 1977); the errors are the sandwich of Liang & Zeger
(1986) with the deal as cluster, because all games on one deal share its luck.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import msgspec
import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.special import expit

from arena.errors import ArenaError
from reports.played import Bools, Floats, Ints, Table, added

__all__ = ["ELO", "Change", "Fit", "Prior", "both_ways", "fit"]

# A linear map along the first axis; cheaper than its matrix where it only takes means off.
Change: TypeAlias = Callable[[Floats], Floats]

ELO = 400 / math.log(10)  # Elo points in one logit: 173.7178
TOLERANCE = 1e-8  # of the gradient: a looser stop changes printed digits
MAX_STEPS = 200
DENSE_GAIN = 25  # how much faster a multiplication is in a dense product than in a sparse one
CHUNK = 4_000_000  # numbers held at once while adding up scores of deals


class Prior(msgspec.Struct, frozen=True, kw_only=True):
    """What is believed before the games, as virtual games and anchors.

    Attributes:
        player: virtual games that each player won, and as many lost, against strength 0.
        role: the same for the role term against an even role.
        fixed: players whose strength is known, with it, in logits.
        loose: players whose strength is known up to a normal error: (strength, sd), in logits.
    """

    player: float
    role: float
    fixed: dict[int, float] = {}
    loose: dict[int, tuple[float, float]] = {}


class Fit(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A fitted model, in logits. Matrices have the role term first, then the players.

    Attributes:
        role: the advantage of Mister X.
        strength: one a player.
        fisher: covariance if games were independent (the prior included).
        clustered: covariance by the sandwich over deals, without the factor G/(G-1).
        log_likelihood: of the games alone, without the prior.
        gradient: largest absolute entry of the gradient at the answer.
        deals: number of clusters.
    """

    role: float
    strength: Floats
    fisher: Floats
    clustered: Floats
    log_likelihood: float
    gradient: float
    deals: int

    def mapped(self, change: Change) -> Fit:
        """The same fit after a linear change of (role, strengths)."""
        beta = change(np.concatenate(([self.role], self.strength)))
        return msgspec.structs.replace(
            self,
            role=float(beta[0]),
            strength=beta[1:],
            fisher=both_ways(self.fisher, change),
            clustered=both_ways(self.clustered, change),
        )


def both_ways(covariance: Floats, change: Change) -> Floats:
    """Covariance after a linear change of what it is of."""
    return change(change(covariance).T).T


def fit(table: Table, prior: Prior, *, held: Ints) -> Fit:
    """Maximise likelihood times prior by Newton's method.

    Args:
        table: at least one row.
        prior: virtual games and anchors.
        held: parameters that stay at 0 (0 is the role term, 1 + k is player k), so that what is
            left is identified; empty where the prior alone identifies everything.

    Raises:
        ArenaError: if no maximum was found, which the checks of `reports.graphs` rule out.
    """
    return _Newton(table, prior, held).run()


class _Newton:
    """One maximisation: its data, added up over deals, and its steps."""

    def __init__(self, table: Table, prior: Prior, held: Ints) -> None:
        m = table.players
        cells, inverse = np.unique(table.first * m + table.second, return_inverse=True)
        self.table = table
        self.prior = prior
        self.first: Ints = cells // m
        self.second: Ints = cells % m
        self.cell: Ints = inverse
        self.games: Floats = added(inverse, table.games, len(cells))
        self.won: Floats = added(inverse, table.won, len(cells))
        self.free: Bools = np.ones(m + 1, dtype=np.bool_)
        self.free[held] = False
        self.start = np.zeros(m + 1)
        for k, value in prior.fixed.items():
            self.free[1 + k] = False
            self.start[1 + k] = value
        self.loose = np.array(sorted(prior.loose), dtype=np.int64)
        self.aim = np.array([prior.loose[k][0] for k in sorted(prior.loose)], dtype=np.float64)
        self.pull = np.array([prior.loose[k][1] ** -2 for k in sorted(prior.loose)], np.float64)
        self.weight = np.full(m + 1, prior.player)
        self.weight[0] = prior.role
        for k in prior.loose:
            self.weight[1 + k] = 0.0  # the anchor says what is believed

    def run(self) -> Fit:
        beta = self.start.copy()
        value = self.objective(beta)
        for _ in range(MAX_STEPS):
            gradient = self.gradient(beta)[self.free]
            size = float(np.max(np.abs(gradient), initial=0.0))
            if size <= TOLERANCE:
                return self.result(beta, size)
            information = self.information(beta)[np.ix_(self.free, self.free)]
            step = scipy.linalg.cho_solve(scipy.linalg.cho_factor(information), gradient)
            beta, value = self.climb(beta, value, step)
        raise ArenaError(
            f"the ratings did not settle in {MAX_STEPS} steps; try a stronger prior, such as 1"
        )

    def climb(self, beta: Floats, value: float, step: Floats) -> tuple[Floats, float]:
        """Go the step, or the largest halving of it that does not lead downhill."""
        slack = 1e-12 * (1 + abs(value))
        for halvings in range(40):
            there = beta.copy()
            there[self.free] += step * 0.5**halvings
            new = self.objective(there)
            if new >= value - slack:
                return there, new
        return beta, value

    def eta(self, beta: Floats) -> Floats:
        strength = beta[1:]
        return np.asarray(beta[0] + strength[self.first] - strength[self.second])

    def objective(self, beta: Floats) -> float:
        virtual = self.weight * (2 * np.logaddexp(0, beta) - beta)  # -log s(b) - log s(-b)
        off = beta[1 + self.loose] - self.aim
        anchored = 0.5 * float(np.sum(self.pull * off**2))
        return self.log_likelihood(beta) - float(np.sum(virtual[self.free])) - anchored

    def log_likelihood(self, beta: Floats) -> float:
        eta = self.eta(beta)
        return float(np.sum(self.won * eta - self.games * np.logaddexp(0, eta)))

    def gradient(self, beta: Floats) -> Floats:
        m = self.table.players
        residual = self.won - self.games * expit(self.eta(beta))
        gradient = -self.weight * np.tanh(beta / 2)
        gradient[0] += np.sum(residual)
        gradient[1:] += added(self.first, residual, m)
        gradient[1:] -= added(self.second, residual, m)
        gradient[1 + self.loose] -= self.pull * (beta[1 + self.loose] - self.aim)
        return gradient

    def information(self, beta: Floats) -> Floats:
        m = self.table.players
        eta = self.eta(beta)
        weights = self.games * expit(eta) * expit(-eta)
        between = np.zeros((m, m))
        between[self.first, self.second] = weights
        as_first, as_second = between.sum(axis=1), between.sum(axis=0)
        matrix = np.empty((m + 1, m + 1))
        matrix[0, 0] = weights.sum()
        matrix[0, 1:] = matrix[1:, 0] = as_first - as_second
        matrix[1:, 1:] = -between - between.T
        diagonal = np.arange(1, m + 1)
        matrix[diagonal, diagonal] += as_first + as_second
        every = np.arange(m + 1)
        matrix[every, every] += 2 * self.weight * expit(beta) * expit(-beta)
        matrix[1 + self.loose, 1 + self.loose] += self.pull
        return matrix

    def result(self, beta: Floats, size: float) -> Fit:
        m = self.table.players
        picked = np.ix_(self.free, self.free)
        information = self.information(beta)[picked]
        inner = scipy.linalg.cho_solve(
            scipy.linalg.cho_factor(information), np.eye(len(information))
        )
        inner = (inner + inner.T) / 2
        fisher = np.zeros((m + 1, m + 1))
        clustered = np.zeros((m + 1, m + 1))
        fisher[picked] = inner
        clustered[picked] = inner @ self.scatter(beta)[picked] @ inner
        return Fit(
            role=float(beta[0]),
            strength=beta[1:],
            fisher=fisher,
            clustered=clustered,
            log_likelihood=self.log_likelihood(beta),
            gradient=size,
            deals=self.table.deals,
        )

    def scatter(self, beta: Floats) -> Floats:
        """Sum over deals of u u', where u is what a deal's games add to the gradient."""
        table = self.table
        width = table.players + 1
        residual = table.won - table.games * expit(self.eta(beta))[self.cell]
        sizes = np.bincount(table.deal, minlength=table.deals)
        sparse_work = float(np.sum(np.minimum(2.0 * sizes + 1, width) ** 2))
        if sparse_work * DENSE_GAIN < float(table.deals) * width**2:
            return self._scatter_sparse(residual)
        return self._scatter_dense(residual, sizes)

    def _scatter_sparse(self, residual: Floats) -> Floats:
        """For many deals with few bots each."""
        table = self.table
        rows = np.tile(table.deal, 3)
        columns = np.concatenate((np.zeros_like(table.deal), 1 + table.first, 1 + table.second))
        values = np.concatenate((residual, residual, -residual))
        scores = scipy.sparse.coo_array(
            (values, (rows, columns)), shape=(table.deals, table.players + 1)
        ).tocsr()
        product = (scores.T @ scores).toarray()
        return np.asarray((product + product.T) / 2, dtype=np.float64)

    def _scatter_dense(self, residual: Floats, sizes: Ints) -> Floats:
        """For few deals with many bots each; a chunk of deals at a time."""
        table = self.table
        width = table.players + 1
        total = np.zeros((width, width))
        ends = np.concatenate(([0], np.cumsum(sizes)))
        step = max(1, CHUNK // width)
        for start in range(0, table.deals, step):
            stop = min(start + step, table.deals)
            part = slice(int(ends[start]), int(ends[stop]))
            base = (table.deal[part] - start) * width
            length = (stop - start) * width
            values = residual[part]
            scores = added(base, values, length)
            scores += added(base + 1 + table.first[part], values, length)
            scores -= added(base + 1 + table.second[part], values, length)
            square = scores.reshape(stop - start, width)
            total += square.T @ square
        return total
