"""A recorded game fed to a bot again; bots are fakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from arena.cli.fed_again import Fed, feed
from arena.errors import HostFault, RecordError
from arena.referee.record import GameRecord
from arena.rules.ruleset import Side
from arena.sandbox.channel import BotExited
from tests.referee.games import (
    Brain,
    FakePool,
    Later,
    Request,
    bot,
    honest,
    honest_play,
    line,
    play_fakes,
)

TEAM = Side.DETECTIVES


@pytest.fixture(scope="module")
def record() -> GameRecord:
    """An honest game."""
    found, _ = trio.run(play_fakes, honest, honest)
    return found


def fed(record: GameRecord, brain: Brain, side: Side = TEAM, **more: Any) -> tuple[Fed, FakePool]:
    """Feed a game to a fake."""

    async def run() -> tuple[Fed, FakePool]:
        async with FakePool({"again": brain}) as pool:
            return await feed(record, side, bot("again"), pool, sandboxed=False, **more), pool

    return trio.run(run)


def on_turn(count: int, then: Callable[[Request], Any]) -> Brain:
    """An honest bot that does something else on one request for a turn, counted from 1."""
    turns = 0

    def brain(request: Request) -> Any:
        nonlocal turns
        turns += request["type"] == "turn"
        return then(request) if turns == count and request["type"] == "turn" else honest(request)

    return brain


def last_first(request: Request) -> bytes:
    """Another legal answer: the last step of the first figure, as a part."""
    ply = [one for one in request["legal"] if one["figure"] == request["legal"][0]["figure"]][-1]
    return line(type="play", id=request["id"], plies=[ply], more=ply["figure"] != "x", note=5)


@pytest.mark.parametrize("side", list(Side))
def test_same_bot_answers_the_same_to_the_same_messages(record: GameRecord, side: Side) -> None:
    again, pool = fed(record, honest, side)
    first, channels = trio.run(play_fakes, honest, honest)
    assert first.core == record.core
    plays = [play for play in record.core.plays if play.side == side]
    assert (again.asked, again.differing, again.shown, again.fault) == (len(plays), 0, (), None)
    (channel,) = pool.channels
    original = channels.channels[0 if channels.channels[0].asked[1]["side"] == side else 1]
    for now, then in zip(channel.asked, original.asked, strict=True):
        for key in ("bank_ms", "charged_ms"):  # of a clock
            now.pop(key, None)
            then.pop(key, None)
        assert now == then
    assert [told["type"] for told in channel.told] == ["end", "bye"]
    assert channel.ended


@pytest.mark.parametrize("side", list(Side))
def test_first_other_answer_stops_it(record: GameRecord, side: Side) -> None:
    again, pool = fed(record, on_turn(3, last_first), side)
    (one,) = again.shown
    assert (again.asked, again.differing, one.same) == (3, 1, False)
    assert one.recorded is not None
    assert one.recorded == record.core.plays[one.play]
    assert one.said.note == 5
    assert pool.channels[0].asked[-1]["id"] == one.request.id
    assert pool.channels[0].ended


def test_note_makes_no_other_answer(record: GameRecord) -> None:
    again, _ = fed(record, lambda r: noted(r) if r["type"] == "turn" else honest(r))
    assert (again.differing, again.fault) == (0, None)


def noted(request: Request) -> bytes:
    return line(**honest_play(request), note="now I know")


def test_at_shows_all_parts_of_a_turn_and_counts_what_differed_before(record: GameRecord) -> None:
    again, pool = fed(record, on_turn(1, last_first), at=2)
    assert [one.turn for one in again.shown] == [2] * len(again.shown)
    assert all(one.same for one in again.shown)
    assert again.differing == 1
    turns = [asked for asked in pool.channels[0].asked if asked["type"] == "turn"]
    assert turns[-1]["id"] == again.shown[-1].request.id


def test_at_a_turn_that_never_came_shows_nothing(record: GameRecord) -> None:
    again, _ = fed(record, honest, at=500)
    assert again.shown == ()
    assert again.at[0] in {record.core.rounds, record.core.rounds - 1}


def illegal(request: Request) -> bytes:
    ply = {**request["legal"][0], "to": 199}
    return line(type="play", id=request["id"], plies=[ply], more=True)


@pytest.mark.parametrize(
    ("does", "kind"),
    [
        (illegal, "illegal"),
        (lambda request: line(type="play", id=request["id"], plies=[{}]), "protocol"),
        (lambda request: line(type="play", id="00", plies=[]), "protocol"),
        (lambda _: BotExited("gone"), "crash"),
        (lambda request: Later(40.0, line(**honest_play(request))), "timeout"),
    ],
)
def test_fault_of_the_bot_is_told_with_its_request(
    record: GameRecord, does: Callable[[Request], Any], kind: str
) -> None:
    async def run() -> tuple[Fed, FakePool]:
        async with FakePool({"again": on_turn(2, does)}) as pool:
            return await feed(record, TEAM, bot("again"), pool, sandboxed=False), pool

    again, pool = trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
    assert again.fault is not None
    assert (again.fault.kind, again.fault.phase) == (kind, "turn")
    assert again.last is not None
    assert again.stderr == "its last words\n"
    assert pool.channels[0].ended


def test_no_clock_waits_for_ever(record: GameRecord) -> None:
    slow = on_turn(2, lambda request: Later(4e6, line(**honest_play(request))))

    async def run() -> Fed:
        async with FakePool({"again": slow}) as pool:
            return await feed(record, TEAM, bot("again"), pool, sandboxed=False, no_clock=True)

    again = trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
    assert (again.fault, again.differing) == (None, 0)


def test_fault_of_the_game_has_no_recorded_answer() -> None:
    """A bot that is mended answers where the record has the fault."""
    record, _ = trio.run(play_fakes, honest, on_turn(2, illegal))
    again, _ = fed(record, honest)
    (one,) = again.shown
    assert (one.recorded, one.same, one.turn) == (None, False, again.at[0])


def test_bot_that_does_not_play_the_side_is_refused(record: GameRecord) -> None:
    def one_sided(request: Request) -> Any:
        return line(
            type="hello",
            id=request["id"],
            protocol=1,
            name="again",
            rulesets=["london-2013"],
            sides=["mister_x"],
        )

    again, _ = fed(record, one_sided)
    assert again.fault is not None
    assert (again.fault.kind, again.fault.phase, again.at) == ("refused", "start-up", (0, 0))


def test_record_that_does_not_replay_is_refused(record: GameRecord) -> None:
    core = msgspec.structs.replace(record.core, rounds=77)
    with pytest.RaisesGroup(RecordError):
        fed(msgspec.structs.replace(record, core=core), honest)


def test_fault_of_ours_is_raised(record: GameRecord) -> None:
    with pytest.RaisesGroup(HostFault):
        fed(record, lambda _: HostFault("no room"))
