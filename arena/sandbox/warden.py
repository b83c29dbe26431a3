"""One task a worker that watches every sandbox: memory, processes, files, CPU time.

Limits that the kernel sets for each process do not bound their sum, and no process count, rusage or
wait tells what a sandbox used as a whole; so somebody looks. A look takes some 70 microseconds a
bot, ten times a second, and half of that right behind another one; so a few are taken in a row, and
then answers get their turn. Nothing of it is done when a bot is asked.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Protocol

import trio

from arena.sandbox.pondering import OffTurn
from arena.sandbox.processes import (
    Seen,
    count_files,
    count_sockets,
    descend,
    is_stopping,
    pids_by_namespace,
    pids_in_namespace,
    pss_bytes,
    see,
)
from arena.sandbox.sandboxes import Box, settle
from arena.sandbox.tree import Tree
from arena.sandbox.usage import Bounds, Usage, breach, sum_up

__all__ = ["Idler", "Kernel", "Proc", "Ward", "Warden"]

LOOK_S = 0.1
HURRIED_LOOK_S = 0.02  # while one has more than half of its memory, or time that may be hidden
_ROW_S = 0.0002  # of looks in a row, after which answers get their turn
_RARELY = 5  # looks, for what takes longer and grows slower
_WHOLE = 10  # looks, after which all of the machine is looked through
_SHARED_S = 0.05  # for which a look through all of the machine serves every sandbox
_CONFIRM_S = 0.25  # between two counts of shared memory, at least
_CONFIRM_SHARE = 10.0  # and so many times what the last one took
_GROWN = 1.25  # but at once if it has so many times what it had at the last one
_PRIVATE = ("/tmp", "/dev/shm")  # noqa: S108 - inside, of the bot's own


class Idler(Protocol):
    """A bot, as far as the warden must know whether it is asked."""

    def idle_since(self) -> float | None:
        """Return since when it is not asked, by `time.monotonic`; None while it is, or is over."""

    def stop(self) -> None:
        """Stop it until it is asked again; nothing if it is stopped."""


class Kernel(Protocol):
    """What the warden asks the kernel; tests have one of their own."""

    def pids(self, box: Box, *, whole: bool) -> list[int]:
        """Return the processes of a sandbox, its first one included.

        Args:
            box: the sandbox.
            whole: look through all of the machine, so that none can be missed.
        """

    def see(self, pid: int) -> Seen | None:
        """Look at one process; None if it is gone."""

    def is_stopping(self, pid: int) -> bool:
        """Whether it was told to stop, and will before it does anything else."""

    def pss_bytes(self, pid: int) -> int | None:
        """Return its memory with shared pages split; None if that can't be read."""

    def files(self, box: Box) -> int | None:
        """Return how many files there are in the sandbox's own file systems."""

    def sockets(self, box: Box) -> int | None:
        """Return how many sockets there are in the sandbox."""

    def signal(self, pid: int, number: int) -> None:
        """Send a signal, if the process is still there."""

    def kill(self, box: Box) -> None:
        """Kill the first process of a sandbox; the kernel ends the rest."""

    def settle(self, pid: int) -> None:
        """See that a process gives way to the referee."""


class Proc:
    """The real kernel.

    Who left the tree of its sandbox is found by a look through all of `/proc`, which sandboxes that
    are looked at in one round share; who is in the tree is looked up anew each time.
    """

    def __init__(self) -> None:
        self._all_at = -inf
        self._all: dict[int, list[int]] = {}

    def pids(self, box: Box, *, whole: bool) -> list[int]:
        """See `Kernel`; where there are no lists of children, all are looked through each time."""
        found = descend(box.init)
        if not found:
            return pids_in_namespace(box.pid_namespace)
        if whole:
            now = monotonic()
            if now - self._all_at > _SHARED_S:
                self._all, self._all_at = pids_by_namespace(), now
            found += set(self._all.get(box.pid_namespace, ())).difference(found)
        return found

    def see(self, pid: int) -> Seen | None:
        """See `Kernel`."""
        return see(pid)

    def is_stopping(self, pid: int) -> bool:
        """See `Kernel`."""
        return is_stopping(pid)

    def pss_bytes(self, pid: int) -> int | None:
        """See `Kernel`."""
        return pss_bytes(pid)

    def files(self, box: Box) -> int | None:
        """See `Kernel`."""
        return count_files(box.init, _PRIVATE)

    def sockets(self, box: Box) -> int | None:
        """See `Kernel`."""
        return count_sockets(box.init)

    def signal(self, pid: int, number: int) -> None:
        """See `Kernel`."""
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)

    def kill(self, box: Box) -> None:
        """See `Kernel`."""
        box.kill()

    def settle(self, pid: int) -> None:
        """See `Kernel`."""
        settle(pid)


