"""How many games a machine of a cluster is given ahead: by their measured length. Pure."""

from __future__ import annotations

from collections.abc import Iterable

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


def share(jobs: int | None, threads: int, *, place: int, machines: int) -> int:
    """Return how many games one machine of a cluster plays at once.

    Args:
        jobs: games at once on the whole cluster; None for one a thread.
        threads: of this machine, as the cluster counts them.
        place: of this machine among those there are, from 0.
        machines: how many there are now; more than `place`.

    Returns:
        Equal shares of `jobs`, what is left over to the first; 0 where there are more machines
        than jobs.
    """
    if jobs is None:
        return max(1, threads)
    return jobs // machines + (place < jobs % machines)
