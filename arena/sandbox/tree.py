"""All processes of one bot at once: the CPU time that they have used, and stopping every one.

In a sandbox they are those in its namespace of process ids, which nobody leaves. Without one they
are those below the bot's first process, and those of its session: who leaves both is lost sight of.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from arena.sandbox.processes import Seen, descend, is_stopping, pids_in_session, see
from arena.sandbox.usage import CpuAccount

__all__ = ["Tree", "TreeKernel", "session_tree"]

_STOP_PASSES = 64  # over the processes of a bot that makes new ones while it is stopped
_WHOLE = 10  # samples, after which all of the machine is looked through
_QUIET = frozenset("TtZX")  # stopped, traced, dead


class TreeKernel(Protocol):
    """What is asked of the kernel; tests have one of their own."""

    def see(self, pid: int) -> Seen | None:
        """Look at one process; None if it is gone."""

    def is_stopping(self, pid: int) -> bool:
        """Whether it was told to stop, and will before it does anything else."""

    def signal(self, pid: int, number: int) -> None:
        """Send a signal, if the process is still there."""


class Tree:
    """The processes of one bot.

    Args:
        pids: returns their numbers as of now; with True so that none can be missed.
        kernel: what to ask.
        is_spared: whether a process is ours: its time counts, and it is never stopped.
    """

    def __init__(
        self,
        pids: Callable[[bool], list[int]],
        kernel: TreeKernel,
        is_spared: Callable[[int], bool] = lambda _pid: False,
    ) -> None:
        self._pids = pids
        self._kernel = kernel
        self._is_spared = is_spared
        self._account = CpuAccount()
        self._samples = 0

    @property
    def cpu_s(self) -> float:
        """CPU time of all of them, those that have ended too, as of the last look."""
        return self._account.total_s

    @property
    def is_suspect(self) -> bool:
        """See `CpuAccount`."""
        return self._account.is_suspect

    @property
    def hides_time(self) -> bool:
        """See `CpuAccount`."""
        return self._account.hides_time

    def look(self, *, whole: bool = False) -> list[Seen]:
        """See every process, and take its CPU time into account.

        One that just now changes its parent may not be found from above; who was known before is
        looked at in any case, so that its time counts once and not twice.
        """
        kernel, known = self._kernel, self._account.known
        found = {process.pid: process for pid in self._pids(whole) if (process := kernel.see(pid))}
        for pid, started in known:
            if pid not in found:
                process = kernel.see(pid)
                if process is not None and process.started == started:
                    found[pid] = process
        seen = list(found.values())
        self._account.look(seen)
        return seen

    def sample(self) -> float:
        """Look at the CPU clocks now; returns `cpu_s`. Takes some 70 microseconds."""
        self._samples += 1
        self.look(whole=self._samples % _WHOLE == 0)
        return self.cpu_s

    def stop(self) -> bool:
        """Stop every process; True once nothing does anything more.

        One that forks, or wakes the others, while it is stopped may take a few passes; two in a
        row must find nothing.
        """
        quiet = 0
        for _ in range(_STOP_PASSES):
            running = [
                process.pid
                for process in self.look()
                if not self._is_spared(process.pid)
                and process.state not in _QUIET
                and not self._kernel.is_stopping(process.pid)
            ]
            for pid in running:
                self._kernel.signal(pid, signal.SIGSTOP)
            quiet = 0 if running else quiet + 1
            if quiet == 2:
                return True
        return False

    def go_on(self) -> None:
        """Let every process go on."""
        for process in self.look():
            if not self._is_spared(process.pid):
                self._kernel.signal(process.pid, signal.SIGCONT)


class _Kernel:
    """The real one."""

    def see(self, pid: int) -> Seen | None:
        """See `TreeKernel`."""
        return see(pid)

    def is_stopping(self, pid: int) -> bool:
        """See `TreeKernel`."""
        return is_stopping(pid)

    def signal(self, pid: int, number: int) -> None:
        """See `TreeKernel`."""
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def session_tree(pid: int) -> Tree:
    """Return the processes of a bot without a sandbox; `pid` leads a session of its own.

    A look takes about a millisecond, many times of what it takes in a sandbox.
    """

    def pids(whole: bool) -> list[int]:
        del whole  # an orphan is below nobody that we know: all of the machine, every time
        return sorted({*descend(pid), *pids_in_session(pid)})

    return Tree(pids, _Kernel())
