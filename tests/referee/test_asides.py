"""The half of a record that a clock made is held to the half that the rules check."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import trio
from msgspec.structs import replace

from arena.errors import RecordError
from arena.referee.faults import Caught, describe
from arena.referee.record import Aside, Fault, GameRecord, TurnTime
from arena.referee.replay import replay
from arena.sandbox.channel import BotExited
from protocol.messages import ClockSettings
from tests.referee.games import Brain, Request, honest, play_fakes

FISCHER = ClockSettings(move_ms=0, bank_ms=60_000, increment_ms=5)


def played(mister_x: Brain = honest, **settings: Any) -> GameRecord:
    """A game as it comes out of the store; long enough, and the team moves in parts."""

    async def main() -> GameRecord:
        return (await play_fakes(mister_x, honest, number=3, **settings))[0]

    return msgspec.json.decode(msgspec.json.encode(trio.run(main)), type=GameRecord)


def failing() -> Brain:
    """A bot that is gone when it is asked for the third time."""
    turns = 0

    def brain(request: Request) -> bytes | Exception:
        nonlocal turns
        turns += request["type"] == "turn"
        return BotExited("gone") if turns == 3 else honest(request)

    return brain


RECORD = played(clock=FISCHER)
FAULT = played(failing(), clock=ClockSettings(move_ms=60_000))


def check(record: GameRecord, aside: Aside) -> None:
    replay(record.core, record.notes, aside=aside)


def with_time(record: GameRecord, index: int, **changes: Any) -> Aside:
    """The other half, with one of Mister X's times changed."""
    seat = record.aside.mister_x
    times = list(seat.times)
    times[index] = replace(times[index], **changes)
    return replace(record.aside, mister_x=replace(seat, times=tuple(times)))


@pytest.mark.parametrize(
    "settings",
    [{"clock": FISCHER}, {"clock": None}, {"nodes": 1000}, {"clock": ClockSettings(move_ms=10**6)}],
    ids=["fischer", "no-clock", "nodes", "move"],
)
def test_other_half_fits_whatever_the_clock(settings: dict[str, Any]) -> None:
    record = played(**settings)
    check(record, record.aside)


@pytest.mark.parametrize("record", [RECORD, FAULT], ids=["finished", "fault"])
def test_other_half_fits_whatever_the_end(record: GameRecord) -> None:
    check(record, record.aside)


def test_bank_that_the_clock_does_not_give_is_found() -> None:
    wrong = with_time(RECORD, 1, bank_ms=59_000)
    with pytest.raises(RecordError, match=r"play \d+: the bank is recorded as 59000 ms, and the"):
        check(RECORD, wrong)


def test_clock_that_does_not_give_the_banks_is_found() -> None:
    for changes in ({"increment_ms": 6}, {"bank_ms": 60_001}):
        core = replace(RECORD.core, clock=replace(FISCHER, **changes))
        with pytest.raises(RecordError, match="the bank is recorded"):
            check(replace(RECORD, core=core), RECORD.aside)


@pytest.mark.parametrize("charged_ms", [-0.5, 60_001.0])
def test_charge_that_no_answer_can_have_is_found(charged_ms: float) -> None:
    with pytest.raises(RecordError, match=r"play 0: charged .* and the limit is 60,000 ms"):
        check(RECORD, with_time(RECORD, 0, charged_ms=charged_ms))


def test_charge_of_exactly_the_limit_but_for_its_rounding_is_none() -> None:
    """The channel is the judge of the time, and digits are dropped after it."""
    core = replace(FAULT.core, clock=ClockSettings(move_ms=100))
    check(replace(FAULT, core=core), with_time(FAULT, 1, charged_ms=100.001))
    with pytest.raises(RecordError, match="the limit is 100 ms"):
        check(replace(FAULT, core=core), with_time(FAULT, 1, charged_ms=100.1))


def test_play_without_a_time_is_found() -> None:
    seat = RECORD.aside.mister_x
    for times in (seat.times[:-1], (*seat.times, TurnTime(play=99, charged_ms=1.0, bank_ms=1))):
        with pytest.raises(RecordError, match="times of mister_x are not those of its plays"):
            check(RECORD, replace(RECORD.aside, mister_x=replace(seat, times=times)))


@pytest.mark.parametrize(
    "changes",
    [{"fault_text": "crash"}, {"hint": "do better"}, {"evidence": {}}, {"fault_ms": 1.0}],
    ids=["text", "hint", "evidence", "time"],
)
def test_fault_that_only_the_other_half_tells_is_found(changes: dict[str, Any]) -> None:
    seat = replace(RECORD.aside.detectives, **changes)
    with pytest.raises(RecordError, match="a fault of detectives is told, and the verdict knows"):
        check(RECORD, replace(RECORD.aside, detectives=seat))


@pytest.mark.parametrize("changes", [{"kind": "timeout"}, {"phase": "start-up"}], ids=str)
def test_fault_that_the_other_half_tells_otherwise_is_found(changes: dict[str, Any]) -> None:
    core = replace(FAULT.core, faults=(replace(FAULT.core.faults[0], **changes),))
    with pytest.raises(RecordError):
        check(replace(FAULT, core=core), FAULT.aside)
    seat = replace(FAULT.aside.mister_x, fault_text=None)
    with pytest.raises(RecordError, match="is told otherwise than “x-bot, game game3, at play"):
        check(FAULT, replace(FAULT.aside, mister_x=seat))


@pytest.mark.parametrize(
    ("changes", "fault_ms"),
    [({}, -1.0), ({"phase": "off-turn"}, 5.0), ({"kind": "timeout"}, 59_999.0)],
    ids=["negative", "off turn", "time-out before its time"],
)
def test_time_that_no_fault_can_have_is_found(changes: dict[str, Any], fault_ms: float) -> None:
    core = replace(FAULT.core, faults=(replace(FAULT.core.faults[0], **changes),))
    told = describe(
        Caught(
            side="mister_x", kind=core.faults[0].kind, phase=core.faults[0].phase, text="", hint=""
        ),
        bot="x-bot",
        game=core.game,
        play=len(core.plays),
    )
    seat = replace(FAULT.aside.mister_x, fault_text=told, fault_ms=fault_ms)
    with pytest.raises(RecordError, match=r"the fault of mister_x is charged .* ms, and as a"):
        check(replace(FAULT, core=core), replace(FAULT.aside, mister_x=seat))
    older = replace(seat, fault_ms=None)  # a record that kept no time of a fault
    check(replace(FAULT, core=core), replace(FAULT.aside, mister_x=older))


def test_void_that_only_one_half_knows_is_found() -> None:
    with pytest.raises(RecordError, match=r"only one half .* void"):
        check(RECORD, replace(RECORD.aside, void="no room"))
    # The text of a fault may stay: it is not what voided the game.
    void = replace(FAULT.core, winner=None, reason="void", faults=())
    with pytest.raises(RecordError, match=r"only one half .* void"):
        check(replace(FAULT, core=void), FAULT.aside)
    check(replace(FAULT, core=void), replace(FAULT.aside, void="no room"))


def test_benched_game_keeps_the_other_half_of_its_play() -> None:
    fault = Fault(side="mister_x", kind="benched", phase="start-up")
    core = replace(RECORD.core, faults=(fault,), winner="detectives", reason="fault")
    check(replace(RECORD, core=core), RECORD.aside)
