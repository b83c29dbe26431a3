"""The hub: calls when something comes, and wakes at the time."""

from __future__ import annotations

import os
import signal
from math import inf
from time import monotonic

import pytest
import trio

from arena.errors import leaves
from arena.sandbox.hub import Hub


class Sleeper:
    """Waits to be woken; notes when it was."""

    def __init__(self, wake_at: float, *, again_s: float = inf) -> None:
        self.wake_at = wake_at
        self.woken: list[float] = []
        self.event = trio.Event()
        self._again_s = again_s

    def wake(self, now: float) -> None:
        self.woken.append(now)
        again = len(self.woken) == 1 and self._again_s < inf
        self.wake_at = now + self._again_s if again else inf
        if not again:
            self.event.set()


def test_waiters_are_woken_in_time_and_in_order() -> None:
    async def main() -> None:
        hub = Hub()
        async with trio.open_nursery() as nursery:
            hub.start(nursery)
            late, early = Sleeper(monotonic() + 0.2), Sleeper(monotonic() + 0.05, again_s=0.05)
            for sleeper in (late, early):
                hub.add_waiter(sleeper)
                hub.hurry(sleeper.wake_at)
            due = late.wake_at
            with trio.fail_after(20):
                await early.event.wait()
                await late.event.wait()
            hub.stop()
        assert late.woken[0] >= due
        assert len(early.woken) == 2
        assert early.woken[1] <= late.woken[0]

    trio.run(main)


def test_forgotten_waiter_is_not_woken() -> None:
    async def main() -> None:
        hub = Hub()
        async with trio.open_nursery() as nursery:
            hub.start(nursery)
            forgotten, other = Sleeper(monotonic()), Sleeper(monotonic() + 0.05)
            for sleeper in (forgotten, other):
                hub.add_waiter(sleeper)
                hub.hurry(sleeper.wake_at)
            hub.remove_waiter(forgotten)
            with trio.fail_after(20):
                await other.event.wait()
            hub.stop()
        assert forgotten.woken == []

    trio.run(main)


def test_reader_is_called_for_each_change_or_as_long_as_there_is_something() -> None:
    async def main() -> tuple[int, int]:
        hub = Hub()
        calls = {True: 0, False: 0}
        pipes = {on_change: os.pipe() for on_change in calls}
        async with trio.open_nursery() as nursery:
            hub.start(nursery)

            def count(on_change: bool) -> None:
                calls[on_change] += 1

            hub.add(pipes[True][0], lambda: count(True), on_change=True)
            hub.add(pipes[False][0], lambda: count(False))
            for _, write in pipes.values():
                os.write(write, b"x")
            with trio.fail_after(20):
                while calls[False] < 5 or not calls[True]:
                    await trio.lowlevel.checkpoint()
            once = calls[True]
            for read, _ in pipes.values():
                hub.remove(read)
                hub.remove(read)  # a second time does nothing
            before = dict(calls)
            os.write(pipes[False][1], b"x")
            await trio.testing.wait_all_tasks_blocked()
            assert calls == before
            hub.stop()
        for pair in pipes.values():
            for fd in pair:
                os.close(fd)
        return once, before[False]

    once, many = trio.run(main)
    assert once == 1
    assert many >= 5


def test_hub_works_on_while_its_nursery_is_cancelled() -> None:
    """Whoever cleans up while being cancelled still waits for bots to end."""

    async def main() -> bool:
        hub = Hub()
        sleeper = Sleeper(monotonic() + 0.05)
        async with trio.open_nursery() as nursery:
            hub.start(nursery)
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                hub.add_waiter(sleeper)
                hub.hurry(sleeper.wake_at)
                with trio.fail_after(20):
                    await sleeper.event.wait()
            hub.stop()
        return sleeper.event.is_set()

    assert trio.run(main)


@pytest.mark.parametrize("by", ["reader", "waiter"])
def test_ctrl_c_that_falls_into_the_hub_goes_to_the_main_task_and_the_hub_works_on(by: str) -> None:
    """Whoever cleans up behind a Ctrl-C still waits for bots to end."""

    class Interrupted(Sleeper):
        def wake(self, now: float) -> None:
            super().wake(now)
            signal.raise_signal(signal.SIGINT)

    sleeper, interrupted = Sleeper(inf), Interrupted(inf)
    told = trio.Event()

    async def main() -> None:
        hub = Hub()
        read, write = os.pipe()

        def now(waiter: Sleeper) -> None:
            waiter.wake_at = monotonic()
            hub.add_waiter(waiter)
            hub.hurry(waiter.wake_at)

        def interrupt() -> None:
            hub.remove(read)
            signal.raise_signal(signal.SIGINT)

        def tell() -> None:
            hub.remove(read)
            told.set()

        os.write(write, b"x")
        async with trio.open_nursery() as nursery:
            hub.start(nursery)
            try:
                if by == "reader":
                    hub.add(read, interrupt)
                else:
                    now(interrupted)
                await trio.sleep_forever()
            finally:
                try:
                    with trio.fail_after(20, shield=True):
                        hub.add(read, tell)
                        now(sleeper)
                        await told.wait()
                        await sleeper.event.wait()
                finally:
                    hub.stop()
                    os.close(read)
                    os.close(write)

    with pytest.raises(BaseExceptionGroup) as caught:
        trio.run(main)
    assert [type(error) for error in leaves(caught.value)] == [KeyboardInterrupt]
    assert told.is_set()
    assert len(sleeper.woken) == 1


def test_hub_that_never_ran_gives_back_its_descriptor() -> None:
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
    Hub().stop()
    assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
