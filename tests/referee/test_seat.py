"""One bot at a table: what it may say before its answer, its start, what is kept of its log."""

from __future__ import annotations

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from arena.referee.pool import BotPool
from arena.referee.record import AskedLimits, BotSpec, GameRecord
from arena.referee.referee import play_game
from arena.sandbox.limits import default_limits
from protocol.codec import BLANK_LINES, LOG_GAME_BYTES, LOG_LINE_BYTES
from protocol.messages import Limits
from tests.referee.games import (
    Brain,
    FakeChannel,
    FakePool,
    Later,
    Request,
    bot,
    honest,
    line,
    play_fakes,
    spec,
)


def run(mister_x: Brain) -> GameRecord:
    """One game of a function against an honest team."""

    async def main() -> GameRecord:
        return (await play_fakes(mister_x, honest))[0]

    return trio.run(main, clock=MockClock(autojump_threshold=0))


def log_line(size: int) -> bytes:
    """A `log` line of so many bytes, its newline included."""
    empty = len(line(type="log", text=""))
    return line(type="log", text="x" * (size - empty))


def saying(before: bytes, *, on: str = "turn", times: int = 1) -> Brain:
    """An honest bot that says something before its answers of one kind."""
    said = 0

    def brain(request: Request) -> bytes:
        nonlocal said
        answer = honest(request)
        if request["type"] == on and said < times:
            said += 1
            return before + answer
        return answer

    return brain


@pytest.mark.parametrize("on", ["hello", "deal", "turn"])
def test_logs_and_blank_lines_before_an_answer_are_read_over(on: str) -> None:
    record = run(saying(b"\n" + log_line(50) + b" \t\n" + log_line(60), on=on, times=3))
    assert record.core.faults == ()
    kept = 2 if on != "turn" else 6
    assert len(record.aside.mister_x.log) == kept


def test_line_of_blanks_too_many_is_a_fault_of_the_protocol() -> None:
    assert run(saying(b"\n" * BLANK_LINES, times=99)).core.faults == ()
    (fault,) = run(saying(b"\n" * (BLANK_LINES + 1))).core.faults
    assert (fault.side, fault.kind, fault.phase) == ("mister_x", "protocol", "turn")


def test_log_line_has_a_kib_with_its_newline() -> None:
    record = run(saying(log_line(LOG_LINE_BYTES) + log_line(LOG_LINE_BYTES + 1)))
    assert [len(text) for text in record.aside.mister_x.log] == [
        LOG_LINE_BYTES - len(line(type="log", text=""))
    ]
    assert record.aside.mister_x.log_dropped == 1
    assert record.core.faults == ()


def test_log_of_a_game_is_kept_up_to_its_limit_and_the_rest_counted() -> None:
    room = LOG_GAME_BYTES // LOG_LINE_BYTES
    record = run(saying(log_line(LOG_LINE_BYTES) * (room + 3)))
    assert len(record.aside.mister_x.log) == room
    assert record.aside.mister_x.log_dropped == 3
    assert record.core.faults == ()


def kept_games(brain: Brain, games: int = 2) -> list[GameRecord]:
    """Games of one kept process one after the other."""

    async def main() -> list[GameRecord]:
        async with FakePool({"x-bot": brain, "d-bot": honest}) as pool:
            return [
                await play_game(spec(bot("x-bot"), bot("d-bot"), number=n, keep=True), pool)
                for n in range(games)
            ]

    return trio.run(main, clock=MockClock(autojump_threshold=0))


def test_log_of_a_kept_process_begins_anew_with_each_game() -> None:
    def brain(request: Request) -> bytes:
        answer = honest(request)
        if request["type"] == "deal":
            return log_line(LOG_LINE_BYTES) * (LOG_GAME_BYTES // LOG_LINE_BYTES + 1) + answer
        return answer

    for record in kept_games(brain):
        assert len(record.aside.mister_x.log) == LOG_GAME_BYTES // LOG_LINE_BYTES
        assert record.aside.mister_x.log_dropped == 1


def test_first_ready_may_take_longer_than_later_ones() -> None:
    """10 s from the start of the process with its greeting, 5 s for each later `ready`."""

    def slow(*seconds: float) -> Brain:
        waits = iter(seconds)

        def brain(request: Request) -> bytes | Later:
            if request["type"] in ("hello", "deal"):
                return Later(next(waits), honest(request))
            return honest(request)

        return brain

    assert [len(record.core.faults) for record in kept_games(slow(4.5, 5.4, 4.9))] == [0, 0]
    first, second = kept_games(slow(1.0, 1.0, 5.1))
    assert first.core.faults == ()
    (fault,) = second.core.faults
    assert (fault.side, fault.kind, fault.phase) == ("mister_x", "timeout", "start-up")
    (fault,) = kept_games(slow(4.5, 5.6), games=1)[0].core.faults
    assert (fault.side, fault.kind, fault.phase) == ("mister_x", "timeout", "start-up")


def test_bot_that_asked_for_less_is_told_and_held_to_less() -> None:
    """`hello` names what this bot is held to, not what others are."""
    held: dict[str, Limits] = {}
    channels: dict[str, FakeChannel] = {}

    async def main() -> None:
        def start(
            bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool
        ) -> FakeChannel:
            del cpu_s, sandboxed
            held[bot.name] = limits
            channels[bot.name] = FakeChannel(honest)
            return channels[bot.name]

        small = replace(bot("x-bot"), limits=AskedLimits(memory_mib=64))
        async with BotPool(start) as pool:
            await play_game(spec(small, bot("d-bot")), pool)

    trio.run(main)
    assert held["x-bot"] == replace(default_limits(), memory_mib=64)
    assert held["d-bot"] == default_limits()
    assert channels["x-bot"].asked[0]["limits"]["memory_mib"] == 64
    assert channels["d-bot"].asked[0]["limits"]["memory_mib"] == default_limits().memory_mib
