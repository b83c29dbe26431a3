"""A recorded game fed to a bot again: the same messages, and how its answers compare."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

import msgspec

from arena.errors import IllegalMove, RecordError
from arena.referee.faults import CAUGHT, Caught, caught, is_ours
from arena.referee.greeting import check_fits
from arena.referee.keys import wire_ids
from arena.referee.plies import list_of, read_plies
from arena.referee.pool import BotPool
from arena.referee.record import BotSpec, GameRecord, Play
from arena.referee.replay import Moment, Replayed, Sent, replay
from arena.referee.requests import hello_request
from arena.referee.seat import Seat
from arena.rules.ruleset import Side
from arena.sandbox.limits import default_limits
from protocol.messages import ClockSettings, Deal, End, Limits, Turn
from protocol.messages import Play as Said

__all__ = ["Answered", "Fed", "feed"]

_NO_CLOCK = ClockSettings(pondering="allow")


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """One request, what the record has for an answer, and what the bot answers now."""

    turn: int  # of this side, from 1
    part: int  # of the turn, from 1
    play: int  # the record's index of the answer
    request: Turn
    recorded: Play | None  # None: the side's fault stood in place of an answer
    note: Any  # of the record; UNSET without one
    said: Said
    plies: tuple[Any, ...]  # what the bot said, as the ruleset's plies; those that count
    same: bool


class Fed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of feeding a game to a bot.

    Attributes:
        replayed: the record, replayed with what the bot wants to be told.
        asked: answers that were compared.
        differing: how many of them were other ones than recorded.
        shown: the answers to be shown: the first other one, or all of the turn asked for.
        fault: what the bot did wrong, if it did.
        at: where, as (turn, part); (0, 0) at its start.
        stderr: the bot's, as far as it is kept.
        last: the request that the fault answered, if it was one for a turn.
    """

    replayed: Replayed | None
    asked: int
    differing: int
    shown: tuple[Answered, ...]
    fault: Caught | None
    at: tuple[int, int]
    stderr: str
    last: Turn | None


async def feed(
    record: GameRecord,
    side: Side,
    bot: BotSpec,
    pool: BotPool,
    *,
    limits: Limits | None = None,
    sandboxed: bool,
    no_clock: bool = False,
    at: int | None = None,
) -> Fed:
    """Start a bot and feed it what its side was told in a recorded game.

    Ids and dice are those of the game, so a bot that goes by its messages alone answers the same.
    It is held to the game's clock.

    Args:
        record: the game.
        side: whose messages.
        bot: staged; started once, in `pool`.
        pool: who starts it.
        limits: that it is held to; by default the arena's own.
        sandboxed: whether strangers are kept in the sandbox.
        no_clock: whether it may take for ever.
        at: the turn of this side, from 1, whose answers are shown, whatever came before; None to
            stop at the first other answer.

    Raises:
        RecordError: if the record does not replay.
        HostFault: if this machine can't start the bot.
    """
    core = record.core
    limits = limits or default_limits()
    table = _Table(record, side, no_clock=no_clock, limits=limits)
    seat: Seat | None = None
    try:
        seat = pool.start(
            bot,
            side,
            limits=limits,
            sandbox="auto" if sandboxed else "none",
            clock=core.clock or _NO_CLOCK,
        )
        ids = dict(zip(Side, wire_ids(bytes.fromhex(core.game_key)), strict=False))
        hello = await seat.greet(hello_request(ids[side], (core.ruleset,), limits), limits)
        check_fits(hello, side=side, ruleset=core.ruleset, nodes=core.nodes is not None)
        table.replayed = replay(core, record.notes, aside=record.aside, wants=hello.wants)
        await table.go(seat, at)
    except CAUGHT as exc:
        if is_ours(exc):
            raise
        table.fault = caught(exc, side.value, seat.phase if seat else "start-up")
    finally:
        if seat is not None:
            if table.fault is None and table.over:
                await pool.dismiss(seat)
            else:
                await pool.drop(seat)
    return table.fed(seat.channel.take_stderr()[0] if seat is not None else "")


