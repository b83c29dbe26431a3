"""Which seats are metered, what is charged there, and what a record tells of it: with fakes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from arena.referee.pool import BotPool
from arena.referee.record import BotSpec, GameRecord
from arena.referee.referee import play_game
from arena.referee.replay import replay
from arena.referee.seat import MeteredSeat, Seat
from arena.rules.ruleset import Side
from arena.sandbox.pondering import OffTurnUse
from protocol.messages import ClockSettings, HelloAnswer, Limits
from tests.referee.games import Brain, FakeChannel, at_turn, bot, honest, line, spec

FREEZE = ClockSettings(move_ms=30_000, pondering="freeze")
CPU = ClockSettings(move_ms=30_000, kind="cpu")


class Stoppable(FakeChannel):
    """A fake with a CPU clock: 3 ms a line, and 2 ms off turn before it is stopped."""

    def __init__(self, brain: Brain = honest) -> None:
        super().__init__(brain)
        self.used_s = 0.0
        self.stops = 0
        self.stopped = False
        self.allowed: bool | None = None

    async def ask(self, line: bytes, *, limit_s: float) -> bytes:
        assert not self.stopped
        self.used_s += 0.003
        return await super().ask(line, limit_s=limit_s)

    def cpu_s(self) -> float:
        return self.used_s

    def stop(self) -> None:
        self.used_s += 0.002
        self.stops += 1
        self.stopped = True

    def go_on(self) -> None:
        self.stopped = False

    def watch_off_turn(self, *, allowed: bool) -> None:
        self.allowed = allowed


def play(
    trusted: bool = False, mister_x: Brain = honest, **settings: Any
) -> tuple[GameRecord, dict[str, Stoppable]]:
    """One game between two of them; Mister X's may be the arena's own."""
    channels: dict[str, Stoppable] = {}

    def start(bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool) -> Stoppable:
        del limits, cpu_s, sandboxed
        channels[bot.name] = Stoppable(mister_x if bot.name == "x-bot" else honest)
        return channels[bot.name]

    async def main() -> GameRecord:
        async with BotPool(start) as pool:
            first = msgspec.structs.replace(bot("x-bot"), trusted=trusted)
            return await play_game(spec(first, bot("d-bot"), **settings), pool)

    record = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    replay(record.core, record.notes, aside=record.aside)  # holds the times to the clock
    return record, channels


def test_cpu_time_is_charged_and_start_up_is_not() -> None:
    record, channels = play(clock=CPU)
    assert record.core.faults == ()
    for seat in (record.aside.mister_x, record.aside.detectives):
        assert {time.charged_ms for time in seat.times} == {3.0}
        assert seat.off_turn_cpu_ms == 0.0
        assert not seat.caught_pondering
    assert {channel.stops for channel in channels.values()} == {0}
    turns = [asked for asked in channels["x-bot"].asked if asked["type"] == "turn"]
    assert [asked["charged_ms"] for asked in turns[:3]] == [None, 3.0, 3.0]


def test_fault_is_charged_the_cpu_time_up_to_it() -> None:
    record, _ = play(clock=CPU, mister_x=at_turn(2, lambda _: line(type="nonsense")))
    assert record.core.faults[0].kind == "protocol"
    assert record.aside.mister_x.fault_ms == 3.0
    assert record.aside.detectives.fault_ms is None


def test_time_out_is_charged_its_limit_however_little_was_used() -> None:
    """A bot that sleeps comes to the stop by the wall."""
    record, _ = play(clock=CPU, mister_x=at_turn(2, lambda _: None))
    assert record.core.faults[0].kind == "timeout"
    assert record.aside.mister_x.fault_ms == 30_000.0


def test_everybody_is_stopped_off_turn_and_pays_for_what_came_before() -> None:
    record, channels = play(clock=FREEZE)
    for name, seat in zip(channels, (record.aside.mister_x, record.aside.detectives), strict=True):
        channel = channels[name]
        assert channel.allowed is False
        assert channel.stops == len(channel.asked)
        assert {time.charged_ms for time in seat.times} == {2.0}
        assert seat.off_turn_cpu_ms == pytest.approx(2.0 * len(seat.times))


def test_bot_of_the_arenas_own_pays_nothing() -> None:
    record, channels = play(clock=FREEZE, trusted=True)
    assert channels["x-bot"].allowed is True
    assert channels["x-bot"].stops == 0
    assert {time.charged_ms for time in record.aside.mister_x.times} == {0.0}
    assert channels["d-bot"].stops > 0


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({}, False),
        ({"clock": ClockSettings(move_ms=30_000, pondering="allow")}, True),
        ({"clock": None}, True),  # a debugger may be in it
        ({"clock": None, "nodes": 100}, False),
    ],
    ids=["usual", "allowed", "no clock", "nodes"],
)
def test_pondering_is_watched_where_it_is_not_allowed(
    settings: dict[str, Any], allowed: bool
) -> None:
    record, channels = play(**settings)
    assert record.core.faults == ()
    assert {channel.allowed for channel in channels.values()} == {allowed}
    assert {channel.stops for channel in channels.values()} == {0}


def test_record_tells_of_this_game_what_was_used_off_turn() -> None:
    """A kept process has a history that is none of the game's."""

    class Pondering(FakeChannel):
        def off_turn(self) -> OffTurnUse | None:
            return OffTurnUse(0.05 * len(self.asked), is_caught=True)

    def start(bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool) -> FakeChannel:
        del limits, cpu_s, sandboxed
        return Pondering(honest) if bot.name == "d-bot" else FakeChannel(honest)

    async def main() -> None:
        async with BotPool(start) as pool:
            for _ in range(2):
                record = await play_game(spec(bot("x-bot"), bot("d-bot"), keep=True), pool)
                assert record.aside.mister_x.off_turn_cpu_ms is None
                theirs = record.aside.detectives
                assert theirs.off_turn_cpu_ms is not None
                asked = len(theirs.times) + 1
                assert 50 * asked <= theirs.off_turn_cpu_ms <= 50 * (asked + 1)
                assert theirs.caught_pondering

    trio.run(main)


def test_kept_process_serves_one_clock() -> None:
    started: list[str] = []

    def start(bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool) -> Stoppable:
        del limits, cpu_s, sandboxed
        started.append(bot.name)
        return Stoppable()

    async def main() -> None:
        async with BotPool(start) as pool:
            kinds = []
            for clock in (CPU, CPU, FREEZE, ClockSettings()):
                game = spec(bot("x-bot"), bot("d-bot"), keep=True, clock=clock)
                seat = pool.seat(game, Side.MISTER_X)
                kinds.append(type(seat))
                seat.hello = msgspec.convert(
                    {"type": "hello", "id": "1", "protocol": 1, "name": "n", "rulesets": ["r"]},
                    type=HelloAnswer,
                )
                await pool.keep(seat, game)
            assert kinds == [MeteredSeat, MeteredSeat, MeteredSeat, Seat]

    trio.run(main)
    assert len(started) == 3
