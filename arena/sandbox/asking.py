"""One request to a bot: a line out, a line back, and a deadline between.

The hot path is `ask`: one write, one wait, one read. Whatever else can happen (the deadline, the
end of the process) wakes the same wait and is looked into then; the good path has no cancel scope,
no exception and no task of its own.
"""

from __future__ import annotations

import os
import select
import subprocess
from math import inf
from time import monotonic

import trio

from arena.errors import BotFault, HostFault
from arena.sandbox.channel import BotOverran, BotTookTooMuch, BotTooSlow
from arena.sandbox.holding import Hold
from arena.sandbox.hub import Hub
from arena.sandbox.lateness import Lateness
from arena.sandbox.life import Life
from arena.sandbox.reasons import (
    closed,
    deaf,
    ended,
    late,
    not_set_up,
    overloaded,
    overran,
    silent,
)
from arena.sandbox.stderr import StderrPipe

__all__ = ["Asking"]

_READ_BYTES = 4_096  # at once; most answers have a few hundred, and more costs more
_LAST_WORD_S = 0.25  # from the end of a stream to the end of the process it announces
_GLANCE_SHARE = 0.05  # of a limit, after which a slow bot's counts are read for the first time
_MOST_EXTENSION = 4.0  # times the limit, and two seconds: nobody is waited for without end
_HIDDEN = "nobody collects the CPU time of its children, so it got none back for having to wait"

_read = os.read
_write = os.write
_current_task = trio.lowlevel.current_task
_reschedule = trio.lowlevel.reschedule
_wait_task_rescheduled = trio.lowlevel.wait_task_rescheduled


