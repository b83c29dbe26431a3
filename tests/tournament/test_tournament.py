"""Playing a plan: back-pressure, stops, void games, failures; by a clock that is made up."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import trio
import trio.testing

from arena.errors import ConfigError, HostFault
from arena.referee.record import GameRecord, GameSpec
from arena.rules import registry
from arena.tournament.benching import Benched, Judged, Outcome, VoidGame, judge
from arena.tournament.executors.executor import Finished, Job, decode_spec, encode_record
from arena.tournament.packed import PackedGame
from arena.tournament.plan import Plan
from arena.tournament.tournament import Event, Stop, Summary, play
from tests.fake_games import fake_plan, fake_record, fake_void, outcome_of

End = Callable[[GameSpec], GameRecord | None]


class FakeExecutor:
    """Plays games in this process, each in `seconds(spec)` of a made-up clock."""

    def __init__(
        self,
        jobs: int = 4,
        *,
        seconds: Callable[[GameSpec], float] = lambda _spec: 1.0,
        end: End = fake_record,
        failure: BaseException | None = None,
        reach: int = 0,
        start_s: float = 0.0,
    ) -> None:
        self.jobs = jobs
        self.reach = reach
        self.begun: list[int] = []
        self.most_in_play = 0
        self.in_play = 0
        self._start_s = start_s
        self._seconds = seconds
        self._end = end
        self._failure = failure

    async def run(
        self, jobs: trio.MemoryReceiveChannel[Job], results: trio.MemorySendChannel[Finished]
    ) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(self.jobs):
                nursery.start_soon(self._lane, jobs, results)

    async def _lane(
        self, jobs: trio.MemoryReceiveChannel[Job], results: trio.MemorySendChannel[Finished]
    ) -> None:
        async for job in jobs:
            await trio.sleep(self._start_s)
            self.begun.append(job.number)
            self.in_play += 1
            self.most_in_play = max(self.most_in_play, self.in_play)
            spec = decode_spec(job.spec)
            await trio.sleep(self._seconds(spec))
            if self._failure is not None:
                raise self._failure
            record = self._end(spec)
            await results.send(
                Finished(job.number, None if record is None else encode_record(record))
            )
            self.in_play -= 1


async def run(
    plan: Plan, executor: FakeExecutor, done: Iterable[Outcome] = (), **options: Any
) -> tuple[Summary, list[Event]]:
    """Play, and return the summary and what was sent to be stored."""
    send, receive = trio.open_memory_channel[Event](0)
    events: list[Event] = []

    async def take() -> None:
        events.extend([event async for event in receive])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take)
        summary = await play(plan, executor, done, send, **options)
    return summary, events


def by_key(spec: GameSpec) -> float:
    return random.Random(spec.game_key).random()


@pytest.mark.parametrize("jobs", [1, 3, 16])
def test_every_game_is_played_once_and_judged_in_plan_order(
    autojump_clock: trio.testing.MockClock, jobs: int
) -> None:
    plan = fake_plan(4, deals=5)
    judged: list[Judged] = []
    executor = FakeExecutor(jobs, seconds=by_key)
    summary, events = trio.run(
        lambda: run(plan, executor, on_judged=judged.append), clock=autojump_clock
    )
    assert summary.is_over
    assert (summary.planned, summary.judged, summary.played) == (60, 60, 60)
    assert executor.most_in_play == jobs
    assert sorted(executor.begun) == list(range(60))
    assert {event.index for event in events if isinstance(event, PackedGame)} == set(range(60))
    assert judged == list(judge(plan, [outcome_of(fake_record(spec)) for spec in plan.specs()]))


def test_what_is_done_is_not_played_again(autojump_clock: trio.testing.MockClock) -> None:
    plan = fake_plan(4, deals=5)
    done = [outcome_of(fake_record(spec)) for spec in plan.specs() if spec.index % 3]
    executor = FakeExecutor(seconds=by_key)
    summary, events = trio.run(lambda: run(plan, executor, done), clock=autojump_clock)
    assert sorted(executor.begun) == list(range(0, 60, 3))
    assert summary.is_over
    assert summary.played == len(events) == 20


def test_a_finished_run_plays_nothing(autojump_clock: trio.testing.MockClock) -> None:
    plan = fake_plan(4, deals=300)
    done = [outcome_of(fake_record(spec)) for spec in plan.specs()]
    summary, events = trio.run(lambda: run(plan, FakeExecutor(), done), clock=autojump_clock)
    assert summary.is_over
    assert events == []


def test_a_benched_bot_plays_no_more(autojump_clock: trio.testing.MockClock) -> None:
    plan = fake_plan(3, deals=40)
    executor = FakeExecutor(4, seconds=by_key, end=lambda spec: fake_record(spec, faulty=["bot1"]))
    summary, events = trio.run(lambda: run(plan, executor), clock=autojump_clock)
    assert summary.is_over
    assert summary.benched == (Benched(bot=1, index=14),)
    assert summary.benched[0] in events
    own = [n for n in executor.begun if 1 in plan.pairing(n)[1:]]
    assert max(own) < 14 + plan.look_ahead
    assert len(executor.begun) == summary.played < plan.count


def test_a_void_game_is_played_again_at_most_twice(
    autojump_clock: trio.testing.MockClock,
) -> None:
    plan = fake_plan(3, deals=2)
    plays: dict[int, int] = {}

    def end(spec: GameSpec) -> GameRecord:
        plays[spec.index] = plays.get(spec.index, 0) + 1
        if spec.index == 2 or (spec.index == 5 and plays[5] < 3):
            return fake_void(spec)
        return fake_record(spec)

    summary, events = trio.run(lambda: run(plan, FakeExecutor(end=end)), clock=autojump_clock)
    assert plays == {**dict.fromkeys(range(12), 1), 2: 3, 5: 3}
    voids = [event for event in events if isinstance(event, VoidGame)]
    assert sorted((void.index, void.final) for void in voids) == [
        (2, False),
        (2, False),
        (2, True),
        (5, False),
        (5, False),
    ]
    assert all(void.why == "the host failed" and void.record for void in voids)
    assert [void.index for void in summary.stays_void] == [2]
    assert summary.is_over


def test_a_game_that_lost_its_workers_stays_void(autojump_clock: trio.testing.MockClock) -> None:
    plan = fake_plan(3, deals=2)
    executor = FakeExecutor(end=lambda spec: None if spec.index == 4 else fake_record(spec))
    summary, _ = trio.run(lambda: run(plan, executor), clock=autojump_clock)
    assert executor.begun.count(4) == 1
    (void,) = summary.stays_void
    assert void.why == "3 worker processes died with it"
    assert (void.mister_x, void.detectives) == plan.pairing(4)[1:]
    assert summary.is_over


def test_while_nobody_takes_the_records_no_new_game_begins(
    autojump_clock: trio.testing.MockClock,
) -> None:
    plan = fake_plan(4, deals=5)
    executor = FakeExecutor(3)

    async def main() -> None:
        send, receive = trio.open_memory_channel[Event](0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: play(plan, executor, (), send))
            await trio.sleep(1000)
            # One was taken and can't be handed on, and that frees its lane for one more.
            assert len(executor.begun) == 4
            async for _ in receive:
                pass

    trio.run(main, clock=autojump_clock)
    assert len(executor.begun) == 60


def stopped_at(seconds: float, stop: Stop, *, hard_after: float | None = None) -> Callable[[], Any]:
    async def stopper() -> None:
        await trio.sleep(seconds)
        stop.soft()
        if hard_after is not None:
            await trio.sleep(hard_after)
            stop.hard()

    return stopper


@pytest.mark.parametrize(
    ("game_s", "hard_after", "ends_at", "finished"),
    [
        (8.0, None, 16.0, 8),  # those in play at 10.5 finish at 16
        (30.0, None, 20.5, 0),  # ten seconds of grace, no more
        (30.0, 2.0, 12.5, 0),  # asked twice
    ],
    ids=["they finish", "grace is over", "asked twice"],
)
def test_a_stop_begins_no_game_and_waits_ten_seconds_at_most(
    autojump_clock: trio.testing.MockClock,
    game_s: float,
    hard_after: float | None,
    ends_at: float,
    finished: int,
) -> None:
    plan = fake_plan(4, deals=5)
    executor = FakeExecutor(4, seconds=lambda _spec: game_s)
    stop = Stop()

    async def main() -> tuple[Summary, list[Event], float]:
        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stopped_at(10.5, stop, hard_after=hard_after))
            ended = await run(plan, executor, stop=stop)
            nursery.cancel_scope.cancel()
        return *ended, trio.current_time() - began

    summary, events, took = trio.run(main, clock=autojump_clock)
    assert took == pytest.approx(ends_at)
    assert summary.played == finished
    assert not summary.is_over
    assert stop.is_asked
    in_play = sorted(set(executor.begun) - set(range(finished)))
    assert [void.index for void in summary.stopped] == in_play
    for void in summary.stopped:
        assert not void.charged
        assert not void.final
        assert void in events
    assert summary.stays_void == ()


def test_a_stop_while_no_game_is_in_play_waits_for_none(
    autojump_clock: trio.testing.MockClock,
) -> None:
    executor = FakeExecutor(2, start_s=60)  # it takes games, and no machine is there for them
    stop = Stop()

    async def main() -> tuple[Summary, list[Event], float]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stopped_at(5.0, stop))
            summary, events = await run(fake_plan(), executor, stop=stop)
            return summary, events, trio.current_time()

    summary, events, ended = trio.run(main, clock=autojump_clock)
    assert ended == pytest.approx(5.0, abs=0.2)
    assert [void.index for void in summary.stopped] == [0, 1]
    assert list(summary.stopped) == events
    assert executor.begun == []


def test_a_stop_before_the_first_game_plays_nothing(
    autojump_clock: trio.testing.MockClock,
) -> None:
    stop = Stop()
    stop.hard()
    executor = FakeExecutor()
    summary, events = trio.run(lambda: run(fake_plan(), executor, stop=stop), clock=autojump_clock)
    assert not summary.is_over
    assert len(summary.stopped) == len(events)


def test_a_failing_executor_ends_the_run_with_its_own_error(
    autojump_clock: trio.testing.MockClock,
) -> None:
    executor = FakeExecutor(failure=HostFault("no worker starts"))
    with pytest.raises(HostFault, match="no worker starts"):
        trio.run(
            lambda: _without_group(fake_plan(), executor),
            clock=autojump_clock,
        )


async def _without_group(plan: Plan, executor: FakeExecutor) -> Summary:
    send, receive = trio.open_memory_channel[Event](100)
    with receive:
        return await play(plan, executor, (), send)


def test_a_ctrl_c_that_falls_into_the_executor_is_not_lost(
    autojump_clock: trio.testing.MockClock,
) -> None:
    for _ in range(30):  # tasks that are ready at once run in an order of chance
        executor = FakeExecutor(jobs=1, failure=KeyboardInterrupt())
        with pytest.RaisesGroup(KeyboardInterrupt, flatten_subgroups=True):
            trio.run(_without_group, fake_plan(), executor, clock=autojump_clock)


def test_when_nobody_is_left_to_take_records_the_run_ends(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def main() -> Summary:
        send, receive = trio.open_memory_channel[Event](0)
        receive.close()
        return await play(fake_plan(), FakeExecutor(), (), send)

    summary = trio.run(main, clock=autojump_clock)
    assert not summary.is_over


def test_a_run_of_other_rules_is_not_gone_on_with(
    autojump_clock: trio.testing.MockClock,
) -> None:
    with pytest.raises(ConfigError, match="begun with behaviour 999 of london-2013"):
        trio.run(
            lambda: _without_group(fake_plan(behaviour=999), FakeExecutor()), clock=autojump_clock
        )


def test_a_run_on_another_board_is_not_gone_on_with(
    autojump_clock: trio.testing.MockClock,
) -> None:
    plan = fake_plan(board="b0" * 32)
    with pytest.raises(ConfigError, match="another board of london-2013 than there is now: put"):
        trio.run(lambda: _without_group(plan, FakeExecutor()), clock=autojump_clock)
    same = fake_plan(board=registry.make("london-2013").board_hash)
    assert trio.run(lambda: _without_group(same, FakeExecutor()), clock=autojump_clock).is_over


def test_an_executor_with_more_places_than_the_plan_looks_ahead_has_them_all_in_use(
    autojump_clock: trio.testing.MockClock,
) -> None:
    plan = fake_plan(4, deals=40)
    for reach, most in ((0, plan.look_ahead), (200, 150)):
        executor = FakeExecutor(150, reach=reach)
        summary, _ = trio.run(run, plan, executor, clock=autojump_clock)
        assert summary.is_over
        assert executor.most_in_play == most
