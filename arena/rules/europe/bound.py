"""Numbers and board made ready to be looked up."""

from __future__ import annotations

from arena.rules.europe.board import TRANSPORTS, Board
from arena.rules.europe.net import Net
from arena.rules.europe.state import FIGURES, PLAYERS, Counts, DetectiveName, Numbers, counts_of

__all__ = ["Rules"]


class Rules:
    """The numbers of the rules and the board, made ready; never changed.

    Attributes:
        numbers: all that the rules ask.
        board: the cities and links.
        net: the board's links as tables.
        near: transport, by its place → city → cities one link away.
        around: city → cities one link away by whatever transport.
        players: the players of the team, in order.
        leaders: detective, by its place → its player's place.
        places: detective → its place.
        tickets: all that there are.
        colours: of the missions, in the board's order.
        targets: colour → cities of which Mister X has to enter one.
        prices: how many tickets an investigation or a special mission can cost, ascending.
    """

    __slots__ = (
        "around",
        "board",
        "colours",
        "leaders",
        "near",
        "net",
        "numbers",
        "places",
        "players",
        "prices",
        "targets",
        "tickets",
    )

    def __init__(self, numbers: Numbers, board: Board, net: Net) -> None:
        self.numbers = numbers
        self.board = board
        self.net = net
        self.near = tuple([dict(net.neighbours[transport]) for transport in TRANSPORTS])
        self.around = net.all_neighbours
        self.players = PLAYERS[: len(numbers.pieces)]
        self.leaders = tuple(
            [place for place, count in enumerate(numbers.pieces) for _ in range(count)]
        )
        self.places: dict[DetectiveName, int] = {name: i for i, name in enumerate(FIGURES)}
        self.tickets: Counts = counts_of(numbers.tickets)
        self.colours = tuple(numbers.missions)
        self.targets = {
            colour: frozenset(mission.targets) for colour, mission in numbers.missions.items()
        }
        self.prices = {
            "investigate": tuple(sorted(int(price) for price in numbers.investigate)),
            "special": tuple(sorted(int(price) for price in numbers.special)),
        }
