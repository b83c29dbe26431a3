"""A bot with a CPU clock, or stopped off turn: on a bot and a time that are made up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from math import inf
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from arena.sandbox import metered as metered_module
from arena.sandbox.channel import BotExited, BotTooSlow
from arena.sandbox.hub import Waiter
from arena.sandbox.metered import Metered, Stoppable, is_metered, wall_stop_s
from arena.sandbox.pondering import OffTurnUse
from protocol.messages import ClockSettings

CPU = ClockSettings(kind="cpu")
LIMIT_S = 1.0


class FakeBot:
    """Thinks for some CPU time at some speed, then answers; burns more when it is let."""

    def __init__(self) -> None:
        self.lost_s = 0.0
        self.used_s = 0.0  # so far
        self.thinks_s: float = 0.0  # CPU time of a request
        self.speed = 1.0  # CPU time a second while it thinks; 0.5: it has to wait for a processor
        self.sleeps_s = 0.0  # before it answers
        self.error: Exception | None = None
        self.is_stopped = False
        self.did: list[str] = []
        self.limits_s: list[float] = []
        self.caught = False
        self.ended = False
        self.lines = 1  # of an answer
        self._busy_since: float | None = None

    def cpu_s(self) -> float:
        if self._busy_since is None:
            return self.used_s
        return self.used_s + (trio.current_time() - self._busy_since) * self.speed

    def burn(self, cpu_s: float) -> None:
        if not self.is_stopped:
            self.used_s += cpu_s

    async def ask(self, line: bytes, *, limit_s: float) -> bytes:
        del line
        assert not self.is_stopped
        self.did.append("ask")
        self.limits_s.append(limit_s)
        return await self.listen()

    async def listen(self) -> bytes:
        if self.error is not None:
            raise self.error
        with trio.move_on_after(self.limits_s[-1]) as scope:
            self._busy_since = trio.current_time()
            try:
                await trio.sleep(self.thinks_s / self.speed)
            finally:
                self.used_s, self._busy_since = self.cpu_s(), None
            await trio.sleep(self.sleeps_s)
        if scope.cancelled_caught:
            raise BotTooSlow("no answer within its time", "flush")
        return b"line"

    def stop(self) -> None:
        self.did.append("stop")
        self.is_stopped = True

    def go_on(self) -> None:
        self.is_stopped = False

    def watch_off_turn(self, *, allowed: bool) -> None:
        del allowed

    def off_turn(self) -> OffTurnUse | None:
        return OffTurnUse(99.0, self.caught)

    def spent_s(self) -> float:
        return 0.25

    def take_line(self) -> bytes | None:
        return b"early"

    def has_unread(self) -> bool:
        return True

    def has_ended(self) -> bool:
        return True

    def tell(self, line: bytes) -> bool:
        return line == b"told"

    def take_stderr(self) -> tuple[str, int]:
        return "said", 1

    def evidence(self) -> Mapping[str, Any]:
        return {"exit_status": None}

    async def end(self, *, grace_s: float = 0.0) -> None:
        assert grace_s == 0.5
        await trio.lowlevel.checkpoint()
        self.ended = True


class FakeAlarm:
    """Wakes its one waiter by trio's clock."""

    def __init__(self) -> None:
        self.waiter: Waiter | None = None
        self.looks = 0
        self._hurried = trio.Event()

    def add_waiter(self, waiter: Waiter) -> None:
        self.waiter = waiter

    def remove_waiter(self, waiter: Waiter) -> None:
        assert waiter is self.waiter
        self.waiter = None

    def hurry(self, at: float) -> None:
        del at
        self._hurried.set()

    async def run(self) -> None:
        while self.waiter is not None:
            if self.waiter.wake_at == inf:
                self._hurried = trio.Event()
                await self._hurried.wait()
                continue
            await trio.sleep_until(self.waiter.wake_at)
            if self.waiter.wake_at <= trio.current_time():
                self.looks += 1
                self.waiter.wake(trio.current_time())


