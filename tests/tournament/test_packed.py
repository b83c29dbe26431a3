"""A finished game on its way to the store: whole, and with what the coordinator looks at."""

from __future__ import annotations

import msgspec
import pytest

from arena.referee.record import GameRecord
from arena.tournament.benching import Outcome
from arena.tournament.packed import decode_packed, encode_packed, pack, unpack
from tests.fake_games import fake_plan, fake_record, fake_void

PLAN = fake_plan(3)
SPEC = PLAN.spec(4)
FAULTY = (SPEC.mister_x.name, SPEC.detectives.name)


@pytest.mark.parametrize(
    "record",
    [fake_record(SPEC), fake_record(SPEC, faulty=FAULTY), fake_void(SPEC)],
    ids=["played", "two faults", "void"],
)
def test_a_game_travels_whole(record: GameRecord) -> None:
    arrived = decode_packed(encode_packed(pack(record)))
    assert arrived == pack(record)
    assert unpack(arrived) == record
    assert (arrived.game, arrived.index, arrived.deal) == (SPEC.game, 4, SPEC.deal)
    assert arrived.bots == (record.core.mister_x, record.core.detectives)
    assert arrived.void == record.aside.void


def test_an_outcome_is_what_the_record_says() -> None:
    record = fake_record(SPEC)
    assert pack(record).outcome == Outcome(4, record.core.winner, record.core.reason)
    only = pack(fake_record(SPEC, faulty=FAULTY[1:])).outcome
    assert (only.winner, only.reason) == ("mister_x", "fault")
    assert (only.mister_x_fault, only.detectives_fault) == (None, "crash")
    assert pack(fake_void(SPEC)).outcome == Outcome(4, None, "void")


def test_the_coordinator_need_not_look_into_the_record() -> None:
    """What it stores comes as it was compressed, whatever that is."""
    packed = msgspec.structs.replace(pack(fake_record(SPEC)), core=b"\0\xff", remainder=b"")
    assert decode_packed(encode_packed(packed)) == packed
