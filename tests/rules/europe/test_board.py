"""Our board is what its SOURCE.md says; every mistake in a typed-in one names file and entry."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ConfigError
from arena.rules.europe.board import (
    ACTIONS,
    TRANSPORTS,
    Board,
    board_hash,
    load_board,
    warnings,
)
from arena.rules.europe.net import Net

BOARD = load_board()
NET = Net(BOARD)
NAMES = {city.id: city.name for city in BOARD.cities}
HASH = "3ad0c8db9fe5499b129d8753cfb83bc757a7baa8aa63cb0a31c41c63fa41e4b8"


def odd_board() -> dict[str, Any]:
    """Seven cities with gaps in their numbers, one mission, five cards, 27 tickets, no plane."""
    numbers = (3, 5, 8, 13, 21, 34, 55)
    kinds = ("car", "car", "rail", "car", "car", "rail", "car")
    return {
        "name": "Odd",
        "format": 1,
        "origin": "made for a test",
        "projection": "none",
        "transports": ["car", "rail", "air"],
        "cities": [
            {"id": number, "name": f"City {number}", "lat": None, "lon": None, "x": at, "y": -at}
            | {"kind": kind}
            for at, (number, kind) in enumerate(zip(numbers, kinds, strict=True))
        ],
        "links": {
            "car": [list(pair) for pair in itertools.pairwise(numbers)],
            "rail": [[8, 34]],
            "air": [],
        },
        "missions": {"violet": {"starts": [3], "targets": [55]}},
        "detective_starts": [5, 8, 13, 21, 34],
        "tickets": [
            {"transport": transport, "action": action, "count": 0 if transport == "air" else 5}
            for transport in TRANSPORTS
            for action in ACTIONS
        ],
    }


def write(folder: Path, content: dict[str, Any] | bytes) -> Path:
    file = folder / "board.json"
    file.write_bytes(content if isinstance(content, bytes) else msgspec.json.encode(content))
    return file


def parts(beside: Mapping[int, Iterable[int]]) -> list[set[int]]:
    """The connected parts of a net, largest first."""
    found: list[set[int]] = []
    left = set(beside)
    while left:
        waiting = [min(left)]
        part = set(waiting)
        while waiting:
            fresh = set(beside[waiting.pop()]) - part
            part |= fresh
            waiting.extend(fresh)
        found.append(part)
        left -= part
    return sorted(found, key=len, reverse=True)


def distances(start: int, beside: Mapping[int, Iterable[int]]) -> dict[int, int]:
    """City → moves from the start, for those that can be reached."""
    found = {start: 0}
    edge = [start]
    for moves in itertools.count(1):
        edge = sorted({end for city in edge for end in beside[city]} - set(found))
        if not edge:
            break
        found.update(dict.fromkeys(edge, moves))
    return found


# Our own board: the numbers of SOURCE.md (B2 to B6)


def test_own_board_has_its_cities_links_and_kinds() -> None:
    assert [city.id for city in BOARD.cities] == list(range(1, 111))
    assert [len(getattr(BOARD.links, t)) for t in TRANSPORTS] == [204, 121, 29]
    joined = {pair for t in TRANSPORTS for pair in getattr(BOARD.links, t)}
    assert len(joined) == 275
    assert all(start < end for start, end in joined)
    assert Counter(city.kind for city in BOARD.cities) == {"car": 21, "rail": 68, "air": 21}
    assert warnings(BOARD) == ()
    assert "not Ravensburger's" in BOARD.origin


def test_own_board_is_pinned_and_read_once() -> None:
    assert board_hash(BOARD) == HASH
    assert load_board() is BOARD


def test_own_board_goes_by_rows_from_north_to_south() -> None:
    """Numbers run row by row: a later city never lies more than a row further north."""
    heights = [city.y for city in BOARD.cities]
    assert all(later > max(heights[:at], default=0) - 60 for at, later in enumerate(heights))


def test_own_board_by_car_falls_into_six_parts_that_rail_and_ferry_join() -> None:
    found = parts(NET.neighbours["car"])
    assert [len(part) for part in found] == [93, 7, 4, 2, 2, 2]
    islands = [sorted(NAMES[city] for city in part) for part in found[1:]]
    assert "London" in islands[0]
    assert "Dublin" in islands[1]
    assert sorted(islands[2:]) == [
        ["Cagliari", "Sassari"],
        ["Catania", "Palermo"],
        ["Chania", "Heraklion"],
    ]
    ground = {city: {*NET.neighbours["car"][city], *NET.neighbours["rail"][city]} for city in NAMES}
    assert [len(part) for part in parts(ground)] == [110]


def test_own_board_has_no_city_whose_loss_splits_the_net() -> None:
    for lost in NAMES:
        rest = {
            city: set(ends) - {lost} for city, ends in NET.all_neighbours.items() if city != lost
        }
        assert len(parts(rest)) == 1, NAMES[lost]


def test_own_board_has_no_dead_end() -> None:
    degrees = {city: len(ends) for city, ends in NET.all_neighbours.items()}
    assert (min(degrees.values()), max(degrees.values())) == (2, 11)
    assert round(sum(degrees.values()) / len(degrees), 1) == 5.0
    assert {NAMES[city] for city, degree in degrees.items() if degree == 2} == {"Inverness", "Faro"}


def test_own_board_is_ten_moves_long() -> None:
    longest = max(max(distances(city, NET.all_neighbours).values()) for city in NAMES)
    assert longest == 10


def crossings(pairs: Iterable[tuple[int, int]]) -> int:
    """How many pairs of links cross that share no city."""
    at = {city.id: (city.x, city.y) for city in BOARD.cities}

    def turn(a: int, b: int, c: int) -> float:
        (ax, ay), (bx, by), (cx, cy) = at[a], at[b], at[c]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    return sum(
        turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0
        for (a, b), (c, d) in itertools.combinations(pairs, 2)
        if len({a, b, c, d}) == 4
    )


def test_own_board_has_one_crossing_of_links_of_one_transport() -> None:
    assert [crossings(getattr(BOARD.links, t)) for t in TRANSPORTS] == [0, 1, 0]


MISSIONS = {
    # nearest target of each start, the farthest of its targets, without air, by car alone
    "green": ((6, 7), 8, (7, 8), {"Brest": 8}),
    "yellow": ((8, 9), 10, (8, 10), (10, 12)),
    "orange": ((8, 9), 10, (9, 11), (12, 14)),
}


@pytest.mark.parametrize("colour", MISSIONS)
def test_own_missions_are_as_far_as_the_table_says(colour: str) -> None:
    mission = BOARD.missions[colour]
    assert (len(mission.starts), len(mission.targets)) == (6, 6)
    ground = {city: {*NET.neighbours["car"][city], *NET.neighbours["rail"][city]} for city in NAMES}

    def nearest(beside: Mapping[int, Iterable[int]]) -> dict[str, int]:
        found = {start: distances(start, beside) for start in mission.starts}
        return {
            NAMES[start]: min(way[city] for city in mission.targets if city in way)
            for start, way in found.items()
            if any(city in way for city in mission.targets)
        }

    def span(found: dict[str, int]) -> tuple[int, int]:
        return min(found.values()), max(found.values())

    by_any, farthest, without_air, by_car = MISSIONS[colour]
    assert span(nearest(NET.all_neighbours)) == by_any
    ways = [distances(start, NET.all_neighbours) for start in mission.starts]
    assert max(way[city] for way in ways for city in mission.targets) == farthest
    assert span(nearest(ground)) == without_air
    cars = nearest(NET.neighbours["car"])
    assert (cars if isinstance(by_car, dict) else span(cars)) == by_car


def test_own_missions_and_start_cards_are_cities_apart() -> None:
    starts_and_targets = [city for m in BOARD.missions.values() for city in (*m.starts, *m.targets)]
    assert len(starts_and_targets) == len(set(starts_and_targets)) == 36
    kinds = {city.id: city.kind for city in BOARD.cities}
    assert {kinds[city] for city in starts_and_targets} == {"car", "rail"}
    assert len(BOARD.detective_starts) == 15
    ways = [distances(card, NET.all_neighbours) for card in BOARD.detective_starts]
    assert min(way[city] for way in ways for city in starts_and_targets) == 2


def test_own_tickets_are_120_with_30_of_each_action() -> None:
    by_transport: Counter[str] = Counter()
    by_action: Counter[str] = Counter()
    for ticket in BOARD.tickets:
        by_transport[ticket.transport] += ticket.count
        by_action[ticket.action] += ticket.count
    assert by_transport == {"car": 56, "rail": 40, "air": 24}
    assert by_action == dict.fromkeys(ACTIONS, 30)


def test_source_tells_the_numbers_and_the_hash() -> None:
    text = (resources.files("arena.rules.europe") / "data" / "SOURCE.md").read_text("utf-8")
    for told in ("110", "204", "121", "29", "275", "21, 68, 21", "56, 40, 24", HASH):
        assert told in text, told


# Any board in the format


def test_tables_of_a_net_are_ascending_and_whole() -> None:
    for city in NAMES:
        ends = {
            end
            for t in TRANSPORTS
            for pair in getattr(BOARD.links, t)
            if city in pair
            for end in pair
        } - {city}
        assert NET.all_neighbours[city] == tuple(sorted(ends))
        for transport in TRANSPORTS:
            own = [pair for pair in getattr(BOARD.links, transport) if city in pair]
            found = NET.neighbours[transport][city]
            assert found == tuple(sorted(sum(pair) - city for pair in own))


def test_an_odd_board_is_read(tmp_path: Path) -> None:
    board = load_board(write(tmp_path, odd_board()))
    assert warnings(board) == ()
    net = Net(board)
    assert net.neighbours["car"][8] == (5, 13)
    assert net.neighbours["rail"][8] == (34,)
    assert net.neighbours["air"][8] == ()
    assert net.all_neighbours[8] == (5, 13, 34)
    assert board.missions["violet"].targets == (55,)
    assert board_hash(board) != HASH


def test_boards_that_differ_in_the_order_of_their_colours_are_different(tmp_path: Path) -> None:
    """With `mission=balanced` the colours follow each other as they stand."""
    content = odd_board()
    content["missions"]["amber"] = {"starts": [55], "targets": [3]}
    one = board_hash(load_board(write(tmp_path, content)))
    content["missions"] = dict(reversed(content["missions"].items()))
    assert board_hash(load_board(write(tmp_path, content))) != one
    content["missions"] = dict(reversed(content["missions"].items()))
    assert board_hash(load_board(write(tmp_path, dict(reversed(content.items()))))) == one


def change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Set the value at a dotted path, `...` deletes it; `+` appends to a list."""

    def edit(content: Any) -> None:
        *way, last = path.split(".")
        for key in way:
            content = content[int(key) if key.isdigit() else key]
        if last == "+":
            content.append(value)
        elif value is ...:
            del content[int(last) if last.isdigit() else last]
        else:
            content[int(last) if last.isdigit() else last] = value

    return edit


