"""The board made ready: for each station the steps that lead away from it, as shared objects.

Steps, events and their JSON are made once, so that a request costs look-ups and no building.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from arena.rules.london.state import (
    BOBBIES,
    DETECTIVES,
    MISTER_X,
    TICKETS,
    VEHICLES,
    Board,
    FigureName,
    Step,
    TicketName,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MASKS", "Net"]

BITS: dict[TicketName, int] = {ticket: 1 << place for place, ticket in enumerate(TICKETS)}
MASKS = 1 << len(TICKETS)  # sets of tickets that can be paid, as bits in the order of TICKETS

Rows = tuple[dict[int, tuple[Step, ...]], ...]


class Net:
    """Where each ticket leads from each station; made once for a board, never changed.

    Attributes:
        reach: ticket → station → stations one step away. Black takes every vehicle, ferries too.
        steps: figure → set of tickets (as bits) → station → its steps, by ticket, then by station.
        near: station → all stations one step away, by whatever vehicle.
    """

    __slots__ = ("near", "reach", "steps")

    def __init__(self, board: Board) -> None:
        ids = [station.id for station in board.stations]
        by_vehicle = {
            vehicle: _neighbours(ids, pairs) for vehicle, pairs in asdict(board.links).items()
        }
        self.near = {
            number: frozenset(chain.from_iterable(to[number] for to in by_vehicle.values()))
            for number in ids
        }
        self.reach: dict[TicketName, dict[int, frozenset[int]]] = {
            **{ticket: by_vehicle[ticket] for ticket in VEHICLES},
            "black": self.near,
        }
        self.steps: dict[FigureName, Rows] = {
            figure: self._rows(figure, MASKS if figure == MISTER_X else MASKS // 2)
            for figure in (MISTER_X, *DETECTIVES, *BOBBIES)
        }

    def _rows(self, figure: FigureName, masks: int) -> Rows:
        """For each set of tickets and each station the figure's steps."""
        single: dict[TicketName, dict[int, tuple[Step, ...]]] = {
            ticket: {
                start: tuple(Step(figure=figure, ticket=ticket, to=end) for end in sorted(ends))
                for start, ends in self.reach[ticket].items()
            }
            for ticket in TICKETS[: masks.bit_length() - 1]
        }
        return tuple(
            {
                start: tuple(
                    chain.from_iterable(row[start] for t, row in single.items() if mask & BITS[t])
                )
                for start in self.near
            }
            for mask in range(masks)
        )


def _neighbours(ids: Iterable[int], links: Iterable[tuple[int, int]]) -> dict[int, frozenset[int]]:
    """Station → stations at the other end of a link."""
    found: dict[int, set[int]] = {number: set() for number in ids}
    for start, end in links:
        found[start].add(end)
        found[end].add(start)
    return {number: frozenset(ends) for number, ends in found.items()}
