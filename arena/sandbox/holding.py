"""What keeps a bot's processes together: a process group alone, or a sandbox that is watched."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import NamedTuple, Protocol

import trio

from arena.sandbox.pondering import OffTurn, OffTurnUse
from arena.sandbox.sandboxes import Box, Sandbox
from arena.sandbox.tree import session_tree
from arena.sandbox.usage import Bounds
from arena.sandbox.warden import Idler, Warden
from protocol.messages import Limits

__all__ = ["Group", "Guard", "Hold", "Locked", "bounds_of"]

_MIB = 1024 * 1024
_EMPTY_WAIT_S = 2.0  # from the kill to the end of the last process in a sandbox, at most


class Guard(NamedTuple):
    """What a worker keeps its bots with: one makes the sandboxes, the other watches them."""

    sandbox: Sandbox
    warden: Warden


class Hold(Protocol):
    """A grip on all processes of one bot.

    Attributes:
        shifts_signals: whether a bot that dies of a signal ends with status 128 and its number.
    """

    shifts_signals: bool

    def first(self) -> int:
        """Return the process under which all of the bot's own are found."""

    def breach(self) -> str | None:
        """Return what the bot was killed for using too much of, with the numbers."""

    def shortage(self) -> str | None:
        """Return what the bot may have been refused since it had as much as it may, if anything."""

    def hides_time(self) -> bool:
        """Whether the bot was seen to have children whose CPU time is collected by nobody."""

    def cpu_s(self) -> float:
        """Look at the CPU clocks of all processes now; returns their sum, which never falls."""

    def stop(self) -> None:
        """Stop every process, wherever it is."""

    def go_on(self) -> None:
        """Let every process go on."""

    def watch_off_turn(self, idler: Idler, *, allowed: bool) -> None:
        """Look from now on at what the bot does while it is not asked.

        Args:
            idler: the bot.
            allowed: it may do what it likes then; else it is stopped once it uses too much.
        """

    def off_turn(self) -> OffTurnUse | None:
        """Return what the bot used while it was not asked; None where nobody looks."""

    def had_begun(self) -> bool:
        """Whether the bot's own command had begun; to be asked once it has ended by itself."""

    def kill(self) -> None:
        """Kill all of them; before the outermost one is reaped."""

    async def leave(self) -> None:
        """Wait until nobody is left, two seconds at most, and let go; may be called twice."""


class Group:
    """A process group, of a bot without a sandbox: who leaves the group gets away.

    Args:
        pid: of its leader.
    """

    shifts_signals = False

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._tree = session_tree(pid)

    def first(self) -> int:
        """See `Hold`."""
        return self._pid

    def breach(self) -> str | None:
        """See `Hold`; nobody watches."""
        return None

    def shortage(self) -> str | None:
        """See `Hold`; nobody watches."""
        return None

    def hides_time(self) -> bool:
        """See `Hold`; nobody watches."""
        return False

    def cpu_s(self) -> float:
        """See `Hold`; of the processes below the first one, and of its session."""
        return self._tree.sample()

    def stop(self) -> None:
        """See `Hold`; of the processes below the first one."""
        self._tree.stop()

    def go_on(self) -> None:
        """See `Hold`."""
        self._tree.go_on()

    def watch_off_turn(self, idler: Idler, *, allowed: bool) -> None:
        """See `Hold`; nobody watches."""

    def off_turn(self) -> OffTurnUse | None:
        """See `Hold`; nobody watches."""
        return None

    def had_begun(self) -> bool:
        """See `Hold`."""
        return True

    def kill(self) -> None:
        """See `Hold`."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)

    async def leave(self) -> None:
        """See `Hold`; the group is empty as soon as its processes have died."""
        await trio.lowlevel.checkpoint()


class Locked:
    """A sandbox under the eyes of a warden, from which nobody gets away.

    Args:
        pid: of bubblewrap.
        box: what it runs.
        bounds: what the bot may use.
        warden: who watches.
    """

    shifts_signals = True

    def __init__(self, pid: int, box: Box, bounds: Bounds, warden: Warden) -> None:
        self._pid = pid
        self._box = box
        self._warden = warden
        self._ward = warden.watch(box, bounds)

    def first(self) -> int:
        """See `Hold`; bubblewrap itself while it has not told who is inside."""
        return self._box.init if self._box.learn() else self._pid

    def breach(self) -> str | None:
        """See `Hold`."""
        return self._ward.breach

    def shortage(self) -> str | None:
        """See `Hold`."""
        return self._ward.shortage

    def hides_time(self) -> bool:
        """See `Hold`."""
        return self._ward.hides_time

    def cpu_s(self) -> float:
        """See `Hold`; setting up the sandbox is part of it."""
        return self._ward.sample()

    def stop(self) -> None:
        """See `Hold`."""
        self._ward.stop()

    def go_on(self) -> None:
        """See `Hold`."""
        self._ward.go_on()

    def watch_off_turn(self, idler: Idler, *, allowed: bool) -> None:
        """See `Hold`; as often as the warden looks."""
        self._ward.watch_off_turn(idler, OffTurn(allowed=allowed))

    def off_turn(self) -> OffTurnUse | None:
        """See `Hold`."""
        seen = self._ward.off_turn
        return None if seen is None else seen.use()

    def had_begun(self) -> bool:
        """See `Hold`."""
        return self._box.was_set_up()

    def kill(self) -> None:
        """See `Hold`."""
        self._warden.release(self._ward)
        self._box.kill(self._pid)

    async def leave(self) -> None:
        """See `Hold`."""
        try:
            if not self._box.is_over():
                with trio.move_on_after(_EMPTY_WAIT_S):
                    await trio.lowlevel.wait_readable(self._box.init_fd)
        finally:
            self._box.close()


def bounds_of(limits: Limits) -> Bounds:
    """Return what all processes of a bot together may use."""
    return Bounds(
        memory_bytes=limits.memory_mib * _MIB,
        tasks=limits.processes,
        files=limits.tmp_files,
        sockets=limits.sockets,
    )
