"""State, Figure, Tickets, Slot, Step, views' parts and the numbers of the rules."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from arena.rules.ruleset import Ply, Side, Verdict

__all__ = [
    "BOBBIES",
    "DETECTIVES",
    "MISTER_X",
    "TICKETS",
    "VEHICLES",
    "Board",
    "Cards",
    "Figure",
    "FigureName",
    "Links",
    "Numbers",
    "Slot",
    "State",
    "Station",
    "Step",
    "TicketName",
    "Tickets",
]

FigureName = Literal["x", "d1", "d2", "d3", "d4", "d5", "b1", "b2"]
TicketName = Literal["taxi", "bus", "metro", "black"]
VehicleName = Literal["taxi", "bus", "metro"]

MISTER_X: FigureName = "x"
DETECTIVES: tuple[FigureName, ...] = ("d1", "d2", "d3", "d4", "d5")
BOBBIES: tuple[FigureName, ...] = ("b1", "b2")
VEHICLES: tuple[VehicleName, ...] = ("taxi", "bus", "metro")  # those that have tickets
TICKETS: tuple[TicketName, ...] = (*VEHICLES, "black")


class Station(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A numbered stop; `x` and `y` are shares of width and height, from the top left corner."""

    id: int
    x: float
    y: float


class Links(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For each vehicle its links, each once, from the smaller id to the larger."""

    taxi: tuple[tuple[int, int], ...]
    bus: tuple[tuple[int, int], ...]
    metro: tuple[tuple[int, int], ...]
    ferry: tuple[tuple[int, int], ...]


class Board(msgspec.Struct, frozen=True):
    """The map as bots get it."""

    name: str
    aspect: float  # width / height
    stations: tuple[Station, ...]
    links: Links


class Tickets(msgspec.Struct, frozen=True, gc=False):
    """Ordinary tickets by kind: a detective's, the team's pool, or the supply."""

    taxi: int
    bus: int
    metro: int


class Cards(msgspec.Struct, frozen=True, kw_only=True):
    """Start cards; both sides know which there are (L6)."""

    detectives: tuple[int, ...]  # D cards, for detectives and Bobbies
    mister_x: tuple[int, ...]  # X cards
    one_pile: bool  # one pile for everybody: what a detective draws Mister X can't


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """All that the rules ask; no rule asks which preset it is in."""

    players: int  # Mister X counted
    detectives: int
    bobbies: int
    ends_by: Literal["rounds", "slots"]  # what ends the game for Mister X
    rounds: int  # no game is longer
    slots: int  # of the travel log
    reveals: tuple[int, ...]  # log slots, from 1, after which the station is shown
    blacks: int
    doubles: int
    detective_tickets: Tickets | None  # each detective's; None: all pay from the pool
    pool: Tickets | None  # the team's, if it has one
    supply: Literal["box", "unlimited", "to-mister-x"]
    supply_tickets: Tickets | None  # at the start; None: unlimited
    stuck: Literal["all", "detectives"]
    cards: Cards


class Step(Ply, frozen=True, gc=False):
    """One figure's step along one link; a Bobby's ticket is its vehicle."""

    figure: FigureName
    ticket: TicketName
    to: Annotated[int, Meta(ge=1, le=999_999)]  # a station


class Figure(msgspec.Struct, frozen=True, gc=False):
    """A detective or Bobby: where it stands and what it holds, open to all."""

    figure: FigureName
    kind: Literal["detective", "bobby"]
    station: int
    tickets: Tickets | None  # None: it needs none (Bobby) or pays from the pool


class Slot(msgspec.Struct, frozen=True, gc=False):
    """One space of the travel log as it lies open: the ticket, and the station if revealed."""

    ticket: TicketName
    station: int | None


class State(msgspec.Struct, frozen=True, gc=False):
    """Everything the rules depend on; nothing that a clock or a process would add."""

    round: int  # from 1: the round that is on, or in which the game ended
    to_move: Side | None  # None: the game is over
    figures: tuple[Figure, ...]  # detectives, then Bobbies
    unmoved: tuple[FigureName, ...]  # have still to move in the team's open turn; else empty
    pool: Tickets | None
    supply: Tickets | None  # what Mister X pays from; None: unlimited
    blacks: int  # left
    doubles: int  # left
    log: tuple[Slot, ...]  # open, oldest first
    path: tuple[int, ...]  # Mister X's stations, secret: his start, then one a log slot
    ended: Verdict | None = None
