"""Games on their way to many machines, and back from those that are lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing

from arena.tournament.executors.executor import Job
from arena.tournament.executors.supply import Parcel, Supply

Body = Callable[[Supply, trio.MemorySendChannel[Job]], Awaitable[None]]


def job(number: int) -> Job:
    return Job(number, b"")


def run(body: Body, *, room: int = 100) -> None:
    """Run a test with a supply whose tournament is the test itself."""

    async def main() -> None:
        jobs_in, jobs_out = trio.open_memory_channel[Job](room)
        with trio.fail_after(3600):  # whoever waits for a game that is lost waits for ever
            await body(Supply(jobs_out), jobs_in)

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


async def take(
    supply: Supply, most: int, *, at_once: int = 2, has_none: bool = True
) -> tuple[list[int], int]:
    """Take games; return their numbers and deaths."""
    parcel = await supply.take(most, at_once=at_once, has_none=has_none)
    assert parcel is not None
    return [job.number for job in parcel.jobs], parcel.deaths


def test_no_more_is_taken_than_was_asked_for_and_none_waits_for_more() -> None:
    async def body(supply: Supply, jobs: trio.MemorySendChannel[Job]) -> None:
        for number in range(5):
            jobs.send_nowait(job(number))
        assert await take(supply, 3) == ([0, 1, 2], 0)
        assert jobs.statistics().current_buffer_used == 2
        assert await take(supply, 10) == ([3, 4], 0)
        assert await take(supply, 10, has_none=False) == ([], 0)

    run(body)


def test_whoever_has_no_game_waits_for_one() -> None:
    async def body(supply: Supply, jobs: trio.MemorySendChannel[Job]) -> None:
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def later() -> None:
                await trio.sleep(100)
                await jobs.send(job(7))

            assert await take(supply, 3) == ([7], 0)
            assert trio.current_time() >= 100

    run(body, room=0)


def test_it_is_over_when_every_game_is_back() -> None:
    async def body(supply: Supply, jobs: trio.MemorySendChannel[Job]) -> None:
        jobs.send_nowait(job(1))
        jobs.close()
        assert await supply.has_any()
        assert await take(supply, 1) == ([1], 0)
        ended: list[Parcel | None] = []

        async def idle() -> None:
            ended.append(await supply.take(1, at_once=1, has_none=True))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(idle)
            nursery.start_soon(idle)
            await trio.testing.wait_all_tasks_blocked()
            assert not ended  # a machine might be lost, and its game is for them then
            assert not supply.is_over
            supply.give_back(1)
        assert ended == [None, None]
        assert supply.is_over

    run(body)


def test_a_run_without_games_is_over_at_once() -> None:
    async def body(supply: Supply, jobs: trio.MemorySendChannel[Job]) -> None:
        jobs.close()
        assert not await supply.has_any()
        assert supply.is_over
        assert await supply.take(1, at_once=1, has_none=True) is None

    run(body)


def test_a_lost_machines_games_go_to_one_that_waits() -> None:
    async def body(supply: Supply, jobs: trio.MemorySendChannel[Job]) -> None:
        jobs.send_nowait(job(1))
        jobs.close()
        await take(supply, 1)
        got: list[tuple[list[int], int]] = []

        async def idle() -> None:
            got.append(await take(supply, 5))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(idle)
            await trio.testing.wait_all_tasks_blocked()
            assert supply.lost([job(1)]) == []
        assert got == [([1], 1)]

    run(body)


def test_suspects_go_with_few_others_then_alone_and_are_given_up_at_the_third_death() -> None:
    """Game 3 kills its machine each time; the others were only there."""

    async def body(supply: Supply, jobs: trio.MemorySendChannel[Job]) -> None:
        for number in range(6):
            jobs.send_nowait(job(number))
        jobs.close()
        assert await take(supply, 6, at_once=2) == ([0, 1, 2, 3, 4, 5], 0)
        assert supply.lost(map(job, range(6))) == []
        assert await take(supply, 0, has_none=False) == ([], 0)  # none for who has others
        assert await take(supply, 6, at_once=2) == ([0, 1], 1)
        supply.give_back(0)
        supply.give_back(1)
        assert await take(supply, 6, at_once=2) == ([2, 3], 1)
        assert supply.lost([job(2), job(3)]) == []
        assert await take(supply, 6, at_once=2) == ([4, 5], 1)
        supply.give_back(4)
        supply.give_back(5)
        assert await take(supply, 6, at_once=2) == ([2], 2)
        supply.give_back(2)
        assert await take(supply, 6, at_once=2) == ([3], 2)
        assert supply.lost([job(3)]) == [job(3)]
        assert not supply.is_over  # it has still to be told
        supply.give_back(3)
        assert await supply.take(1, at_once=1, has_none=True) is None

    run(body)


def test_games_of_a_machine_that_was_refused_count_no_death() -> None:
    async def body(supply: Supply, jobs: trio.MemorySendChannel[Job]) -> None:
        jobs.send_nowait(job(1))
        jobs.send_nowait(job(2))
        for _ in range(5):
            assert await take(supply, 2) == ([1, 2], 0)
            supply.send_again([job(1), job(2)])
        await take(supply, 2)
        supply.lost([job(1)])
        assert await take(supply, 2) == ([1], 1)
        supply.send_again([job(1)])
        assert await take(supply, 2) == ([1], 1)  # what it was suspected of stays

    run(body)


def test_games_that_came_back_go_with_new_ones() -> None:
    async def body(supply: Supply, jobs: trio.MemorySendChannel[Job]) -> None:
        for number in range(6):
            jobs.send_nowait(job(number))
        assert await supply.has_any()
        assert await take(supply, 3) == ([0, 1, 2], 0)
        supply.send_again([job(0), job(1), job(2)])
        assert await take(supply, 2) == ([0, 1], 0)
        with trio.CancelScope() as machine:
            machine.cancel()
            await take(supply, 9)
        assert await take(supply, 9) == ([2, 3, 4, 5], 0)

    run(body)


@pytest.mark.parametrize("sent", [1, 3])
def test_games_taken_for_a_machine_that_is_gone_meanwhile_are_not_lost(sent: int) -> None:
    async def body(supply: Supply, jobs: trio.MemorySendChannel[Job]) -> None:
        with trio.CancelScope() as machine:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(take, supply, 5)
                for number in range(sent):
                    await jobs.send(job(number))
                await trio.lowlevel.checkpoint()
                machine.cancel()
        assert await take(supply, 5) == (list(range(sent)), 0)

    run(body, room=0)


@pytest.mark.parametrize("came_back", [0, 1], ids=["new games", "one that came back"])
@pytest.mark.parametrize("is_first", [True, False], ids=["the other first", "the other second"])
def test_games_in_hand_are_not_lost_where_another_machine_goes_at_the_same_time(
    is_first: bool, came_back: int
) -> None:
    """One has games and waits for more; what the other lost would wake it, and it is gone too."""

    async def body(supply: Supply, jobs: trio.MemorySendChannel[Job]) -> None:
        for number in range(4):
            jobs.send_nowait(job(number))
        assert await take(supply, 2) == ([0, 1], 0)
        if came_back:
            assert await take(supply, 1) == ([2], 0)
            supply.send_again([job(2)])
        with trio.CancelScope() as machine:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(take, supply, 9)
                await trio.testing.wait_all_tasks_blocked()
                assert not jobs.statistics().current_buffer_used  # it has them all
                if is_first:
                    supply.lost([job(0), job(1)])
                machine.cancel()
                if not is_first:
                    supply.lost([job(0), job(1)])
        assert await take(supply, 9, at_once=9) == ([0, 1], 1)
        numbers, deaths = await take(supply, 9)
        assert (sorted(numbers), deaths) == ([2, 3], 0)

    run(body)
