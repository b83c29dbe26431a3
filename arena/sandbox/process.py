"""One bot's process: speak lines with it, end it with all that it started.

The hot path is `ask`: one write, one wait, one read. Whatever else can happen (the deadline, the
end of the process) wakes the same wait and is looked into then; the good path has no cancel scope,
no exception and no task of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from math import inf
from time import monotonic
from typing import Any

import trio

from arena.errors import BotFault, HostFault
from arena.sandbox.channel import BotExited, BotOverran, BotTookTooMuch, BotTooSlow
from arena.sandbox.holding import Hold
from arena.sandbox.hub import Hub
from arena.sandbox.lateness import Lateness
from arena.sandbox.pondering import OffTurnUse
from arena.sandbox.stderr import StderrTail
from protocol.quoting import quote

__all__ = ["BotProcess"]

_READ_BYTES = 4_096  # at once; most answers have a few hundred, and more costs more
_KILL_WAIT_S = 2.0  # from SIGKILL to the end of the process, at most
_LAST_WORD_S = 0.25  # from the end of a stream to the end of the process it announces
_STDERR_READ_BYTES = 65_536  # at once: a pipe holds no more
_STDERR_LAST_BYTES = 1 << 20  # read from the pipe after the end, at most
_GLANCE_SHARE = 0.05  # of a limit, after which a slow bot's counts are read for the first time
_MOST_EXTENSION = 4.0  # times the limit, and two seconds: nobody is waited for without end
_FLUSH_HINT = "did the bot flush its output, and does it answer every request?"

_read = os.read
_write = os.write
_current_task = trio.lowlevel.current_task
_reschedule = trio.lowlevel.reschedule
_wait_task_rescheduled = trio.lowlevel.wait_task_rescheduled


class BotProcess:
    """A bot's process and its three pipes; made by `starting.start_bot`. A `LineChannel`.

    Attributes:
        pid: of the process, which leads a session and a group of its own.
        spawned_at: reading of `time.monotonic` just before it was started.
        wake_at: what the hub goes by.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], hub: Hub, hold: Hold, *, line_bytes: int
    ) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise HostFault("a bot was started without its three pipes")  # pragma: no cover
        self.pid = process.pid
        self.spawned_at = monotonic()
        self.sent_at = self.answered_at = self.spawned_at
        self.lost_s = 0.0
        self.wake_at = inf
        self._process = process
        self._hold = hold
        self._stderr = StderrTail()
        self._hub = hub
        self._line_bytes = line_bytes
        self._stdin = process.stdin.fileno()
        self._stdout = process.stdout.fileno()
        self._stderr_fd = process.stderr.fileno()
        for fd in (self._stdin, self._stdout, self._stderr_fd):
            os.set_blocking(fd, False)
        self._pidfd = os.pidfd_open(process.pid)
        self._rest = b""  # read, but not yet taken
        self._limit_s = inf
        self._deadline = inf
        self._lateness = Lateness(process.pid, hub.own_looks)
        self._trouble = False  # something is to be looked at before the next wait
        self._ended = trio.Event()
        self._closed = False
        self._stderr_open = True
        self._stdin_broken = False
        self._task: trio.lowlevel.Task | None = None  # waits for the standard output
        self._ready = False  # something came while nobody waited
        self._stopped = False  # all of its processes, until it is asked again
        hub.add(self._stdout, self._on_stdout, on_change=True)
        hub.add(self._stderr_fd, self._on_stderr)
        hub.add(self._pidfd, self._on_end)
        hub.add_waiter(self)

    # --- asking ---------------------------------------------------------------------------------

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
        await _wait_task_rescheduled(self._give_up)
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
                await _wait_task_rescheduled(self._give_up)
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
            if self._ended.is_set():
                break  # what it wrote before is judged first
            if self._trouble and monotonic() >= self._deadline:
                self.wake_at = inf
                raise BotTooSlow(
                    f"the bot does not read: it took {len(line) - len(rest):,} of {len(line):,} "
                    f"bytes of a request in {_ms(self._limit_s)}",
                    "read every line of the standard input",
                )
            try:
                await trio.lowlevel.wait_writable(self._stdin)
                rest = rest[_write(self._stdin, rest) :]
            except (trio.ClosedResourceError, BlockingIOError):
                continue
            except BrokenPipeError:
                self._stdin_broken = self._trouble = True
                break
        self._trouble = self._stdin_broken or self._ended.is_set()

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
        """Take in what a talkative bot says, or it stalls."""
        try:
            chunk = _read(self._stderr_fd, _STDERR_READ_BYTES)
        except BlockingIOError:
            return
        if chunk:
            self._stderr.add(chunk)
        else:
            self._hub.remove(self._stderr_fd)

    def _on_end(self) -> None:
        """The process has ended: nobody need wait for it any more."""
        self._hub.remove(self._pidfd)
        self._ended.set()
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
        gone = self._ended.is_set() or self._stdin_broken
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
                    raise self._overloaded(now)
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
        with trio.move_on_after(_LAST_WORD_S):
            await self._ended.wait()
        breach = self._hold.breach()
        if breach is not None:
            return BotTookTooMuch(breach)
        if self._status() == 1 and not self._hold.had_begun():
            self._drain_rest()
            said = quote(self._stderr.text().strip().encode(), 200)
            return HostFault(f"the sandbox could not be set up for a bot: {said}")
        status = self.exit_status()
        if status is None:
            return BotExited(f"the bot closed {stream}", "keep it open until `bye`")
        left = f", after {self._partial()}" if self._rest else ""
        hint = "its standard error may say why" if status != "status 0" else "exit after `bye` only"
        text = f"the bot ended with {status} before the game was over{left}{self._shortage()}"
        return BotExited(text, hint)

    def _too_slow(self) -> BotTooSlow:
        limit = _ms(self._limit_s + self.lost_s)
        if b"\n" in self._rest:  # while the kernel's books were waited for
            took = _ms(monotonic() - self.sent_at)
            return BotTooSlow(f"the answer came after {took}; the limit is {limit}")
        if self._rest:
            return BotTooSlow(
                f"no newline within {limit}, {self._partial()}", "end each answer with LF"
            )
        return BotTooSlow(f"no answer within {limit}{self._shortage()}", _FLUSH_HINT)

    def _shortage(self) -> str:
        found = self._hold.shortage()
        return "" if found is None else f"; {found}"

    def _overloaded(self, now: float) -> HostFault:
        """Nobody is waited for without end, and nobody loses because of what others took."""
        return HostFault(
            f"this machine is overloaded: it kept a bot from running for most of "
            f"{now - self.sent_at:,.1f} s, and its time is {_ms(self._limit_s)}"
        )

    def _overran(self) -> BotOverran:
        self.wake_at = inf
        return BotOverran(
            f"line longer than {self._line_bytes:,} bytes: {quote(self._rest[:200])}…",
            "an answer takes a few hundred bytes; is this a log? it belongs on stderr",
        )

    def _partial(self) -> str:
        return f"{len(self._rest):,} bytes without newline: {quote(self._rest)}"

    # --- its CPU time, and off turn -------------------------------------------------------------

    def spent_s(self) -> float:
        """Return the time from the request to the last line, less what the machine took."""
        return self.answered_at - self.sent_at - self.lost_s

    def cpu_s(self) -> float:
        """Look at the CPU clocks of all of its processes now; returns their sum."""
        return self._hold.cpu_s()

    def idle_since(self) -> float | None:
        """Return since when it is not asked; None while it is, and once it is to end."""
        return self.answered_at if self.wake_at == inf and not self._closed else None

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

    def watch_off_turn(self, *, allowed: bool) -> None:
        """Look from now on at what it does while it is not asked; see `Hold.watch_off_turn`."""
        self._hold.watch_off_turn(self, allowed=allowed)

    def off_turn(self) -> OffTurnUse | None:
        """Return what it used while it was not asked, as far as somebody looked."""
        return self._hold.off_turn()

    # --- looking --------------------------------------------------------------------------------

    def has_unread(self) -> bool:
        """Whether anything came that nobody asked for."""
        if self._rest:
            return True
        try:
            self._rest = _read(self._stdout, _READ_BYTES)
        except BlockingIOError:
            return False
        return bool(self._rest)

    def has_ended(self) -> bool:
        """Whether at this one look the process has ended or its standard output is closed."""
        if self._ended.is_set() or self._status() is not None:
            return True
        if self._rest:
            return False
        try:
            self._rest = _read(self._stdout, _READ_BYTES)
        except BlockingIOError:
            return False
        return not self._rest

    def exit_status(self) -> str | None:
        """Return how the process ended, such as `status 1` or `SIGSEGV`; None while it lives."""
        status = self._status()
        if status is None:
            return None
        if status < 0:
            return _signal_name(-status)
        if status > 128 and (name := _signal_name(status - 128)).startswith("SIG"):
            if self._hold.shifts_signals:
                return f"{name} (status {status})"
            return f"status {status} (a program of its own died of {name})"
        return f"status {status}"

    def _status(self) -> int | None:
        if self._process.returncode is not None:
            return self._process.returncode
        # The process stays a zombie: until it is reaped its number, and its group's, are ours.
        found = os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if found is None:
            return None
        exited = found.si_code == os.CLD_EXITED
        return found.si_status if exited else -found.si_status

    def take_stderr(self) -> tuple[str, int]:
        """Return what came on standard error since this was last called, and the bytes dropped."""
        if self._stderr_open:
            self._drain_rest()
        found = self._stderr.text(), self._stderr.dropped
        self._stderr.clear()
        return found

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
        if self._closed or self._ended.is_set():  # in a sandbox somebody else may hold its pipe yet
            return False
        self.go_on()
        try:
            return _write(self._stdin, line) == len(line)
        except (BlockingIOError, BrokenPipeError):
            return False

    async def end(self, *, grace_s: float = 0.0) -> None:
        """End the bot and all that it started, and give back every descriptor; twice is once."""
        if self._closed:
            return
        self._closed = True
        self.go_on()
        with trio.CancelScope(shield=True):
            self._hub.remove_waiter(self)
            self._close_stdin()
            if grace_s > 0:
                with trio.move_on_after(grace_s):
                    await self._ended.wait()
            self._hold.kill()  # before the reaping: until then the number is still ours
            with trio.move_on_after(_KILL_WAIT_S) as waiting:
                await self._ended.wait()
            if waiting.cancelled_caught:
                self._process.kill()  # bubblewrap itself, which waits for what no kill ends
            self._drain_rest()
            self._stderr_open = False
            for fd in (self._stdout, self._stderr_fd, self._pidfd):
                self._hub.remove(fd)
            self._process.poll()  # reaps it; a process that no kill ends stays with the kernel
            for pipe in (self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()
            os.close(self._pidfd)
            await self._hold.leave()

    def _close_stdin(self) -> None:
        pipe = self._process.stdin
        if pipe is not None and not pipe.closed:
            trio.lowlevel.notify_closing(self._stdin)
            pipe.close()

    def _drain_rest(self) -> None:
        left = _STDERR_LAST_BYTES
        while left > 0:
            try:
                chunk = _read(self._stderr_fd, _STDERR_READ_BYTES)
            except BlockingIOError:
                return
            if not chunk:
                return
            self._stderr.add(chunk)
            left -= len(chunk)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"
