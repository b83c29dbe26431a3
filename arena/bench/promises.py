"""What is promised of the measures of `arena bench`, and how two runs of it compare; pure.

Ratios within one run are promises to everybody: they compare between machines. Of times, rates and
sizes a promise holds for a machine like the one they were made for, with two cores and nothing
else to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

__all__ = [
    "PROMISES",
    "SLACK",
    "Change",
    "Kept",
    "Promise",
    "changes",
    "judge",
    "unmeasured",
    "value_of",
]

SLACK = 1.25  # how far a ratio may pass its promise, or an older run's, before it counts


class Promise(NamedTuple):
    """One measure that is promised to be no more, or no less, than a limit."""

    path: str  # into the object of `arena bench --json`
    what: str
    limit: float
    at_least: bool = False
    is_ratio: bool = False


class Kept(NamedTuple):
    """A promise beside what was measured; `by` is the share of the limit that is used, 1 at it."""

    promise: Promise
    value: float
    by: float

    @property
    def holds(self) -> bool:
        """Whether it is kept."""
        return self.by <= 1

    @property
    def is_broken(self) -> bool:
        """Whether it is a ratio that passes its promise by a quarter and more."""
        return self.promise.is_ratio and self.by > SLACK


class Change(NamedTuple):
    """A measure in an older and in a newer run; `worse` is above 1 where the newer is worse."""

    promise: Promise
    old: float
    new: float
    worse: float

    @property
    def is_worse(self) -> bool:
        """Whether it is a ratio that got worse by a quarter and more."""
        return self.promise.is_ratio and self.worse > SLACK


PROMISES = (
    Promise(
        "request.ratio_one",
        "a request, one game at a time, to a bare round trip (where that takes under 25 µs:"
        " ≤ 45 µs more)",
        2.2,
        is_ratio=True,
    ),
    Promise(
        "request.ratio_cpu",
        "CPU time of a request, 16 games at once, to a bare pinned round trip",
        6.0,
        is_ratio=True,
    ),
    Promise(
        "rules.ratio",
        "`legal`, `play` and `view` for a whole random game of London, to a fixed loop of Python",
        5.0,
        is_ratio=True,
    ),
    Promise("request.p99_us", "99 of 100 answers are charged at most, µs", 2_000),
    Promise("requests_per_s", "requests a second, two workers", 25_000, at_least=True),
    Promise("games_per_s.kept", "games a second, Python bots, kept processes", 250, at_least=True),
    Promise("games_per_s.fresh", "games a second, Python bots, fresh processes", 20, at_least=True),
    Promise("scaling_2", "two workers to one", 1.7, at_least=True, is_ratio=True),
    Promise(
        "coordinator.share",
        "CPU time of the coordinator to that of workers and bots, 64 games at once, bots of 1 ms",
        0.05,
        is_ratio=True,
    ),
    Promise(
        "storing.share",
        "games stored a second, a transaction each, to what SQLite alone stores (or 2,000)",
        0.34,
        at_least=True,
        is_ratio=True,
    ),
    Promise("start.help_ms", "`arena --help`, ms", 300),
    Promise("start.first_game_ms", "first game of `arena run`, ms", 1_000),
    Promise("start.sandbox_ms", "a sandboxed start over a bare one, ms", 15),
    Promise("memory.plan_mib", "planning ten million games, MiB", 100),
    Promise("memory.plan_ms", "planning ten million games, ms", 2_000),
    Promise("memory.growth_mib", "growth of a worker over the games played, MiB", 20),
)


def value_of(found: Mapping[str, Any], path: str) -> float | None:
    """Return the measure at a path; None if it was left out or could not be taken."""
    value: Any = found
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def judge(found: Mapping[str, Any]) -> Iterator[Kept]:
    """Yield each promise that was measured, beside its measure.

    Args:
        found: the object of `arena bench --json`.
    """
    for promise in PROMISES:
        value = value_of(found, promise.path)
        if value is None:
            continue
        by = _times(value, promise.limit, at_least=promise.at_least)
        is_kept = _KEPT_ANYWAY.get(promise.path)
        yield Kept(promise, value, min(1.0, by) if is_kept and is_kept(found) else by)


def unmeasured(found: Mapping[str, Any]) -> list[Promise]:
    """Return the ratios that are promised and were left out, or could not be taken."""
    return [each for each in PROMISES if each.is_ratio and value_of(found, each.path) is None]


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield each promised measure that two runs have."""
    for promise in PROMISES:
        before, after = value_of(old, promise.path), value_of(new, promise.path)
        if before is not None and after is not None:
            worse = _times(after, before, at_least=promise.at_least)
            if promise.path == "request.ratio_one" and _costs_little(new):
                worse = min(1.0, worse)  # the bare trip is another one, and no measure of it
            yield Change(promise, before, after, worse)


def _costs_little(found: Mapping[str, Any]) -> bool:
    """Whether a request costs at most 45 µs over a bare one that takes under 25 µs.

    Where the bare round trip is as short as that, a ratio to it says little; so is the promise.
    """
    bare, ours = value_of(found, "bare.unpinned_us"), value_of(found, "request.one_us")
    return bare is not None and ours is not None and bare < 25 and ours - bare <= 45


def _stores_enough(found: Mapping[str, Any]) -> bool:
    """Whether 2,000 games a second are stored: where no disk is waited for, a ratio says little."""
    return (value_of(found, "storing.games_per_s") or 0) >= 2_000


_KEPT_ANYWAY = {"request.ratio_one": _costs_little, "storing.share": _stores_enough}


def _times(value: float, limit: float, *, at_least: bool) -> float:
    """How many times the limit is used, be it the promise or an older run; above 1 is worse."""
    above, below = (limit, value) if at_least else (value, limit)
    if below <= 0:
        return inf if above > 0 else 0.0
    return above / below
