"""Coroutines of asyncio, run in a thread of its own and waited for by trio.

Dask's client is made for asyncio; our own loop knows nothing of that.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import trio

__all__ = ["Bridge", "open_bridge"]

T = TypeVar("T")

_END_S = 2.0


class Bridge:
    """An asyncio loop in a thread; see `open_bridge`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    async def call(self, function: Callable[..., Awaitable[T]], *args: Any, **options: Any) -> T:
        """Call an asyncio function there and wait for it; cancelled here, it is cancelled there.

        Raises:
            asyncio.CancelledError: if it was cancelled there by somebody else.
        """
        token = trio.lowlevel.current_trio_token()
        ended = trio.Event()
        made: list[asyncio.Task[T]] = []

        async def run() -> T:
            return await function(*args, **options)

        def tell(_task: asyncio.Task[T]) -> None:
            with suppress(trio.RunFinishedError):
                token.run_sync_soon(ended.set)

        def start() -> None:
            task = self._loop.create_task(run())
            made.append(task)
            task.add_done_callback(tell)

        def give_up() -> None:
            made[0].cancel()

        self._loop.call_soon_threadsafe(start)
        try:
            await ended.wait()
        except trio.Cancelled:
            self._loop.call_soon_threadsafe(give_up)
            raise
        return made[0].result()


@asynccontextmanager
async def open_bridge() -> AsyncIterator[Bridge]:
    """Give a bridge; at the end everything that still runs there is cancelled."""
    loop = asyncio.new_event_loop()
    # No worker thread of trio: those are for short calls, and this one lives as long as the run.
    thread = threading.Thread(target=_run, args=(loop,), name="arena-asyncio", daemon=True)
    thread.start()
    try:
        yield Bridge(loop)
    finally:
        with trio.CancelScope(shield=True):
            loop.call_soon_threadsafe(loop.stop)
            await trio.to_thread.run_sync(thread.join, _END_S)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(lambda _loop, _context: None)  # of a cluster that is being left
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=_END_S / 2))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
