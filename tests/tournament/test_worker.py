"""A worker's loop, over streams in memory and with games that are made up."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress

import pytest
import trio
import trio.testing

from arena.referee.record import GameRecord, GameSpec
from arena.tournament.executors.executor import decode_record, encode_spec
from arena.tournament.executors.frames import READY, SETTINGS, frame, frames
from arena.tournament.executors.guardian import BEAT_S
from arena.tournament.executors.worker import PlayGame, referee_table, serve, show_life
from tests.fake_games import fake_plan, fake_record

PLAN = fake_plan(3, deals=2)


class Table:
    """Counts who sits at it; games take as many seconds as `seconds` says."""

    def __init__(self, seconds: Callable[[GameSpec], float]) -> None:
        self.seconds = seconds
        self.open = 0
        self.in_play = 0
        self.given_up = 0

    @asynccontextmanager
    async def __call__(self, settings: bytes) -> AsyncIterator[PlayGame]:
        assert settings == b"a table's"
        self.open += 1
        try:
            yield self.play
        finally:
            self.open -= 1

    async def play(self, spec: GameSpec) -> GameRecord:
        self.in_play += 1
        try:
            await trio.sleep(self.seconds(spec))
        except trio.Cancelled:
            self.given_up += 1
            raise
        finally:
            self.in_play -= 1
        return fake_record(spec)


def run(
    table: Table,
    coordinate: Callable[
        [trio.testing.MemorySendStream, AsyncIterator[tuple[int, bytes]]], Awaitable[None]
    ],
) -> None:
    """Serve a table to a coordinator."""

    async def main() -> None:
        jobs, jobs_of_worker = trio.testing.memory_stream_one_way_pair()
        results_of_worker, results = trio.testing.memory_stream_one_way_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve, table, jobs_of_worker, results_of_worker)
            async with aclosing(frames(results)) as come:
                await jobs.send_all(frame(SETTINGS, b"a table's"))
                assert await anext(come) == (READY, b"")
                await coordinate(jobs, come)

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def test_games_are_played_at_once_and_come_back_as_they_finish() -> None:
    table = Table(lambda spec: 10.0 - spec.index)

    async def coordinate(
        jobs: trio.testing.MemorySendStream, come: AsyncIterator[tuple[int, bytes]]
    ) -> None:
        began = trio.current_time()
        for spec in PLAN.specs(0, 5):
            await jobs.send_all(frame(spec.index, encode_spec(spec)))
        for wanted in (4, 3, 2, 1, 0):
            number, record = await anext(come)
            assert number == wanted
            assert decode_record(record) == fake_record(PLAN.spec(wanted))
        assert trio.current_time() - began == pytest.approx(10.0)
        await jobs.aclose()

    run(table, coordinate)
    assert (table.open, table.in_play, table.given_up) == (0, 0, 0)


def test_when_the_coordinator_is_gone_games_in_play_are_given_up() -> None:
    table = Table(lambda _spec: 600.0)

    async def coordinate(
        jobs: trio.testing.MemorySendStream, come: AsyncIterator[tuple[int, bytes]]
    ) -> None:
        del come
        for spec in PLAN.specs(0, 3):
            await jobs.send_all(frame(spec.index, encode_spec(spec)))
        await trio.sleep(1)
        assert table.in_play == 3
        await jobs.aclose()

    run(table, coordinate)
    assert (table.open, table.in_play, table.given_up) == (0, 0, 3)


def test_a_worker_without_jobs_ends_with_them() -> None:
    table = Table(lambda _spec: 0.0)

    async def coordinate(
        jobs: trio.testing.MemorySendStream, come: AsyncIterator[tuple[int, bytes]]
    ) -> None:
        del come
        await jobs.aclose()

    run(table, coordinate)
    assert table.open == 0


def test_the_referees_table_opens() -> None:
    async def main() -> None:
        async with referee_table(b"") as play:
            assert callable(play)

    trio.run(main)


def test_a_worker_shows_life_every_few_seconds_and_never_waits_for_it() -> None:
    theirs, ours = os.pipe2(os.O_NONBLOCK)

    async def main() -> None:
        with trio.move_on_after(4 * BEAT_S + 1):
            await show_life(ours)
        assert os.read(theirs, 100) == b"." * 5
        with suppress(BlockingIOError):  # nobody reads
            while True:
                os.write(ours, bytes(65_536))
        with trio.move_on_after(4 * BEAT_S + 1) as scope:
            await show_life(ours)
        assert scope.cancelled_caught

    try:
        trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    finally:
        os.close(theirs)
        os.close(ours)
