"""What each side may see, and when: views and events.

Views share the state's own open parts, so making one copies nothing. What happens is told in events
that are made once for every step, and shared.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from arena.rules.london.net import Net
from arena.rules.london.state import (
    BOBBIES,
    DETECTIVES,
    MISTER_X,
    TICKETS,
    VEHICLES,
    Figure,
    FigureName,
    Slot,
    State,
    TicketName,
    Tickets,
)
from arena.rules.ruleset import Event, Side

__all__ = [
    "DOUBLED",
    "HIDDEN",
    "Announcer",
    "Captured",
    "DetectivesView",
    "Doubled",
    "MisterXView",
    "Moved",
    "Revealed",
    "SatOut",
    "captured",
    "detectives_view",
    "mister_x_view",
    "revealed",
    "sat_out",
]


class DetectivesView(msgspec.Struct, frozen=True, gc=False):
    """All that lies open: what the team knows, and Mister X too."""

    round: int  # from 1
    figures: tuple[Figure, ...]  # detectives, then Bobbies
    unmoved: tuple[FigureName, ...]  # have still to move in the open turn; empty on Mister X's
    pool: Tickets | None  # what detectives pay from together; null: each from its own
    supply: Tickets | None  # what Mister X pays from; null: unlimited
    blacks: int  # black tickets that Mister X has left
    doubles: int  # double-move cards that he has left
    log: tuple[Slot, ...]  # his steps, oldest first: the ticket, the station if it was revealed


class MisterXView(DetectivesView, frozen=True, gc=False):
    """All that lies open, and where Mister X is and was."""

    station: int
    path: tuple[int, ...]  # his start, then his station after each log slot


class Moved(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag="move"):
    """A figure's step; `to` is null in what the team is told of Mister X's."""

    figure: FigureName
    ticket: TicketName
    to: int | None


class Doubled(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag="double"):
    """Mister X plays a double-move card: two of his steps follow."""


class Revealed(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag="reveal"):
    """The station behind a log slot is shown (L23)."""

    slot: int  # from 1
    station: int


class SatOut(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag="sit_out"):
    """A figure had no legal step when the team's turn ended (L15, L16)."""

    figure: FigureName


class Captured(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag="capture"):
    """A figure of the team entered Mister X's station (L30)."""

    figure: FigureName
    station: int


DOUBLED = Event(seen_by=None, what=Doubled())
HIDDEN = {
    ticket: Event(seen_by=Side.DETECTIVES, what=Moved(MISTER_X, ticket, None)) for ticket in TICKETS
}


def revealed(slot: int, station: int) -> Event:
    """Return the event of a reveal, which both sides see."""
    return Event(seen_by=None, what=Revealed(slot, station))


def sat_out(figure: FigureName) -> Event:
    """Return the event of a figure that was left out, which both sides see."""
    return Event(seen_by=None, what=SatOut(figure))


def captured(figure: FigureName, station: int) -> Event:
    """Return the event of the capture, which both sides see."""
    return Event(seen_by=None, what=Captured(figure, station))


class Announcer:
    """The events of every step that the board allows, made once.

    Attributes:
        own: ticket → station → the event that Mister X sees of his own step.
        team: figure → ticket → station → the event that both sides see of a team's step.
    """

    __slots__ = ("own", "team")

    def __init__(self, net: Net) -> None:
        self.own = _moves(net, MISTER_X, TICKETS, Side.MISTER_X)
        self.team = {
            figure: _moves(net, figure, VEHICLES, None) for figure in (*DETECTIVES, *BOBBIES)
        }


def _moves(
    net: Net, figure: FigureName, tickets: Sequence[TicketName], seen_by: Side | None
) -> dict[TicketName, dict[int, Event]]:
    """The events of a figure's steps, for every station that a ticket leads to."""
    return {
        ticket: {
            end: Event(seen_by=seen_by, what=Moved(figure, ticket, end))
            for end, starts in net.reach[ticket].items()
            if starts
        }
        for ticket in tickets
    }


def detectives_view(state: State) -> DetectivesView:
    """Return all that lies open; Mister X's station has no part in it."""
    return DetectivesView(
        state.round,
        state.figures,
        state.unmoved,
        state.pool,
        state.supply,
        state.blacks,
        state.doubles,
        state.log,
    )


def mister_x_view(state: State) -> MisterXView:
    """Return all that lies open, Mister X's station and his way."""
    return MisterXView(
        state.round,
        state.figures,
        state.unmoved,
        state.pool,
        state.supply,
        state.blacks,
        state.doubles,
        state.log,
        state.path[-1],
        state.path,
    )
