"""What each side may see, and when: views and events."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from arena.rules.europe.board import Transport
from arena.rules.europe.state import (
    Counts,
    DetectiveName,
    Figure,
    FigureName,
    Hand,
    Pile,
    PlayerName,
    Slot,
    Stage,
    State,
    Tally,
    TicketName,
)
from arena.rules.ruleset import Event, Side

__all__ = [
    "EVENTS",
    "Captured",
    "Declared",
    "DetectivesView",
    "Drew",
    "Ended",
    "Investigated",
    "Laid",
    "MissionChosen",
    "MisterXView",
    "Moved",
    "Opened",
    "Paid",
    "Placed",
    "Returned",
    "SatOut",
    "SentOn",
    "Shortage",
    "Started",
    "Stuck",
    "detectives_view",
    "mister_x_view",
    "told",
]


class OpenView(msgspec.Struct, frozen=True, gc=False):
    """All that lies open to both sides."""

    round: int  # from 1
    stage: Stage  # of the turn that is on: what can be done next
    colour: str | None  # of the mission; null until it is named
    figures: tuple[Figure, ...]  # d1 to d5; empty until they are placed
    unmoved: tuple[DetectiveName, ...]  # have still to move in the team's open turn; else empty
    bag: int  # tickets in it
    box: Pile  # paid for actions, out of play
    spent: Hand  # the detectives' move tickets of this round
    paid: Hand  # for the action that is on
    board: tuple[Slot, ...]  # ticket board; a slot that lies face down has no ticket for the team
    entries: tuple[int | None, ...]  # Mister X's: 0 (the start), 1 …; null if not told to this side
    city: int | None  # where he is; null before the start, and if this side does not know
    known: tuple[int, ...]  # entries that the team has been told, ascending
    rings: tuple[int, ...]  # for each pair of rings in use, the smallest first, the entry
    tally: Tally


class DetectivesView(OpenView, frozen=True, gc=False):
    """What the team knows."""

    hands: tuple[Hand, ...]  # p1's, p2's …
    mister_x_hand: int  # tickets that he holds


class MisterXView(OpenView, frozen=True, gc=False):
    """What Mister X knows."""

    hand: Hand
    hand_sizes: tuple[int, ...]  # tickets that p1, p2 … hold


class Happening(msgspec.Struct, frozen=True, gc=False, tag_field="event"):
    """Something that happened; `event` tells what."""


class MissionChosen(Happening, frozen=True, gc=False, tag="mission"):
    """Mister X names the colour of his mission."""

    colour: str


class Started(Happening, frozen=True, gc=False, tag="start"):
    """Mister X notes his start; `city` is null in what the team is told."""

    city: int | None


class Placed(Happening, frozen=True, gc=False, tag="place"):
    """The detectives are placed, where that comes after Mister X's start."""

    cities: tuple[int, ...]  # of d1, d2 …


class Moved(Happening, frozen=True, gc=False, tag="move"):
    """A figure moves; `to` is null in what the team is told of Mister X's hidden entries."""

    figure: FigureName
    ticket: TicketName
    to: int | None


class Paid(Happening, frozen=True, gc=False, tag="pay"):
    """A ticket is paid for an action."""

    player: PlayerName
    ticket: TicketName


class Laid(Happening, frozen=True, gc=False, tag="lay"):
    """Mister X's hidden move; the team is told neither ticket nor city, the latter unless open."""

    ticket: TicketName | None
    to: int | None


class Stuck(Happening, frozen=True, gc=False, tag="stuck"):
    """Mister X can't move: he stays, and puts back all his tickets."""

    tickets: int  # how many


class Returned(Happening, frozen=True, gc=False, tag="put_back"):
    """A ticket goes back into the bag; the other side is not told which."""

    player: PlayerName
    ticket: TicketName | None


class Drew(Happening, frozen=True, gc=False, tag="draw"):
    """A player draws tickets; the other side is not told which."""

    player: PlayerName
    count: int
    tickets: Hand | None  # in the order in which they were drawn


class Shortage(Happening, frozen=True, gc=False, tag="shortage"):
    """The bag is empty: all tickets of the box go into it (rule 35)."""

    tickets: int  # how many


class SatOut(Happening, frozen=True, gc=False, tag="sit_out"):
    """A detective stays where it is this round."""

    figure: DetectiveName


class Investigated(Happening, frozen=True, gc=False, tag="investigate"):
    """Mister X reveals the entry that the team has paid for."""

    entry: int
    city: int


class SentOn(Happening, frozen=True, gc=False, tag="special"):
    """A detective's special mission."""

    figure: DetectiveName
    transport: Transport
    to: int


class Opened(Happening, frozen=True, gc=False, tag="open"):
    """Mister X moves openly from here on: his piece is put on the city of this entry (rule 21)."""

    entry: int
    city: int


class Declared(Happening, frozen=True, gc=False, tag="declare"):
    """A detective came through a city of Mister X's last entries (rule 32)."""

    entry: int
    city: int


class Captured(Happening, frozen=True, gc=False, tag="capture"):
    """A detective is on Mister X's city."""

    figure: DetectiveName
    city: int


class Ended(Happening, frozen=True, gc=False, tag="end"):
    """The game is over: checklist and ticket board are shown (rule 37)."""

    path: tuple[int, ...]
    board: Hand


EVENTS = (
    MissionChosen,
    Started,
    Placed,
    Moved,
    Paid,
    Laid,
    Stuck,
    Returned,
    Drew,
    Shortage,
    SatOut,
    Investigated,
    SentOn,
    Opened,
    Declared,
    Captured,
    Ended,
)


def told(what: Happening, side: Side | None = None) -> Event:
    """Return the event that one side sees, or both."""
    return Event(seen_by=side, what=what)


@lru_cache(maxsize=4096)
def pile_of(counts: Counts) -> Pile:
    """Return counts as they go on the wire."""
    return Pile(*counts)


FACE_DOWN = Slot(ticket=None, hidden=True)


def detectives_view(state: State) -> DetectivesView:
    """Return what the team knows; after the game everything that Mister X wrote down."""
    if state.ended is None:
        entries: tuple[int | None, ...] = tuple(
            [city if entry in state.known else None for entry, city in enumerate(state.path)]
        )
        board = tuple([FACE_DOWN if slot.hidden else slot for slot in state.board])
    else:
        entries, board = state.path, state.board
    return DetectivesView(
        state.round,
        state.stage,
        state.colour,
        state.figures,
        state.unmoved,
        sum(state.bag),
        pile_of(state.box),
        state.spent,
        state.paid,
        board,
        entries,
        entries[-1] if entries else None,
        state.known,
        state.rings,
        state.tally,
        state.hands,
        len(state.hand),
    )


def mister_x_view(state: State) -> MisterXView:
    """Return what Mister X knows."""
    return MisterXView(
        state.round,
        state.stage,
        state.colour,
        state.figures,
        state.unmoved,
        sum(state.bag),
        pile_of(state.box),
        state.spent,
        state.paid,
        state.board,
        state.path,
        state.path[-1] if state.path else None,
        state.known,
        state.rings,
        state.tally,
        state.hand,
        tuple([len(hand) for hand in state.hands]),
    )
