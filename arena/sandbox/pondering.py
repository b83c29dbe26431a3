"""What a bot does while it is not asked: how much CPU time it uses then, and whether it is stopped.

Pure: the warden looks at every sandbox some ten times a second anyway, and says here what it saw.
Only what was used between two looks at a bot that was idle at both counts, so a bot that is asked
often is never charged for its own turns.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CAUGHT_AT_S", "CAUGHT_AT_SHARE", "OffTurn", "OffTurnUse"]

# Who has used more than both is caught. A runtime that tidies up after a turn stays far below.
CAUGHT_AT_S = 0.2  # of CPU time, off turn, since the process was started
CAUGHT_AT_SHARE = 0.1  # of the time off turn that was looked at


class OffTurnUse(NamedTuple):
    """What a bot has used while it was not asked.

    Attributes:
        cpu_s: CPU time of all of its processes.
        is_caught: whether it was so much that the bot is stopped whenever it is not asked.
    """

    cpu_s: float
    is_caught: bool


class OffTurn:
    """What one bot used while it was not asked, from looks every now and then.

    Args:
        allowed: it may use what it likes, and is never caught.

    Attributes:
        used_s: CPU time, as far as it was seen.
        watched_s: the time in which it was looked for.
        is_caught: whether it is to be stopped whenever it is not asked, from now on.
    """

    def __init__(self, *, allowed: bool = False) -> None:
        self.used_s = 0.0
        self.watched_s = 0.0
        self.is_caught = False
        self._allowed = allowed
        self._last: tuple[float, float] | None = None  # a look at which it was idle: when, CPU time

    def look(self, now: float, cpu_s: float, idle_since: float | None) -> None:
        """Take in one look.

        Args:
            now: when, in seconds.
            cpu_s: CPU time of all of its processes by now.
            idle_since: since when it is not asked; None while it is.
        """
        last, self._last = self._last, None if idle_since is None else (now, cpu_s)
        if last is None or idle_since is None or idle_since > last[0]:
            return
        self.watched_s += now - last[0]
        self.used_s += max(0.0, cpu_s - last[1])
        if self.used_s > max(CAUGHT_AT_S, CAUGHT_AT_SHARE * self.watched_s):
            self.is_caught = not self._allowed

    def use(self) -> OffTurnUse:
        """Return what was seen so far."""
        return OffTurnUse(self.used_s, self.is_caught)
