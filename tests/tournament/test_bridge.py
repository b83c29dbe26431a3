"""Coroutines of asyncio, waited for by trio."""

from __future__ import annotations

import asyncio
import threading

import pytest
import trio

from arena.tournament.executors.bridge import open_bridge


def test_a_coroutine_runs_elsewhere_and_its_result_comes_here() -> None:
    async def there(a: int, *, b: int) -> tuple[int, int]:
        await asyncio.sleep(0)
        return a + b, threading.get_ident()

    async def main() -> None:
        async with open_bridge() as bridge:
            total, thread = await bridge.call(there, 1, b=2)
        assert total == 3
        assert thread != threading.get_ident()

    trio.run(main)


def test_errors_come_here() -> None:
    async def there() -> None:
        raise LookupError("gone")

    async def main() -> None:
        async with open_bridge() as bridge:
            with pytest.raises(LookupError, match="gone"):
                await bridge.call(there)

    trio.run(main)


def test_cancelled_here_it_is_cancelled_there() -> None:
    seen: list[str] = []
    ended = threading.Event()

    async def there() -> None:
        try:
            await asyncio.sleep(1_000)
        except asyncio.CancelledError:
            seen.append("cancelled")
            ended.set()
            raise

    async def main() -> None:
        async with open_bridge() as bridge:
            with trio.move_on_after(0.05):
                await bridge.call(there)
            assert await trio.to_thread.run_sync(ended.wait, 20)

    trio.run(main)
    assert seen == ["cancelled"]


def test_what_still_runs_at_the_end_is_cancelled_and_the_thread_is_gone() -> None:
    left: list[str] = []

    async def start() -> None:
        async def run() -> None:
            try:
                await asyncio.sleep(1_000)
            finally:
                left.append("ended")

        tasks.append(asyncio.create_task(run()))
        await asyncio.sleep(0)

    tasks: list[asyncio.Task[None]] = []

    async def main() -> None:
        async with open_bridge() as bridge:
            await bridge.call(start)

    trio.run(main)
    assert left == ["ended"]
    assert not any(thread.name == "arena-asyncio" for thread in threading.enumerate())
