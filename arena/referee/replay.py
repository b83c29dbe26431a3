"""Play a record again with no bot, and compare.

A replay goes through the same rules and the same words as the game did, so it knows every message
that each side was sent. What only a clock knows is taken from the record's other half, if given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from arena.errors import IllegalMove, RecordError
from arena.referee.asides import check_aside
from arena.referee.keys import wire_ids
from arena.referee.record import FORMAT, Aside, Core, SideWord, TurnTime
from arena.referee.recording import FORFEIT, VOID
from arena.referee.requests import deal_request, end_record, end_request
from arena.rules.registry import make
from arena.rules.ruleset import Ruleset, Side, Verdict
from arena.sandbox.limits import NOTES_BYTES
from protocol.codec import AnyRequest
from protocol.messages import PROTOCOL, Turn, Want

__all__ = ["EVERYTHING", "Moment", "Replayed", "Sent", "replay"]

EVERYTHING: tuple[Want, ...] = ("legal", "board", "events")
_BENCHED = "benched"
_SECRET = re.compile("[0-9a-f]{64}")


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the referee, in the order of saying."""

    side: Side
    message: AnyRequest
    play: int  # how many plays were made before it


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """The state in which a side was asked, and what it answered; None if nothing counted."""

    state: Any
    side: Side
    plies: tuple[Any, ...] | None
    more: bool


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """A game, played again."""

    ruleset: Any
    state: Any  # the last one
    verdict: Verdict  # as recorded: the replay came to the same
    moments: tuple[Moment, ...]  # one a request for a turn or a part
    sent: tuple[Sent, ...]  # all but `hello` and `bye`, which know no game


def replay(
    core: Core,
    notes: Mapping[int, Any] | None = None,
    *,
    aside: Aside | None = None,
    wants: Iterable[Want] = EVERYTHING,
) -> Replayed:
    """Play a record again and check every word of it.

    Args:
        core: the record.
        notes: its notes, by the index of the play; checked if given.
        aside: its other half; checked against the first if given, and the times that `turn`
            messages told are taken from it.
        wants: what the bots asked to be told; by default all there is.

    Raises:
        RecordError: if a play is against the rules, the end differs from what is recorded, or
            the two halves differ in what both know.
        ConfigError: if the ruleset is not known here.
    """
    _check_secrets(core)
    ruleset = make(core.ruleset)
    _check_head(core, ruleset)
    walk = _Walk(core, ruleset, aside, frozenset(wants))
    walk.go()
    verdict = _check_end(core, ruleset, walk.state)
    if notes is not None:
        _check_notes(core, notes)
    if aside is not None and not _is_benched(core):
        check_aside(core, aside, walk.goes_on)
    walk.say_end(verdict, notes or {})
    return Replayed(
        ruleset=ruleset,
        state=walk.state,
        verdict=verdict,
        moments=tuple(walk.moments),
        sent=tuple(walk.sent),
    )


