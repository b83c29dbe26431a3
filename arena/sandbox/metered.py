"""A bot that is charged CPU time, or stopped off turn: both cost too much to be done for everybody.

With the CPU clock a bot pays for what all of its processes use from one line to the next, however
long they had to wait for a processor. Its clocks are read before a request, behind the answer, and
every 50 ms between, so that a child that nobody waits for does not think for free. There is a stop
by the wall all the same, far behind; who comes to it slept, or the machine did not let it run, and
then the stop is moved as the deadline is without a CPU clock.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Mapping
from math import inf
from time import monotonic
from typing import Any, Protocol, runtime_checkable

import trio

from arena.sandbox.channel import BotTooSlow, LineChannel
from arena.sandbox.hub import Waiter
from arena.sandbox.pondering import OffTurnUse
from protocol.messages import ClockSettings

__all__ = ["Alarm", "Metered", "Stoppable", "is_metered", "wall_stop_s"]

_WALL_SHARE = 5.0
_WALL_SPARE_S = 2.0
_LOOK_S = 0.05  # between two looks at the CPU clocks, at most
_SHORTEST_LOOK_S = 0.002
_CORES = os.cpu_count() or 1  # so much faster than time CPU time may run
_HINT = "think less, or with fewer processes and threads: the time of all of them counts"


def wall_stop_s(limit_s: float) -> float:
    """Return the wall time after which a bot loses that has not used its CPU time."""
    return _WALL_SHARE * limit_s + _WALL_SPARE_S


def is_metered(clock: ClockSettings) -> bool:
    """Whether a game's clock needs more than the usual channel."""
    return clock.kind == "cpu" or clock.pondering == "freeze"


@runtime_checkable
class Stoppable(LineChannel, Protocol):
    """A bot whose CPU clocks can be read, and that can be stopped."""

    def watch_off_turn(self, *, allowed: bool) -> None:
        """Look from now on at what it does while it is not asked; see `Hold.watch_off_turn`."""

    def cpu_s(self) -> float:
        """Look at the CPU clocks of all of its processes now; returns their sum."""

    def stop(self) -> None:
        """Stop all of its processes until it is asked again."""

    def go_on(self) -> None:
        """Let all of its processes go on, if they were stopped."""


class Alarm(Protocol):
    """Wakes at a time; `hub.Hub` is one."""

    def add_waiter(self, waiter: Waiter) -> None:
        """Look after a waiter from now on."""

    def remove_waiter(self, waiter: Waiter) -> None:
        """Forget a waiter."""

    def hurry(self, at: float) -> None:
        """Look at this time at the latest."""


