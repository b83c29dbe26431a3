"""Cities, links, missions and tickets; reads a board in our format and checks what it read.

Any board in the format is taken (B8), since an owner of the game may type in the printed one. Every
refusal (B9) names the file and the entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from arena.errors import ConfigError
from arena.rules.board import canonical_hash, check_cards, check_ids, check_links, read_map

__all__ = [
    "ACTIONS",
    "FORMAT",
    "NO_COLOURS",
    "PIECES",
    "TRANSPORTS",
    "Action",
    "Board",
    "City",
    "Kind",
    "Links",
    "Mission",
    "TicketCount",
    "Transport",
    "board_hash",
    "load_board",
    "warnings",
]

Transport = Literal["car", "rail", "air"]
Kind = Literal["car", "rail", "air"]  # of a city: the highest transport that stops there
Action = Literal["double", "hidden", "investigate", "special"]

TRANSPORTS: tuple[Transport, ...] = ("car", "rail", "air")  # a kind takes its own and all before
ACTIONS: tuple[Action, ...] = ("double", "hidden", "investigate", "special")

FORMAT = 1
PIECES = 5  # detectives are in play always (section 1, rule 6)
MISTER_X_HAND = 8  # rule 9
SMALLEST_TEAM = 9  # tickets of all detectives with one player on their side (rule 6)
LARGEST_TEAM = 25  # with five
MAP = "board.json"
NAME_LENGTH = 60
TEXTS = {"name": NAME_LENGTH, "origin": 1000, "projection": 1000}  # key → characters at most
COLOUR = re.compile(r"[a-z][a-z0-9_]{0,29}")  # stands in a ruleset's name, as mission=green
NO_COLOURS = ("choose", "balanced")  # what may stand there instead of a colour


Drawn = Annotated[float, Meta(ge=-1e9, le=1e9)]


class City(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A city: `kind` says which transports stop there; `x` and `y` are in any drawing units.

    `y` grows downwards. `lat` and `lon` are degrees, or None; no rule uses any of the four.
    """

    id: Annotated[int, Meta(le=999_999)]
    name: str
    lat: float | None
    lon: float | None
    x: Drawn
    y: Drawn
    kind: Kind


