"""Every message of protocol 1, as tagged frozen structs.

The wire does not know any game: views, events, plies, numbers and boards travel as raw JSON that
only a ruleset decodes. What the referee says comes first, what a bot answers second; the two
directions share type words (`hello`), so each has its own union.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

__all__ = [
    "PROTOCOL",
    "Answer",
    "Budget",
    "Bye",
    "ClockSettings",
    "Deal",
    "End",
    "Hello",
    "HelloAnswer",
    "Limits",
    "Log",
    "Play",
    "Range",
    "Ready",
    "Request",
    "SideWord",
    "Turn",
    "Want",
]

PROTOCOL = 1  # the version this package speaks; a change raises it, an addition does not

SideWord = Literal["mister_x", "detectives"]
Want = Literal["legal", "board", "events"]
_END = r"$(?![\s\S])"  # the very end to every dialect: `$` alone lets a newline follow in Python's
Feature = Literal["nodes", "reuse"]
Id = Annotated[str, Meta(min_length=1, max_length=32)]
Name = Annotated[
    str, Meta(min_length=1, max_length=40, pattern=rf"^[A-Za-z0-9][A-Za-z0-9._+-]*{_END}")
]
Version = Annotated[str, Meta(max_length=40, pattern=rf"^[A-Za-z0-9._+-]*{_END}")]
Count = Annotated[int, Meta(ge=0, le=9_007_199_254_740_991)]  # exact in every language's numbers


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """The protocol versions that the referee speaks, both ends included."""

    low: int
    high: int


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What the referee holds a bot to; every number that `arena limits` prints."""

    line_bytes: int  # one line from a bot, its newline included
    note_bytes: int
    log_line_bytes: int
    log_game_bytes: int
    blank_lines: int  # a turn
    depth: int  # of nested JSON
    unknown_keys: int  # a line
    first_ready_ms: int  # from spawn to the first `ready`
    ready_ms: int  # each later `ready`
    memory_mib: int
    processes: int  # and threads
    open_files: int
    file_mib: int
    nodes_turn_ms: int  # the wall stop of a turn in a game on nodes


class ClockSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`move_ms` of a turn are free, then `bank_ms` is drawn on; `increment_ms` is added after."""

    move_ms: int = 1000
    bank_ms: int = 0
    increment_ms: int = 0


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """A game on a count instead of on time: `nodes` of the bot's own search, a turn."""

    nodes: int


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of what the referee says; `type` tells which."""


class Hello(Request, frozen=True, kw_only=True, tag="hello"):
    """Once a process: who we are and what we hold you to."""

    id: str
    protocol: Range
    arena: str
    rulesets: tuple[str, ...]
    limits: Limits


class Deal(Request, frozen=True, kw_only=True, tag="deal"):
    """Each game: all that a bot needs to know before it is asked."""

    id: str
    ruleset: str
    behaviour: int
    numbers: Raw
    board: Raw | UnsetType = UNSET  # only to bots that want it
    side: SideWord
    clock: ClockSettings | None  # None: no clock at all, or a game on nodes
    budget: Budget | None
    seed: int  # for the bot's own dice: 0 … 2**53-1
    view: Raw


class Turn(Request, frozen=True, kw_only=True, tag="turn"):
    """Each turn, and again after a `play` with `more`.

    Which round it is stands in the view: the wire knows no game.
    """

    id: str
    part: int = 1  # of this turn, from 1; more only after a `play` with `more`
    view: Raw
    events: Raw | UnsetType = UNSET  # since the side was last asked; only to bots that want them
    legal: Raw | UnsetType = UNSET  # single plies possible now; only to bots that want them
    bank_ms: int | None  # what is left in the bank; None without a clock
    charged_ms: float | None  # what the last turn was charged; None before the first


class End(Request, frozen=True, kw_only=True, tag="end"):
    """Each game: how it ended, and (not to kept processes of rated games) the whole record."""

    winner: SideWord | None
    reason: str
    fault: str | None  # one line about your own fault, if it was one
    record: Raw | None = None


class Bye(Request, frozen=True, kw_only=True, tag="bye"):
    """Once: there is nothing more; exit."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of what a bot says; unknown keys are ignored."""


class HelloAnswer(Answer, frozen=True, kw_only=True, tag="hello"):
    """Who the bot is and what it plays."""

    id: Id
    protocol: Annotated[int, Meta(ge=0, le=1_000_000)]
    name: Name
    version: Version = ""
    sides: tuple[SideWord, ...] = ("mister_x", "detectives")
    rulesets: Annotated[tuple[Annotated[str, Meta(max_length=64)], ...], Meta(max_length=64)]
    wants: tuple[Want, ...] = ()
    features: tuple[Feature, ...] = ()


class Ready(Answer, frozen=True, kw_only=True, tag="ready"):
    """The bot has read the deal and may be asked."""

    id: Id


class Play(Answer, frozen=True, kw_only=True, tag="play"):
    """The plies of a turn, or with `more` of a part of it."""

    id: Id
    plies: tuple[Any, ...]  # plain JSON values; only a ruleset knows their shape
    more: bool = False
    note: Any = UNSET  # at most 1 KiB, any JSON: shown in the replay


class Log(Answer, frozen=True, kw_only=True, tag="log"):
    """A line for the bot's author; never an answer, never a fault."""

    text: str
