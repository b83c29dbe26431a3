"""Whose fault a late answer is: the bot's, the machine's that did not let it run, or ours.

One request's looks at the bot's process, early and behind its deadline, and at ourselves, who may
be held up as well. Nothing here runs for an answer that comes early.
"""

from __future__ import annotations

from collections import deque
from time import monotonic

from arena.sandbox.starvation import Counts, look, own_wait_s, starved_s, waits_still
from arena.sandbox.usage import CpuAccount

__all__ = ["Lateness", "OwnLooks"]

_OUR_LAG_S = 0.002  # later than this at a look, we ourselves were held up
_MOST_LOOKS = 256  # of which the time is kept; more are not taken in the time of one request
_AGAIN_S = 0.01  # until the next look at a bot that may be waiting for a CPU right now


class OwnLooks:
    """The looks of one worker at all of its bots.

    A look at a bot with many threads takes milliseconds. What it takes is no time in which we were
    held up: else such bots would get more time by every look, and others by looks at them. But
    where we had to wait ourselves in the middle of a look, that is no part of what it takes.

    Attributes:
        took_s: all of them together.
    """

    def __init__(self) -> None:
        self.took_s = 0.0
        self._last: deque[tuple[float, float]] = deque(maxlen=_MOST_LOOKS)  # at what time, how long

    def add(self, at: float, took_s: float) -> None:
        """Count a look that was over at this time."""
        self.took_s += took_s
        self._last.append((at, took_s))

    def since(self, then: float) -> float:
        """Return what the last looks took after a time, in seconds; each at its end."""
        total = 0.0
        for at, took_s in reversed(self._last):
            if at <= then:
                break
            total += min(took_s, at - then)
        return total


class Lateness:
    """What is known of one bot's request that is slow to be answered.

    Args:
        pid: of the bot's process.
        ours: of its worker.
    """

    def __init__(self, pid: int, ours: OwnLooks) -> None:
        self._pid = pid
        self._ours = ours
        self._account = CpuAccount()
        self._request = -1.0  # when it was sent: tells one from the next
        self._first: Counts | None = None  # the bot's counts early in this request
        self._first_at = 0.0
        self._glance: Counts | None = None  # its counts where its deadline was last moved
        self._glance_at = 0.0
        self._lost_s = 0.0  # since then, as far as is known
        self._given_s = 0.0  # from the first look to then
        self._late_s = 0.0  # by how much we came too late for that first look
        self._last: Counts | None = None  # the bot's counts at the last look behind the deadline
        self._last_at = 0.0
        self._looked_at = 0.0  # when its counts were read at last
        self._own_s = 0.0  # for how long we had waited for a CPU, or looked, by then
        self._due: float | None = None  # when to look again, behind the deadline

    def glance(self, request: float, now: float, *, due: float, deadline: float) -> None:
        """Take the first look at a slow bot, at `due` or as soon after it as we could.

        What the bot had to wait before is in its books by then, and not to be told from what was
        long ago. So all the time from `due` to the end of this look may be lost, once a request.
        """
        self._begin(request)
        if now < deadline:
            now = self._look_first(now)
            self._own_s = own_wait_s() + self._ours.took_s
        late_s = min(now, deadline) - due
        self._late_s = late_s if late_s > _OUR_LAG_S else 0.0

    def unseen(self, request: float, now: float, deadline: float) -> tuple[float, float] | None:
        """Return what a bot lost whose answer is there at the first look behind its deadline.

        Nobody can tell when it came. It gets the good of the doubt: as much earlier as we were held
        up since the first look at it, or a turn in parts would have no time left for its next one.

        Returns:
            By how much the deadline is to be moved, and when the answer came at the earliest; None
            if this is not the first look.
        """
        self._begin(request)
        if self._due is not None:
            return None
        held_up_s = self._late_s
        if self._glance is not None:
            held_up_s += own_wait_s() + self._ours.took_s - self._own_s
        came_at = min(deadline, max(request, now - held_up_s))
        return self._lag(now, deadline), came_at

    def lost(
        self,
        request: float,
        now: float,
        deadline: float,
        *,
        has_answered: bool = False,
        hides_time: bool = False,
    ) -> float:
        """Return how much of its time the machine kept from the bot, as far as is known by now.

        That is the time in which it was ready to run and did not, and the time by which we came
        too late to look: nobody knows how the bot fared. An answer that is there may have come as
        much earlier as we had to wait for a CPU, or looked at others, since the last look.

        Args:
            request: when it was sent.
            now: when we look.
            deadline: of the request.
            has_answered: whether an answer is there.
            hides_time: whether the bot has children whose time is not known: they, and nobody else,
                may have kept it from running, so its own waits give it nothing.
        """
        self._begin(request)
        late_s, own_s = self._lag(now, deadline), own_wait_s() + self._ours.took_s
        if has_answered and self._last is not None:
            late_s = max(late_s, min(own_s - self._own_s, now - self._last_at))
        self._own_s, self._last_at = own_s, now
        self._lost_s = late_s
        if hides_time:
            self._due = None
        elif not self._first or not self._glance:  # we came too late for that, and it is made up
            self._late_s += late_s
            self._lost_s = 0.0
            self._look_first(now)
        elif counts := self._look(now):
            # A wait that was on when the deadline was last moved came into the books since, with
            # the part that lies before; then it is all since the first look, less what was given.
            self._lost_s += max(
                starved_s(self._glance, counts, now - self._glance_at),
                starved_s(self._first, counts, now - self._first_at) - self._given_s,
            )
            self._last, last = counts, self._last
            may_wait = counts.is_runnable if last is None else waits_still(last, counts)
            self._due = now + _AGAIN_S if may_wait else None
        return self._lost_s + self._late_s

    def look_again_at(self) -> float | None:
        """Return when to look again, if the bot may wait for a CPU right now; else None.

        The kernel tells how long it waited only when it runs at last.
        """
        return self._due

    def forgive(self, now: float) -> None:
        """Begin again, with a deadline that was moved by all that was lost."""
        self._late_s = 0.0
        self._due = None
        self._given_s += self._lost_s
        self._lost_s = 0.0
        if self._last is not None:
            self._glance, self._glance_at, self._last = self._last, now, None

    def _look_first(self, now: float) -> float:
        """Look for the first time in this request; returns when that was done."""
        self._first = self._glance = self._look(now)
        self._first_at = self._glance_at = self._looked_at
        return self._looked_at

    def _look(self, now: float) -> Counts | None:
        began, waited_s = monotonic(), own_wait_s()
        counts = look(self._pid, self._account)
        took_s = monotonic() - began
        self._looked_at = now + took_s
        self._ours.add(self._looked_at, took_s - (own_wait_s() - waited_s))
        return counts

    def _begin(self, request: float) -> None:
        if request != self._request:
            self._request = request
            self._first = self._glance = self._last = self._due = None
            self._late_s = self._lost_s = self._given_s = 0.0

    def _lag(self, now: float, deadline: float) -> float:
        """By how much we ourselves come too late to this look; 0 if that is no more than usual."""
        due = max(deadline if self._due is None else self._due, self._looked_at)
        lag = now - due - self._ours.since(due)
        return lag if lag > _OUR_LAG_S else 0.0
