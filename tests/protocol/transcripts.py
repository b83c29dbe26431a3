"""The golden transcripts: how they are made, and how one is read.

A tiny model of a referee plays with scripted bots, fixed seeds and fixed ids. It knows
no processes and no clock; what it says, and in which order, is what the documents promise.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from arena.errors import IllegalMove
from arena.referee import record
from arena.referee.keys import derive, dice_seed, wire_ids
from arena.referee.requests import deal_request, end_record, end_request, hello_request
from arena.rules import registry
from arena.rules.ruleset import Event, Played, Ply, Ruleset, Side, Verdict
from arena.sandbox.limits import default_limits
from protocol.codec import AnyAnswer, AnyRequest, decode_answer, encode
from protocol.messages import (
    Bye,
    ClockSettings,
    HelloAnswer,
    Log,
    Play,
    Ready,
    Turn,
    Want,
)
from protocol.session import Session
from tests.protocol import players_of_europe as europe

ARENA = "0.1.0"  # what the model says it is; does not follow releases
CHARGED_MS = 0.5
Rules = Ruleset[Any, Any]
Bot = Callable[[Rules, Any, random.Random], tuple[list[Ply], bool]]  # plies and `more`


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename={"speaker": "from"}):
    """One line of a transcript: who said what to whom; `line` is byte for byte what was sent."""

    speaker: Literal["referee", "mister_x", "detectives"]
    to: Literal["referee", "mister_x", "detectives"]
    line: Raw


class Golden(msgspec.Struct, frozen=True, kw_only=True):
    """What a transcript is made from, and how its game ends."""

    name: str
    ruleset: str
    secret: bytes
    mister_x: Bot
    detectives: Bot
    wants: tuple[Want, ...]
    winner: Side
    reason: str
    clock: ClockSettings | None = ClockSettings()
    nodes: int | None = None
    chatty: bool = False  # the detectives log a line and pin a note to each answer

    @property
    def file(self) -> str:
        """The name of its file in `protocol/transcripts/`."""
        return f"{self.name}.jsonl"

    @property
    def deal_seed(self) -> bytes:
        """The chance of its deal."""
        return derive(self.secret, "deal", 0)

    @property
    def game_key(self) -> bytes:
        """What its ids and dice come from."""
        return derive(self.secret, "game", self.name)


def whole(ruleset: Rules, state: Any, dice: random.Random) -> tuple[list[Ply], bool]:
    """A whole turn of random steps, sent at once; Mister X doubles now and then."""
    plies = [dice.choice(ruleset.legal(state))]
    follow = ruleset.followers(state, plies[0])  # type: ignore[attr-defined]  # London's
    if ruleset.to_move(state) is Side.MISTER_X:
        if follow and dice.random() < 0.1:
            plies.append(dice.choice(follow))
        return plies, False
    while follow:
        plies.append(dice.choice(follow))
        after = ruleset.play(state, plies, more=True).state
        follow = ruleset.legal(after) if ruleset.to_move(after) is Side.DETECTIVES else ()
    return plies, False


def in_parts(ruleset: Rules, state: Any, dice: random.Random) -> tuple[list[Ply], bool]:
    """One random step of one figure; `more` while others have still to move."""
    ply = dice.choice(ruleset.legal(state))
    return [ply], bool(ruleset.followers(state, ply))  # type: ignore[attr-defined]  # London's


def lost(ruleset: Rules, state: Any, dice: random.Random) -> tuple[list[Ply], bool]:
    """Plays on for two rounds, then takes a step along a link that the board does not have."""
    plies, more = whole(ruleset, state, dice)
    if state.round == 3:
        first = msgspec.structs.replace(plies[0], to=state.figures[0].station)
        plies = [first, *plies[1:]]
    return plies, more


GOLDEN = (
    Golden(
        name="x_win",
        ruleset="london-2013:players=2",
        secret=b"x_win 1",
        mister_x=whole,
        detectives=whole,
        wants=(),
        winner=Side.MISTER_X,
        reason="escaped",
    ),
    Golden(
        name="capture",
        ruleset="london-2013",
        secret=b"capture 103",
        mister_x=whole,
        detectives=in_parts,
        wants=("legal", "events"),
        winner=Side.DETECTIVES,
        reason="captured",
        clock=None,
        nodes=2_000,
        chatty=True,
    ),
    Golden(
        name="forfeit",
        ruleset="london-classic",
        secret=b"forfeit 1",
        mister_x=whole,
        detectives=lost,
        wants=("events",),
        winner=Side.MISTER_X,
        reason="fault",
        clock=ClockSettings(move_ms=0, bank_ms=60_000, increment_ms=100),
    ),
    Golden(
        name="europe_x_win",
        ruleset="europe-2009:players=3",
        secret=b"europe x_win 44",
        mister_x=europe.runner,
        detectives=europe.whole_team,
        wants=(),
        winner=Side.MISTER_X,
        reason="escaped",
    ),
    Golden(
        name="europe_capture",
        ruleset="europe-2009:mission=balanced",
        secret=b"europe capture 57",
        mister_x=europe.stroller,
        detectives=europe.part,
        wants=("legal", "events"),
        winner=Side.DETECTIVES,
        reason="captured",
        clock=None,
        nodes=2_000,
    ),
)


class Model:
    """A referee and two bots in one object, that write down all they say."""

    def __init__(self, golden: Golden) -> None:
        self.golden = golden
        self.ruleset = registry.make(golden.ruleset)
        self.state = self.ruleset.deal(golden.deal_seed, 0)
        self.entries: list[Entry] = []
        self.sessions = {side: Session() for side in Side}
        self.ids = wire_ids(golden.game_key)
        self.dice = {side: random.Random(dice_seed(golden.game_key, side)) for side in Side}
        self.bots = {Side.MISTER_X: golden.mister_x, Side.DETECTIVES: golden.detectives}
        self.unseen: dict[Side, list[Event]] = {side: [] for side in Side}
        self.plays: list[record.Play] = []
        self.notes: dict[int, Any] = {}
        self.bank_ms = {side: float(golden.clock.bank_ms if golden.clock else 0) for side in Side}
        self.spent_ms = 0.0  # in this turn

    def request(self, side: Side, message: AnyRequest) -> None:
        """The referee says something to a side."""
        self.sessions[side].request(message)
        line = encode(message)[:-1]
        self.entries.append(Entry(speaker="referee", to=side.value, line=Raw(line)))

    def answer(self, side: Side, message: AnyAnswer) -> None:
        """A side says something to the referee."""
        line = encode(message)[:-1]
        assert decode_answer(line) == message
        self.sessions[side].answer(message)
        self.entries.append(Entry(speaker=side.value, to="referee", line=Raw(line)))

    def play(self) -> list[Entry]:
        """Play the game and return all that was said, in order."""
        self.greet()
        fault: tuple[Side, str] | None = None
        while fault is None and (side := self.ruleset.to_move(self.state)) is not None:
            fault = self.turn(side)
        verdict = self.ruleset.verdict(self.state)
        if fault is not None:
            verdict = Verdict(winner=fault[0].other, reason="fault")
        assert verdict is not None
        told = end_record(self.ruleset, self.state, self.plays, self.notes, verdict)
        for side in Side:
            own = fault[1] if fault is not None and fault[0] is side else None
            self.request(side, end_request(verdict, fault=own, record=told))
        for side in Side:
            self.request(side, Bye())
        return self.entries

    def greet(self) -> None:
        """Say `hello` and `deal` to both sides, and let them answer."""
        golden, ruleset = self.golden, self.ruleset
        for side in Side:
            words = hello_request(next(self.ids), (golden.ruleset,), default_limits())
            hello = msgspec.structs.replace(words, arena=ARENA)
            self.request(side, hello)
            said = HelloAnswer(
                id=hello.id,
                protocol=1,
                name=f"model-{'x' if side is Side.MISTER_X else 'team'}",
                version="1.0",
                sides=(side.value,),
                rulesets=(ruleset.name,),
                wants=golden.wants,
                features=("nodes",) if golden.nodes else (),
            )
            self.answer(side, said)
        for side in Side:
            deal = deal_request(
                next(self.ids),
                ruleset,
                self.state,
                side,
                game_key=golden.game_key,
                clock=golden.clock,
                nodes=golden.nodes,
                board=False,
            )
            self.request(side, deal)
            self.answer(side, Ready(id=deal.id))

    def turn(self, side: Side) -> tuple[Side, str] | None:
        """Ask a side until its turn is over; return its fault, if it has one."""
        part = 1
        while self.ruleset.to_move(self.state) is side:
            self.request(side, self.question(side, part))
            plies, more = self.bots[side](self.ruleset, self.state, self.dice[side])
            chatty = self.golden.chatty and side is Side.DETECTIVES
            if chatty and part == 1:
                self.answer(side, Log(text=f"round {self.state.round}: where is he?"))
            answer = Play(
                id=self.sessions[side].expected or "",
                plies=tuple(msgspec.to_builtins(plies)),
                more=more,
                note={"part": part} if chatty else UNSET,
            )
            self.answer(side, answer)
            if answer.note is not UNSET:
                self.notes[len(self.plays)] = answer.note
            try:
                played = self.ruleset.play(self.state, plies, more=more)
            except IllegalMove as exc:
                self.charge(side, more=more)
                return side, f"illegal: {exc}"
            self.charge(side, more=played.goes_on)
            self.note(side, plies, played, more=more)
            if not played.goes_on:
                break
            part += 1
        return None

    def question(self, side: Side, part: int) -> Turn:
        """The `turn` that a side is sent now; what it has not seen yet is seen with it."""
        wants = self.golden.wants
        events: Raw | UnsetType = UNSET
        if "events" in wants:
            events = raw([event.what for event in self.unseen[side]])
        self.unseen[side].clear()
        first = not any(play.side == side for play in self.plays)
        return Turn(
            id=next(self.ids),
            part=part,
            view=raw(self.ruleset.view(self.state, side)),
            events=events,
            legal=raw(self.ruleset.legal(self.state)) if "legal" in wants else UNSET,
            bank_ms=self.left_ms(side),
            charged_ms=None if first else CHARGED_MS,
        )

    def left_ms(self, side: Side) -> int | None:
        """What a side has left in its bank, between two answers."""
        clock = self.golden.clock
        if clock is None:
            return None
        return int(self.bank_ms[side] - max(0.0, self.spent_ms - clock.move_ms))

    def charge(self, side: Side, *, more: bool) -> None:
        """Charge an answer to a side's clock; every answer takes the same time."""
        self.spent_ms += CHARGED_MS
        clock = self.golden.clock
        if clock is not None and not more:
            self.bank_ms[side] -= max(0.0, self.spent_ms - clock.move_ms)
            self.bank_ms[side] += clock.increment_ms
        if not more:
            self.spent_ms = 0.0

    def note(self, side: Side, plies: list[Ply], played: Played, *, more: bool) -> None:
        """Go on to the state after an answer."""
        self.state = played.state
        for event in played.events:
            for seer in Side:
                if event.seen_by in (None, seer):
                    self.unseen[seer].append(event)
        made = record.Play(side=side.value, plies=tuple(msgspec.to_builtins(plies)), more=more)
        self.plays.append(made)


def raw(value: Any) -> Raw:
    """JSON as it stands inside of a message."""
    return Raw(msgspec.json.encode(value))


def text(entries: list[Entry]) -> str:
    """The file of a transcript."""
    return b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries).decode()


def kept(golden: Golden) -> Iterator[Entry]:
    """The lines of the transcript that is kept with the documents."""
    file = resources.files("protocol").joinpath("transcripts", golden.file)
    decode = msgspec.json.Decoder(Entry).decode
    for line in file.read_bytes().splitlines():
        yield decode(line)
