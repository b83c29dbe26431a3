"""A simulated year of very many bots: sparse pairings, a fit on aggregates, and how far it errs.

Not a part of the arena: it checks the arithmetic of the decision page on very large competitions.
Bots have true strengths; stages pair bots whose ratings are near each other, where a game tells
most, or any two; a pair plays one deal twice with sides swapped. What is kept is one row a pairing
(games, wins of Mister X), and the ratings come from these rows alone: the model of
`reports.logistic`, with the Newton step found by conjugate gradients instead of a dense matrix.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse
import scipy.sparse.linalg
from scipy.special import expit

ELO = 400 / math.log(10)
ROLE = -0.6  # logits: the detectives win 65 of 100
SPREAD = 200.0  # Elo points: standard deviation of true strengths
PRIOR = 1.0  # virtual games won, and as many lost, halved each
NEAR = 0.1  # share of the field from which an opponent that is near is drawn
FIRST = 4  # stages before anybody is called near

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Rows(NamedTuple):
    """One row a pairing: places of the two bots, games, and how many Mister X won."""

    first: Ints
    second: Ints
    games: Floats
    won: Floats


class Season(NamedTuple):
    """What a simulated season came to.

    Attributes:
        games: in all.
        error_elo: root mean square of rating minus true strength, in Elo points.
        expected_elo: the same as the information in the games foretells.
        stretch: slope of ratings over true strengths; 1 is right.
        told: mean of p(1 - p) over all games, of at most 0.25: what a game told.
    """

    games: int
    error_elo: float
    expected_elo: float
    stretch: float
    told: float


def season(bots: int, stages: int, *, seed: int, far_every: int) -> Season:
    """Play stages of pairs of games, rate from the rows, and compare with the truth.

    Args:
        bots: an even number.
        stages: pairs that every bot plays; half a dozen and more.
        seed: of the simulation.
        far_every: in every so many stages opponents are drawn from the whole field: 1 is always,
            0 is in the first stages only.
    """
    dice = np.random.default_rng(seed)
    truth = dice.normal(0, SPREAD / ELO, bots)
    truth -= truth.mean()
    played: list[Rows] = []
    role, strength = 0.0, np.zeros(bots)
    told = []
    for stage in range(stages):
        far = stage < FIRST or (far_every and stage % far_every == 0)
        if stage >= FIRST and stage & (stage - 1) == 0:  # after 4, 8, 16 … stages
            role, strength = fitted(joined(played), bots, start=(role, strength))
        first, second = paired(dice.random(bots) if far else strength, dice)
        both = np.concatenate((first, second)), np.concatenate((second, first))
        chance = expit(ROLE + truth[both[0]] - truth[both[1]])
        told.append(float(np.mean(chance * (1 - chance))))
        won = (dice.random(len(chance)) < chance).astype(np.float64)
        played.append(Rows(*both, np.ones(len(won)), won))
    rows = joined(played)
    role, strength = fitted(rows, bots, start=(role, strength))
    return Season(
        games=int(rows.games.sum()),
        error_elo=ELO * float(np.sqrt(np.mean((strength - strength.mean() - truth) ** 2))),
        expected_elo=ELO * expected_error(rows, role, strength, dice),
        stretch=float(np.polyfit(truth, strength, 1)[0]),
        told=float(np.mean(told)),
    )


def paired(strength: Floats, dice: np.random.Generator) -> tuple[Ints, Ints]:
    """Put everybody into pairs, of bots that are near each other by this measure."""
    bots = len(strength)
    rank = np.argsort(np.argsort(strength)) / bots
    order = np.argsort(rank + NEAR * dice.random(bots)).astype(np.int64)
    return order[0::2], order[1::2]


def joined(played: list[Rows]) -> Rows:
    """Add up the games of equal pairings: all that a store need keep for the ratings."""
    first = np.concatenate([rows.first for rows in played])
    second = np.concatenate([rows.second for rows in played])
    bots = int(max(first.max(), second.max())) + 1
    cells, inverse = np.unique(first * bots + second, return_inverse=True)
    games = np.bincount(inverse, np.concatenate([rows.games for rows in played]))
    won = np.bincount(inverse, np.concatenate([rows.won for rows in played]))
    return Rows(cells // bots, cells % bots, games.astype(np.float64), won.astype(np.float64))


def fitted(rows: Rows, bots: int, *, start: tuple[float, Floats]) -> tuple[float, Floats]:
    """Return role term and strengths, in logits, by Newton's method with conjugate gradients."""
    beta = np.concatenate(([start[0]], start[1]))
    for _ in range(50):
        chance = expit(beta[0] + beta[1 + rows.first] - beta[1 + rows.second])
        residual = rows.won - rows.games * chance
        gradient = -PRIOR * np.tanh(beta / 2)
        gradient[0] += residual.sum()
        gradient[1:] += np.bincount(rows.first, residual, bots)
        gradient[1:] -= np.bincount(rows.second, residual, bots)
        if np.max(np.abs(gradient)) < 1e-6:
            return float(beta[0]), beta[1:]
        beta = beta + solved(information(rows, beta), gradient)
    raise AssertionError("the ratings did not settle")


def information(rows: Rows, beta: Floats) -> scipy.sparse.csr_array:
    """Return the information matrix, role term first; a few numbers a pairing."""
    bots = len(beta) - 1
    chance = expit(beta[0] + beta[1 + rows.first] - beta[1 + rows.second])
    weight = rows.games * chance * (1 - chance)
    as_first = np.bincount(rows.first, weight, bots)
    as_second = np.bincount(rows.second, weight, bots)
    diagonal = np.concatenate(([weight.sum()], as_first + as_second))
    diagonal += 2 * PRIOR * expit(beta) * expit(-beta)
    every, none = np.arange(1 + bots), np.zeros(bots, dtype=np.int64)
    return scipy.sparse.coo_array(
        (
            np.concatenate((diagonal, -weight, -weight, *2 * [as_first - as_second])),
            (
                np.concatenate((every, 1 + rows.first, 1 + rows.second, none, every[1:])),
                np.concatenate((every, 1 + rows.second, 1 + rows.first, every[1:], none)),
            ),
        )
    ).tocsr()


def solved(matrix: scipy.sparse.csr_array, right: Floats) -> Floats:
    """Solve by conjugate gradients, scaled by the diagonal."""
    scale = scipy.sparse.diags_array(1 / matrix.diagonal())
    answer, left = scipy.sparse.linalg.cg(matrix, right, rtol=1e-10, maxiter=5_000, M=scale)
    assert left == 0, "the conjugate gradients did not settle"
    return np.asarray(answer)


def expected_error(rows: Rows, role: float, strength: Floats, dice: np.random.Generator) -> float:
    """Return the root mean square error that the information foretells, in logits.

    The trace of the inverse, from 30 random signs (Hutchinson 1990).
    """
    matrix = information(rows, np.concatenate(([role], strength)))
    traces = []
    for _ in range(30):
        signs = dice.choice([-1.0, 1.0], matrix.shape[0])
        signs[0] = 0.0
        traces.append(float(signs @ solved(matrix, signs)))
    return math.sqrt(np.mean(traces) / len(strength))
