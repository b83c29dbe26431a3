"""What a set of games can tell at all: parts, sides that never meet, gaps without an end; pure.

Who played whom is a graph, and who has beaten whom a directed one. A finite maximum of the
likelihood exists just when the games allow no direction in which every result becomes surer
(Zermelo 1929; Ford 1957; with a role term the direction may also move that term).
"""

from __future__ import annotations

import msgspec
import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from reports.played import Bools, Floats, Ints, Table

__all__ = ["Bounds", "bounds", "levels", "parts"]

MAX_CONE = 300  # players up to which one-sided bounds are looked for one by one


class Bounds(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Where plain maximum likelihood has no finite answer.

    Attributes:
        above: players whose strength the games do not bound from above.
        below: players whose strength the games do not bound from below.
        role: whether the role term is unbounded.
    """

    above: Bools
    below: Bools
    role: bool

    @property
    def any(self) -> bool:
        """Whether anything is unbounded."""
        return self.role or bool(np.any(self.above | self.below))


def parts(table: Table) -> Ints:
    """Number of the connected part of each player, by who played whom; parts in order of size.

    Parts are numbered from 0; among equals the part with the smaller player comes first.
    """
    size = table.players
    links = scipy.sparse.coo_array(
        (np.ones(len(table.first)), (table.first, table.second)), shape=(size, size)
    )
    _, label = connected_components(links, directed=False)
    counts = np.bincount(label)
    _, smallest = np.unique(label, return_index=True)
    order = np.lexsort((smallest, -counts))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[label], dtype=np.int64)


def levels(table: Table) -> Ints | None:
    """Levels of a connected table if every game was between a level and the next one, else `None`.

    Then the role term can't be told from the gap between neighbouring levels. The usual case has
    two levels: no bot played both sides. Level 0 played Mister X only.
    """
    size = table.players
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    pairs = np.unique(table.first * size + table.second)
    first, second = pairs // size, pairs % size
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        neighbours[a].append((b, 1))
        neighbours[b].append((a, -1))
    level = np.zeros(size, dtype=np.int64)
    seen = {0}
    queue = [0]
    for player in queue:
        for other, step in neighbours[player]:
            if other not in seen:
                seen.add(other)
                level[other] = level[player] + step
                queue.append(other)
    if np.all(level[second] - level[first] == 1):
        return np.asarray(level - level.min(), dtype=np.int64)
    return None


def bounds(table: Table, *, role: bool) -> Bounds:
    """Look for strengths that the games of a connected table do not bound.

    Players are rated against the largest group of players who have all beaten each other, directly
    or through others. Without such a group nobody's strength is bounded on both sides.

    Args:
        table: connected.
        role: whether the role term is told from the strengths (`levels` gave `None`).
    """
    size = table.players
    win = table.won > 0
    loss = table.won < table.games
    winner = np.concatenate((table.first[win], table.second[loss]))
    loser = np.concatenate((table.second[win], table.first[loss]))
    beaten = scipy.sparse.coo_array(
        (np.ones(len(winner)), (winner, loser)), shape=(size, size)
    ).tocsr()
    groups, found = connected_components(beaten, directed=True, connection="strong")
    group: Ints = np.asarray(found, dtype=np.int64)
    above = np.zeros(size, dtype=np.bool_)
    below = np.zeros(size, dtype=np.bool_)
    if groups > 1:
        above, below = _outside(group, groups, winner, loser)
    free_role = False
    if role:
        for sign in (1, -1):
            cone = _cone(table, win, loss, sign)
            if cone is None:
                continue
            free_role = True
            high, low = _reach(cone, group)
            above |= high
            below |= low
    return Bounds(above=above, below=below, role=free_role)


def _outside(group: Ints, groups: int, winner: Ints, loser: Ints) -> tuple[Bools, Bools]:
    """Open ends of players outside the main group, by the graph of groups."""
    counts = np.bincount(group, minlength=groups)
    largest = np.flatnonzero(counts == counts.max())
    between = group[winner] != group[loser]
    up, down = group[winner[between]], group[loser[between]]
    if counts.max() > 1 and len(largest) == 1:
        main = int(largest[0])
        graph = scipy.sparse.coo_array(
            (np.ones(len(up)), (up, down)), shape=(groups, groups)
        ).tocsr()
        under = _reached(graph, main)
        over = _reached(graph.T.tocsr(), main)
        outside = np.arange(groups) != main
        return (outside & ~under)[group], (outside & ~over)[group]
    won_outside = np.zeros(groups, dtype=np.bool_)
    lost_outside = np.zeros(groups, dtype=np.bool_)
    won_outside[up] = True
    lost_outside[down] = True
    return won_outside[group], lost_outside[group]


def _reached(graph: scipy.sparse.csr_array, start: int) -> Bools:
    """Nodes that can be reached from `start`, itself included."""
    order = breadth_first_order(graph, start, return_predecessors=False)
    reached = np.zeros(graph.shape[0], dtype=np.bool_)
    reached[order] = True
    return reached


def _cone(table: Table, win: Bools, loss: Bools, sign: int) -> Floats | None:
    """Gaps that a step of the role term by `sign` allows without making any result less likely.

    A won game wants strength[first] - strength[second] >= -sign, a lost one <= -sign: difference
    constraints, which can be met just when their graph has no negative cycle (Bellman 1958).

    Returns:
        Entry (i, j): how far strength[j] may lie above strength[i] by the games between them
        (infinite where they played none), or `None` if the constraints can't be met.
    """
    size = table.players
    limit = np.full((size, size), np.inf)
    np.fill_diagonal(limit, 0.0)
    # A bot that met itself on this side of the role term: the term alone decides those games.
    itself = table.first == table.second
    if np.any(itself & (loss if sign > 0 else win)):
        return None
    win, loss = win & ~itself, loss & ~itself
    np.minimum.at(limit, (table.first[win], table.second[win]), float(sign))
    np.minimum.at(limit, (table.second[loss], table.first[loss]), -float(sign))
    if np.any(limit + limit.T < 0):
        return None  # two bots that both lost (or both won) as Mister X against each other
    best = np.zeros(size)
    every = np.arange(size)
    chosen = every.copy()
    while True:
        through = best[:, None] + limit
        nearest = np.argmin(through, axis=0)
        shorter = through[nearest, every]
        better = shorter < best
        if not np.any(better):
            return limit
        best = np.where(better, shorter, best)
        chosen = np.where(better, nearest, chosen)
        # Following choices back ends at a player that was never moved, or runs in a circle.
        end = chosen
        for _ in range(size.bit_length()):
            end = end[end]
        if np.any(chosen[end] != end) or best.min() < -size:
            return None


def _reach(limit: Floats, group: Ints) -> tuple[Bools, Bools]:
    """Who may rise, and who may fall, against the mean of its group along with the role term."""
    size = len(limit)
    if size > MAX_CONE:
        every = np.ones(size, dtype=np.bool_)
        return every, every.copy()
    far = limit.copy()
    for k in range(size):  # Floyd and Warshall
        far = np.minimum(far, far[:, k, None] + far[None, k, :])
    same = group[:, None] == group[None, :]
    far = np.where(same, far, 0.0)
    count = same.sum(axis=0)
    rise = far.sum(axis=0) / count
    fall = far.sum(axis=1) / count
    return rise > 1e-9, fall > 1e-9