Work = Callable[[Metered, FakeBot, FakeAlarm], Awaitable[None]]


def run(work: Work, clock: ClockSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the work with time made up."""
    monkeypatch.setattr(metered_module, "monotonic", trio.current_time)
    monkeypatch.setattr(metered_module, "_CORES", 2)

    async def main() -> None:
        bot, alarm = FakeBot(), FakeAlarm()
        metered = Metered(bot, alarm, clock)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(alarm.run)
            await work(metered, bot, alarm)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=0))


async def turn(metered: Metered) -> float:
    """Take a turn; what it is charged."""
    metered.is_charged = True
    assert await metered.ask(b"turn\n", limit_s=LIMIT_S) == b"line"
    metered.rest()
    return metered.spent_s()


async def start_up(metered: Metered) -> None:
    metered.is_charged = False
    assert await metered.ask(b"deal\n", limit_s=5.0) == b"line"
    metered.rest()


def text_of(error: pytest.ExceptionInfo[BotTooSlow]) -> str:
    return error.value.text


@pytest.mark.parametrize("speed", [4.0, 1.0, 0.25], ids=["four threads", "one", "a busy machine"])
def test_cpu_time_is_charged_however_long_it_took(
    speed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        bot.thinks_s, bot.speed = 0.8, speed
        for _ in range(3):
            assert await turn(metered) == pytest.approx(0.8)
        assert set(bot.limits_s) == {7.0}
        assert alarm.looks >= 3 * (0.8 / speed / 0.05 - 1)

    run(work, CPU, monkeypatch)


def test_sleeping_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        del alarm
        bot.sleeps_s = 6.9
        assert await turn(metered) == pytest.approx(0.0)

    run(work, CPU, monkeypatch)


@pytest.mark.parametrize("speed", [0.2, 1.0, 2.0])
def test_who_burns_its_time_is_cut_off_to_the_point(
    speed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        del alarm
        bot.thinks_s, bot.speed = 60.0, speed
        bot.limits_s.append(inf)
        metered.is_charged = True
        with pytest.raises(BotTooSlow) as error:
            await metered.ask(b"turn\n", limit_s=0.5)
        assert text_of(error) == "CPU 0.50 s of 0.50 s, and no answer"
        assert "all of them" in error.value.hint
        assert metered.wake_at == inf
        evidence = metered.evidence()
        assert evidence["exit_status"] is None
        assert evidence["cpu_ms"] == pytest.approx(500, abs=10)

    run(work, CPU, monkeypatch)


def test_answer_that_took_too_much_is_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """It came between two looks."""

    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        del alarm
        bot.thinks_s, bot.speed = 1.5, 1000.0
        metered.is_charged = True
        with pytest.raises(BotTooSlow) as error:
            await metered.ask(b"turn\n", limit_s=LIMIT_S)
        assert text_of(error) == "the answer took CPU 1.50 s of 1.00 s"

    run(work, CPU, monkeypatch)


def test_sleeper_is_called_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        del alarm
        bot.thinks_s, bot.sleeps_s = 0.1, 60.0
        metered.is_charged = True
        start = trio.current_time()
        with pytest.raises(BotTooSlow) as error:
            await metered.ask(b"turn\n", limit_s=LIMIT_S)
        assert trio.current_time() - start == pytest.approx(wall_stop_s(LIMIT_S))
        assert text_of(error) == "idle: no answer within its time; CPU 0.10 s of 1.00 s"
        assert error.value.hint == "flush"

    run(work, CPU, monkeypatch)


def test_lines_of_one_request_share_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        del alarm
        bot.thinks_s = 0.4
        assert await turn(metered) == pytest.approx(0.4)
        await metered.listen()
        assert metered.spent_s() == pytest.approx(0.8)
        with pytest.raises(BotTooSlow):
            await metered.listen()

    run(work, CPU, monkeypatch)


def test_start_up_goes_by_the_wall_and_is_not_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        bot.thinks_s = 3.0
        await start_up(metered)
        await metered.listen()
        assert bot.limits_s == [5.0]
        assert metered.spent_s() == 0.25  # as the process says
        assert alarm.looks == 0
        assert "cpu_ms" not in metered.evidence()
        bot.thinks_s = 0.2
        assert await turn(metered) == pytest.approx(0.2)

    run(work, CPU, monkeypatch)


@pytest.mark.parametrize(
    ("pondering", "charged_s"), [("watch", 0.5), ("allow", 0.2), ("freeze", 0.2)]
)
def test_what_is_used_off_turn_is_charged_unless_it_is_allowed(
    pondering: Any, charged_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        del alarm
        await start_up(metered)
        bot.thinks_s = 0.2
        assert await turn(metered) == pytest.approx(0.2)
        bot.burn(0.3)
        assert await turn(metered) == pytest.approx(charged_s)
        used_s = 0.0 if pondering == "freeze" else 0.3
        use = metered.off_turn()
        assert use is not None
        assert use.cpu_s == pytest.approx(used_s)

    run(work, ClockSettings(kind="cpu", pondering=pondering), monkeypatch)


def test_who_burnt_all_of_its_time_off_turn_is_not_asked_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        del alarm
        await turn(metered)
        bot.burn(1.5)
        bot.did.clear()
        with pytest.raises(BotTooSlow) as error:
            await turn(metered)
        assert bot.did == []
        assert "CPU 1.50 s of 1.00 s, used while the other side was to move" in text_of(error)

    run(work, CPU, monkeypatch)


def test_frozen_bot_is_stopped_as_it_has_answered_and_goes_on_when_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the clock on the wall it pays for what it used before the stop, and for no more."""

    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        await start_up(metered)
        assert bot.is_stopped
        assert await turn(metered) == 0.25
        metered.is_charged = True
        await metered.ask(b"turn\n", limit_s=LIMIT_S)
        bot.burn(0.125)  # between the newline and the stop
        metered.rest()
        assert await turn(metered) == 0.375
        assert bot.limits_s == [5.0, 1.0, 1.0, pytest.approx(0.875)]
        assert bot.did == ["ask", "stop"] * 4
        assert alarm.looks == 0

    run(work, ClockSettings(pondering="freeze"), monkeypatch)


def test_other_faults_come_through_and_the_rest_is_the_processs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def work(metered: Metered, bot: FakeBot, alarm: FakeAlarm) -> None:
        bot.error = BotExited("gone")
        metered.is_charged = True
        with pytest.raises(BotExited):
            await metered.ask(b"turn\n", limit_s=LIMIT_S)
        assert metered.wake_at == inf
        metered.wake(0.0)  # too late: nobody waits any more
        assert metered.wake_at < inf
        bot.used_s += 9.0
        metered.wake(0.0)
        assert metered.wake_at == inf
        bot.caught, bot.lost_s = True, 0.5
        assert metered.off_turn() == (0.0, True)
        assert metered.lost_s == 0.5
        assert metered.take_line() == b"early"
        assert metered.has_unread()
        assert metered.has_ended()
        assert metered.tell(b"told")
        assert metered.take_stderr() == ("said", 1)
        await metered.end(grace_s=0.5)
        assert bot.ended
        assert alarm.waiter is None
        alarm.add_waiter(metered)

    run(work, CPU, monkeypatch)


@pytest.mark.parametrize(
    ("clock", "is_so"),
    [
        (ClockSettings(), False),
        (ClockSettings(pondering="allow"), False),
        (ClockSettings(pondering="freeze"), True),
        (CPU, True),
    ],
)
def test_the_usual_game_needs_no_meter(clock: ClockSettings, is_so: bool) -> None:
    assert is_metered(clock) is is_so


def test_fake_is_what_is_metered() -> None:
    assert isinstance(FakeBot(), Stoppable)