class Links(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For each transport its links, each once, the smaller id first; rail is rail or ferry."""

    car: tuple[tuple[int, int], ...]
    rail: tuple[tuple[int, int], ...]
    air: tuple[tuple[int, int], ...]


class Mission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where Mister X may start, and the cities of which he has to enter one."""

    starts: tuple[int, ...]
    targets: tuple[int, ...]


class TicketCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many tickets of a kind there are in the game."""

    transport: Transport
    action: Action
    count: Annotated[int, Meta(ge=0, le=9_999)]


class Board(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A board with all that belongs to it: what stands in the file, and what bots get."""

    name: str
    format: int
    origin: str  # whose data it is
    projection: str  # how x and y were made
    transports: tuple[Transport, ...]
    cities: tuple[City, ...]
    links: Links
    missions: Mapping[str, Mission]  # by colour
    detective_starts: tuple[int, ...]  # the start cards
    tickets: tuple[TicketCount, ...]


def load_board(file: Traversable | None = None) -> Board:
    """Return the board in a file, or the one that belongs to the package.

    Args:
        file: where a board lies; None for the package's own, which is read once.

    Raises:
        ConfigError: if it can't be read or is not sound; names the file and the entry.
    """
    if file is None:
        return _own_board()
    board = read_map(file, Board)
    _check(file, board)
    return board


def board_hash(board: Board) -> str:
    """Return the SHA-256 of the board's canonical JSON and its colours' order, 64 hex digits.

    The order counts: `mission=balanced` takes the colours as they stand.
    """
    return canonical_hash((board, tuple(board.missions)))


def warnings(board: Board) -> tuple[str, ...]:
    """Return what is allowed but looks like a slip of the one who typed the board in.

    A sentence each: a kind with no link of its own (B9), a transport with links and no ticket, too
    few tickets for the larger tables (short hands are allowed by rule 35), cities without places.
    """
    stops = _stops(board)
    found = [
        f"cities[{index}] ({city.name}) is of kind {city.kind}, but no {city.kind} link ends there"
        for index, city in enumerate(board.cities)
        if city.id not in stops[city.kind]
    ]
    found.extend(
        f"links.{transport} has links, but tickets has none for {transport}"
        for transport in TRANSPORTS
        if stops[transport] and not any(t.count for t in board.tickets if t.transport == transport)
    )
    total = sum(ticket.count for ticket in board.tickets)
    if total < MISTER_X_HAND + LARGEST_TEAM:
        found.append(
            f"tickets: {total} tickets are fewer than the {MISTER_X_HAND + LARGEST_TEAM} that six "
            "players are dealt"
        )
    if len({(city.x, city.y) for city in board.cities}) == 1:
        found.append(
            "cities all lie on one place, so they are drawn in a ring; x and y say where they lie"
        )
    return tuple(found)


@cache
def _own_board() -> Board:
    return load_board(resources.files(__package__ or __name__) / "data" / MAP)


def _check(file: object, board: Board) -> None:
    """Check all that a struct's types can't say; raises ConfigError as `load_board` tells."""
    if board.format != FORMAT:
        raise ConfigError(f"{file}: format is {board.format}; this arena reads format {FORMAT}")
    if board.transports != TRANSPORTS:
        raise ConfigError(f"{file}: transports must be {', '.join(TRANSPORTS)}, in this order")
    for key, most in TEXTS.items():
        text = getattr(board, key)
        if not text.strip() or len(text) > most or not text.isprintable():
            raise ConfigError(
                f"{file}: {key} must be a line of 1 to {most} printable characters, not all blank"
            )
    ids = [city.id for city in board.cities]
    check_ids(file, "cities", ids)
    _check_names(file, board)
    check_links(file, ids, asdict(board.links), connected=False)
    _check_kinds(file, board)
    check_links(file, ids, asdict(board.links))
    check_cards(file, "detective_starts", ids, board.detective_starts)
    if len(board.detective_starts) < PIECES:
        raise ConfigError(
            f"{file}: detective_starts has {len(board.detective_starts)} cities; "
            f"{PIECES} detectives need {PIECES} at least"
        )
    _check_missions(file, board)
    _check_tickets(file, board)


def _check_names(file: object, board: Board) -> None:
    """Each city's name is a printable text that no other city has."""
    seen: dict[str, int] = {}
    for index, city in enumerate(board.cities):
        place = f"{file}: cities[{index}] ({city.id})"
        if not city.name.strip() or len(city.name) > NAME_LENGTH or not city.name.isprintable():
            raise ConfigError(
                f"{place}: the name must be 1 to {NAME_LENGTH} printable characters, not all blank"
            )
        if city.name in seen:
            raise ConfigError(
                f"{place}: the name {city.name!r} stands before, at cities[{seen[city.name]}]"
            )
        seen[city.name] = index


def _check_kinds(file: object, board: Board) -> None:
    """No link is of a transport above the kind of a city at its ends (B9)."""
    cities = {city.id: city for city in board.cities}
    for transport, pairs in asdict(board.links).items():
        for index, pair in enumerate(pairs):
            for city in (cities[number] for number in pair):
                if TRANSPORTS.index(transport) > TRANSPORTS.index(city.kind):
                    raise ConfigError(
                        f"{file}: links.{transport}[{index}] ({pair[0]}-{pair[1]}): no {transport} "
                        f"link can end at {city.id} ({city.name}), which is of kind {city.kind}"
                    )


def _check_missions(file: object, board: Board) -> None:
    """Each mission has starts and targets that differ, and a start that no draw can take away."""
    if not board.missions:
        raise ConfigError(f"{file}: missions is empty; a board has at least one mission")
    ids = [city.id for city in board.cities]
    for colour, mission in board.missions.items():
        place = f"missions.{colour}"
        if not COLOUR.fullmatch(colour):
            raise ConfigError(
                f"{file}: missions has the colour {colour!r}; write a lower-case word such as green"
            )
        if colour in NO_COLOURS:
            raise ConfigError(
                f"{file}: missions has the colour {colour!r}, which as mission={colour} says that "
                "none is fixed; call it otherwise"
            )
        for key, cities in (("starts", mission.starts), ("targets", mission.targets)):
            if not cities:
                raise ConfigError(f"{file}: {place}.{key} is empty; a mission has at least one")
            check_cards(file, f"{place}.{key}", ids, cities)
        for index, city in enumerate(mission.targets):
            if city in mission.starts:
                raise ConfigError(
                    f"{file}: {place}.targets[{index}]: the city {city} is a start of this mission"
                )
        if len(mission.starts) <= PIECES and set(mission.starts) <= set(board.detective_starts):
            raise ConfigError(
                f"{file}: {place}.starts: detectives could stand on all of them; "
                "add a start that is not among detective_starts"
            )


def _check_tickets(file: object, board: Board) -> None:
    """Each kind of ticket is counted once, and the smallest table can be dealt."""
    seen: dict[tuple[Transport, Action], int] = {}
    for index, ticket in enumerate(board.tickets):
        kind = (ticket.transport, ticket.action)
        if kind in seen:
            raise ConfigError(
                f"{file}: tickets[{index}]: {ticket.transport} with {ticket.action} is counted "
                f"before, at tickets[{seen[kind]}]"
            )
        seen[kind] = index
    for transport in TRANSPORTS:
        for action in ACTIONS:
            if (transport, action) not in seen:
                raise ConfigError(
                    f"{file}: tickets has no entry for {transport} with {action}; "
                    "write one, with the count 0 if there are none"
                )
    total = sum(ticket.count for ticket in board.tickets)
    if total < MISTER_X_HAND + SMALLEST_TEAM:
        raise ConfigError(
            f"{file}: tickets: {total} tickets are too few; the smallest table is dealt "
            f"{MISTER_X_HAND + SMALLEST_TEAM}"
        )


def _stops(board: Board) -> dict[Transport, set[int]]:
    """Transport → cities at the end of one of its links."""
    return {
        transport: {number for pair in getattr(board.links, transport) for number in pair}
        for transport in TRANSPORTS
    }
