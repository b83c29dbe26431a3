"""The board made ready: for each transport and city the cities one move away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from arena.rules.europe.board import TRANSPORTS, Board, Transport

__all__ = ["Net"]

Neighbours = Mapping[int, tuple[int, ...]]


class Net:
    """Where each transport leads from each city; made once for a board, never changed.

    Attributes:
        neighbours: transport → city → cities one link of that transport away, ascending.
        all_neighbours: city → cities one link away by whatever transport, each once, ascending.
    """

    __slots__ = ("all_neighbours", "neighbours")

    def __init__(self, board: Board) -> None:
        ids = [city.id for city in board.cities]
        pairs: dict[Transport, tuple[tuple[int, int], ...]] = {
            "car": board.links.car,
            "rail": board.links.rail,
            "air": board.links.air,
        }
        self.neighbours: Mapping[Transport, Neighbours] = {
            transport: _ends(ids, pairs[transport]) for transport in TRANSPORTS
        }
        self.all_neighbours: Neighbours = _ends(
            ids, (pair for transport in TRANSPORTS for pair in pairs[transport])
        )


def _ends(ids: Iterable[int], pairs: Iterable[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    """City → cities at the other end of a link, each once, ascending."""
    found: dict[int, set[int]] = {number: set() for number in ids}
    for start, end in pairs:
        found[start].add(end)
        found[end].add(start)
    return {number: tuple(sorted(ends)) for number, ends in found.items()}