class Metered:
    """A bot's process with a CPU clock, or one that is stopped off turn, or both. A `LineChannel`.

    Args:
        bot: its process.
        alarm: the worker's hub.
        clock: which clock, and what is done about pondering.

    Attributes:
        is_charged: whether the next request is a turn; start-up goes by the wall alone.
        wake_at: what the hub goes by.
    """

    def __init__(self, bot: Stoppable, alarm: Alarm, clock: ClockSettings) -> None:
        self.is_charged = False
        self.wake_at = inf
        self._bot = bot
        self._alarm = alarm
        self._on_cpu = clock.kind == "cpu"
        self._freezes = clock.pondering == "freeze"
        self._allows = clock.pondering == "allow"
        self._cpu_s = 0.0  # CPU time of the bot at its last line
        self._off_turn_s = 0.0
        self._limit_s = inf  # for this request
        self._before_s = 0.0  # CPU time of the bot as it was asked, less what it owed
        self._owed_s = 0.0  # used off turn, to be paid for with this request
        self._used_s = 0.0  # CPU time that this request was charged so far
        self._scope: trio.CancelScope | None = None
        alarm.add_waiter(self)

    @property
    def lost_s(self) -> float:
        """See `LineChannel`: of the wall time."""
        return self._bot.lost_s

    def spent_s(self) -> float:
        """See `LineChannel`: what was used off turn before is part of it."""
        if self._on_cpu and self.is_charged:
            return self._used_s
        return self._bot.spent_s() + self._owed_s

    # --- asking ---------------------------------------------------------------------------------

    async def ask(self, line: bytes, *, limit_s: float) -> bytes:
        """Send a request and return the next line; see `LineChannel.ask`.

        Args:
            line: the request.
            limit_s: CPU time, if that is charged; else wall time.
        """
        bot = self._bot
        cpu_s = bot.cpu_s()
        self._owed_s = self._used_s = 0.0
        if self.is_charged:
            off_turn_s = max(0.0, cpu_s - self._cpu_s)
            self._off_turn_s += off_turn_s
            if not self._allows:
                self._owed_s = off_turn_s
        self._limit_s = limit_s
        self._before_s = cpu_s - self._owed_s
        if self._owed_s >= limit_s:
            raise BotTooSlow(
                f"CPU {self._owed_s:.2f} s of {limit_s:.2f} s, used while the other side was to "
                "move",
                "do nothing between an answer and the next request",
            )
        bot.go_on()
        if self._on_cpu and self.is_charged:
            return await self._metered(bot.ask(line, limit_s=wall_stop_s(limit_s)))
        answer = await bot.ask(line, limit_s=limit_s - self._owed_s)
        self._cpu_s = bot.cpu_s()
        return answer

    async def listen(self) -> bytes:
        """Return one more line under the limit of the last request; see `LineChannel.listen`."""
        if self._on_cpu and self.is_charged:
            return await self._metered(self._bot.listen())
        answer = await self._bot.listen()
        self._cpu_s = self._bot.cpu_s()
        return answer

    async def _metered(self, asked: Awaitable[bytes]) -> bytes:
        """Wait for a line, but no longer than there is CPU time left."""
        with trio.CancelScope() as self._scope:
            self._wake_again(monotonic())
            try:
                answer = await asked
            except BotTooSlow as exc:
                self._read_clocks()
                raise BotTooSlow(f"idle: {exc.text}; {self._account()}", exc.hint) from exc
            finally:
                self.wake_at = inf
                self._scope = None
            self._read_clocks()
            if self._used_s > self._limit_s:
                raise BotTooSlow(f"the answer took {self._account()}", _HINT)
            return answer
        raise BotTooSlow(f"{self._account()}, and no answer", _HINT)

    def wake(self, now: float) -> None:
        """Look at the clocks while an answer is waited for."""
        self._read_clocks()
        if self._used_s <= self._limit_s:
            self._wake_again(now)
            return
        self.wake_at = inf
        if self._scope is not None:
            self._scope.cancel()

    def _wake_again(self, now: float) -> None:
        """Look again after 50 ms, or when the time can be up at the earliest."""
        left_s = (self._limit_s - self._used_s) / _CORES
        self.wake_at = now + min(_LOOK_S, max(_SHORTEST_LOOK_S, left_s))
        self._alarm.hurry(self.wake_at)

    def _read_clocks(self) -> None:
        self._cpu_s = self._bot.cpu_s()
        self._used_s = self._cpu_s - self._before_s

    def _account(self) -> str:
        return f"CPU {self._used_s:.2f} s of {self._limit_s:.2f} s"

    def rest(self) -> None:
        """Stop the bot, whose turn is over, until it is asked again, if that is what is wanted."""
        if self._freezes:
            self._bot.stop()

    # --- looking, and the end: as the process does it -------------------------------------------

    def off_turn(self) -> OffTurnUse | None:
        """See `LineChannel`: of all of its turns, to the last microsecond."""
        watched = self._bot.off_turn()
        caught = watched is not None and watched.is_caught
        return OffTurnUse(self._off_turn_s, caught)

    def take_line(self) -> bytes | None:
        """See `LineChannel`."""
        return self._bot.take_line()

    def has_unread(self) -> bool:
        """See `LineChannel`."""
        return self._bot.has_unread()

    def has_ended(self) -> bool:
        """See `LineChannel`."""
        return self._bot.has_ended()

    def tell(self, line: bytes) -> bool:
        """See `LineChannel`."""
        return self._bot.tell(line)

    def take_stderr(self) -> tuple[str, int]:
        """See `LineChannel`."""
        return self._bot.take_stderr()

    def evidence(self) -> Mapping[str, Any]:
        """See `LineChannel`; with what the last request used of its time."""
        found = dict(self._bot.evidence())
        if self._on_cpu and self.is_charged:
            found["cpu_ms"] = round(self._used_s * 1000, 3)
            found["off_turn_cpu_ms"] = round(self._owed_s * 1000, 3)
        return found

    async def end(self, *, grace_s: float = 0.0) -> None:
        """See `LineChannel`."""
        self._alarm.remove_waiter(self)
        await self._bot.end(grace_s=grace_s)
