"""Where one machine of a cluster plays: games brought in batches, taken away as they end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
import trio

from arena.errors import HostFault
from arena.tournament.executors.executor import Finished, Job
from arena.tournament.executors.room import Played, Room


class FakeExecutor:
    """Finishes a game when the test says so; `failure` is raised at the first job."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.reach = self.in_play = 0
        self.begun: list[int] = []
        self.is_cancelled = False
        self._failure = failure
        self._token: trio.lowlevel.TrioToken | None = None
        self._results: trio.MemorySendChannel[Finished] | None = None

    async def run(
        self, jobs: trio.MemoryReceiveChannel[Job], results: trio.MemorySendChannel[Finished]
    ) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._results = results
        try:
            async for job in jobs:
                if self._failure is not None:
                    raise self._failure
                self.begun.append(job.number)
        except trio.Cancelled:
            self.is_cancelled = True
            raise

    def finish(self, number: int) -> None:
        assert self._token is not None
        assert self._results is not None
        finished = Finished(number, b"record %d" % number)
        trio.from_thread.run(self._results.send, finished, trio_token=self._token)


@pytest.fixture
def executor() -> FakeExecutor:
    return FakeExecutor()


@pytest.fixture
def room(executor: FakeExecutor) -> Iterator[Room]:
    room = Room(executor)
    yield room
    room.close()
    assert room.is_over
    assert not any(thread.name == "arena-room" for thread in threading.enumerate())


def jobs(*numbers: int) -> list[Job]:
    return [Job(number, b"") for number in numbers]


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.001)


class Exchange(threading.Thread):
    """An exchange under way, in a thread of its own."""

    def __init__(
        self,
        room: Room,
        *numbers: int,
        at_once: int = 2,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__()
        self.played: list[Played] | None = None
        self.failure: str | None = None
        self._exchange = partial(
            room.exchange, jobs(*numbers), at_once=at_once, is_wanted=is_wanted
        )
        self.start()

    def run(self) -> None:
        try:
            self.played = self._exchange()
        except HostFault as error:
            self.failure = str(error)

    def numbers(self) -> list[int]:
        self.join(20)
        assert self.played is not None
        return [played.number for played in self.played]


def test_games_begin_in_order_and_no_more_at_once_than_asked_for(
    room: Room, executor: FakeExecutor
) -> None:
    exchange = Exchange(room, 5, 3, 9, 1, at_once=2)
    wait_until(lambda: executor.begun == [5, 3])
    executor.finish(3)
    wait_until(lambda: executor.begun == [5, 3, 9])
    assert exchange.numbers() == [3]  # half of what waited has begun
    assert room.games == 3
    executor.finish(9)
    executor.finish(5)
    wait_until(lambda: executor.begun == [5, 3, 9, 1])
    assert Exchange(room).numbers() == [9, 5]
    executor.finish(1)
    exchange = Exchange(room)
    assert exchange.numbers() == [1]
    assert exchange.played is not None
    assert exchange.played[0].record == b"record 1"
    assert 0 < exchange.played[0].took_s < 20
    assert room.games == 0


def test_without_results_an_exchange_ends_in_time(
    room: Room, executor: FakeExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.tournament.executors.room.EXCHANGE_S", 0.05)
    assert Exchange(room, 1).numbers() == []
    assert room.games == 1


def test_nobody_waiting_closes_the_room(room: Room, executor: FakeExecutor) -> None:
    """As when the coordinator was killed: the scheduler takes the task back."""
    wanted = True
    exchange = Exchange(room, 1, is_wanted=lambda: wanted)
    wait_until(lambda: executor.begun == [1])
    wanted = False
    exchange.join(20)
    assert exchange.failure == "the room was closed"
    wait_until(lambda: executor.is_cancelled)
    assert Exchange(room).failure or room.is_over


def test_nobody_wanting_it_between_two_exchanges_closes_the_room_at_once(
    room: Room, executor: FakeExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the coordinator is killed while it stores what it was told; but not by one look."""
    for limit in ("EXCHANGE_S", "_LOOK_S"):
        monkeypatch.setattr(f"arena.tournament.executors.room.{limit}", 0.01)
    answers = iter([True] * 10 + [False, False, True, False, False, True])
    asked: list[bool] = []

    def is_wanted() -> bool:
        asked.append(next(answers, False))
        return asked[-1]

    began = time.monotonic()
    assert Exchange(room, 1, is_wanted=is_wanted).numbers() == []
    wait_until(lambda: room.is_over)
    assert time.monotonic() - began < 20  # where a minute was waited for
    assert asked[-4:] == [True, False, False, False]
    assert len(asked) == 10 + 6 + 3


def test_closing_gives_up_what_is_in_play(room: Room, executor: FakeExecutor) -> None:
    exchange = Exchange(room, 1)
    wait_until(lambda: executor.begun == [1])
    room.close()
    exchange.join(20)
    assert exchange.failure == "the room was closed"
    assert executor.is_cancelled
    assert room.failure is None


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (HostFault("no worker starts"), "no worker starts"),
        (OSError(24, "Too many open files"), "OSError: [Errno 24] Too many open files"),
    ],
)
def test_what_the_executor_can_not_do_is_told(error: Exception, told: str) -> None:
    room = Room(FakeExecutor(error))
    exchange = Exchange(room, 1)
    exchange.join(20)
    assert exchange.failure == told
    assert room.failure == told
    room.close()


@pytest.mark.parametrize("numbers", [(), (1,)])
def test_a_room_that_nobody_comes_to_is_closed(
    executor: FakeExecutor, monkeypatch: pytest.MonkeyPatch, numbers: tuple[int, ...]
) -> None:
    for limit in ("EXCHANGE_S", "_LOOK_S", "_IDLE_S", "_FORGOTTEN_S"):
        monkeypatch.setattr(f"arena.tournament.executors.room.{limit}", 0.01)
    room = Room(executor)
    Exchange(room, *numbers).join(20)
    wait_until(lambda: room.is_over)
    room.close()
