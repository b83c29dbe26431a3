"""What runs on a Dask worker: it gets ready, is given bots, exchanges games for records.

The coordinator names these functions and sends bytes; `crossing.py` says what is in them. Games are
played by the worker processes of the local executor, which are kept from batch to batch and end
with the Dask worker: it is their parent, and so are they of their bots.
"""

from __future__ import annotations

import asyncio
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from distributed import Worker, get_worker

import arena
from arena.errors import ArenaError, BotRefused, HostFault
from arena.referee.record import BotSpec
from arena.rules import registry
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.finding import Found, find_sandbox
from arena.sandbox.refusals import Refusal
from arena.sandbox.slots import UID_BASE, UID_COUNT
from arena.sandbox.startable import check_startable
from arena.sandbox.visible import look_around
from arena.tournament.executors.cpus import usable_cores
from arena.tournament.executors.crossing import (
    Answer,
    Batch,
    Keeping,
    Ready,
    Setup,
    code_hash,
    differences,
    versions,
)
from arena.tournament.executors.descriptors import games_with
from arena.tournament.executors.executor import Job, decode_spec, encode_spec
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.executors.packing import unpack
from arena.tournament.executors.room import Room

__all__ = ["close", "exchange", "get_ready", "has_bots", "take_bot"]

BOTS = "arena-bots"  # in the worker's own folder


class _Version(msgspec.Struct):
    """What every arena's `Setup` has."""

    version: str
    code: str = ""


class _Run:
    """A run that plays on this worker."""

    def __init__(self, setup: Setup, settings: bytes, lanes: int, workers: int) -> None:
        self.python = setup.python
        self.bots: dict[str, Path] = {}  # the coordinator's folder: ours
        self._startable: set[BotSpec] = set()  # those that were looked at, as they are here
        self._table = setup.table
        self._settings = settings
        self._lanes = lanes
        self._workers = workers
        self._room: Room | None = None
        self._opening = threading.Lock()

    def room(self) -> Room:
        """Return the room, opened if it is closed."""
        with self._opening:
            if self._room is None or self._room.is_over:
                self._room = Room(
                    LocalExecutor(
                        self._lanes,
                        workers=self._workers,
                        table=self._table,
                        settings=self._settings,
                    )
                )
            return self._room

    def close(self) -> None:
        """End every process of this run."""
        with self._opening:
            if self._room is not None:
                self._room.close()

    def moved(self, job: Job) -> Job:
        """Return a game with its bots' folders and interpreter as they are on this machine.

        Raises:
            HostFault: if one of them can't be started here: it can where the coordinator is.
        """
        spec = decode_spec(job.spec)
        moved = msgspec.structs.replace(
            spec, mister_x=self._moved(spec.mister_x), detectives=self._moved(spec.detectives)
        )
        return Job(job.number, encode_spec(moved)) if moved != spec else job

    def _moved(self, bot: BotSpec) -> BotSpec:
        folder = self.bots.get(bot.folder)
        if folder is None:  # it lies where it lay: the same machine
            return bot
        command = tuple(with_python(word, self.python, sys.executable) for word in bot.command)
        moved = msgspec.structs.replace(bot, folder=str(folder), command=command)
        if moved not in self._startable:
            try:
                check_startable(command, folder)
            except BotRefused as refused:
                raise HostFault(f"can't start {bot.name}: {refused}") from refused
            self._startable.add(moved)
        return moved


def with_python(word: str, theirs: str, ours: str) -> str:
    """Return a word of a command with our interpreter for theirs, wherever that stands as a path.

    `/bin/python` is no part of `/bin/python3` nor of `/opt/bin/python`.
    """
    return re.sub(rf"(?<![\w./-]){re.escape(theirs)}(?![\w./-])", lambda _: ours, word)


_runs: dict[str, _Run] = {}  # by the name that the coordinator gave its run


async def get_ready(name: str, setup: bytes, dask_worker: Worker) -> bytes:
    """Get ready for a run: same arena, same boards, a sandbox that holds here.

    Args:
        name: of the run, for the other four functions.
        setup: a `Setup`.
        dask_worker: filled in by Dask.

    Returns:
        A `Ready`; nothing is raised for what a person can be told.
    """
    theirs = msgspec.json.decode(setup, type=_Version)  # the rest may be strange to us
    if theirs.version != arena.__version__:
        return _refused(
            f"has arena {arena.__version__}, and the run is played by arena {theirs.version}: "
            "install the same version there"
        )
    if theirs.code != code_hash():
        return _refused(
            f"has arena {arena.__version__} with other code than this machine "
            f"({code_hash()[:10]}, not {theirs.code[:10]}): install the same there"
        )
    asked = msgspec.json.decode(setup, type=Setup)
    trouble = _trouble_with(asked.boards)
    if trouble is not None:
        return _refused(trouble)
    if asked.is_ours and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, lambda _number, _frame: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    settings = asked.settings or b""
    other = differences(versions(), asked.versions)
    notes = (other,) if other else ()
    if asked.settings is None and asked.keeping is not None:
        folder = Path(dask_worker.local_directory)
        found = await asyncio.to_thread(_look, asked.keeping, folder)
        if isinstance(found, str):
            if asked.keeping.has_strangers:
                return _refused(f"has no sandbox: {found}")
            note = f"plays the arena's own bots without a sandbox, which it has not: {found}"
            notes = (*notes, note)
        else:
            settings = found
    threads = dask_worker.state.nthreads
    processes = min(threads, usable_cores())
    _runs[name] = _Run(asked, settings, asked.lanes or threads, processes)
    where = LocalExecutor(processes, workers=processes).where
    return msgspec.json.encode(Ready(notes=notes, most=_most(settings, processes), where=where))


