"""Where a command's words go: results to stdout, talk to stderr, with `--json` one object."""

from __future__ import annotations

import json as json_text
import logging
import os
import re
import shlex
import shutil
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from reports.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType
    from rich.table import Column, Table

__all__ = [
    "DATA",
    "Settings",
    "Talk",
    "folded",
    "narrow",
    "plural",
    "table",
    "visible",
    "visible_json",
]

DATA = Path("arena-data")  # where everything is kept, if nothing else is said

# A command that looks for games, or stores them, as the text of an error names it.
STORED = re.compile("`(arena (?:games|play|report|resume|run|verify)(?![^`]* --data )[^`]*)`")

LEAST_TEXT = 10  # columns of text that can be broken
GAP = 3  # blanks between two columns
PIPE_WIDTH = 400  # columns when nobody looks: a table in a file is never squeezed


@dataclass
class Settings:
    """What `-q`, `-v` and `--no-color` say, before or behind the command's name."""

    quiet: bool = False
    verbose: int = 0
    color: bool = True

    def set_up_logging(self) -> None:
        """Send the log to stderr: warnings, with `-v` what happens, with `-vv` everything."""
        level = logging.ERROR if self.quiet else logging.WARNING
        if self.verbose:
            level = logging.INFO if self.verbose == 1 else logging.DEBUG
        logging.basicConfig(
            level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
        )


class Talk:
    """The two streams of one command.

    Args:
        settings: of the command line.
        json: whether stdout carries the one JSON object; every other word then goes to stderr.
        data: the data folder, for the commands that are told to a person.

    Attributes:
        has_answered: whether the JSON object is printed, or would be.
    """

    def __init__(self, settings: Settings, *, json: bool = False, data: Path = DATA) -> None:
        self.settings = settings
        self.json = json
        self.data = data
        self.has_answered = False

    @property
    def color(self) -> bool:
        """Whether colours are wanted at all; streams that are no terminal never get them."""
        return self.settings.color and not os.environ.get("NO_COLOR")

    def console(self, *, stderr: bool) -> Console:
        """Return a rich console on one of the streams, as they are at this moment."""
        from rich.console import Console

        stream = sys.stderr if stderr else sys.stdout
        terminal = stream.isatty()
        return Console(
            file=stream,
            color_system="auto" if self.color else None,
            highlight=False,
            markup=False,
            emoji=False,
            width=None if terminal or os.environ.get("COLUMNS") else PIPE_WIDTH,
        )

    @property
    def width(self) -> int:
        """Columns that a result may take."""
        return self.console(stderr=self.json).width

    def result(self, what: RenderableType) -> None:
        """Print a result for people: to stdout; beside the JSON object to stderr, unless `-q`."""
        if self.json and self.settings.quiet:  # the object is the result
            return
        if isinstance(what, str):
            click.echo(visible(what), err=self.json)
            return
        console = self.console(stderr=self.json)
        dropped = narrow(what, console.width)
        with console.capture() as captured:  # printed by click: rich ends the process on its own
            console.print(what)  #             terms where nobody reads on
        for line in captured.get().splitlines():
            click.echo(line.rstrip(), err=self.json)
        if dropped:
            self.say(f"(No room for {', '.join(dropped)}: a wider terminal or --json shows all.)")

    def say(self, text: str) -> None:
        """Print a word on what goes on, unless `-q`."""
        if not self.settings.quiet:
            click.echo(folded(visible(text)), err=True)

    def warn(self, text: str) -> None:
        """Print what a person should not miss, `-q` or not."""
        line = folded(visible(f"warning: {text}"))
        plain = not self.color or not sys.stderr.isatty()
        click.echo(line if plain else click.style(line, fg="yellow"), err=True)

    def alarm(self, text: str) -> None:
        """Print a warning that is spelt out in full elsewhere, `-q` or not."""
        line = folded(visible(text))
        plain = not self.color or not sys.stderr.isatty()
        click.echo(line if plain else click.style(line, fg="red", bold=True), err=True)

    def next(self, text: str, why: str = "", *, data: bool = False) -> None:
        """Print the one line that says what to do next.

        Args:
            text: a command, or what else to do.
            why: what it is good for.
            data: whether it goes on in the data folder of this command.
        """
        command = self.here(text) if data else text
        self.say(f"Next: {command}" + (f"   ({why})" if why else ""))

    def here(self, command: str) -> str:
        """Return a command as it must be typed to work on the same data folder."""
        return command if self.data == DATA else f"{command} --data {shlex.quote(str(self.data))}"

    def with_data(self, text: str) -> str:
        """Return an error's text whose commands, in backquotes, work on the same data folder."""
        return STORED.sub(lambda found: f"`{self.here(found[1])}`", text)

    def answer(self, answer: msgspec.Struct) -> None:
        """Print the one JSON object, if `--json` asks for it."""
        self.has_answered = True
        if self.json:
            try:
                text = msgspec.json.format(msgspec.json.encode(answer), indent=2)
            except UnicodeEncodeError:  # a file's name that is no text: its bytes are escaped
                text = json_text.dumps(msgspec.to_builtins(answer), indent=2).encode("ascii")
            click.echo(visible_json(text))  # bytes: JSON is UTF-8 everywhere


def visible(text: str) -> str:
    """Return text that a terminal only shows: what a stranger wrote can't move its cursor.

    Lines stay, and tabs become spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    lines = ("\t".join(map(shown, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(line.expandtabs() for line in lines)


def visible_json(text: bytes) -> bytes:
    r"""Return JSON that says the same, and that a terminal only shows.

    JSON lets a string hold the control characters over ASCII as they are, marks that turn the
    direction of text, and ends of lines that some programs heed. They are written as `\u009b`.
    """
    if text.isascii() and b"\x7f" not in text:
        return text  # those below a blank are escaped by every encoder
    return "".join(
        char if char == "\n" or shown(char) == char else json_text.dumps(char)[1:-1]
        for char in text.decode()
    ).encode()


def folded(text: str) -> str:
    """Return text for stderr: on a terminal its lines are broken between words."""
    if not sys.stderr.isatty():
        return text
    width = shutil.get_terminal_size().columns
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()))
        wrapped = textwrap.wrap(
            line,
            width,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += wrapped or [""]
    return "\n".join(lines)


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None
) -> Table:
    """Return a rich table: text columns left, columns whose name starts with `#` right-aligned."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, show_edge=False
    )
    for column in columns:
        if column.startswith("#"):
            made.add_column(Text(shown(column[1:])), justify="right", no_wrap=True)
        else:
            made.add_column(Text(shown(column)), overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(shown(str(cell))) for cell in row))
    return made


def narrow(made: RenderableType, width: int) -> list[str]:
    """Drop a table's last columns until those that are left can be read; return their heads.

    Args:
        made: a table, changed in place; anything else is left alone.
        width: columns of the terminal, in characters.
    """
    from rich.cells import cell_len
    from rich.table import Table

    if not isinstance(made, Table):
        return []

    def least(column: Column) -> int:
        widest = max(cell_len(str(cell)) for cell in (column.header, *column.cells))
        return widest if column.no_wrap else min(widest, LEAST_TEXT)

    dropped = []
    while len(made.columns) > 2:
        if sum(map(least, made.columns)) + GAP * (len(made.columns) - 1) <= width:
            break
        dropped.append(str(made.columns.pop().header))
    return dropped[::-1]


def plural(count: int, noun: str, many: str | None = None) -> str:
    """Return a count with its noun: `1 game`, `2 games`, `1,000 games`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
