"""Every mistake in a typed-in map is one error that names the file and the entry."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ConfigError
from arena.rules.board import canonical_hash, check_links
from arena.rules.london.presets import read_board


def small_map() -> dict[str, Any]:
    return {
        "name": "Small",
        "aspect": 1.5,
        "stations": [{"id": number, "x": 0.1 * number, "y": 0.5} for number in (1, 2, 3, 4)],
        "links": {"taxi": [[1, 2], [2, 3]], "bus": [[1, 3]], "metro": [], "ferry": [[3, 4]]},
        "start_cards": {"detectives": [1, 2], "mister_x": [3, 4]},
        "classic_start_cards": [1, 2, 3],
    }


def write(folder: Path, content: dict[str, Any] | bytes) -> Path:
    file = folder / "map.json"
    file.write_bytes(content if isinstance(content, bytes) else msgspec.json.encode(content))
    return file


def test_a_sound_map_is_read(tmp_path: Path) -> None:
    board = read_board(write(tmp_path, small_map()))
    assert board.links.taxi == ((1, 2), (2, 3))
    assert [station.id for station in board.stations] == [1, 2, 3, 4]


def change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Set the value at a dotted path; `+` appends to a list."""

    def edit(content: Any) -> None:
        *way, last = path.split(".")
        for key in way:
            content = content[int(key) if key.isdigit() else key]
        if last == "+":
            content.append(value)
        elif value is None:
            del content[last]
        else:
            content[int(last) if last.isdigit() else last] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "entry", "says"),
    [
        (change("links.taxi.+", [2, 9]), "links.taxi[2] (2-9)", "no place 9"),
        (change("links.bus.0", [8, 1]), "links.bus[0] (8-1)", "no place 8"),
        (change("links.taxi.+", [1, 2]), "links.taxi[2] (1-2)", "stands before, at links.taxi[0]"),
        (change("links.taxi.+", [3, 2]), "links.taxi[2] (3-2)", "stands before, at links.taxi[1]"),
        (change("links.taxi.+", [2, 2]), "links.taxi[2] (2-2)", "two different places"),
        (change("links.ferry", []), "links", "not connected; no way leads to 4"),
        (change("stations.+", {"id": 5, "x": 0, "y": 0}), "links", "no way leads to 5"),
        (change("stations.+", {"id": 2, "x": 0, "y": 0}), "stations[4]", "id 2, which stands"),
        (change("stations.0", {"id": 0, "x": 0, "y": 0}), "stations[0]", "ids begin at 1"),
        (change("stations", []), "stations", "is empty"),
        (change("start_cards.detectives.+", 7), "start_cards.detectives[2]", "no place 7"),
        (change("start_cards.mister_x.1", 9), "start_cards.mister_x[1]", "no place 9"),
        (change("start_cards.mister_x.1", 3), "start_cards.mister_x[1]", "card 3 stands before"),
        (change("classic_start_cards.0", 6), "classic_start_cards[0]", "no place 6"),
        (change("links.taxi.0", [1]), "$.links.taxi[0]", "length 2"),
        (change("links.taxi.0", [1, "2"]), "$.links.taxi[0]", "Expected `int`, got `str`"),
        (change("links.taxi", None), "$.links", "taxi"),
        (change("links.tram", [[1, 2]]), "$.links", "tram"),
        (change("stations.0.colour", "red"), "$.stations", "colour"),
        (change("start_cards", None), "map.json", "start_cards"),
    ],
)
def test_a_mistake_is_named_with_file_and_entry(
    tmp_path: Path, edit: Callable[[dict[str, Any]], None], entry: str, says: str
) -> None:
    content = small_map()
    edit(content)
    file = write(tmp_path, content)
    with pytest.raises(ConfigError) as caught:
        read_board(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert entry in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"name": "\xff"}', b"[]", b"NaN"])
def test_what_is_no_map_at_all_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ConfigError, match=r"map\.json: "):
        read_board(write(tmp_path, content))


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    text = msgspec.json.encode(small_map()).replace(b'"taxi":', b'"taxi":[],"taxi":')
    with pytest.raises(ConfigError, match=r"map\.json: the key 'taxi' stands twice"):
        read_board(write(tmp_path, text))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 6) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(st.data())
def test_no_mistake_in_a_map_is_anything_but_one_clear_sentence(data: st.DataObject) -> None:
    """Any value anywhere in the map, or any bytes at all: sound, or a ConfigError of one line."""
    content: Any = small_map()
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
            read_board(file)
        except ConfigError as exc:
            said = str(exc)
        assert said.startswith(f"{file}: ")
        assert "\n" not in said


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda text: b"\xef\xbb\xbf" + text, "a byte order mark; save it as UTF-8 without one"),
        (lambda text: text.decode().encode("utf-16"), "not UTF-8 (line 1); save the file as UTF-8"),
        (lambda text: text.replace(b"Small", b"\n Sm\xe4ll"), "not UTF-8 (line 2)"),
        (
            lambda text: text.replace(b"],", b"]\n,", 1) + b"\n\nmore",
            "line 4, column 1: Extra data",
        ),
        (lambda text: text.replace(b'"aspect"', b"\n\naspect"), "no JSON in line 3, column 1: "),
        (lambda text: text.replace(b"1.5", b"NaN"), "invalid character (byte "),
        (lambda _: b" \n", "the file is empty"),
    ],
)
def test_what_is_no_json_is_told_by_its_line(
    tmp_path: Path, edit: Callable[[bytes], bytes], says: str
) -> None:
    file = write(tmp_path, edit(msgspec.json.encode(small_map())))
    with pytest.raises(ConfigError) as caught:
        read_board(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert says in str(caught.value)


def test_a_missing_map_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.json: this map can't be read \(No such file"):
        read_board(tmp_path / "gone.json")


def test_many_lost_places_are_counted() -> None:
    with pytest.raises(ConfigError, match="no way leads to 2 and 2 more places"):
        check_links("f", (1, 2, 3, 4), {"taxi": [(2, 3), (3, 4)]})
    check_links("f", (1, 2, 3, 4), {"taxi": [(2, 3), (3, 4)]}, connected=False)


def test_the_hash_goes_by_content_not_by_order_of_keys() -> None:
    assert canonical_hash({"b": 1, "a": [2]}) == canonical_hash({"a": [2], "b": 1})
    assert canonical_hash({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()
