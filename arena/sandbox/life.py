"""Whether a bot's process lives, and how it ended; until the end its number stays ours."""

from __future__ import annotations

import os
import select
import subprocess

import trio

from arena.sandbox.reasons import how_it_ended

__all__ = ["Life"]

_REAP_MS = 200.0  # between a kill and its effect, where nobody waits for that


class Life:
    """The life of one process of ours.

    Args:
        process: as it was started.

    Attributes:
        pidfd: can be read from once it has ended.
        ended: set by whoever watches `pidfd`.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.pidfd = os.pidfd_open(process.pid)
        self.ended = trio.Event()
        self._process = process

    def is_over(self) -> bool:
        """Whether the process has ended, as of this one look."""
        return self.ended.is_set() or self.status() is not None

    def status(self) -> int | None:
        """Return how it ended, as `subprocess` has it; None while it lives."""
        if self._process.returncode is not None:
            return self._process.returncode
        # The process stays a zombie: until it is reaped its number, and its group's, are ours.
        found = os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if found is None:
            return None
        exited = found.si_code == os.CLD_EXITED
        return found.si_status if exited else -found.si_status

    def how_it_ended(self, *, shifts_signals: bool) -> str | None:
        """Return that in words, such as `status 1` or `SIGSEGV`; None while it lives."""
        status = self.status()
        return None if status is None else how_it_ended(status, shifts_signals=shifts_signals)

    async def wait_over(self, limit_s: float) -> bool:
        """Wait for its end, so long at most; whether it came."""
        with trio.move_on_after(limit_s):
            await self.ended.wait()
        return self.ended.is_set()

    def kill(self) -> None:
        """Kill it, and nobody else."""
        self._process.kill()

    def close(self) -> None:
        """Reap it, and give the descriptor back; what no kill ends stays with the kernel."""
        if not self.ended.is_set():  # a Ctrl-C has cut the wait short: it was killed just now
            look = select.poll()
            look.register(self.pidfd, select.POLLIN)
            look.poll(_REAP_MS)
        self._process.poll()
        os.close(self.pidfd)
