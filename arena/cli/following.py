"""A game in play, followed from outside: what its referee and bots say to each other.

The referee knows nothing of it. What is followed are the lines of its channels, and what they come
to by the same pure rules; nothing here is between a request and the stamp of its answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from arena.errors import IllegalMove
from arena.referee.record import BotSpec, GameSpec
from arena.rules.registry import make
from arena.rules.ruleset import Event, Side, Watched
from arena.sandbox.channel import LineChannel
from arena.sandbox.pondering import OffTurnUse
from arena.sandbox.stderr import StderrTail
from protocol.codec import decode_answer, decode_request
from protocol.errors import RemoteProtocolError
from protocol.messages import Log, Play, Turn

__all__ = ["Following", "Onlooker", "Told", "WatchedChannel"]


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """One answer and what came of it."""

    side: Side
    part: int
    round: int  # 0 where the view has none
    events: tuple[Event, ...]
    charged_ms: float
    note: Any  # UNSET without one


class Following:
    """What is known of a game in play.

    Attributes:
        spec: the game.
        ruleset: its rules.
        state: after all that was answered.
        told: all answers, in order.
        to_move: who is asked now; None before the first turn and at the end.
        part: of the turn that is on.
        bank_ms: what each side's bank held when it was last asked.
        charged_ms: all that each side was charged.
        notes: each side's last note.
        stderr: the end of each side's standard error.

    Args:
        spec: the game.
    """

    def __init__(self, spec: GameSpec) -> None:
        self.spec = spec
        self.ruleset: Any = make(spec.ruleset)
        self.state: Any = self.ruleset.deal(bytes.fromhex(spec.deal_seed), spec.deal)
        self.told: list[Told] = []
        self.to_move: Side | None = None
        self.part = 1
        self.bank_ms: dict[Side, int | None] = dict.fromkeys(Side)
        self.charged_ms = dict.fromkeys(Side, 0.0)
        self.notes: dict[Side, Any] = {}
        self.stderr = dict.fromkeys(Side, "")
        self._trail = [self.state]
        self._plies: Any = tuple.__class_getitem__((self.ruleset.ply_type, ...))

    def bot(self, side: Side) -> BotSpec:
        """Return a side's bot."""
        return self.spec.mister_x if side is Side.MISTER_X else self.spec.detectives

    def name(self, side: Side) -> str:
        """Return the name of a side's bot."""
        return self.bot(side).name

    def believed(self) -> frozenset[int]:
        """Return where Mister X can be by all that the detectives know; empty if nobody says."""
        if not isinstance(self.ruleset, Watched):
            return frozenset()
        return self.ruleset.beliefs(self._trail)[-1]

    def asked(self, side: Side, request: Turn) -> None:
        """Note that a side is asked for a turn, or a part of one."""
        self.to_move, self.part = side, request.part
        self.bank_ms[side] = request.bank_ms

    def answered(self, side: Side, answer: Play, spent_s: float) -> Told | None:
        """Play an answer; None if it is against the rules, which the referee will say."""
        try:
            plies = msgspec.convert(answer.plies, self._plies)
            played = self.ruleset.play(self.state, plies, more=answer.more)
        except (msgspec.ValidationError, IllegalMove):
            return None
        if isinstance(self.ruleset, Watched):
            self._trail += self.ruleset.between(self.state, plies[: played.counted])
        self._trail.append(played.state)
        before = msgspec.to_builtins(self.ruleset.view(self.state, side))
        told = Told(
            side=side,
            part=self.part,
            round=before.get("round", 0),
            events=played.events,
            charged_ms=spent_s * 1000,
            note=answer.note,
        )
        self.told.append(told)
        self.charged_ms[side] += told.charged_ms
        if answer.note is not msgspec.UNSET:
            self.notes[side] = answer.note
        self.state = played.state
        if self.ruleset.to_move(self.state) is None:
            self.to_move = None
        return told


class Onlooker(Protocol):
    """Who is told of a game in play; may take as long as it likes, nobody's clock runs."""

    async def before(self, side: Side, request: Turn) -> None:
        """A side is about to be asked.

        Raises:
            HostFault: to end the game, which is then void.
        """

    def after(self, side: Side, answer: Play, spent_s: float) -> None:
        """A side has answered; whether by the rules is not known yet."""

    def heard(self, side: Side, stderr: str) -> None:
        """Something came on a side's standard error, or as a `log` line."""


class WatchedChannel:
    """A LineChannel whose talk an onlooker is told of.

    Args:
        inner: the channel.
        side: whose it is.
        onlooker: who is told.
    """

    def __init__(self, inner: LineChannel, side: Side, onlooker: Onlooker) -> None:
        self._inner = inner
        self._side = side
        self._onlooker = onlooker
        self._asked: Turn | None = None
        self._stderr = StderrTail()
        self._dropped = 0

    @property
    def lost_s(self) -> float:
        """See `LineChannel`."""
        return self._inner.lost_s

    async def ask(self, line: bytes, *, limit_s: float) -> bytes:
        """Tell the onlooker, then ask; see `LineChannel.ask`."""
        request = decode_request(line.rstrip(b"\n"))
        self._asked = request if isinstance(request, Turn) else None
        if self._asked is not None:
            self._hear()
            await self._onlooker.before(self._side, self._asked)
        return self._look(await self._inner.ask(line, limit_s=limit_s))

    async def listen(self) -> bytes:
        """See `LineChannel`."""
        return self._look(await self._inner.listen())

    def take_line(self) -> bytes | None:
        """See `LineChannel`."""
        return self._inner.take_line()

    def _look(self, line: bytes) -> bytes:
        try:
            answer = decode_answer(line)
        except RemoteProtocolError:
            return line
        if isinstance(answer, Log):
            self._onlooker.heard(self._side, f"{answer.text}\n")
        elif isinstance(answer, Play) and self._asked is not None:
            self._hear()
            if answer.id == self._asked.id:
                self._onlooker.after(self._side, answer, self._inner.spent_s())
        return line

    def _hear(self) -> None:
        text, dropped = self._inner.take_stderr()
        self._dropped += dropped
        if text:
            self._stderr.add(text.encode())
            self._onlooker.heard(self._side, text)

    def spent_s(self) -> float:
        """See `LineChannel`."""
        return self._inner.spent_s()

    def off_turn(self) -> OffTurnUse | None:
        """See `LineChannel`."""
        return self._inner.off_turn()

    def has_unread(self) -> bool:
        """See `LineChannel`."""
        return self._inner.has_unread()

    def has_ended(self) -> bool:
        """See `LineChannel`."""
        return self._inner.has_ended()

    def tell(self, line: bytes) -> bool:
        """See `LineChannel`."""
        return self._inner.tell(line)

    def take_stderr(self) -> tuple[str, int]:
        """Return all that came, what the onlooker was told included; see `LineChannel`."""
        self._hear()
        found = self._stderr.text(), self._dropped + self._stderr.dropped
        self._stderr.clear()
        self._dropped = 0
        return found

    def evidence(self) -> Mapping[str, Any]:
        """See `LineChannel`."""
        return self._inner.evidence()

    async def end(self, *, grace_s: float = 0.0) -> None:
        """See `LineChannel`."""
        await self._inner.end(grace_s=grace_s)
