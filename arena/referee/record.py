"""GameSpec and GameRecord: what a game needs to be played, and to be played again with no bot.

A record has two halves. `Core` is what must come out byte-equal on every machine for bots that go
by the messages of the game alone; `Aside` is all that a clock or a host adds.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from protocol.messages import ClockSettings, Limits

__all__ = [
    "Aside",
    "AskedLimits",
    "BotName",
    "BotSpec",
    "Core",
    "Fault",
    "FaultKind",
    "GameRecord",
    "GameSpec",
    "Phase",
    "Play",
    "SeatAside",
    "SideWord",
    "TurnTime",
]

FORMAT = 1  # of the record

SideWord = Literal["mister_x", "detectives"]
FaultKind = Literal["refused", "resource", "crash", "protocol", "illegal", "timeout", "benched"]
Phase = Literal["start-up", "turn", "off-turn"]
Asked = Annotated[int, Meta(ge=1)]


class AskedLimits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a bot asks for itself in its settings; None: the organiser's. Never more than that."""

    memory_mib: Asked | None = None
    processes: Asked | None = None  # and threads
    open_files: Asked | None = None
    file_mib: Asked | None = None

    @classmethod
    def of(cls, limits: Limits) -> AskedLimits:
        """Return that part of what a bot is held to."""
        return cls(**{name: getattr(limits, name) for name in cls.__struct_fields__})

    def within(self, limits: Limits) -> Limits:
        """Return what the bot is held to: the smaller of the organiser's and its own."""
        asked = {
            name: min(value, getattr(limits, name))
            for name in self.__struct_fields__
            if (value := getattr(self, name)) is not None
        }
        return msgspec.structs.replace(limits, **asked) if asked else limits


class BotSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that was staged and greeted, as an executor's worker starts it."""

    name: str
    version: str
    hash: str  # SHA-256 of the staged folder and the command, 64 hex digits
    command: tuple[str, ...]  # run in `folder`; `{python}` is already filled in
    folder: str  # the staged copy, absolute
    trusted: bool = False  # a reference bot of our own wheel
    sides: tuple[SideWord, ...] = ("mister_x", "detectives")
    rulesets: tuple[str, ...] = ()
    limits: AskedLimits = AskedLimits()


class GameSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One game to be played: everything a worker needs, and nothing it has to look up."""

    game: str  # made from the plan alone; never goes on the wire
    index: int  # place in the plan, from 0
    deal: int  # the deal's number, from 0
    deal_seed: str  # 64 hex digits
    game_key: str  # 64 hex digits; ids on the wire and each side's dice come from it
    ruleset: str
    mister_x: BotSpec
    detectives: BotSpec
    clock: ClockSettings | None  # None: `--no-clock`
    nodes: int | None
    limits: Limits
    keep: bool = False  # processes serve one game after the other
    rated: bool = True
    sandbox: Literal["auto", "none"] = "none"


class BotName(msgspec.Struct, frozen=True, kw_only=True):
    """Which bot sat on a side."""

    name: str
    version: str
    hash: str


class Play(msgspec.Struct, frozen=True, kw_only=True):
    """What one `play` of a bot said: a turn, or with `more` a part of it."""

    side: SideWord
    plies: tuple[Any, ...]  # the ruleset's, or as they encode; those behind a deciding one are cut
    more: bool = False


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What a bot did wrong, without anything that a clock or a host would change."""

    side: SideWord
    kind: FaultKind
    phase: Phase


class Core(msgspec.Struct, frozen=True, kw_only=True):
    """The half of a record that compares byte for byte."""

    format: int
    arena: str
    ruleset: str
    behaviour: int
    protocol: int
    board: str  # SHA-256 of the map
    game: str
    index: int
    deal: int
    deal_seed: str
    game_key: str
    mister_x: BotName
    detectives: BotName
    clock: ClockSettings | None
    nodes: int | None
    plays: tuple[Play, ...]
    winner: SideWord | None
    reason: str  # the ruleset's word, or `fault`, or `void`
    faults: tuple[Fault, ...]  # none, one, or one a side
    rounds: int
    facts: dict[str, Any]  # of the last state


class TurnTime(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Times of one answer that counted: `play` is its index in `Core.plays`."""

    play: int
    charged_ms: float
    bank_ms: int | None


class SeatAside(msgspec.Struct, frozen=True, kw_only=True):
    """All that one bot left behind besides its plies."""

    start_ms: float | None  # from spawn to the first `ready`
    times: tuple[TurnTime, ...]
    stderr: str  # first 8 KiB and last 56 KiB, control characters escaped
    stderr_dropped: int  # bytes
    log: tuple[str, ...]
    log_dropped: int  # lines
    notes_dropped: int = 0  # of those over the limit of a side and game
    fault_text: str | None = None  # one line
    hint: str | None = None
    fault_ms: float | None = None  # charged for the answer that the fault stands in place of
    evidence: dict[str, Any] | None = None  # last request, last bytes, exit status, times
    held_to: AskedLimits | None = None  # what its process was held to; None if none was started
    off_turn_cpu_ms: float | None = None  # CPU time used while not asked; None if nobody looked
    caught_pondering: bool = False  # it used so much of it that it was stopped off turn
    given_back_ms: float = 0.0  # by which deadlines were moved, since the machine kept it waiting


class Aside(msgspec.Struct, frozen=True, kw_only=True):
    """The half of a record that a host or a clock changes."""

    host: str
    started: str  # UTC, ISO 8601
    took_s: float
    marks: tuple[str, ...]  # `unsandboxed`, `kept`, `overloaded`
    mister_x: SeatAside
    detectives: SeatAside
    void: str | None = None  # why the game counts for nobody
    sandbox: str | None = None  # what held the bots, e.g. `bubblewrap 0.11.0, route U`


class GameRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A game as data; `notes` go by the index of the play and belong to the core."""

    core: Core
    notes: dict[int, Any]  # at most 16 KiB a side and game
    aside: Aside
