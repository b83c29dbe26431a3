"""One bot's process: speak lines with it, look at it, end it with all that it started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from math import inf
from typing import Any

import trio

from arena.sandbox.asking import Asking
from arena.sandbox.holding import Hold
from arena.sandbox.hub import Hub
from arena.sandbox.pondering import OffTurnUse
from protocol.quoting import quote

__all__ = ["BotProcess"]

_READ_BYTES = 4_096
_KILL_WAIT_S = 2.0  # from SIGKILL to the end of the process, at most


class BotProcess(Asking):
    """A bot's process and its three pipes; made by `starting.start_bot`. A `LineChannel`.

    Attributes:
        pid: of the process, which leads a session and a group of its own.
        spawned_at: reading of `time.monotonic` just before it was started.
        wake_at: what the hub goes by.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], hub: Hub, hold: Hold, *, line_bytes: int
    ) -> None:
        super().__init__(process, hub, hold, line_bytes=line_bytes)
        self.pid = process.pid
        self.spawned_at = self.sent_at
        self._process = process

    # --- its CPU time, and off turn -------------------------------------------------------------

    def spent_s(self) -> float:
        """Return the time from the request to the last line, less what the machine took."""
        return self.answered_at - self.sent_at - self.lost_s

    def cpu_s(self) -> float:
        """Look at the CPU clocks of all of its processes now; returns their sum."""
        return self._hold.cpu_s()

    def idle_since(self) -> float | None:
        """Return since when it is not asked; None while it is, and once it is to end."""
        # Without a clock nobody wakes us for a request: then the times alone tell.
        is_asked = self.wake_at != inf or self.answered_at < self.sent_at
        return None if is_asked or self._closed else self.answered_at

    def watch_off_turn(self, *, allowed: bool) -> None:
        """Look from now on at what it does while it is not asked; see `Hold.watch_off_turn`."""
        self._hold.watch_off_turn(self, allowed=allowed)

    def off_turn(self) -> OffTurnUse | None:
        """Return what it used while it was not asked, as far as somebody looked."""
        return self._hold.off_turn()

    # --- looking --------------------------------------------------------------------------------

    def has_unread(self) -> bool:
        """Whether anything came that nobody asked for."""
        if self.is_silent():
            return False
        if self._rest:
            return True
        try:
            self._rest = os.read(self._stdout, _READ_BYTES)
        except BlockingIOError:
            return False
        return bool(self._rest)

    def has_ended(self) -> bool:
        """Whether at this one look the process has ended or its standard output is closed."""
        if self.is_silent():
            return False
        if self._life.is_over():
            return True
        if self._rest:
            return False
        try:
            self._rest = os.read(self._stdout, _READ_BYTES)
        except BlockingIOError:
            return False
        return not self._rest

    def exit_status(self) -> str | None:
        """Return how the process ended, such as `status 1` or `SIGSEGV`; None while it lives."""
        return self._life.how_it_ended(shifts_signals=self._hold.shifts_signals)

    def take_stderr(self) -> tuple[str, int]:
        """Return what came on standard error since this was last called, and the bytes dropped."""
        if self._stderr.is_empty and self.is_silent():
            return "", 0
        return self._stderr.take()

    def evidence(self) -> Mapping[str, Any]:
        """Return what a fault's record shows of the process; bytes are escaped."""
        found: dict[str, Any] = {"exit_status": self.exit_status()}
        breach = self._hold.breach()
        if breach is not None:
            found["breach"] = breach
        if self._rest:
            found["unread"] = quote(self._rest)
            found["unread_bytes"] = len(self._rest)
        return found

    # --- the end --------------------------------------------------------------------------------

    def tell(self, line: bytes) -> bool:
        """Write a line that has no answer, if the pipe takes it whole at once."""
        if self._closed or self._life.ended.is_set():  # somebody else may hold its pipe yet
            return False
        self.go_on()
        try:
            return os.write(self._stdin, line) == len(line)
        except (BlockingIOError, BrokenPipeError):
            return False

    @trio.lowlevel.enable_ki_protection  # a Ctrl-C comes into the waits alone
    async def end(self, *, grace_s: float = 0.0) -> None:
        """End the bot and all that it started, and give back every descriptor; twice is once."""
        if self._closed:
            return
        self._closed = True
        self.go_on()
        with trio.CancelScope(shield=True):
            self._hub.remove_waiter(self)
            self._close_stdin()
            try:
                if grace_s > 0:
                    await self._life.wait_over(grace_s)
            finally:
                await self._kill()

    async def _kill(self) -> None:
        self._hold.kill()  # before the reaping: until then the number is still ours
        try:
            if not await self._life.wait_over(_KILL_WAIT_S):
                self._life.kill()  # bubblewrap itself, which waits for what no kill ends
        finally:
            self._stderr.drain()
            self._stderr.leave()
            for fd in (self._stdout, self._stderr.fd, self._life.pidfd):
                self._hub.remove(fd)
            for pipe in (self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()
            self._life.close()
            await self._hold.leave()

    def _close_stdin(self) -> None:
        pipe = self._process.stdin
        if pipe is not None and not pipe.closed:
            trio.lowlevel.notify_closing(self._stdin)
            pipe.close()
