"""Who outlives a worker, to end what it leaves behind.

A worker that is killed takes its bots along: the kernel tells each that its parent is gone. But not
at every instant. Bubblewrap's inner process is not yet told of anything while it waits for the
outer one to set up its namespaces; if that is killed then, the inner one waits for ever. And
without a sandbox what a bot started in a session of its own is nobody's. So a worker begins with a
fork: the child is the worker, and the parent does nothing but wait for it. All that loses its
parent below becomes the guardian's own child, and is killed when the worker has ended.

A worker that is stopped, or hangs, would hold up its games and the run for ever. So it gives a sign
of life every few seconds, and is killed when none has come for a minute: its games are then played
again, as those of any worker that died.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

__all__ = ["BEAT_S", "GONE", "Silence", "fork_from_guardian"]

GONE = signal.SIGHUP  # to a guardian: the coordinator has ended, and the worker is to be killed

BEAT_S = 5.0  # between two signs of life

_SILENT = 12  # looks without one, of the guardian, which may have been stopped itself
_SAID = b"a worker process gave no sign of life for a minute and is ended; its games begin anew\n"
_SET_PARENT_DEATH_SIGNAL = 1  # for prctl
_SET_CHILD_SUBREAPER = 36
_HEARD = {signal.SIGTERM, GONE, signal.SIGCHLD}
_SWEEP_S = 2.0  # for what no kill ends at once; then it is left to the system


def fork_from_guardian() -> int | None:
    """Fork, and return in the child alone; the parent ends with the child, and everything below it.

    Returns a descriptor, to which any byte is a sign of life; it never blocks. From the first one
    on the child is killed if there is none for twelve times `BEAT_S`. None off Linux.

    SIGTERM is passed on to the child, the second one as SIGKILL; `GONE` kills it at once. If the
    guardian is killed, its child is too. To be called before there is a thread or a process; off
    Linux nothing is done.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    guardian = os.getpid()
    beats, ours = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    worker = os.fork()
    if worker:
        os.close(ours)
        _guard(worker, beats)
    os.close(beats)
    prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != guardian:  # it was killed before we could ask to be told
        os._exit(1)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
    return ours


def _guard(worker: int, beats: int) -> NoReturn:
    # The pipes to the coordinator are the worker's: their ends must be seen when it ends.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    told_to_end = False
    silence = Silence()
    look_at = time.monotonic() + BEAT_S
    while not _has_ended(worker):  # until it is reaped its number is its own
        heard = signal.sigtimedwait(_HEARD, max(0.0, look_at - time.monotonic()))
        if heard is None:
            look_at = time.monotonic() + BEAT_S
            if silence.is_too_long(_has_beaten(beats)):
                with suppress(OSError):
                    os.write(2, _SAID)
                os.kill(worker, signal.SIGKILL)
        elif heard.si_signo != signal.SIGCHLD:
            kill = told_to_end or heard.si_signo == GONE
            os.kill(worker, signal.SIGKILL if kill else signal.SIGTERM)
            told_to_end = True
    _sweep()
    os._exit(0)


class Silence:
    """For how many looks a worker has shown no life; one that is still loading need not yet."""

    def __init__(self) -> None:
        self._has_begun = False
        self._looks = 0

    def is_too_long(self, has_beaten: bool) -> bool:
        """Take in one look: whether there was a sign of life since the last one."""
        self._has_begun = self._has_begun or has_beaten
        self._looks = 0 if has_beaten or not self._has_begun else self._looks + 1
        return self._looks >= _SILENT


def _has_beaten(beats: int) -> bool:
    try:
        return bool(os.read(beats, 4096))
    except BlockingIOError:
        return False


def _has_ended(worker: int) -> bool:
    """Reap who has ended; whether the worker is among them."""
    with suppress(ChildProcessError):
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if pid == worker:
                return True
            if pid == 0:
                return False
    return True


def _sweep() -> None:
    """Kill and reap all that is left below, until there is nothing."""
    until = time.monotonic() + _SWEEP_S
    own = Path(f"/proc/self/task/{os.getpid()}/children")
    while time.monotonic() < until:
        for pid in own.read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)
