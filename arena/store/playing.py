"""Play a stored run to its end, or until it is stopped, every game stored as it finishes."""

from __future__ import annotations

from collections.abc import Callable

import trio

from arena.errors import one_error
from arena.store.database import Database
from arena.store.runs import Run
from arena.tournament.benching import Benched, Judged, VoidGame
from arena.tournament.executors.executor import Executor
from arena.tournament.tournament import Event, Stop, Summary, play

__all__ = ["play_run"]


async def play_run(
    database: Database,
    run: Run,
    executor: Executor,
    *,
    stop: Stop | None = None,
    on_stored: Callable[[Event], None] | None = None,
    on_judged: Callable[[Judged], None] | None = None,
) -> Summary:
    """Play the missing games of a run; of a finished run this is nothing.

    Args:
        database: where the run is stored; used by this call alone until it returns.
        run: as `Database.begin` or `find_run` gave it.
        executor: where games are played.
        stop: how the run is stopped before its end.
        on_stored: is told what was just stored: a game, a void play, a benching.
        on_judged: is told every game's result in plan order, those played before included.

    Returns:
        How far the run has come; when it is over the run is marked so.

    Raises:
        ConfigError: if the run was begun with other rules than this arena has.
        HostFault: if the executor can't play.
        StoreError: if another process plays the run, or the database refuses; what was stored
            before is kept, and the run can go on.
    """
    with database.claim(run):
        database.touch(run)
        summary = await _play(database, run, executor, stop, on_stored, on_judged)
        if summary.is_over:
            database.finish(run)
        return summary


async def _play(
    database: Database,
    run: Run,
    executor: Executor,
    stop: Stop | None,
    on_stored: Callable[[Event], None] | None,
    on_judged: Callable[[Judged], None] | None,
) -> Summary:
    async def write(events: trio.MemoryReceiveChannel[Event]) -> None:
        with events:
            async for event in events:
                _store(database, run, event)
                if on_stored is not None:
                    on_stored(event)

    # The channel holds nothing: while a game is being stored, no worker runs far ahead.
    to_store, stored = trio.open_memory_channel[Event](0)
    with one_error():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(write, stored)
            summary = await play(
                run.plan,
                executor,
                database.results(run),
                to_store,
                voids=database.voids(run),
                stop=stop,
                on_judged=on_judged,
            )
    return summary


def _store(database: Database, run: Run, event: Event) -> None:
    match event:
        case VoidGame():
            database.add_void(run, event)
        case Benched():
            database.add_benched(run, event)
        case _:
            database.add_packed(run, event)
