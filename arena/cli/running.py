"""Play what is missing of a run: tournament, store and progress joined; for `run` and `resume`."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import trio

from arena.cli.progress import View, watching
from arena.cli.talk import Talk
from arena.cli.tally import Tally
from arena.errors import HostFault
from arena.referee.record import GameRecord
from arena.store.database import Database
from arena.store.runs import Run
from arena.tournament.benching import Benched, VoidGame
from arena.tournament.executors.executor import Executor
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.tournament import Event, Stop, Summary, play

__all__ = ["Stopped", "play_missing"]

ROOM = 16  # events that wait for the disk; then no new game begins


class Stopped:
    """How often a person, or the system, asked for the end."""

    def __init__(self) -> None:
        self.stop = Stop()
        self.count = 0

    def ask(self, say: Callable[[str], None]) -> None:
        """Take one more Ctrl-C: the first ends the run gently, the second at once."""
        self.count += 1
        if self.count == 1:
            say(
                "Stopping: no new games, those in play have ten seconds. "
                "Ctrl-C once more stops at once."
            )
            self.stop.soft()
        else:
            self.stop.hard()

    @property
    def at_once(self) -> bool:
        """Whether it was asked for twice."""
        return self.count > 1


def play_missing(talk: Talk, database: Database, run: Run) -> tuple[Summary, Stopped]:
    """Play the missing games of a run and store each as it ends.

    Raises:
        StoreError: if the database refuses; what was stored stays.
        HostFault: if no worker can be started.
        ConfigError: if the run was begun under other rules.
    """
    plan = run.plan
    tally = Tally(
        [bot.name for bot in plan.entrants],
        plan.count,
        sum(not outcome.is_void for outcome in database.results(run)),
        time.monotonic(),
    )
    stopped = Stopped()
    executor = LocalExecutor(plan.jobs)
    with database.claim(run), watching(tally, talk) as view:
        try:
            summary = trio.run(play_all, talk, database, run, executor, tally, view, stopped)
        except* HostFault as group:
            raise first(group) from None
    return summary, stopped


async def play_all(
    talk: Talk,
    database: Database,
    run: Run,
    executor: Executor,
    tally: Tally,
    view: View,
    stopped: Stopped,
) -> Summary:
    """Play, write and listen to signals until the run is over or stopped."""
    sender, receiver = trio.open_memory_channel[Event](ROOM)
    async with trio.open_nursery() as listening:
        listening.start_soon(listen, stopped, talk)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(write, database, run, receiver, tally, view)
            summary = await play(
                run.plan,
                executor,
                database.results(run),
                sender,
                voids=database.voids(run),
                stop=stopped.stop,
                on_judged=tally.add_judged,
            )
        listening.cancel_scope.cancel()
    return summary


async def write(
    database: Database,
    run: Run,
    events: trio.MemoryReceiveChannel[Event],
    tally: Tally,
    view: View,
) -> None:
    """Store what happens, in the order in which it happens: the database's one writer."""
    async with events:
        async for event in events:
            if isinstance(event, GameRecord):
                database.add_record(run, event)
                tally.add_played(time.monotonic())
            elif isinstance(event, VoidGame):
                database.add_void(run, event)
                if event.charged:
                    tally.add_void()
            elif isinstance(event, Benched):
                database.add_benched(run, event)
            view.update()


async def listen(stopped: Stopped, talk: Talk) -> None:
    """Take Ctrl-C, and the system's wish that we end, for as long as the run lasts."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            stopped.ask(talk.say)


def first(group: BaseExceptionGroup[HostFault]) -> HostFault:
    """Return the first error of a group, however deep."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, HostFault)  # noqa: S101 - by the type of the group
    return error
