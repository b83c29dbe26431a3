"""What is known of a run while it goes on: games, speed, wins and faults, by bot; pure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Literal

import msgspec

from arena.referee.record import Core, FaultKind

__all__ = ["Row", "Tally", "duration"]

WINDOW_S = 30.0  # speed is that of the last half minute: what is left goes by it


class Row(msgspec.Struct, kw_only=True):
    """One bot's games so far."""

    name: str
    games_x: int = 0
    won_x: int = 0
    games_d: int = 0
    won_d: int = 0
    faults: int = 0

    @property
    def games(self) -> int:
        """On both sides."""
        return self.games_x + self.games_d

    @property
    def won(self) -> int:
        """On both sides."""
        return self.won_x + self.won_d


class Tally:
    """Counts games as they end.

    Args:
        names: all bots of the plan.
        planned: games of the plan.
        now: the clock, in seconds from anywhere.
    """

    def __init__(self, names: Sequence[str], planned: int, now: float) -> None:
        self.rows = {name: Row(name=name) for name in names}
        self.planned = planned
        self.stored = 0  # of an earlier start of the same run
        self.played = 0
        self.void = 0
        self.faults: Counter[tuple[str, FaultKind]] = Counter()
        self.started = now
        self.recent: deque[tuple[float, int]] = deque([(now, 0)])

    @property
    def done(self) -> int:
        """Games that need not be played any more."""
        return self.stored + self.played

    def add(self, core: Core, now: float | None) -> None:
        """Count a game that is not void; `now` is None for one that was stored before."""
        x, d = self.rows[core.mister_x.name], self.rows[core.detectives.name]
        x.games_x += 1
        d.games_d += 1
        x.won_x += core.winner == "mister_x"
        d.won_d += core.winner == "detectives"
        for fault in core.faults:
            bot = x if fault.side == "mister_x" else d
            bot.faults += 1
            self.faults[bot.name, fault.kind] += 1
        if now is None:
            self.stored += 1
            return
        self.played += 1
        self.recent.append((now, self.played))
        while self.recent[0][0] < now - WINDOW_S and len(self.recent) > 2:
            self.recent.popleft()

    def add_void(self) -> None:
        """Count a game that counts for nobody; it may be played again."""
        self.void += 1

    def rate_per_s(self, now: float) -> float:
        """Games a second, of the last half minute."""
        then, before = self.recent[0]
        return (self.played - before) / max(now - then, 1e-9)

    def left_s(self, now: float) -> float | None:
        """Seconds to the end at this speed; None before the first game."""
        rate = self.rate_per_s(now)
        return (self.planned - self.done) / rate if rate > 0 else None

    def standings(self, sort: Literal["share", "name"] = "share") -> list[Row]:
        """Return the bots, those with the largest share of won games first."""
        if sort == "name":
            return sorted(self.rows.values(), key=lambda row: row.name)
        return sorted(self.rows.values(), key=lambda row: (-row.won / max(row.games, 1), row.name))

    def headline(self, now: float) -> str:
        """Return the state in one line: `12 of 400 games, 3.1 a second, 2:05 left, 1 fault`."""
        text = f"{self.done:,} of {self.planned:,} games"
        left = self.left_s(now)
        if left is not None:
            text += f", {self.rate_per_s(now):.3g} a second"
            if self.done < self.planned:
                text += f", {duration(left)} left"
        faults = self.faults.total()
        if faults:
            text += f", {faults:,} fault" + "s" * (faults != 1)
        if self.void:
            text += f", {self.void:,} void"
        return text


def duration(seconds: float) -> str:
    """Return a time as people read it: `0:07`, `12:30`, `3:00:00`."""
    whole = int(seconds + 0.5)
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
