"""A record plays again without bots, and a record that was touched does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import trio
from msgspec.structs import replace

from arena.errors import RecordError
from arena.referee.record import Core, Fault, GameRecord, Play
from arena.referee.replay import replay
from arena.rules.ruleset import Side
from arena.sandbox.channel import BotExited
from protocol.codec import encode
from protocol.messages import ClockSettings, Deal, End, Turn
from tests.referee.games import FakePool, Request, honest, play_fakes


def played(**settings: Any) -> tuple[GameRecord, FakePool]:
    """An honest game, its record as it comes out of the store."""

    async def main() -> tuple[GameRecord, FakePool]:
        return await play_fakes(honest, honest, **settings)

    record, pool = trio.run(main)
    return msgspec.json.decode(msgspec.json.encode(record), type=GameRecord), pool


RECORD, POOL = played(clock=ClockSettings(move_ms=60_000, bank_ms=5000))
CORE = RECORD.core


def test_replay_says_every_word_that_was_said() -> None:
    """Message for message what the two bots were sent, times included; but for the greeting."""
    found = replay(CORE, RECORD.notes, aside=RECORD.aside, wants=("legal", "events"))
    for side, channel in zip((Side.MISTER_X, Side.DETECTIVES), POOL.channels, strict=True):
        said = [
            msgspec.json.decode(encode(sent.message)) for sent in found.sent if sent.side is side
        ]
        heard = [*channel.asked[1:], *(told for told in channel.told if told["type"] == "end")]
        assert said == heard


def test_replay_knows_what_was_sent_when_a_bot_failed() -> None:
    """The request that the fault answered is said again, and nothing behind it."""
    turns = 0

    def fails(request: Request) -> bytes | Exception:
        nonlocal turns
        turns += request["type"] == "turn"
        return BotExited("gone") if turns == 3 else honest(request)

    async def main() -> tuple[GameRecord, FakePool]:
        return await play_fakes(honest, fails)

    record, pool = trio.run(main)
    found = replay(record.core, wants=("legal", "events"))
    turn_ids = [s.message.id for s in found.sent if isinstance(s.message, Turn)]
    asked = [r for channel in pool.channels for r in channel.asked if r["type"] == "turn"]
    assert sorted(turn_ids) == sorted(request["id"] for request in asked)
    assert found.moments[-1].plies is None
    assert found.verdict.winner is Side.MISTER_X


def test_replay_of_a_start_that_failed_deals_and_ends() -> None:
    def fails(request: Request) -> bytes | Exception:
        return BotExited("gone") if request["type"] == "deal" else honest(request)

    async def main() -> tuple[GameRecord, FakePool]:
        return await play_fakes(fails, fails)

    record, _ = trio.run(main)
    found = replay(record.core)
    assert [type(sent.message) for sent in found.sent] == [Deal, Deal, End, End]
    assert found.verdict.winner is None


def _plays(core: Core, index: int, **changes: Any) -> Core:
    plays = list(core.plays)
    plays[index] = replace(plays[index], **changes)
    return replace(core, plays=tuple(plays))


CHANGES: tuple[tuple[str, Callable[[Core], Core], str], ...] = (
    ("format", lambda core: replace(core, format=99), "format 99"),
    ("no format", lambda core: replace(core, format=0), "format 0"),
    ("protocol", lambda core: replace(core, protocol=2), "over protocol 2, this arena speaks 1"),
    ("seed", lambda core: replace(core, deal_seed="no hex"), "`deal_seed` is not 64 hex digits"),
    ("long seed", lambda core: replace(core, deal_seed=core.deal_seed * 2), "`deal_seed` is not"),
    ("key", lambda core: replace(core, game_key="ab\n"), "`game_key` is not 64 hex digits"),
    ("behaviour", lambda core: replace(core, behaviour=99), "behaviour 99"),
    ("board", lambda core: replace(core, board="0" * 64), "board"),
    ("side", lambda core: _plays(core, 0, side="detectives"), "play 0: detectives plays, mister_x"),
    ("ply", lambda core: _plays(core, 1, plies=({"to": 1},)), "play 1: no ply of london-2013"),
    (
        "station",
        lambda core: _plays(
            core, 2, plies=tuple({**ply, "to": 199} for ply in core.plays[2].plies)
        ),
        "play 2: L",
    ),
    ("deal", lambda core: replace(core, deal_seed="00" * 32), "play 0: L"),
    ("winner", lambda core: replace(core, winner="mister_x"), "the replay detectives"),
    ("reason", lambda core: replace(core, reason="escaped"), r"\(escaped\)"),
    ("fact", lambda core: replace(core, facts={**core.facts, "slots": 99}), "other facts .*slots"),
    ("rounds", lambda core: replace(core, rounds=99), "99 rounds"),
    ("cut", lambda core: replace(core, plays=core.plays[:-1]), "not over after"),
    (
        "longer",
        lambda core: replace(core, plays=(*core.plays, core.plays[0])),
        "nobody is to move",
    ),
    (
        "behind the end",
        lambda core: _plays(
            core, len(core.plays) - 1, plies=(*core.plays[-1].plies, core.plays[-1].plies[0])
        ),
        "decided after",
    ),
    (
        "fault of a finished game",
        lambda core: replace(
            core, faults=(Fault(side="mister_x", kind="crash", phase="turn"),), reason="fault"
        ),
        "yet the game is over",
    ),
    (
        "two faults of a side",
        lambda core: replace(
            core,
            plays=(),
            faults=(Fault(side="mister_x", kind="crash", phase="start-up"),) * 2,
            reason="fault",
        ),
        "not one a side",
    ),
    (
        "faults in the wrong order",
        lambda core: replace(
            core,
            plays=(),
            faults=(
                Fault(side="detectives", kind="crash", phase="start-up"),
                Fault(side="mister_x", kind="crash", phase="start-up"),
            ),
            winner=None,
            reason="fault",
        ),
        "Mister X's first",
    ),
    (
        "plays of a game that never began",
        lambda core: replace(
            core, faults=(Fault(side="mister_x", kind="crash", phase="start-up"),)
        ),
        "ended at the start",
    ),
)


@pytest.mark.parametrize(
    ("change", "text"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_record_that_was_touched_does_not_replay(change: Callable[[Core], Core], text: str) -> None:
    with pytest.raises(RecordError, match=text):
        replay(change(CORE))


@pytest.mark.parametrize(
    ("notes", "text"),
    [
        ({99: "a"}, "note for play 99"),
        ({len(CORE.plays): "a"}, f"note for play {len(CORE.plays)} of {len(CORE.plays)}"),
        ({-1: "a"}, "note for play -1"),
        ({0: "n" * 17_000}, "notes of mister_x: 17,002 bytes"),
    ],
    ids=["nowhere", "behind the last", "before the first", "too long"],
)
def test_notes_that_cannot_be_do_not_replay(notes: dict[int, Any], text: str) -> None:
    with pytest.raises(RecordError, match=text):
        replay(CORE, notes)


def test_benched_game_replays_whether_or_not_it_was_played() -> None:
    fault = Fault(side="mister_x", kind="benched", phase="start-up")
    benched = replace(CORE, faults=(fault,), winner="detectives", reason="fault")
    assert replay(benched).verdict.winner is Side.DETECTIVES
    both = (fault, replace(fault, side="detectives"))
    assert replay(replace(benched, faults=both, winner=None)).verdict.winner is None


def test_void_game_replays_as_far_as_it_came() -> None:
    void = replace(CORE, plays=CORE.plays[:3], winner=None, reason="void")
    facts = _facts_after(CORE.plays[:3])
    found = replay(replace(void, facts=facts, rounds=facts["rounds"]))
    assert found.verdict.winner is None


def _facts_after(plays: tuple[Play, ...]) -> dict[str, Any]:
    found = replay(CORE)
    state = found.moments[len(plays)].state
    return dict(found.ruleset.facts(state))