class _Walk:
    """One way through a game, play by play."""

    def __init__(
        self, core: Core, ruleset: Ruleset[Any, Any], aside: Aside | None, wants: frozenset[Want]
    ) -> None:
        self.core = core
        self.ruleset = ruleset
        self.state: Any = ruleset.deal(bytes.fromhex(core.deal_seed), core.deal)
        self.moments: list[Moment] = []
        self.goes_on: list[bool] = []  # for each play, whether the same turn went on after it
        self.sent: list[Sent] = []
        self._wants = wants
        self._plies_type: Any = tuple.__class_getitem__((ruleset.ply_type, ...))
        self._key = bytes.fromhex(core.game_key)
        self._ids = wire_ids(self._key)
        self._events: dict[Side, list[Any]] = {side: [] for side in Side}
        self._times = {side: _Times(core, aside, side) for side in Side}

    def go(self) -> None:
        core = self.core
        if any(fault.phase == "start-up" and fault.kind != _BENCHED for fault in core.faults):
            if core.plays:
                raise RecordError("the game ended at the start, and yet there are plays")
            self._say_deal()
            return
        self._say_deal()
        part = 1
        for index, play in enumerate(core.plays):
            side = self.ruleset.to_move(self.state)
            if side is None or side.value != play.side:
                who = "nobody" if side is None else side.value
                raise RecordError(f"play {index}: {play.side} plays, {who} is to move")
            self._say_turn(side, index, part)
            plies = self._plies(index, play.plies)
            self.moments.append(Moment(state=self.state, side=side, plies=plies, more=play.more))
            try:
                played = self.ruleset.play(self.state, plies, more=play.more)
            except IllegalMove as exc:
                raise RecordError(f"play {index}: {exc}") from exc
            if played.counted != len(plies):
                raise RecordError(
                    f"play {index}: {len(plies)} plies are recorded, the game was decided "
                    f"after {played.counted}"
                )
            for other in Side:
                self._events[other] += [
                    event.what for event in played.events if event.seen_by in (None, other)
                ]
            self.state = played.state
            self.goes_on.append(played.goes_on)
            part = part + 1 if played.goes_on else 1
        side = self.ruleset.to_move(self.state)
        if side is not None and core.reason != VOID:
            self._say_turn(side, len(core.plays), part)  # what the fault answered
            self.moments.append(Moment(state=self.state, side=side, plies=None, more=False))

    def _plies(self, index: int, plies: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            found: tuple[Any, ...] = msgspec.convert(plies, self._plies_type)
        except msgspec.ValidationError as exc:
            raise RecordError(f"play {index}: no ply of {self.core.ruleset}: {exc}") from exc
        return found

    def _say_deal(self) -> None:
        for _ in Side:
            next(self._ids)  # the greetings'
        for side in Side:
            message = deal_request(
                next(self._ids),
                self.ruleset,
                self.state,
                side,
                game_key=self._key,
                clock=self.core.clock,
                nodes=self.core.nodes,
                board="board" in self._wants,
            )
            self.sent.append(Sent(side=side, message=message, play=0))

    def _say_turn(self, side: Side, play: int, part: int) -> None:
        view: Any = self.ruleset.view(self.state, side)
        events: Any = self._events[side] if "events" in self._wants else UNSET
        legal: Any = self.ruleset.legal(self.state) if "legal" in self._wants else UNSET
        bank_ms, charged_ms = self._times[side].before(play)
        message = Turn(
            id=next(self._ids),
            part=part,
            view=view,
            events=events,
            legal=legal,
            bank_ms=bank_ms,
            charged_ms=charged_ms,
        )
        self._events[side] = []
        self.sent.append(Sent(side=side, message=message, play=play))

    def say_end(self, verdict: Verdict, notes: Mapping[int, Any]) -> None:
        record = None
        if self.core.reason != VOID:
            record = end_record(self.ruleset, self.state, self.core.plays, notes, verdict)
        for side in Side:
            message = end_request(verdict, fault=None, record=record)
            self.sent.append(Sent(side=side, message=message, play=len(self.core.plays)))


class _Times:
    """What a side was told of its time, as the record's other half has it."""

    def __init__(self, core: Core, aside: Aside | None, side: Side) -> None:
        self._start = core.clock.bank_ms if core.clock and core.nodes is None else None
        times: tuple[TurnTime, ...] = ()
        if aside is not None:
            times = (aside.mister_x if side is Side.MISTER_X else aside.detectives).times
        self._times = times
        self._next = 0

    def before(self, play: int) -> tuple[int | None, float | None]:
        """The bank and the last charge that the request before this play told."""
        while self._next < len(self._times) and self._times[self._next].play < play:
            self._next += 1
        if not self._next:
            return self._start, None
        last = self._times[self._next - 1]
        return last.bank_ms, last.charged_ms


def _check_secrets(core: Core) -> None:
    for what, text in (("deal_seed", core.deal_seed), ("game_key", core.game_key)):
        if not _SECRET.fullmatch(text):
            raise RecordError(f"`{what}` is not 64 hex digits")


def _check_head(core: Core, ruleset: Ruleset[Any, Any]) -> None:
    if not 1 <= core.format <= FORMAT:
        raise RecordError(
            f"the record has format {core.format}, this arena reads up to {FORMAT}; update it"
        )
    if core.protocol != PROTOCOL:
        raise RecordError(
            f"played over protocol {core.protocol}, this arena speaks {PROTOCOL}: replay it with "
            f"arena {core.arena}"
        )
    if core.behaviour != ruleset.behaviour:
        raise RecordError(
            f"played with behaviour {core.behaviour} of {ruleset.name}, this arena has "
            f"{ruleset.behaviour}: replay it with arena {core.arena}"
        )
    if core.board != ruleset.board_hash:
        raise RecordError(f"the board of {ruleset.text} is another one than the record's")


def _is_benched(core: Core) -> bool:
    """Whether the verdict was given by benching, whatever the play came to."""
    return any(fault.kind == _BENCHED for fault in core.faults)


def _check_end(core: Core, ruleset: Ruleset[Any, Any], state: Any) -> Verdict:
    by_rules = ruleset.verdict(state)
    if core.reason == VOID:
        expected = Verdict(winner=None, reason=VOID)
    elif core.faults:
        if by_rules is not None and not _is_benched(core):
            raise RecordError(f"a fault is recorded, and yet the game is over: {by_rules.reason}")
        sides: list[SideWord] = [fault.side for fault in core.faults]
        if sides not in ([sides[0]], ["mister_x", "detectives"]):
            raise RecordError("the faults are not one a side, Mister X's first")
        winner = None if len(sides) == 2 else Side(sides[0]).other
        expected = Verdict(winner=winner, reason=FORFEIT)
    elif by_rules is None:
        raise RecordError(f"the game is not over after {len(core.plays)} plays")
    else:
        expected = by_rules
    recorded = Verdict(
        winner=None if core.winner is None else Side(core.winner), reason=core.reason
    )
    if recorded != expected:
        raise RecordError(f"the record says {_say(recorded)}, the replay {_say(expected)}")
    facts = dict(ruleset.facts(state))
    if facts != core.facts:
        different = sorted(
            key for key in facts.keys() | core.facts.keys() if facts.get(key) != core.facts.get(key)
        )
        raise RecordError(f"other facts than recorded: {', '.join(different)}")
    if int(facts.get("rounds", 0)) != core.rounds:
        raise RecordError(f"the record counts {core.rounds} rounds, the replay {facts['rounds']}")
    return expected


def _check_notes(core: Core, notes: Mapping[int, Any]) -> None:
    sizes: dict[SideWord, int] = {"mister_x": 0, "detectives": 0}
    for index, note in notes.items():
        if not 0 <= index < len(core.plays):
            raise RecordError(f"there is a note for play {index} of {len(core.plays)}")
        sizes[core.plays[index].side] += len(msgspec.json.encode(note))
    for side, size in sizes.items():
        if size > NOTES_BYTES:
            raise RecordError(f"notes of {side}: {size:,} bytes of {NOTES_BYTES:,}")


def _say(verdict: Verdict) -> str:
    return f"{verdict.winner or 'nobody'} ({verdict.reason})"
