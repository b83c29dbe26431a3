"""The Ruleset interface: all that anything above this floor may ask of a game.

A **turn** is all that one side does before the other is asked; a **ply** is one pawn's step or one
action. A turn is a list of plies, sent whole or in parts (`more`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec

__all__ = [
    "Event",
    "Json",
    "NamesPlaces",
    "Option",
    "Played",
    "Ply",
    "Preset",
    "Ruleset",
    "Side",
    "Verdict",
    "Watched",
    "filled",
    "spelled",
]

Json = Any  # what msgspec.to_builtins gives: dict, list, str, int, float, bool, None


class Side(enum.StrEnum):
    """Those who win together; the values are the words of the wire, tables and records."""

    MISTER_X = "mister_x"
    DETECTIVES = "detectives"

    @property
    def other(self) -> Side:
        """The opponents' side."""
        return Side.DETECTIVES if self is Side.MISTER_X else Side.MISTER_X


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """How a game ended by the rules: the winning side and a short, stable word for why.

    `reason` is a lower-case identifier such as `captured`, `escaped`, `enclosed`, `stuck`.
    """

    winner: Side | None
    reason: str


class Ply(msgspec.Struct, frozen=True, kw_only=True):
    """The unit of rules and records; each ruleset has a subclass (or a tagged union) of its own."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened, in the form that one side (or both) may see.

    When the two sides may see different things, `play` gives two events, one for each.
    """

    seen_by: Side | None  # None: both sides
    what: msgspec.Struct  # encodes to the JSON object that stands in `events` on the wire


S = TypeVar("S")
P = TypeVar("P", bound=Ply)


class Played(msgspec.Struct, frozen=True):
    """What `play` gives: the state after the plies and what happened on the way, in order.

    `counted` tells how many of the plies took place: those behind a deciding one (a capture) are
    neither checked nor recorded. `goes_on` tells that the same turn goes on with another part;
    a side can also be to move because the other had no choice and its turn was done unasked.
    """

    state: Any
    events: tuple[Event, ...]
    counted: int
    goes_on: bool = False


class Ruleset(Protocol[S, P]):
    """One set of rules with its map, its numbers bound. Pure: no I/O, clock or global state.

    `S` is the ruleset's own frozen state, opaque to everybody above; `P` its ply type.
    """

    @property
    def name(self) -> str:
        """The preset's name, such as `"london-2013"`."""
        ...

    @property
    def text(self) -> str:
        """The full canonical name, `name[:key=value,…]`, that the registry makes this from."""
        ...

    @property
    def behaviour(self) -> int:
        """A number that is raised whenever any game could come out differently."""
        ...

    @property
    def options(self) -> Mapping[str, str | int]:
        """Every option with its value; frozen."""
        ...

    @property
    def numbers(self) -> msgspec.Struct:
        """All numbers of the rules, as the `deal` message carries them."""
        ...

    @property
    def board(self) -> msgspec.Struct:
        """The map, as the `deal` message carries it to bots that want it."""
        ...

    @property
    def board_hash(self) -> str:
        """SHA-256 of the map's canonical JSON, 64 hex digits."""
        ...

    @property
    def ply_type(self) -> Any:
        """What `msgspec.convert` makes of one ply from the wire: a struct or a union of structs."""
        ...

    @property
    def max_turns(self) -> int:
        """No game has more turns (of both sides together) than this."""
        ...

    @property
    def max_plies(self) -> int:
        """No turn has more plies than this."""
        ...

    def deal(self, seed: bytes, number: int) -> S:
        """Return the start that a seed (32 bytes) and the deal's number (from 0) give."""
        ...

    def to_move(self, state: S) -> Side | None:
        """Return who is asked next; None once the game is over."""
        ...

    def legal(self, state: S) -> tuple[P, ...]:
        """Return the single plies possible now, in a fixed order.

        Each of them can be carried to a complete turn. Empty once the game is over.
        """
        ...

    def play(self, state: S, plies: Sequence[P], *, more: bool) -> Played:
        """Return the state after these plies of the side to move, in order.

        With `more` the turn stays open and the same side is asked again; without it "nothing
        left undone" is checked and the round goes on. Plies behind a deciding one are neither
        checked nor recorded.

        Raises:
            IllegalMove: with the rule's name; `state` itself never changes.
        """
        ...

    def view(self, state: S, side: Side) -> msgspec.Struct:
        """Return all that this side may know of the state, and nothing else."""
        ...

    def verdict(self, state: S) -> Verdict | None:
        """Return how the game ended, or None while it goes on."""
        ...

    def say(self, ply: P) -> str:
        """Return a ply in the words of terminals and logs; `parse` reads it back."""
        ...

    def parse(self, text: str) -> P:
        """Return the ply that a person typed.

        Raises:
            ConfigError: if the text is no ply of this ruleset.
        """
        ...

    def facts(self, state: S) -> Mapping[str, str | int]:
        """Return flat values for reports: Mister X's start, rounds played, and so on."""
        ...


@runtime_checkable
class Watched(Protocol):
    """What a ruleset can add for those who look on. No game asks it, and a ruleset may lack it.

    Without it a replay shows a turn at once and no belief set.
    """

    def between(self, state: Any, plies: Sequence[Any]) -> tuple[Any, ...]:
        """Return the states after each ply but the last of a turn, or part of one, that was played.

        They are for showing: what was paid and where everybody stands; nobody is asked in them.
        """
        ...

    def beliefs(self, trail: Sequence[Any]) -> tuple[frozenset[int], ...]:
        """Return for each state where Mister X can be by all that the detectives know.

        Args:
            trail: states of one game in order, from the deal on, with no ply left out.
        """
        ...


@runtime_checkable
class NamesPlaces(Protocol):
    """What a ruleset can add whose places have names besides their numbers, for reports alone."""

    def place_names(self) -> Mapping[int, str]:
        """Return the name of each place by its number."""
        ...


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One choice that a preset leaves open, as `name[:key=value,…]` spells it."""

    name: str
    values: tuple[str | int, ...]  # the default first
    meaning: str  # one line for `arena rulesets`


def filled(options: Sequence[Option], given: Mapping[str, str | int]) -> dict[str, str | int]:
    """Return a value for every option: what was given, else the default."""
    return {option.name: given.get(option.name, option.values[0]) for option in options}


def spelled(name: str, options: Sequence[Option], values: Mapping[str, str | int]) -> str:
    """Return a ruleset's canonical text: its name, and the values that are not the default."""
    different = ",".join(
        f"{option.name}={values[option.name]}"
        for option in options
        if values[option.name] != option.values[0]
    )
    return f"{name}:{different}" if different else name


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """A ruleset that the registry can make: its name, its options, and how."""

    name: str
    summary: str  # one line
    options: tuple[Option, ...]
    make: Callable[[Mapping[str, str | int]], Ruleset[Any, Any]]  # gets the options that were given
    schema: Callable[[], Mapping[str, Any]]  # JSON Schema; `$defs` has ply, view, event, numbers …
    # The same on another board, by the value of its option `board`; its options may be others.
    on_board: Callable[[str], Preset] | None = None
