"""What is known of a run while it goes on: games, speed, wins and faults, by bot; pure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

import msgspec

from arena.referee.record import FaultKind
from arena.tournament.benching import Judged

__all__ = ["Row", "Tally", "duration", "minute"]

WINDOW_S = 30.0  # speed is that of the last half minute: what is left goes by it


class Row(msgspec.Struct, kw_only=True):
    """One bot's games so far, as far as they are judged and count."""

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
    """Counts games as they end and as they are judged.

    Games end in any order and make the speed; they are judged in plan order, a few later, and make
    the table.

    Args:
        names: all bots, in the order of the plan.
        planned: games of the plan.
        stored: games that were played before.
        now: the clock, in seconds from anywhere.
    """

    def __init__(self, names: Sequence[str], planned: int, stored: int, now: float) -> None:
        self.rows = [Row(name=name) for name in names]
        self.planned = planned
        self.stored = stored
        self.played = 0
        self.skipped = 0  # forfeits by benching: nobody plays them
        self.void = 0
        self.faults: Counter[tuple[str, FaultKind]] = Counter()
        self.recent: deque[tuple[float, int]] = deque([(now, 0)])

    @property
    def done(self) -> int:
        """Games that need not be played any more."""
        return self.stored + self.played + self.skipped

    def add_played(self, now: float) -> None:
        """Count a game that has just ended."""
        self.played += 1
        self.recent.append((now, self.played))
        while self.recent[0][0] < now - WINDOW_S and len(self.recent) > 2:
            self.recent.popleft()

    def add_void(self) -> None:
        """Count a play that counts for nobody."""
        self.void += 1

    def add_judged(self, judged: Judged) -> None:
        """Count the result of the next game in plan order."""
        x, d = self.rows[judged.mister_x], self.rows[judged.detectives]
        if not judged.is_played:
            self.skipped += 1
        for row, fault in ((x, judged.mister_x_fault), (d, judged.detectives_fault)):
            if fault is not None:
                row.faults += 1
                self.faults[row.name, fault] += 1
        if judged.counts:
            x.games_x += 1
            d.games_d += 1
            x.won_x += judged.winner == "mister_x"
            d.won_d += judged.winner == "detectives"

    def rate_per_s(self, now: float) -> float:
        """Games a second, of the last half minute."""
        then, before = self.recent[0]
        return (self.played - before) / max(now - then, 1e-9)

    def left_s(self, now: float) -> float | None:
        """Seconds to the end at this speed; None before the first game."""
        rate = self.rate_per_s(now)
        return (self.planned - self.done) / rate if rate > 0 else None

    def standings(self) -> list[Row]:
        """Return the bots, those with the largest share of won games first."""
        return sorted(self.rows, key=lambda row: (-row.won / max(row.games, 1), row.name))

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


def minute(moment: str) -> str:
    """Return a moment in ISO 8601, UTC, as people read it: `2026-11-30 20:12 UTC`."""
    return f"{moment[:16].replace('T', ' ')} UTC"
