"""Every message of protocol 1, as tagged frozen structs.

The wire does not know any game: views, events, plies, numbers and boards travel as raw JSON that
only a ruleset decodes. What the referee says comes first, what a bot answers second; the two
directions share a type word (`hello`), so each has its own union in `codec.py`.

A struct checks its types when it is decoded, not when it is made. Times are milliseconds, sizes
bytes (or MiB where the name says so).
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
    "ClockKind",
    "ClockSettings",
    "Deal",
    "End",
    "Feature",
    "Hello",
    "HelloAnswer",
    "Limits",
    "Log",
    "Play",
    "Pondering",
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
Feature = Literal["nodes", "reuse"]
ClockKind = Literal["wall", "cpu"]
Pondering = Literal["watch", "freeze", "allow"]
Id = Annotated[str, Meta(min_length=1, max_length=32)]
# The very end, to every dialect of patterns: a lone `$` lets a newline follow in Python's.
_END = r"$(?![\s\S])"
Name = Annotated[
    str, Meta(min_length=1, max_length=40, pattern=rf"^[A-Za-z0-9][A-Za-z0-9._+-]*{_END}")
]
Version = Annotated[str, Meta(max_length=40, pattern=rf"^[A-Za-z0-9._+-]*{_END}")]
RulesetText = Annotated[str, Meta(min_length=1, max_length=64)]
Count = Annotated[int, Meta(ge=0, le=9_007_199_254_740_991)]  # exact in every language's numbers


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """The protocol versions that the referee speaks, both ends included."""

    low: int
    high: int


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What the referee holds a bot to; every number that `arena limits` prints."""

    line_bytes: int  # one line from a bot, its newline included
    note_bytes: int  # the JSON text of one note
    log_line_bytes: int  # one `log` line, its newline included; a longer one is dropped
    log_game_bytes: int  # all `log` lines of a game; what is over is dropped
    blank_lines: int  # a turn
    depth: int  # of nested JSON
    unknown_keys: int  # a line
    first_ready_ms: int  # from spawn to the first `ready`
    ready_ms: int  # each later `ready`
    memory_mib: int
    processes: int  # and threads
    open_files: int
    file_mib: int
    tmp_mib: int  # what fits into `/tmp`
    shm_mib: int  # what fits into `/dev/shm`
    tmp_files: int  # in both of them together
    sockets: int
    nodes_turn_ms: int  # the wall stop of a turn in a game on nodes


class ClockSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`move_ms` of a turn are free, then `bank_ms` is drawn on; `increment_ms` is added after."""

    move_ms: int = 1000
    bank_ms: int = 0
    increment_ms: int = 0
    kind: ClockKind = "wall"  # what is charged: time on the referee's clock, or the bot's CPU time
    pondering: Pondering = "watch"  # what is done about CPU time that is used off turn


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """A game on a count instead of on time: `nodes` of the bot's own search, a turn."""

    nodes: int


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of what the referee says; `type` tells which."""


class Hello(Request, frozen=True, kw_only=True, tag="hello"):
    """Once a process: who the referee is and what it holds a bot to. Answer: `hello`."""

    id: Id
    protocol: Range
    arena: str  # the referee's own version
    rulesets: tuple[str, ...]  # full texts, `name[:key=value,…]`, of what may be dealt
    limits: Limits


class Deal(Request, frozen=True, kw_only=True, tag="deal"):
    """Each game: all that a bot needs to know before it is asked. Answer: `ready`."""

    id: Id
    ruleset: str  # the full text, `name[:key=value,…]`
    behaviour: int  # raised whenever any game of this ruleset could come out differently
    numbers: Raw  # all numbers of the rules
    board: Raw | UnsetType = UNSET  # only to bots that want it
    side: SideWord
    clock: ClockSettings | None  # None: no clock at all, or a game on nodes
    budget: Budget | None  # None: a game on time
    seed: Count  # for the bot's own dice; the same seed comes whenever this game is played again
    view: Raw  # all that the side may know at the start


class Turn(Request, frozen=True, kw_only=True, tag="turn"):
    """Each turn, and again after a `play` with `more`. Answer: `play`.

    Which round it is stands in the view: the wire knows no game.
    """

    id: Id
    part: Annotated[int, Meta(ge=1)] = 1  # of this turn; over 1 only after a `play` with `more`
    view: Raw  # all that the side may know now
    events: Raw | UnsetType = UNSET  # since the side was last asked; only to bots that want them
    legal: Raw | UnsetType = UNSET  # single plies possible now; only to bots that want them
    bank_ms: Annotated[int, Meta(ge=0)] | None  # what is left in the bank; None without a clock
    charged_ms: Annotated[float, Meta(ge=0)] | None  # for the last answer; None before the first


class End(Request, frozen=True, kw_only=True, tag="end"):
    """Each game: how it ended, and (not to kept processes of rated games) the whole record."""

    winner: SideWord | None
    reason: str  # the ruleset's word, `fault`, or `void`
    fault: str | None  # one line about the bot's own fault, if it had one
    record: Raw | UnsetType = UNSET  # both sides' plies and notes


class Bye(Request, frozen=True, kw_only=True, tag="bye"):
    """Once: there is nothing more; exit."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of what a bot says; unknown keys are ignored."""


class HelloAnswer(Answer, frozen=True, kw_only=True, tag="hello"):
    """Who the bot is and what it plays."""

    id: Id
    protocol: Annotated[int, Meta(ge=0, le=1_000_000)]  # the one version it speaks from here on
    name: Name
    version: Version = ""
    sides: Annotated[tuple[SideWord, ...], Meta(min_length=1, max_length=16)] = (
        "mister_x",
        "detectives",
    )
    # A name alone stands for the ruleset with every option.
    rulesets: Annotated[tuple[RulesetText, ...], Meta(min_length=1, max_length=64)]
    wants: Annotated[tuple[Want, ...], Meta(max_length=16)] = ()
    features: Annotated[tuple[Feature, ...], Meta(max_length=16)] = ()


class Ready(Answer, frozen=True, kw_only=True, tag="ready"):
    """The bot has read the deal and may be asked."""

    id: Id


class Play(Answer, frozen=True, kw_only=True, tag="play"):
    """The plies of a turn, or with `more` of a part of it."""

    id: Id
    plies: tuple[Any, ...]  # plain JSON values; only a ruleset knows their shape
    more: bool = False  # apply these and ask again in this turn; needs at least one ply
    note: Any = UNSET  # at most 1 KiB, any JSON: shown in the replay


class Log(Answer, frozen=True, kw_only=True, tag="log"):
    """A line for the bot's author; never an answer, never a fault."""

    text: str
