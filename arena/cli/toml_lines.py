"""Which line of a TOML file each key stands in: `tomllib` does not tell.

The scan is made of text that `tomllib` has already accepted, so it only has to be right about what
is valid, and can stay small.
"""

from __future__ import annotations

import re
import tomllib

__all__ = ["Place", "key_lines"]

Place = tuple[str | int, ...]  # keys, and indices into arrays, from the top of the file

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
SCALAR = re.compile(r"[^,\]}\n#]+")
STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


def key_lines(text: str) -> dict[Place, int]:
    """Return the line, from 1, in which each key, table and array item of valid TOML begins.

    A key that stands in several places (a table opened by its parts) has its first line.
    """
    return Scan(text).lines


class Scan:
    """One walk over the text of a file, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.counted_to = 0
        self.line = 1
        self.lines: dict[Place, int] = {}
        self.tables: dict[Place, int] = {}  # arrays of tables: how many so far
        self.document()

    def document(self) -> None:
        """Read headers and `key = value` lines to the end."""
        table: Place = ()
        self.blank()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.blank()

    def header(self) -> Place:
        """Read `[a.b]` or `[[a.b]]`; return the place of the table that it opens."""
        many = self.text.startswith("[[", self.at)
        self.at += 1 + many
        line = self.here()
        keys = self.keys()
        self.at = self.text.index("]", self.at) + 1 + many
        place: Place = ()
        for depth, key in enumerate(keys):
            place = (*place, key)
            self.mark(place, line)
            last = depth == len(keys) - 1
            if last and many:
                self.tables[place] = self.tables.get(place, -1) + 1
            if place in self.tables:  # what follows belongs to the newest table of the array
                place = (*place, self.tables[place])
                self.mark(place, line)
        return place

    def pair(self, table: Place) -> None:
        """Read `key = value` of a table, or of an inline table."""
        line = self.here()
        place = table
        for key in self.keys():
            place = (*place, key)
            self.mark(place, line)
        self.at = self.text.index("=", self.at) + 1
        self.blank()
        self.value(place)

    def keys(self) -> list[str]:
        """Read a key, dotted or not, each part bare or quoted."""
        keys = []
        while True:
            self.blank()
            bare = BARE_KEY.match(self.text, self.at)
            if bare:
                keys.append(bare[0])
                self.at = bare.end()
            else:
                keys.append(self.string())
            self.blank()
            if not self.text.startswith(".", self.at):
                return keys
            self.at += 1

    def string(self) -> str:
        """Read a string of any of the four kinds."""
        for kind in STRINGS:
            found = kind.match(self.text, self.at)
            if found:
                self.at = found.end()
                value: str = tomllib.loads(f"s = {found[0]}")["s"]
                return value
        raise AssertionError(f"not valid TOML at character {self.at}")  # tomllib took it

    def value(self, place: Place) -> None:
        """Read past a value; mark the keys and items inside it."""
        first = self.text[self.at]
        if first in "\"'":
            self.string()
        elif first == "[":
            self.inside("]", place)
        elif first == "{":
            self.inside("}", place)
        else:
            found = SCALAR.match(self.text, self.at)
            self.at = found.end() if found else self.at + 1

    def inside(self, closing: str, place: Place) -> None:
        """Read an array or an inline table, from its bracket to behind the closing one."""
        self.at += 1
        count = 0
        while True:
            self.blank()
            if self.text[self.at] == ",":
                self.at += 1
            elif self.text[self.at] == closing:
                self.at += 1
                return
            elif closing == "}":
                self.pair(place)
            else:
                item = (*place, count)
                count += 1
                self.mark(item, self.here())
                self.value(item)

    def blank(self) -> None:
        """Skip spaces, line ends and comments."""
        found = BLANK.match(self.text, self.at)
        if found:
            self.at = found.end()

    def here(self) -> int:
        """Return the line of the place reached, counting on from the last question."""
        self.line += self.text.count("\n", self.counted_to, self.at)
        self.counted_to = self.at
        return self.line

    def mark(self, place: Place, line: int) -> None:
        """Note a place's line, unless it was seen before."""
        self.lines.setdefault(place, line)