TEN = {"id": 89, "name": "Ten", "lat": None, "lon": None, "x": 0, "y": 0, "kind": "car"}


@pytest.mark.parametrize(
    ("edit", "entry", "says"),
    [
        (change("format", 2), "format", "is 2; this arena reads format 1"),
        (change("name", " "), "name", "printable"),
        (change("origin", "a\x1bb"), "origin", "a line of 1 to 1000 printable characters"),
        (change("origin", "a" * 1001), "origin", "a line of 1 to 1000 printable characters"),
        (change("name", "a" * 61), "name", "a line of 1 to 60 printable characters"),
        (change("projection", "a\nb"), "projection", "printable"),
        (change("transports", ["car", "rail"]), "transports", "must be car, rail, air"),
        (change("transports.2", "tram"), "$.transports[2]", "tram"),
        (change("links.tram", [[3, 5]]), "$.links", "tram"),
        (change("links.air", ...), "$.links", "air"),
        (change("links.car.+", [3, 99]), "links.car[6] (3-99)", "no place 99"),
        (change("links.car.+", [3, 5]), "links.car[6] (3-5)", "stands before, at links.car[0]"),
        (change("links.car.+", [5, 3]), "links.car[6] (5-3)", "stands before, at links.car[0]"),
        (change("links.car.+", [5, 5]), "links.car[6] (5-5)", "two different places"),
        (change("links.car.0", [5]), "$.links.car[0]", "length 2"),
        (change("links.car.0", [3, "5"]), "$.links.car[0]", "Expected `int`, got `str`"),
        (change("links.rail.+", [8, 13]), "links.rail[1] (8-13)", "13 (City 13), which is of kind"),
        (
            change("links.air.+", [3, 34]),
            "links.air[0] (3-34)",
            "no air link can end at 3 (City 3)",
        ),
        (
            change("links.air.+", [8, 34]),
            "links.air[0] (8-34)",
            "8 (City 8), which is of kind rail",
        ),
        (change("links.car.0", ...), "links", "not connected; no way leads to 5 and 5 more places"),
        (change("cities.+", TEN), "links", "no way leads to 89"),
        (change("cities.0.id", 0), "cities[0]", "ids begin at 1"),
        (change("cities.0.id", 10**9), "$.cities[0].id", "999999"),
        (change("cities.1.id", 3), "cities[1]", "id 3, which stands before"),
        (
            change("cities.1.name", "City 3"),
            "cities[1] (5)",
            "'City 3' stands before, at cities[0]",
        ),
        (change("cities.1.name", ""), "cities[1] (5)", "1 to 60 printable characters"),
        (change("cities.1.name", "\n"), "cities[1] (5)", "1 to 60 printable characters"),
        (change("cities.1.name", "a\x07"), "cities[1] (5)", "1 to 60 printable characters"),
        (change("cities.1.name", "a" * 61), "cities[1] (5)", "1 to 60 printable characters"),
        (change("cities.1.kind", "sea"), "$.cities[1].kind", "sea"),
        (change("cities.1.x", "3"), "$.cities[1].x", "got `str`"),
        (change("cities.1.size", 3), "$.cities[1]", "size"),
        (change("cities", []), "cities", "is empty"),
        (change("detective_starts.0", 4), "detective_starts[0]", "no place 4"),
        (change("detective_starts.0", 8), "detective_starts[1]", "card 8 stands before"),
        (change("detective_starts.0", ...), "detective_starts", "has 4 cities; 5 detectives need"),
        (change("missions", {}), "missions", "is empty"),
        (change("missions.Violet", {"starts": [3], "targets": [5]}), "missions", "'Violet'"),
        (
            change("missions.choose", {"starts": [3], "targets": [5]}),
            "missions",
            "as mission=choose",
        ),
        (change("cities.1.x", 1e10), "$.cities[1].x", "<= 1000000000"),
        (change("missions.violet.starts", []), "missions.violet.starts", "is empty"),
        (change("missions.violet.targets", []), "missions.violet.targets", "is empty"),
        (change("missions.violet.targets.0", 4), "missions.violet.targets[0]", "no place 4"),
        (change("missions.violet.starts.+", 3), "missions.violet.starts[1]", "3 stands before"),
        (change("missions.violet.targets.+", 3), "missions.violet.targets[1]", "3 is a start of"),
        (change("missions.violet.starts", [5, 8]), "missions.violet.starts", "on all of them"),
        (change("tickets.0.count", -1), "$.tickets[0].count", ">= 0"),
        (change("tickets.0.count", 1.5), "$.tickets[0].count", "got `float`"),
        (change("tickets.0.action", "jump"), "$.tickets[0].action", "jump"),
        (change("tickets.0.transport", "tram"), "$.tickets[0].transport", "tram"),
        (change("tickets.0.action", "special"), "tickets[3]", "counted before, at tickets[0]"),
        (change("tickets.0", ...), "tickets", "no entry for car with double"),
        (change("tickets", []), "tickets", "no entry for car with double"),
        (change("tickets", ...), "board.json", "tickets"),
        (change("more", 1), "board.json", "more"),
    ],
)
def test_a_mistake_is_named_with_file_and_entry(
    tmp_path: Path, edit: Callable[[dict[str, Any]], None], entry: str, says: str
) -> None:
    content = odd_board()
    edit(content)
    file = write(tmp_path, content)
    with pytest.raises(ConfigError) as caught:
        load_board(file)
    said = str(caught.value)
    assert said.startswith(f"{file}: ")
    assert entry in said
    assert says in said
    assert "\n" not in said


