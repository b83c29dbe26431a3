"""Worker processes on this machine.

Up to `jobs` games are in play at once, on min(jobs, usable cores) workers with one trio loop each.
Every game in play has a lane, which holds on to it until it has a record, on one worker or, when
that died, on the next.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress

import trio

from arena.errors import HostFault
from arena.tournament.executors.cpus import (
    cpu_quota,
    listed,
    usable_cores,
    usable_cpus,
    usual_jobs,
)
from arena.tournament.executors.executor import MOST_DEATHS, Finished, Job
from arena.tournament.executors.frames import READY, SETTINGS, frame, frames
from arena.tournament.executors.guardian import GONE

__all__ = ["REFEREE", "LocalExecutor"]

REFEREE = "arena.tournament.executors.worker:referee_table"

_WORKER = "arena.tournament.executors.worker"
_START_S = 60.0  # from spawn to ready; a busy host takes a few
_MOST_STARTS = 3  # one after the other, of which none comes so far that it could play
_BYE_S = 5.0  # a worker whose jobs are over ends its kept bots and exits
_TERM_S = 1.0  # a worker that is told to stop ends its bots
_SWEPT_S = 5.0  # its guardian kills it, and what it left behind
_MOST_LOST = 50  # games given up one after the other without one that was finished


class LocalExecutor:
    """Plays games in worker processes; see `Executor`.

    Args:
        jobs: games in play at once, 1 or more; `usual_jobs` if left out.
        workers: processes; min(jobs, usable cores) if left out.
        pin: whether each worker, and so its bots, stays on one CPU of its own. A run doesn't ask
            for it: a bot may think in threads, and a CPU whose games wait is of use to others.
        table: `module:name` of what a worker opens to play games.
        settings: what it is opened with, such as this machine's sandbox.
    """

    def __init__(
        self,
        jobs: int | None = None,
        *,
        workers: int | None = None,
        pin: bool = False,
        table: str = REFEREE,
        settings: bytes = b"",
    ) -> None:
        cpus = usable_cpus()
        self.jobs = jobs or usual_jobs()
        self.workers = min(self.jobs, workers or usable_cores())
        self._cpus = [cpus[n % len(cpus)] if pin else None for n in range(self.workers)]
        self._table = table
        self._settings = settings
        self._lost_in_a_row = 0
        self._slots: list[_Slot] = []

    @property
    def words(self) -> str:
        """How games are played: `2 games at once in 2 workers on 2 CPUs (0-1), unpinned`."""
        return f"{_count(self.jobs, 'game')} at once {self.where}"

    @property
    def where(self) -> str:
        """Where they are: `in 2 workers on 2 of 64 CPUs (4,9), unpinned`."""
        workers = f"in {_count(self.workers, 'worker')}"
        pinned = sorted({cpu for cpu in self._cpus if cpu is not None})
        if len(pinned) == 1:
            return f"{workers}, pinned with its bots to CPU {pinned[0]}"
        if pinned:
            return f"{workers}, each pinned with its bots to one CPU of {listed(pinned)}"
        cpus, there_are = usable_cpus(), os.cpu_count() or 1
        of = f"{len(cpus)} of " if len(cpus) < there_are else ""
        many = _count(max(there_are, len(cpus)), "CPU")
        quota = cpu_quota()
        held = (
            ""
            if quota is None or quota >= len(cpus)
            else f", held to {quota:.3g} of them by a quota"
        )
        return f"{workers} on {of}{many} ({listed(cpus)}){held}, unpinned"

    @property
    def reach(self) -> int:
        """Twice the games in play: those behind a long one are finished before it."""
        return 2 * self.jobs

    @property
    def in_play(self) -> int:
        """Games in lanes, but for those whose worker has not started; see `Executor.in_play`."""
        return sum(slot.holds for slot in self._slots if slot.has_started)

    async def run(
        self, jobs: trio.MemoryReceiveChannel[Job], results: trio.MemorySendChannel[Finished]
    ) -> None:
        """Play every job; see `Executor.run`."""
        async with trio.open_nursery() as readers:
            slots = [_Slot(readers, self._table, self._settings, cpu) for cpu in self._cpus]
            self._slots = slots
            at_once = True
            try:
                async with trio.open_nursery() as lanes:
                    for slot in slots:
                        lanes.start_soon(slot.start)
                    for lane in range(self.jobs):
                        lanes.start_soon(self._lane, slots[lane % len(slots)], jobs, results)
                at_once = False
            finally:
                with trio.CancelScope(shield=True):
                    async with trio.open_nursery() as ending:
                        for slot in slots:
                            ending.start_soon(slot.end, at_once)
            readers.cancel_scope.cancel()

    async def _lane(
        self,
        slot: _Slot,
        jobs: trio.MemoryReceiveChannel[Job],
        results: trio.MemorySendChannel[Finished],
    ) -> None:
        async for job in jobs:
            slot.holds += 1
            record = None
            for deaths in range(MOST_DEATHS):
                with suppress(_WorkerDiedError):
                    # The last try is made alone: the games in the same worker did no wrong.
                    record = await slot.play(job, alone=deaths == MOST_DEATHS - 1)
                    break
            self._lost_in_a_row = 0 if record is not None else self._lost_in_a_row + 1
            if self._lost_in_a_row >= _MOST_LOST:
                raise HostFault(
                    f"the last {_MOST_LOST} games all ended their worker processes: see what "
                    "these wrote above, and try one game alone with `arena play`"
                )
            await results.send(Finished(job.number, record))
            slot.holds -= 1


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


class _WorkerDiedError(Exception):
    """The process is gone, and with it what it had in play."""


class _Slot:
    """A place for one worker after the other, and the games that it plays."""

    def __init__(self, readers: trio.Nursery, table: str, settings: bytes, cpu: int | None) -> None:
        self._readers = readers
        self._table = table
        self._settings = settings
        self._cpu = cpu
        self._worker: _Worker | None = None
        self.holds = 0  # games of its lanes, from when they are taken until their end is told
        self.has_started = False  # a worker that could play
        self._starting = trio.Lock()
        self._alone = trio.Lock()  # held while a game plays that must be alone
        self._opens: trio.Event | None = None  # when no such game is there any more
        self._in_play = 0
        self._empty = trio.Event()

    async def start(self) -> None:
        """Have a live worker."""
        await self._live_worker()

    async def play(self, job: Job, *, alone: bool) -> bytes:
        """Play one game; `alone` waits until no other is in play here, and lets none begin.

        Raises:
            _WorkerDiedError: if the worker ended before the game did.
            HostFault: if no worker can be started.
        """
        if alone:
            async with self._alone:
                return await self._play_alone(job)
        while self._opens is not None:
            await self._opens.wait()
        self._in_play += 1
        try:
            return await self._play(job)
        finally:
            self._in_play -= 1
            self._empty.set()

    async def _play_alone(self, job: Job) -> bytes:
        opens = self._opens = trio.Event()
        try:
            while self._in_play:
                self._empty = trio.Event()
                await self._empty.wait()
            return await self._play(job)
        finally:
            self._opens = None
            opens.set()

    async def _play(self, job: Job) -> bytes:
        worker = self._worker
        if worker is None or not worker.can_play:
            worker = await self._live_worker()
        return await worker.play(job)

    async def _live_worker(self) -> _Worker:
        async with self._starting:
            tries = 0
            while self._worker is None or self._worker.is_dead:
                if self._worker is not None:
                    await self._worker.end(at_once=True)
                self._worker = _Worker(self._table, self._cpu)
                self._readers.start_soon(self._worker.read_results)
                self._readers.start_soon(self._worker.write_jobs)
                tries += 1
                try:
                    await self._worker.wait_ready(self._settings)
                    self.has_started = True
                except HostFault:
                    # Whoever kills workers may kill one that is just starting.
                    if tries == _MOST_STARTS or not self._worker.is_dead:
                        raise
            return self._worker

    async def end(self, at_once: bool) -> None:
        """End the worker; unless it is `at_once`, kept bots are dismissed first."""
        if self._worker is not None:
            await self._worker.end(at_once=at_once)


class _Worker:
    """One worker process and the pipes to it; the process that is known here is its guardian."""

    def __init__(self, table: str, cpu: int | None) -> None:
        command = [sys.executable, "-P", "-m", _WORKER, table, "" if cpu is None else str(cpu)]
        setpriv = shutil.which("setpriv")
        if setpriv:  # without it the worker ends when it sees its jobs end
            command = [setpriv, "--pdeathsig", GONE.name[3:], *command]
        held: list[int] = []
        process: subprocess.Popen[bytes] | None = None
        try:
            jobs, ours = os.pipe()
            held += (jobs, ours)
            results, theirs = os.pipe()
            held += (results, theirs)
            # On the loop's own thread: the signal at the parent's death follows the thread that
            # started the child. In a group of its own, so that a terminal's Ctrl-C passes it by.
            process = subprocess.Popen(command, stdin=jobs, stdout=theirs, process_group=0)
            self._pidfd = os.pidfd_open(process.pid)
        except OSError as exc:
            for fd in held:
                os.close(fd)
            if process is not None:
                process.kill()
                process.wait()
            raise HostFault(f"a worker process can't be started: {exc}") from exc
        self._process = process
        os.close(jobs)
        os.close(theirs)
        self._jobs = trio.lowlevel.FdStream(ours)
        self._results = trio.lowlevel.FdStream(results)
        self._to_write = bytearray()  # one task writes for all lanes: many games in one go
        self._has_more = trio.Event()
        self._waiting: dict[int, _Answer] = {}
        self._ready = trio.Event()
        self._is_ready = False
        self._is_ended = False
        self.is_dead = False

    async def wait_ready(self, settings: bytes) -> None:
        """Give the worker its table's settings, and wait until it can play.

        Raises:
            HostFault: if it ends before, or takes longer than a minute.
        """
        self._write(frame(SETTINGS, settings))
        with trio.move_on_after(_START_S):
            await self._ready.wait()
        if not self._is_ready:
            what = "ended before its first game" if self.is_dead else "did not start in a minute"
            raise HostFault(
                f"a worker process {what}: see what it wrote above, and try one "
                "game alone with `arena play`"
            )

    async def play(self, job: Job) -> bytes:
        """Send one game and wait for its record.

        Raises:
            _WorkerDiedError: if the process ends before.
        """
        if self.is_dead:
            raise _WorkerDiedError
        answer = self._waiting[job.number] = _Answer()
        try:
            self._write(frame(job.number, job.spec))
            await answer.come.wait()
        finally:
            del self._waiting[job.number]
        if answer.record is None:
            raise _WorkerDiedError
        return answer.record

    @property
    def can_play(self) -> bool:
        """Whether it has started and not ended."""
        return self._is_ready and not self.is_dead

    def _write(self, block: bytes) -> None:
        self._to_write += block
        self._has_more.set()

    async def write_jobs(self) -> None:
        """Write what the lanes have, until the process ends."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while not self.is_dead:
                await self._has_more.wait()
                blocks, self._to_write = self._to_write, bytearray()
                self._has_more = trio.Event()
                await self._jobs.send_all(blocks)

    async def read_results(self) -> None:
        """Hand results to those who wait for them, until the process ends."""
        try:
            async for number, record in frames(self._results):
                if number == READY:
                    self._is_ready = True
                    self._ready.set()
                elif number in self._waiting:
                    self._waiting[number].record = record
                    self._waiting[number].come.set()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            self.is_dead = True
            self._ready.set()
            self._has_more.set()
            for answer in self._waiting.values():
                answer.come.set()

    async def end(self, *, at_once: bool) -> None:
        """End the process and reap it; its bots go before it or with it.

        Args:
            at_once: whether games in play are given up; else it has none, and may dismiss the
                bots that it kept.
        """
        if self._is_ended:
            return
        self._is_ended = True
        with trio.CancelScope(shield=True):
            await self._jobs.aclose()
            if at_once or not await self._wait_ended(_BYE_S):
                self._send_signal(signal.SIGTERM)
                if not await self._wait_ended(_TERM_S):
                    self._send_signal(GONE)
                    if not await self._wait_ended(_SWEPT_S):
                        self._send_signal(signal.SIGKILL)
            self._process.wait()
            os.close(self._pidfd)
            await self._results.aclose()

    async def _wait_ended(self, limit_s: float) -> bool:
        with trio.move_on_after(limit_s):
            await trio.lowlevel.wait_readable(self._pidfd)
            return True
        return False

    def _send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)


class _Answer:
    """Where a lane waits for its record; None if the process ended first."""

    def __init__(self) -> None:
        self.come = trio.Event()
        self.record: bytes | None = None
