"""The line of every key of a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cli.toml_lines import Place, key_lines

FILE = '''\
# a comment with = and [brackets]
a = 1
b.c = "x # no comment"
"quoted key" = 'single'
long = """
text = "inside"
[not a table]
""" # after
multi = [
  1, # one
  [2, 3],
  { k = 4, "l m" = "}" },
]

[table]
a = 2
when = 2020-01-01T00:00:00Z
[table.under]
z = true
[[list]]
n = 1
[[list]]
n = 2
[list.sub]
m = \'\'\'it's ]\'\'\'
'''


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("a",), 2),
        (("b", "c"), 3),
        (("quoted key",), 4),
        (("long",), 5),
        (("multi",), 9),
        (("multi", 0), 10),
        (("multi", 1, 1), 11),
        (("multi", 2, "k"), 12),
        (("multi", 2, "l m"), 12),
        (("table",), 15),
        (("table", "a"), 16),
        (("table", "when"), 17),
        (("table", "under", "z"), 19),
        (("list", 0, "n"), 21),
        (("list", 1, "n"), 23),
        (("list", 1, "sub", "m"), 25),
    ],
)
def test_key_lines_finds_each_kind_of_key(place: Place, line: int) -> None:
    assert key_lines(FILE)[place] == line


def test_key_lines_knows_every_place_of_the_file_and_no_other() -> None:
    assert set(key_lines(FILE)) == set(places(tomllib.loads(FILE), ()))


def test_key_lines_reads_carriage_returns() -> None:
    assert key_lines("a = 1\r\n\r\nb = 2\r\n") == {("a",): 1, ("b",): 3}


def places(value: Any, place: Place) -> Iterator[Place]:
    """Every key and index inside a parsed file."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inside:
        yield (*place, key)
        if isinstance(item, dict | list):
            yield from places(item, (*place, key))


words = st.text(alphabet="ab#=[]{}\"'\\.,\n x", max_size=6)


def written(text: str) -> str:
    """A TOML basic string."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    return '"' + "".join(escapes.get(char, char) for char in text) + '"'


@given(st.dictionaries(words, st.lists(words, max_size=3), max_size=6))
def test_key_lines_agrees_with_where_keys_were_written(pairs: dict[str, list[str]]) -> None:
    text = ""
    lines: dict[Place, int] = {}
    for key, items in pairs.items():
        lines[key,] = text.count("\n") + 1
        text += f"{written(key)} = [ # {'x' * len(items)}\n"
        for number, item in enumerate(items):
            lines[key, number] = text.count("\n") + 1
            text += f"  {written(item)},\n\n"
        text += "]\n"
    assert key_lines(text) == lines
