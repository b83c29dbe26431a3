"""Play what is missing of a run: tournament, store and progress joined; for `run` and `resume`."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import suppress

import trio

from arena.cli.executing import Where, executor_of
from arena.cli.progress import watching
from arena.cli.sandboxing import Sandboxing
from arena.cli.talk import Talk
from arena.cli.tally import Tally
from arena.errors import one_error
from arena.store.database import Database
from arena.store.playing import play_run
from arena.store.runs import Run
from arena.tournament.benching import VoidGame
from arena.tournament.executors.executor import Finished, Job
from arena.tournament.packed import PackedGame
from arena.tournament.tournament import Event, Stop, Summary

__all__ = ["Stopped", "play_missing"]


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


class NoGames:
    """An executor for a run of which nothing is missing: it starts no worker, and takes no job."""

    reach = in_play = 0

    async def run(
        self, jobs: trio.MemoryReceiveChannel[Job], results: trio.MemorySendChannel[Finished]
    ) -> None:
        """Wait until it is known that there is no job."""
        with suppress(trio.EndOfChannel):
            await jobs.receive()


def play_missing(
    talk: Talk, database: Database, run: Run, kept: Sandboxing, where: Where
) -> tuple[Summary, Stopped]:
    """Play the missing games of a run and store each as it ends; where none is, start nothing.

    Raises:
        StoreError: if the database refuses; what was stored stays.
        HostFault: if no worker can be started.
        ConfigError: if the run was begun under other rules, or there is no such Dask cluster.
        Interrupted: if the Dask cluster is lost.
    """
    plan = run.plan
    tally = Tally(
        [bot.name for bot in plan.entrants],
        plan.count,
        sum(not outcome.is_void for outcome in database.results(run)),
        time.monotonic(),
    )
    stopped = Stopped()
    none = not any(True for _ in database.missing(run))
    with watching(tally, talk) as view:

        def add(event: Event) -> None:
            match event:
                case PackedGame():
                    tally.add_played(time.monotonic())
                case VoidGame(charged=True):
                    tally.add_void()
            view.update()

        async def main() -> Summary:
            async with trio.open_nursery() as listening:
                await listening.start(listen, stopped, talk)  # before any game can begin
                summary = await play_run(
                    database,
                    run,
                    NoGames() if none else executor_of(where, plan, kept, talk),
                    stop=stopped.stop,
                    on_stored=add,
                    on_judged=tally.add_judged,
                )
                listening.cancel_scope.cancel()
            return summary

        with one_error():
            summary = trio.run(main)
    return summary, stopped


async def listen(
    stopped: Stopped, talk: Talk, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Take Ctrl-C, and the system's wish that we end, for as long as the run lasts.

    Where Ctrl-C is ignored, as in what a script starts in the background, it stays ignored.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    wishes = [signal.SIGTERM] if ignored else [signal.SIGINT, signal.SIGTERM]
    with trio.open_signal_receiver(*wishes) as signals:
        task_status.started()
        async for _ in signals:
            stopped.ask(talk.say)
