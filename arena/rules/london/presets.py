"""The editions as data: one frozen struct each, and what their options may be."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Literal, cast

import msgspec
from msgspec.structs import asdict

from arena.errors import ConfigError
from arena.rules.board import canonical_hash, check_cards, check_ids, check_links, read_map
from arena.rules.london.moves import Rules
from arena.rules.london.net import Net
from arena.rules.london.state import Board, Cards, Links, Numbers, Station, Tickets
from arena.rules.london.views import Announcer
from arena.rules.ruleset import Option

__all__ = [
    "EDITIONS",
    "Edition",
    "Map",
    "bind",
    "edition_of",
    "load_map",
    "numbers_of",
    "options_of",
    "read_board",
]

MAP = "board.json"

# players (Mister X counted) → detectives, Bobbies
TEAMS = {2: (2, 2), 3: (2, 2), 4: (3, 1), 5: (4, 0), 6: (5, 0)}
POOLS = {"20-16-8": Tickets(20, 16, 8), "22-16-8": Tickets(22, 16, 8)}


class StartCards(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The two piles of 2013."""

    detectives: tuple[int, ...]
    mister_x: tuple[int, ...]


class MapFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in `data/board.json`."""

    name: str
    aspect: float
    stations: tuple[Station, ...]
    links: Links
    start_cards: StartCards
    classic_start_cards: tuple[int, ...]


class Map(msgspec.Struct, frozen=True):
    """An edition's board, made ready."""

    board: Board
    board_hash: str
    net: Net
    announcer: Announcer


class Edition(msgspec.Struct, frozen=True, kw_only=True):
    """What a preset fixes; `numbers_of` adds what its options leave open."""

    name: str
    summary: str
    ends_by: Literal["rounds", "slots"]
    rounds: int
    slots: int = 24
    reveals: tuple[int, ...]
    detective_tickets: Tickets
    box: Tickets = Tickets(57, 45, 23)  # all ordinary tickets of the game (L4)
    own_stock: Tickets = Tickets(4, 3, 3)  # Mister X's, where he has one
    supply: Literal["box", "unlimited", "to-mister-x"]  # the default
    blacks: int = 5
    blacks_by_team: bool = False  # as many as there are detectives, by default
    doubles: int = 2
    bobbies: bool  # fill up small teams
    cards: Literal["2013", "classic", "coursework"]
    links_added: tuple[tuple[str, int, int], ...] = ()


EDITIONS = (
    Edition(
        name="london-2013",
        summary="the edition of 2013: 22 rounds, Bobbies, tickets from the box",
        ends_by="rounds",
        rounds=22,
        reveals=(3, 8, 13, 18, 24),
        detective_tickets=Tickets(11, 8, 4),
        supply="box",
        bobbies=True,
        cards="2013",
    ),
    Edition(
        name="london-classic",
        summary="the classic edition: 24 log slots, used tickets go to Mister X, no Bobbies",
        ends_by="slots",
        rounds=24,
        reveals=(3, 8, 13, 18),
        detective_tickets=Tickets(10, 8, 4),
        supply="to-mister-x",
        blacks_by_team=True,
        bobbies=False,
        cards="classic",
        links_added=(("taxi", 13, 14),),
    ),
    Edition(
        name="london-coursework",
        summary="as a published table was played: classic's end, the cards of 2013 but three",
        ends_by="slots",
        rounds=24,
        reveals=(3, 8, 13, 18, 24),
        detective_tickets=Tickets(11, 8, 4),
        supply="to-mister-x",
        bobbies=False,
        cards="coursework",
    ),
)

COURSEWORK_LACKS = frozenset((13, 34, 146))


def edition_of(name: str) -> Edition:
    """Return the edition of that name.

    Raises:
        ConfigError: if there is none.
    """
    for edition in EDITIONS:
        if edition.name == name:
            return edition
    known = ", ".join(edition.name for edition in EDITIONS)
    raise ConfigError(f"there is no edition {name!r}; there are {known}")