def test_too_few_tickets_to_deal_are_refused(tmp_path: Path) -> None:
    content = odd_board()
    for ticket, count in zip(content["tickets"], (8, 8, *[0] * 10), strict=True):
        ticket["count"] = count
    with pytest.raises(ConfigError, match=r"tickets: 16 tickets are too few; .* is dealt 17"):
        load_board(write(tmp_path, content))
    content["tickets"][0]["count"] = 9
    told = warnings(load_board(write(tmp_path, content)))
    assert told == (
        "links.rail has links, but tickets has none for rail",
        "tickets: 17 tickets are fewer than the 33 that six players are dealt",
    )


def test_cities_that_all_lie_on_one_place_are_a_warning(tmp_path: Path) -> None:
    content = odd_board()
    for city in content["cities"]:
        city["x"] = city["y"] = 0
    assert warnings(load_board(write(tmp_path, content))) == (
        "cities all lie on one place, so they are drawn in a ring; x and y say where they lie",
    )


def test_a_kind_without_a_link_of_its_own_is_a_warning(tmp_path: Path) -> None:
    content = odd_board()
    content["cities"][1]["kind"] = "air"
    content["cities"][6]["kind"] = "rail"
    assert warnings(load_board(write(tmp_path, content))) == (
        "cities[1] (City 5) is of kind air, but no air link ends there",
        "cities[6] (City 55) is of kind rail, but no rail link ends there",
    )


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"name": "\xff"}', b"[]", b"NaN"])
def test_what_is_no_board_at_all_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ConfigError, match=r"board\.json: "):
        load_board(write(tmp_path, content))


def test_a_missing_board_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.json: this map can't be read \(No such file"):
        load_board(tmp_path / "gone.json")


def test_a_mission_that_stands_twice_is_refused(tmp_path: Path) -> None:
    again = b'"violet":{"starts":[3],"targets":[55]},"violet":'
    text = msgspec.json.encode(odd_board()).replace(b'"violet":', again)
    with pytest.raises(ConfigError, match="the key 'violet' stands twice in one object"):
        load_board(write(tmp_path, text))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 60) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(st.data())
def test_no_mistake_in_a_board_is_anything_but_one_clear_sentence(data: st.DataObject) -> None:
    """Any value anywhere in the board, or any bytes at all: sound, or an error of one line."""
    content: Any = odd_board()
    place: Any = content
    key: Any = data.draw(st.sampled_from(sorted(place)))
    while isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
        place = place[key]
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
    place[key] = data.draw(JSON)
    text = data.draw(st.just(msgspec.json.encode(content)) | st.binary(max_size=40))
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder), text)
        said = f"{file}: sound"
        try:
            board: Board = load_board(file)
        except ConfigError as exc:
            said = str(exc)
        else:
            warnings(board)
            Net(board)
        assert said.startswith(f"{file}: ")
        assert "\n" not in said
