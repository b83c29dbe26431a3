"""State, Figure, Slot, the plies and the numbers of the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from arena.rules.europe.board import ACTIONS, Action, Mission, Transport
from arena.rules.ruleset import Ply, Side, Verdict

__all__ = [
    "ACTION_OF",
    "FIGURES",
    "MISTER_X",
    "ORDER",
    "PLAYERS",
    "TICKETS",
    "TRANSPORT_OF",
    "ChooseMission",
    "ChooseStart",
    "Counts",
    "DetectiveName",
    "EuropePly",
    "Figure",
    "FigureName",
    "Hand",
    "Investigate",
    "Lay",
    "Move",
    "Numbers",
    "Pay",
    "Pile",
    "PlayerName",
    "PutBack",
    "Slot",
    "Special",
    "Stage",
    "State",
    "Stepped",
    "Tally",
    "TicketName",
    "counts_of",
    "hand_of",
]

FigureName = Literal["x", "d1", "d2", "d3", "d4", "d5"]
DetectiveName = Literal["d1", "d2", "d3", "d4", "d5"]
PlayerName = Literal["x", "p1", "p2", "p3", "p4", "p5"]
TicketName = Literal[
    "car-double",
    "car-hidden",
    "car-investigate",
    "car-special",
    "rail-double",
    "rail-hidden",
    "rail-investigate",
    "rail-special",
    "air-double",
    "air-hidden",
    "air-investigate",
    "air-special",
]
Stage = Literal["mission", "start", "move", "double", "second", "hidden", "pay", "action", "refill"]

MISTER_X: Literal["x"] = "x"
FIGURES: tuple[DetectiveName, ...] = ("d1", "d2", "d3", "d4", "d5")
PLAYERS: tuple[PlayerName, ...] = ("p1", "p2", "p3", "p4", "p5")
TICKETS: tuple[TicketName, ...] = (
    "car-double",
    "car-hidden",
    "car-investigate",
    "car-special",
    "rail-double",
    "rail-hidden",
    "rail-investigate",
    "rail-special",
    "air-double",
    "air-hidden",
    "air-investigate",
    "air-special",
)
ORDER: dict[TicketName, int] = {ticket: place for place, ticket in enumerate(TICKETS)}
TRANSPORT_OF: dict[TicketName, int] = {  # ticket → place of its upper half in TRANSPORTS
    ticket: place // len(ACTIONS) for ticket, place in ORDER.items()
}
ACTION_OF: dict[TicketName, Action] = {
    ticket: ACTIONS[place % len(ACTIONS)] for ticket, place in ORDER.items()
}

Hand = tuple[TicketName, ...]  # in the order of TICKETS
Counts = tuple[int, ...]  # how many of each of TICKETS

City = Annotated[int, Meta(ge=1, le=999_999)]


def hand_of(counts: Counts) -> Hand:
    """Return the tickets that are counted, one by one."""
    return tuple([name for name, count in zip(TICKETS, counts, strict=True) for _ in range(count)])


class Pile(msgspec.Struct, frozen=True, gc=False, rename="kebab"):
    """Tickets by kind, as they are counted on the wire."""

    car_double: int
    car_hidden: int
    car_investigate: int
    car_special: int
    rail_double: int
    rail_hidden: int
    rail_investigate: int
    rail_special: int
    air_double: int
    air_hidden: int
    air_investigate: int
    air_special: int


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """All that the rules ask; no rule asks which options were given."""

    players: int  # Mister X counted
    pieces: tuple[int, ...]  # detectives led by p1, p2 …; d1 is p1's first
    hand_sizes: tuple[int, ...]  # tickets that p1, p2 … draw up to
    mister_x_hand: int  # tickets that Mister X draws up to
    tickets: Pile  # all that there are
    spaces: int  # of the ticket board; moves behind the last are open
    action_from: int  # entries before the team may act
    double_price: int  # tickets for a double move
    hidden_price: int  # tickets for a hidden move
    investigate: Mapping[str, int]  # tickets paid → how many entries back
    special: Mapping[str, Transport]  # tickets paid → by what
    window: int  # how many last entries the check looks at
    rings: int  # pairs
    cap: int  # rounds; then the detectives have won
    mission: str  # a colour, "choose" or "balanced"
    missions: Mapping[str, Mission]
    detective_starts: tuple[int, ...]
    setup_order: Literal["detectives-first", "mister-x-first"]
    capture: Literal["immediate", "check"]
    passed: Literal["counts", "ignored"]  # a city that a detective only passed in this round
    encircled: Literal["stuck", "loss"]
    as_many: Literal["most", "maximal"]
    start_in_window: bool


class EuropePly(Ply, frozen=True, gc=False, tag_field="do"):
    """One thing that a side does; `do` tells which."""


class ChooseMission(EuropePly, frozen=True, gc=False, tag="mission"):
    """Mister X names the colour of his mission (rules 11, 12)."""

    colour: Annotated[str, Meta(min_length=1, max_length=30)]


class ChooseStart(EuropePly, frozen=True, gc=False, tag="start"):
    """Mister X notes the city that he starts in (rule 11)."""

    city: City


class Move(EuropePly, frozen=True, gc=False, tag="move"):
    """A figure moves along one link of its ticket's transport (rules 15, 24)."""

    figure: FigureName
    ticket: TicketName
    to: City