class _Table:
    """One bot, and the record of the game that it is fed."""

    def __init__(self, record: GameRecord, side: Side, *, no_clock: bool, limits: Limits) -> None:
        self.record = record
        self.side = side
        self.replayed: Replayed | None = None
        self.fault: Caught | None = None
        self.over = False
        self._no_clock = no_clock
        self._limits = limits
        self._asked = 0
        self._differing = 0
        self._shown: list[Answered] = []
        self._at = (0, 0)
        self._last: Turn | None = None
        self._in_turn_ms = 0.0

    def fed(self, stderr: str) -> Fed:
        return Fed(
            replayed=self.replayed,
            asked=self._asked,
            differing=self._differing,
            shown=tuple(self._shown),
            fault=self.fault,
            at=self._at,
            stderr=stderr,
            last=self._last if self.fault is not None else None,
        )

    async def go(self, seat: Seat, at: int | None) -> None:
        """Feed everything, or as much as is to be shown."""
        turn = 0
        for sent, moment in self._messages():
            if isinstance(sent.message, Deal):
                await seat.get_ready(sent.message, self._limits)
            elif isinstance(sent.message, End):
                seat.tell(sent.message)
                self.over = True
            elif isinstance(sent.message, Turn) and moment is not None:
                turn += sent.message.part == 1
                if at is not None and turn > at:
                    return
                answered = await self._ask(seat, sent, sent.message, moment, turn)
                self._asked += 1
                self._differing += not answered.same
                if at == turn or (at is None and not answered.same):
                    self._shown.append(answered)
                if at is None and not answered.same:
                    return

    def _messages(self) -> Iterator[tuple[Sent, Moment | None]]:
        """What this side was sent, each turn with the state in which it was asked."""
        if self.replayed is None:  # only asked once it is there
            raise RecordError("the record was not replayed")  # pragma: no cover
        moments = iter(self.replayed.moments)
        for sent in self.replayed.sent:
            moment = next(moments, None) if isinstance(sent.message, Turn) else None
            if sent.side is self.side:
                yield sent, moment

    async def _ask(
        self, seat: Seat, sent: Sent, request: Turn, moment: Moment, turn: int
    ) -> Answered:
        """Ask once more what was asked in the game."""
        self._at, self._last = (turn, request.part), request
        if request.part == 1:
            self._in_turn_ms = 0.0
        said: Any = await seat.ask(request, limit_s=self._limit_s(request))
        self._in_turn_ms += seat.channel.spent_s() * 1000
        plies, goes_on = self._played(seat, said, moment)
        seat.phase = "off-turn"
        core = self.record.core
        recorded = core.plays[sent.play] if sent.play < len(core.plays) else None
        same = False
        if recorded is not None and moment.plies is not None:
            after = self._after(moment, moment.plies, more=recorded.more)
            same = (plies, goes_on) == (moment.plies, after)
        return Answered(
            turn=turn,
            part=request.part,
            play=sent.play,
            request=request,
            recorded=recorded,
            note=self.record.notes.get(sent.play, msgspec.UNSET),
            said=said,
            plies=plies,
            same=same,
        )

    def _played(self, seat: Seat, said: Said, moment: Moment) -> tuple[tuple[Any, ...], bool]:
        """Hold an answer to the rules, as the referee does; returns what of it counts."""
        ruleset = self._ruleset
        plies = read_plies(said, seat.last_line, list_of(ruleset.ply_type), ruleset.name)
        played = ruleset.play(moment.state, plies, more=said.more)
        return plies[: played.counted], played.goes_on

    def _after(self, moment: Moment, plies: tuple[Any, ...], *, more: bool) -> bool:
        """Whether the turn went on behind a recorded answer."""
        try:
            played = self._ruleset.play(moment.state, plies, more=more)
        except IllegalMove as exc:  # pragma: no cover - the replay has played it
            raise RecordError(str(exc)) from exc
        return bool(played.goes_on)

    @property
    def _ruleset(self) -> Any:
        return None if self.replayed is None else self.replayed.ruleset

    def _limit_s(self, request: Turn) -> float:
        """What the game's clock gave for an answer; the bank is the one that the record tells."""
        clock = self.record.core.clock
        if self._no_clock:
            return inf
        if self.record.core.nodes is not None:
            return self._limits.nodes_turn_ms / 1000
        if clock is None:
            return inf
        if request.part == 1:
            return (clock.move_ms + (request.bank_ms or 0)) / 1000
        left_ms = max(0.0, clock.move_ms - self._in_turn_ms) + (request.bank_ms or 0)
        return max(left_ms, 1.0) / 1000