class Ward:
    """One watched sandbox.

    Attributes:
        box: the sandbox.
        bounds: what it may use.
        breach: what it used too much of, with the numbers; None while it has not. Set just before
            it is killed for it, so that whoever sees the end of its process finds the reason here.
        peak_tasks: the most processes and threads that were seen at one look.
        peak_bytes: the most memory that was seen at one look, shared pages counted for each.
        off_turn: what the bot used while it was not asked; None while nobody looks at that.
        confirm_at: reading of trio's clock before which memory is not to be confirmed again: much
            of what looks like too much is shared.
        confirmed: the share that it used, as `look` returns it, when it was last confirmed.
    """

    def __init__(self, box: Box, bounds: Bounds, kernel: Kernel) -> None:
        self.box = box
        self.bounds = bounds
        self.breach: str | None = None
        self.peak_bytes = 0
        self.peak_tasks = 0
        self.off_turn: OffTurn | None = None
        self._idler: Idler | None = None
        self._kernel = kernel
        self._tree = Tree(
            lambda whole: kernel.pids(box, whole=whole), kernel, lambda pid: pid == box.init
        )
        self._looks = 0
        self.confirm_at = 0.0
        self.confirmed = 0.0

    def watch_off_turn(self, idler: Idler, off_turn: OffTurn) -> None:
        """Look from now on at what the bot does while it is not asked; who is caught is stopped."""
        self._idler, self.off_turn = idler, off_turn

    @property
    def is_caught(self) -> bool:
        """Whether it is to be stopped whenever it is not asked."""
        return self.off_turn is not None and self.off_turn.is_caught

    def keep_still(self) -> None:
        """Stop the bot if it was caught and is not asked now; costs nothing if it is stopped."""
        idler = self._idler
        if idler is not None and self.is_caught and idler.idle_since() is not None:
            idler.stop()

    @property
    def cpu_s(self) -> float:
        """CPU time of all of it, setting up included, as of the last look."""
        return self._tree.cpu_s

    @property
    def is_suspect(self) -> bool:
        """Whether it may have children whose time nobody collects: to be looked at soon again."""
        return self._tree.is_suspect

    @property
    def hides_time(self) -> bool:
        """Whether it has such children."""
        return self._tree.hides_time

    @property
    def shortage(self) -> str | None:
        """What the kernel may have refused the bot, with the numbers; None if nothing is known.

        In route U bubblewrap's own process inside counts as one of the bot's.
        """
        if self.peak_tasks < self.bounds.tasks - 1:
            return None
        return f"it had {self.peak_tasks} of its {self.bounds.tasks} processes and threads"

    def sample(self) -> float:
        """Look at the CPU clocks now; returns `cpu_s`. Takes some 70 microseconds."""
        return self._tree.sample() if self.box.learn() else self.cpu_s

    def stop(self) -> bool:
        """Stop every process of the bot; True once nothing in it does anything more."""
        return self.box.learn() and self._tree.stop()

    def go_on(self) -> None:
        """Let every process of the bot run again, those it stopped itself included."""
        self._tree.go_on()

    def look(self) -> float:
        """Look once; kill what is over its bounds, save for memory, which is to be confirmed.

        Returns:
            The share of its memory that it uses, 1.0 for all; over 1.0 calls for `confirm`.
        """
        if self.breach is not None or not self.box.learn():
            return 0.0
        seen = self._tree.look(whole=self._looks % _WHOLE == _WHOLE - 1)
        if self._looks == 0:
            for process in seen:
                self._kernel.settle(process.pid)
        rare = self._looks % _RARELY == 0
        self._looks += 1
        if self.off_turn is not None and self._idler is not None:
            self.off_turn.look(monotonic(), self.cpu_s, self._idler.idle_since())
        usage = sum_up(
            seen,
            self.box.init,
            files=self._kernel.files(self.box) if rare else None,
            sockets=self._kernel.sockets(self.box) if rare else None,
        )
        self.peak_bytes = max(self.peak_bytes, usage.memory_bytes)
        self.peak_tasks = max(self.peak_tasks, usage.tasks)
        self._end_if(usage._replace(memory_bytes=0))
        return usage.memory_bytes / self.bounds.memory_bytes

    def confirm(self) -> None:
        """Count memory with shared pages once, and kill the bot if that is too much.

        Takes milliseconds for each large process, most of them in the kernel; where the kernel
        does not tell a process's share, all that it has counts.
        """
        total = 0
        for pid in self._kernel.pids(self.box, whole=True):
            process = self._kernel.see(pid)
            if process is None:
                continue
            if process.pid == self.box.init or process.state in "ZX":
                continue
            share = self._kernel.pss_bytes(process.pid)
            if share is not None:
                total += share
            elif self._kernel.see(process.pid) is not None:
                total += process.resident_bytes + process.swapped_bytes
        self._end_if(Usage(total, 0))

    def _end_if(self, usage: Usage) -> None:
        found = breach(usage, self.bounds)
        if found is not None and self.breach is None:
            self.sample()  # the last moment at which its clocks can be read
            self.breach = found
            self._kernel.kill(self.box)