async def has_bots(name: str, digests: dict[str, str], dask_worker: Worker) -> list[str]:
    """Return which of the bots, coordinator's folder to hash, have still to be sent."""
    missing = []
    for folder, digest in digests.items():
        place = _bots(dask_worker) / digest
        if place.is_dir():
            _runs[name].bots[folder] = place
        else:
            missing.append(folder)
    return missing


async def take_bot(name: str, folder: str, digest: str, packed: bytes, dask_worker: Worker) -> str:
    """Lay out a bot that has arrived; return why it can't be, or nothing.

    Args:
        name: of the run.
        folder: where the coordinator has it.
        digest: of what was sent.
        packed: by `packing.pack`.
        dask_worker: filled in by Dask.
    """
    into = _bots(dask_worker)
    try:
        _runs[name].bots[folder] = await asyncio.to_thread(unpack, packed, digest, into)
    except ArenaError as error:
        return str(error)
    return ""


def exchange(name: str, batch: bytes) -> bytes:
    """Take a `Batch`, return an `Answer`; a Dask task, which takes a few seconds at most."""
    run = _runs.get(name)
    asked = msgspec.msgpack.decode(batch, type=Batch)
    if run is None:
        return _answer(Answer(is_lost=True))
    try:
        jobs = [run.moved(job) for job in asked.jobs]
    except HostFault as fault:
        run.close()
        return _answer(Answer(is_lost=True, failure=str(fault)))
    is_wanted = _wanted(name)
    while True:
        room = run.room()
        if room.games != asked.here:
            run.close()
            return _answer(Answer(is_lost=True))
        try:
            played = room.exchange(jobs, at_once=asked.at_once, is_wanted=is_wanted)
        except HostFault:
            if room.failure is None and not asked.here and is_wanted():
                continue  # it was empty, and about to be closed when we came
            return _answer(Answer(is_lost=True, failure=room.failure))
        return _answer(Answer(played=played))


async def close(name: str) -> None:
    """End a run on this worker, and every process of it."""
    run = _runs.pop(name, None)
    if run is not None:
        await asyncio.to_thread(run.close)


def _bots(worker: Worker) -> Path:
    """Return where a worker keeps bots; Dask deletes it with the rest of the worker's folder."""
    return Path(worker.local_directory, BOTS).absolute()


def _refused(why: str) -> bytes:
    return msgspec.json.encode(Ready(refusal=why))


def _answer(answer: Answer) -> bytes:
    return msgspec.msgpack.encode(answer)


def _trouble_with(boards: Iterable[tuple[str, str]]) -> str | None:
    """Say which ruleset can't be played here as the coordinator plays it: boards are files."""
    registry.make.cache_clear()  # a worker lives long, and files are put right meanwhile
    for ruleset, board_hash in boards:
        try:
            ours = registry.make(ruleset).board_hash
        except ArenaError as error:
            return f"can't play {ruleset}: {error}"
        if board_hash not in ("", ours):
            return f"has another board of {ruleset} than the run: put the same file there"
    return None


def _most(settings: bytes, processes: int) -> int:
    """Return for how many games at once there are open files, and user ids of root's bots."""
    profile = msgspec.json.decode(settings, type=Profile) if settings else None
    most = games_with(processes)
    if profile is not None and profile.route == "R":
        most = min(most, profile.uid_count // 2)
    return most


def _look(keeping: Keeping, folder: Path) -> bytes | str:
    """Look for this machine's sandbox; return its profile, or why there is none."""
    try:
        visible = look_around(
            interpreters=[sys.executable], more=keeping.show, secret=(folder.absolute(),)
        )
        found = find_sandbox(
            visible,
            python=sys.executable,
            setting=keeping.bwrap,
            user_ids=keeping.user_ids or (UID_BASE, UID_COUNT),
        )
    except ArenaError as error:
        return str(error)
    if isinstance(found, Found):
        return msgspec.json.encode(found.profile)
    return in_one_line(found)


def in_one_line(refusal: Refusal) -> str:
    """Return why there is no sandbox, and all that helps."""
    fix = "; ".join(refusal.fix).replace(":; ", ": ")
    return f"{refusal.cause} ({refusal.why}); {fix}"


def _wanted(name: str) -> Callable[[], bool]:
    """Return a question, for any thread: does anybody wait for a run's games here?

    A coordinator holds on to each exchange until the next is on its way (`Cluster.play`), so there
    is a task of the run here as long as it lives. When it is gone, the scheduler takes the task
    back; when the scheduler is, the worker closes. A thread can't be cancelled, so it has to look.
    """
    worker = get_worker()

    def is_wanted() -> bool:
        open_ = worker.status.name in ("running", "paused", "closing_gracefully")
        return open_ and any(
            task.state != "cancelled"
            for key, task in list(worker.state.tasks.items())
            if str(key).endswith(name)
        )

    return is_wanted