class Pay(EuropePly, frozen=True, gc=False, tag="pay"):
    """A player pays one ticket for the action that it shows (rules 17, 18, 27)."""

    player: PlayerName
    ticket: TicketName


class Lay(EuropePly, frozen=True, gc=False, tag="lay"):
    """Mister X's hidden move: a ticket face down, and any link of his city (rule 18)."""

    ticket: TicketName
    to: City


class Investigate(EuropePly, frozen=True, gc=False, tag="investigate"):
    """The team asks for the entry that it has paid for (rule 28)."""


class Special(EuropePly, frozen=True, gc=False, tag="special"):
    """A detective moves once more by the transport that the team has paid for (rule 29)."""

    figure: DetectiveName
    to: City


class PutBack(EuropePly, frozen=True, gc=False, tag="put_back"):
    """A player puts one ticket back into the bag before drawing (rules 22, 30)."""

    player: PlayerName
    ticket: TicketName


class Figure(msgspec.Struct, frozen=True, gc=False):
    """A detective, open to all."""

    figure: DetectiveName
    player: PlayerName  # who leads it
    city: int


class Slot(msgspec.Struct, frozen=True, gc=False):
    """One space of the ticket board: a ticket, face up or face down."""

    ticket: TicketName | None  # null: face down, and not for this side to know
    hidden: bool


class Tally(msgspec.Struct, frozen=True, gc=False):
    """How often what lies open to all has happened."""

    doubles: int = 0
    hiddens: int = 0
    stuck: int = 0
    investigations: int = 0
    specials: int = 0


class Stepped(msgspec.Struct, frozen=True, gc=False):
    """A detective's move of this round, as "as many as possible" asks for it (A23)."""

    figure: int  # place in `figures`
    transport: int  # place in TRANSPORTS: what was spent
    free: int  # transports that led to a free city when it moved, as bits


class State(msgspec.Struct, frozen=True, gc=False):
    """Everything the rules depend on; nothing that a clock or a process would add."""

    round: int  # from 1: the round that is on, or in which the game ended
    to_move: Side | None  # None: the game is over
    stage: Stage  # of the turn that is on
    seed: bytes  # the chance of this deal, secret
    drawn: int  # words taken from the stream of tickets, secret
    colour: str | None  # of the mission; None until it is named
    figures: tuple[Figure, ...]  # empty until they are placed
    unmoved: tuple[DetectiveName, ...]  # have still to move in the team's open turn; else empty
    hands: tuple[Hand, ...]  # p1's, p2's …
    hand: Hand  # Mister X's
    bag: Counts
    box: Counts
    spent: Hand  # move tickets of the detectives in this round, open, as they were spent
    board: tuple[Slot, ...]  # ticket board; every slot has its ticket
    path: tuple[int, ...]  # entry 0 (the start), 1 …; empty before the start
    known: tuple[int, ...]  # entries that the team has been told, ascending
    rings: tuple[int, ...]  # pair of rings → the entry that it marks
    ringed: int  # entries that were given a ring so far
    paid: Hand  # for the action that is on
    payers: tuple[int, ...]  # for each ticket in `paid` the player's place
    mark: int  # place of the last ticket paid or put back in a row of them; -1: none
    stepped: tuple[Stepped, ...]  # moves of this round, if "as many as possible" asks for them
    entered: tuple[int, ...]  # cities that detectives entered in this round
    tally: Tally
    ended: Verdict | None = None


def counts_of(pile: Pile) -> Counts:
    """Return a pile as counts in the order of TICKETS."""
    return msgspec.structs.astuple(pile)