class Warden:
    """Watches all sandboxes of a worker.

    Args:
        kernel: what to ask; the real one unless this is a test.
    """

    def __init__(self, kernel: Kernel | None = None) -> None:
        self._kernel = kernel or Proc()
        self._wards: set[Ward] = set()
        self._first = trio.Event()

    @property
    def wards(self) -> Collection[Ward]:
        """Those that are watched now."""
        return self._wards

    def watch(self, box: Box, bounds: Bounds) -> Ward:
        """Look after a sandbox from now on, until `release`."""
        ward = Ward(box, bounds, self._kernel)
        self._wards.add(ward)
        self._first.set()
        return ward

    def release(self, ward: Ward) -> None:
        """Forget a sandbox; before its `close`, and before its process is reaped."""
        self._wards.discard(ward)

    async def run(self) -> None:
        """Keep watch until cancelled."""
        while True:
            if not self._wards:
                self._first = trio.Event()
                await self._first.wait()
            most = 0.0
            suspects = False
            row_began = monotonic()
            for ward in tuple(self._wards):
                if ward in self._wards:
                    share = ward.look()
                    most = max(most, share)
                    suspects = suspects or ward.is_suspect
                    due = trio.current_time() >= ward.confirm_at
                    if share > 1.0 and (due or share > ward.confirmed * _GROWN):
                        ward.confirmed = share
                        await self._confirm(ward)
                if monotonic() - row_began > _ROW_S:
                    await trio.lowlevel.checkpoint()
                    row_began = monotonic()
            await self._pause(HURRIED_LOOK_S if most > 0.5 or suspects else LOOK_S)

    async def _pause(self, seconds: float) -> None:
        """Wait for the next look; those who were caught are kept still meanwhile."""
        until = trio.current_time() + seconds
        while (left := until - trio.current_time()) > 0:
            caught = [ward for ward in self._wards if ward.is_caught]
            for ward in caught:
                ward.keep_still()
            await trio.sleep(min(left, HURRIED_LOOK_S) if caught else left)

    async def _confirm(self, ward: Ward) -> None:
        """Let a thread wait for the kernel, so that nobody's answer is read late."""
        began = trio.current_time()
        await trio.to_thread.run_sync(ward.confirm)
        now = trio.current_time()
        ward.confirm_at = now + max(_CONFIRM_S, _CONFIRM_SHARE * (now - began))
