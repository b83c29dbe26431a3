"""The real referee says what the golden transcripts promise, byte for byte.

The bots are channels that read their answers from the transcript; each keeps a session of its own,
as a bot's author would.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
import trio

from arena.referee.pool import BotPool
from arena.referee.record import BotSpec, GameRecord, GameSpec
from arena.referee.referee import play_game
from arena.rules.ruleset import Side
from arena.sandbox.limits import default_limits
from protocol.codec import decode_answer, decode_request, encode
from protocol.messages import Hello, Limits, Log
from protocol.session import Session, State
from tests.protocol.transcripts import ARENA, CHARGED_MS, GOLDEN, Golden, kept


class FromTranscript:
    """One bot of a transcript, as the channel that the referee speaks through."""

    lost_s = 0.0

    def __init__(self, golden: Golden, side: str) -> None:
        self.heard: list[bytes] = []
        self.session = Session()
        self.answers = deque(bytes(entry.line) for entry in kept(golden) if entry.speaker == side)

    def hear(self, line: bytes) -> None:
        message = decode_request(line.removesuffix(b"\n"))
        self.session.request(message)
        if isinstance(message, Hello):
            message = msgspec.structs.replace(message, arena=ARENA)
        self.heard.append(encode(message))

    async def ask(self, line: bytes, *, limit_s: float) -> bytes:
        assert limit_s > 0
        self.hear(line)
        return await self.listen()

    async def listen(self) -> bytes:
        await trio.lowlevel.checkpoint()
        line = self.answers.popleft()
        message = decode_answer(line)
        assert self.session.answer(message) != isinstance(message, Log)
        return line

    def spent_s(self) -> float:
        return CHARGED_MS / 1000

    def off_turn(self) -> None:
        return None

    def take_line(self) -> bytes | None:
        return None

    def has_unread(self) -> bool:
        return False

    def has_ended(self) -> bool:
        return False

    def tell(self, line: bytes) -> bool:
        self.hear(line)
        return True

    def take_stderr(self) -> tuple[str, int]:
        return "", 0

    def evidence(self) -> Mapping[str, Any]:
        return {}

    async def end(self, *, grace_s: float = 0.0) -> None:
        assert grace_s >= 0
        await trio.lowlevel.checkpoint()


def played(golden: Golden) -> tuple[GameRecord, dict[str, FromTranscript]]:
    """Let the referee play the game of a transcript; what each side heard."""
    channels = {side.value: FromTranscript(golden, side.value) for side in Side}

    def start(
        bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool
    ) -> FromTranscript:
        assert limits == default_limits()
        assert not sandboxed
        assert cpu_s is None or cpu_s > 0
        return channels[bot.name]

    def bot(side: str) -> BotSpec:
        return BotSpec(name=side, version="", hash=side, command=(side,), folder="/")

    spec = GameSpec(
        game=golden.name,
        index=0,
        deal=0,
        deal_seed=golden.deal_seed.hex(),
        game_key=golden.game_key.hex(),
        ruleset=golden.ruleset,
        mister_x=bot("mister_x"),
        detectives=bot("detectives"),
        clock=golden.clock,
        nodes=golden.nodes,
        limits=default_limits(),
    )

    async def play() -> GameRecord:
        async with BotPool(start) as pool:
            return await play_game(spec, pool)

    return trio.run(play), channels


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_the_referee_says_what_the_transcript_says(golden: Golden) -> None:
    record, channels = played(golden)
    assert record.aside.void is None
    assert (record.core.winner, record.core.reason) == (golden.winner, golden.reason)
    for side, channel in channels.items():
        said = [bytes(entry.line) + b"\n" for entry in kept(golden) if entry.to == side]
        at_fault = any(fault.side == side for fault in record.core.faults)
        if at_fault:
            # A process that had a fault may be ended without another word.
            assert channel.heard == said[: len(channel.heard)]
            assert len(channel.heard) >= len(said) - 2
        else:
            assert channel.heard == said
            assert channel.session.state is State.OVER
        assert not channel.answers


def test_the_record_of_a_forfeit_has_the_fault_of_its_side_alone() -> None:
    record, _ = played(GOLDEN[2])
    (fault,) = record.core.faults
    assert (fault.side, fault.kind, fault.phase) == ("detectives", "illegal", "turn")


def test_the_record_of_the_capture_holds_log_and_notes() -> None:
    record, _ = played(GOLDEN[1])
    assert record.aside.detectives.log[0] == "round 1: where is he?"
    assert {"part": 1} in record.notes.values()
