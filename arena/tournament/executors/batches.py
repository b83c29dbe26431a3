"""How many games a machine of a cluster is given ahead: by their measured length. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["BATCH_S", "MOST_HELD", "Lengths", "held", "share"]

BATCH_S = 2.0  # of games that a machine has before it: well within the ten seconds of a Ctrl-C
MOST_HELD = 1_000  # games that one machine has at once

_FRESH = 0.3  # weight of the newest batch: bots differ, and so do their games


class Lengths:
    """How long games take on one machine, the newest counting most."""

    def __init__(self) -> None:
        self.mean_s: float | None = None  # None before the first

    def add(self, took_s: Iterable[float]) -> None:
        """Take the lengths of a batch of games; of none this is nothing."""
        lengths = list(took_s)
        if not lengths:
            return
        mean = sum(lengths) / len(lengths)
        if self.mean_s is None:
            self.mean_s = mean
        else:
            self.mean_s += (mean - self.mean_s) * _FRESH


def held(at_once: int, mean_s: float | None, *, batch_s: float = BATCH_S) -> int:
    """Return how many games a machine should have, in play and waiting.

    Args:
        at_once: games that it plays at once; 0 or more.
        mean_s: how long a game takes there; None if that is not known yet.
        batch_s: how long what it has should last.

    Returns:
        One for each place until a length is known, and where games are long; else as many as are
        played in `batch_s`, `MOST_HELD` or `at_once` at most, whichever is more.
    """
    if mean_s is None:
        return at_once
    many = at_once * batch_s / mean_s if mean_s > 0 else float("inf")
    return max(at_once, round(min(many, MOST_HELD)) if at_once else 0)


def share(jobs: int | None, threads: Sequence[int], *, place: int) -> int:
    """Return how many games one machine of a cluster plays at once.

    Args:
        jobs: games at once on the whole cluster; None for one a thread.
        threads: of each machine there is now, as the cluster counts them; 0 counts as 1.
        place: of this machine among them.

    Returns:
        Shares of `jobs` by threads, each less than one game from the exact one; they add up to
        `jobs`. 0 where there are fewer games than machines.
    """
    weights = [max(1, some) for some in threads]
    if jobs is None:
        return weights[place]
    before = sum(weights[:place])
    so_far, until_now = (
        -(-jobs * weight // sum(weights)) for weight in (before, before + weights[place])
    )
    return until_now - so_far