class Asking:
    """A bot's pipes, and the request that it is asked now, if any.

    Attributes:
        sent_at, answered_at: readings of `time.monotonic` at the end of the last request and at
            the last line.
        lost_s: see `LineChannel`.
        wake_at: what the hub goes by.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], hub: Hub, hold: Hold, *, line_bytes: int
    ) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise HostFault("a bot was started without its three pipes")  # pragma: no cover
        self.sent_at = self.answered_at = monotonic()
        self.lost_s = 0.0
        self.wake_at = inf
        self._hub = hub
        self._hold = hold
        self._line_bytes = line_bytes
        self._stdin = process.stdin.fileno()
        self._stdout = process.stdout.fileno()
        self._stderr = StderrPipe(process.stderr.fileno())
        for fd in (self._stdin, self._stdout, self._stderr.fd):
            os.set_blocking(fd, False)
        self._life = Life(process)
        self._rest = b""  # read, but not yet taken
        self._limit_s = inf
        self._deadline = inf
        self._lateness = Lateness(process.pid, hub.own_looks)
        self._trouble = False  # something is to be looked at before the next wait
        self._closed = False
        self._stdin_broken = False
        self._task: trio.lowlevel.Task | None = None  # waits for the standard output
        self._ready = False  # something came while nobody waited
        self._stopped = False  # all of its processes, until it is asked again
        self._poll = select.poll()
        for fd in (self._stdout, self._stderr.fd, self._life.pidfd):
            self._poll.register(fd, select.POLLIN)
        hub.add(self._stdout, self._on_stdout, on_change=True)
        hub.add(self._stderr.fd, self._on_stderr)
        hub.add(self._life.pidfd, self._on_end)
        hub.add_waiter(self)

    async def ask(self, line: bytes, *, limit_s: float) -> bytes:
        """Send a request and return the next line of the bot; see `LineChannel.ask`."""
        self._limit_s = limit_s
        self.lost_s = 0.0
        try:
            written = _write(self._stdin, line)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            self._stdin_broken = self._trouble = True
            written = len(line)
        if written < len(line):
            await self._write_on(line, written)
        now = self.sent_at = monotonic()
        deadline = self._deadline = now + limit_s
        self.wake_at = wake_at = now + limit_s * _GLANCE_SHARE
        if wake_at < self._hub.next_at:
            self._hub.hurry(wake_at)
        if self._trouble or self._ready or self._rest:
            return await self._receive(deadline)
        # What follows is the first round of `_receive` for an answer that comes in one piece.
        self._task = _current_task()
        try:
            await _wait_task_rescheduled(self._give_up)
        except BaseException:  # a Ctrl-C just before it: nobody waits then
            self._task = None
            raise
        if not self._trouble:
            try:
                chunk = _read(self._stdout, _READ_BYTES)
            except BlockingIOError:
                return await self._receive(deadline)
            now = monotonic()
            if now <= deadline and chunk.find(b"\n") + 1 == len(chunk) < _READ_BYTES and chunk:
                self.answered_at = now
                self.wake_at = inf
                return chunk[:-1]
            self._rest = chunk
            self._ready = not chunk or len(chunk) == _READ_BYTES
            if b"\n" in chunk:
                self._trouble = True
        return await self._receive(deadline)

    async def listen(self) -> bytes:
        """Return one more line under the deadline of the last request."""
        line = self.take_line()
        if line is not None:
            return line
        await trio.lowlevel.checkpoint()  # who floods with `log` lines must not stop the others
        self.wake_at = self._deadline
        self._hub.hurry(self.wake_at)
        return await self._receive(self._deadline)

    async def _receive(self, deadline: float) -> bytes:
        while True:
            if self._trouble:
                line = await self._look_closer()
                if line is not None:
                    return line
                deadline = self._deadline
            if self._ready:
                self._ready = False
            else:
                self._task = _current_task()
                try:
                    await _wait_task_rescheduled(self._give_up)
                except BaseException:  # a Ctrl-C just before it: nobody waits then
                    self._task = None
                    raise
            try:
                chunk = _read(self._stdout, _READ_BYTES)
            except BlockingIOError:
                continue  # somebody woke us: `_trouble` says so
            if len(chunk) == _READ_BYTES:
                self._ready = True  # there may be more, of which nobody will tell us again
            now = monotonic()
            if not chunk:
                self.wake_at = inf
                self._ready = True  # it stays at its end
                raise await self._exited("its standard output")
            end = chunk.find(b"\n")
            if end >= 0 and now <= deadline:
                self.answered_at = now
                self.wake_at = inf
                return self._cut(chunk, end)
            self._rest += chunk
            if now > deadline:
                self._trouble = True
            elif len(self._rest) >= self._line_bytes:
                raise self._overran()

    def _cut(self, chunk: bytes, end: int) -> bytes:
        """Return the line that ends in this chunk; what lies behind is kept for later."""
        line = self._rest + chunk[:end] if self._rest else chunk[:end]
        self._rest = chunk[end + 1 :]
        if len(line) >= self._line_bytes:
            raise self._overran()
        return line

    def is_silent(self) -> bool:
        """Whether at this one look nothing is to be read of it, and it is there: the usual case."""
        return not self._closed and not self._rest and not self._poll.poll(0)

    def take_line(self) -> bytes | None:
        """Return a whole line that was read together with an earlier one, if there is one."""
        rest = self._rest
        if not rest or (end := rest.find(b"\n")) < 0:
            return None
        self._rest = b""
        return self._cut(rest, end)

    async def _write_on(self, line: bytes, written: int) -> None:
        """Write what the pipe did not take at once of a request, under a deadline of its own."""
        self.go_on()
        started = monotonic()
        self.wake_at = self._deadline = started + self._limit_s
        self._hub.hurry(self.wake_at)
        rest = memoryview(line)[written:]
        while rest:
            if self._life.ended.is_set():
                break  # what it wrote before is judged first
            if self._trouble and monotonic() >= self._deadline:
                self.wake_at = inf
                raise deaf(len(line) - len(rest), len(line), self._limit_s)
            try:
                await trio.lowlevel.wait_writable(self._stdin)
                rest = rest[_write(self._stdin, rest) :]
            except (trio.ClosedResourceError, BlockingIOError):
                continue
            except BrokenPipeError:
                self._stdin_broken = self._trouble = True
                break
        self._trouble = self._stdin_broken or self._life.ended.is_set()

    # --- when something happened ----------------------------------------------------------------

    def wake(self, now: float) -> None:
        """Be woken by the deadline watch: a first look at a slow bot's counts, or the deadline."""
        due, deadline = self.wake_at, self._deadline
        if due < deadline:
            self._lateness.glance(self.sent_at, now, due=due, deadline=deadline)
        if now < deadline:
            self.wake_at = deadline
        else:
            self.wake_at = inf
            self._disturb()

    def _disturb(self) -> None:
        """Wake the task that waits for this bot, so that it looks closer."""
        self._trouble = True
        self._on_stdout()
        if not self._closed:
            trio.lowlevel.notify_closing(self._stdin)

    def _on_stdout(self) -> None:
        task = self._task
        if task is None:
            self._ready = True
        else:
            self._task = None
            _reschedule(task)

    def _give_up(self, raise_cancel: object) -> trio.lowlevel.Abort:
        del raise_cancel
        self._task = None
        return trio.lowlevel.Abort.SUCCEEDED

    def _on_stderr(self) -> None:
        if not self._stderr.read():
            self._hub.remove(self._stderr.fd)

    def _on_end(self) -> None:
        """The process has ended: nobody need wait for it any more."""
        self._hub.remove(self._life.pidfd)
        self._life.ended.set()
        self._disturb()

    async def _look_closer(self) -> bytes | None:
        """Find out why the task was woken.

        Where nothing tells the order, the end of the process goes before the end of the time.

        Returns:
            A whole line that had been written before; None if waiting may go on.
        """
        self._trouble = False
        if self._stopped:  # it has been asked since: its time begins now
            self.go_on()
            self.sent_at = monotonic()
            self._deadline = self.sent_at + self._limit_s
            self.wake_at = self.sent_at + self._limit_s * _GLANCE_SHARE
            self._hub.hurry(self.wake_at)
        gone = self._life.ended.is_set() or self._stdin_broken
        if gone and self._read_left() is None:
            raise await self._exited("its standard input")
        now = monotonic()
        if now > self._deadline:
            now = self._forgive(now)
        line = self.take_line()
        if line is not None:
            self.answered_at = now
            self.wake_at = inf
            self._trouble = gone  # the next wait begins here again
        return line

    def _read_left(self) -> int | None:
        """Read what a dead bot left in the pipe up to its first newline; None if there is none."""
        while (end := self._rest.find(b"\n")) < 0:
            try:
                chunk = _read(self._stdout, _READ_BYTES)
            except BlockingIOError:
                return None
            if not chunk:
                return None
            self._rest += chunk
            if len(self._rest) >= self._line_bytes and b"\n" not in chunk:
                raise self._overran()
        return end

    def _forgive(self, now: float) -> float:
        """Move a deadline that has passed by what the machine kept from the bot.

        Returns:
            When an answer that is there counts as having come.

        Raises:
            BotTooSlow: if the bot was late by itself.
        """
        lateness, request = self._lateness, self.sent_at
        has_answered = self._read_left() is not None
        if has_answered:
            unseen = lateness.unseen(request, now, self._deadline)
            if unseen is not None:
                lost_s, came_at = unseen
                self._lose(lost_s)
                return came_at + lost_s  # what was lost is taken off again
        most = _MOST_EXTENSION * self._limit_s + 2.0 - self.lost_s
        lost = lateness.lost(
            request,
            now,
            self._deadline,
            has_answered=has_answered,
            hides_time=self._hold.hides_time(),
        )
        if self._deadline + min(lost, most) >= now:
            self._lose(min(lost, most))
            lateness.forgive(now)
            self.wake_at = self._deadline
        else:
            again_at = lateness.look_again_at()
            if has_answered or again_at is None or again_at > self._deadline + most:
                if not has_answered and self._read_left() is not None:
                    return self._forgive(now)  # it came while we looked
                self.wake_at = inf
                still_waits = again_at is not None and not has_answered
                if still_waits or self._deadline + lost >= now:
                    raise overloaded(now - self.sent_at, self._limit_s)
                raise self._too_slow()
            self.wake_at = again_at
        self._hub.hurry(self.wake_at)
        return now

    def _lose(self, seconds: float) -> None:
        self.lost_s += seconds
        self._deadline += seconds

    async def _exited(self, stream: str) -> BotFault | HostFault:
        """Say how the bot went: its end follows the end of its stream within a moment."""
        self.wake_at = inf
        await self._life.wait_over(_LAST_WORD_S)
        hold = self._hold
        breach = hold.breach()
        if breach is not None:
            return BotTookTooMuch(breach)
        if self._life.status() == 1 and not hold.had_begun():
            return not_set_up(self._stderr.text())
        how = self._life.how_it_ended(shifts_signals=hold.shifts_signals)
        return closed(stream) if how is None else ended(how, self._rest, hold.shortage())

    def _too_slow(self) -> BotTooSlow:
        limit_s = self._limit_s + self.lost_s
        if b"\n" in self._rest:  # while the kernel's books were waited for
            return late(monotonic() - self.sent_at, limit_s)
        hold = self._hold
        return silent(limit_s, self._rest, _HIDDEN if hold.hides_time() else hold.shortage())

    def _overran(self) -> BotOverran:
        self.wake_at = inf
        return overran(self._line_bytes, self._rest)

    # --- stopped off turn -----------------------------------------------------------------------

    def stop(self) -> None:
        """Stop all of its processes until it is asked again; must not be asked now."""
        if not self._stopped and not self._closed:
            self._stopped = self._trouble = True
            self._hold.stop()

    def go_on(self) -> None:
        """Let all of its processes go on, if they were stopped."""
        if self._stopped:
            self._stopped = False
            self._hold.go_on()