def options_of(edition: Edition) -> tuple[Option, ...]:
    """Return what an edition leaves open, the default first."""
    supplies = dict.fromkeys((edition.supply, "box", "unlimited", "to-mister-x"))
    options = [
        Option(name="players", values=(6, 2, 3, 4, 5), meaning="how many, Mister X counted"),
        Option(name="supply", values=tuple(supplies), meaning="where his tickets come from (L4)"),
        Option(
            name="stuck",
            values=("all", "detectives"),
            meaning="whose being unable to move ends the game (L33)",
        ),
    ]
    if edition.bobbies:
        options.append(
            Option(
                name="pool",
                values=tuple(POOLS),
                meaning="taxi, bus and metro tickets of the team of players=2, which pays together",
            )
        )
    if edition.blacks_by_team:
        options.append(
            Option(
                name="blacks",
                values=("detectives", 5),
                meaning="black tickets: as many as there are detectives, or 5",
            )
        )
    return tuple(options)


def numbers_of(edition: Edition, options: Mapping[str, str | int]) -> Numbers:
    """Return all numbers of an edition with its options chosen."""
    players = int(options["players"])
    detectives, bobbies = TEAMS[players]
    pool = POOLS[str(options["pool"])] if edition.bobbies and players == 2 else None
    each = edition.detective_tickets
    supply = cast(Literal["box", "unlimited", "to-mister-x"], options["supply"])
    held = pool or Tickets(each.taxi * detectives, each.bus * detectives, each.metro * detectives)
    box = edition.box
    start = {
        "box": Tickets(box.taxi - held.taxi, box.bus - held.bus, box.metro - held.metro),
        "unlimited": None,
        "to-mister-x": edition.own_stock,
    }[supply]
    return Numbers(
        players=players,
        detectives=detectives,
        bobbies=bobbies if edition.bobbies else 0,
        ends_by=edition.ends_by,
        rounds=edition.rounds,
        slots=edition.slots,
        reveals=edition.reveals,
        blacks=detectives if options.get("blacks") == "detectives" else edition.blacks,
        doubles=edition.doubles,
        detective_tickets=None if pool else each,
        pool=pool,
        supply=supply,
        supply_tickets=start,
        stuck=cast(Literal["all", "detectives"], options["stuck"]),
        cards=_cards(edition),
    )


def read_board(file: Traversable) -> MapFile:
    """Return a map file, checked.

    Raises:
        ConfigError: for an unknown id, a double link, a net in two parts, a start card of a station
            that does not exist …; names the file and the entry.
    """
    found = read_map(file, MapFile)
    ids = [station.id for station in found.stations]
    check_ids(file, "stations", ids)
    check_links(file, ids, asdict(found.links))
    check_cards(file, "start_cards.detectives", ids, found.start_cards.detectives)
    check_cards(file, "start_cards.mister_x", ids, found.start_cards.mister_x)
    check_cards(file, "classic_start_cards", ids, found.classic_start_cards)
    return found


@lru_cache(maxsize=1)
def _map_file() -> MapFile:
    """The map of the package."""
    return read_board(resources.files("arena.rules.london") / "data" / MAP)


@lru_cache(maxsize=len(EDITIONS))
def load_map(links_added: tuple[tuple[str, int, int], ...] = ()) -> Map:
    """Return the package's map with an edition's links added, made ready; cached."""
    found = _map_file()
    links = asdict(found.links)
    for vehicle, start, end in links_added:
        links[vehicle] = tuple(sorted((*links[vehicle], (start, end))))
    board = Board(found.name, found.aspect, found.stations, Links(**links))
    net = Net(board)
    return Map(board, canonical_hash(board), net, Announcer(net))


def bind(numbers: Numbers, loaded: Map) -> Rules:
    """Return numbers and board made ready."""
    return Rules(numbers, loaded.net, loaded.announcer)


def _cards(edition: Edition) -> Cards:
    """The start cards of an edition."""
    found = _map_file()
    if edition.cards == "classic":
        pile = found.classic_start_cards
        return Cards(detectives=pile, mister_x=pile, one_pile=True)
    lacks = COURSEWORK_LACKS if edition.cards == "coursework" else frozenset[int]()
    return Cards(
        detectives=tuple(card for card in found.start_cards.detectives if card not in lacks),
        mister_x=tuple(card for card in found.start_cards.mister_x if card not in lacks),
        one_pile=False,
    )
