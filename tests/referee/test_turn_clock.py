"""When a turn's clock ends: with the turn, whoever closed it."""

from __future__ import annotations

from typing import Any

import trio
import trio.testing

from protocol.messages import ClockSettings
from tests.referee.games import Later, honest, line, play_fakes


def part_by_part(request: dict[str, Any]) -> bytes | Later:
    """Send a step at a time, `more` with the last one too, each after 50 ms."""
    if request["type"] != "turn":
        return honest(request)
    said = line(type="play", id=request["id"], plies=[request["legal"][0]], more=True)
    return Later(0.05, said)


def test_turn_that_the_rules_close_has_its_whole_time_again() -> None:
    """Five steps of 50 ms in each of many turns stay below 300 ms a turn."""

    async def play() -> None:
        record, _ = await play_fakes(honest, part_by_part, clock=ClockSettings(move_ms=300))
        assert record.core.faults == ()
        assert sum(play.side == "mister_x" for play in record.core.plays) > 2

    trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))
