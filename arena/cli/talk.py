"""Where a command's words go: results to stdout, talk to stderr, with `--json` one object."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType
    from rich.table import Table

__all__ = ["Settings", "Talk", "folded", "plural", "table"]

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
    """

    def __init__(self, settings: Settings, *, json: bool = False) -> None:
        self.settings = settings
        self.json = json

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
        """Print a result for people: to stdout, or with `--json` to stderr."""
        if isinstance(what, str):
            click.echo(what, err=self.json)
            return
        console = self.console(stderr=self.json)
        with console.capture() as captured:  # printed by click: rich ends the process on its own
            console.print(what)  #             terms where nobody reads on
        for line in captured.get().splitlines():
            click.echo(line.rstrip(), err=self.json)

    def say(self, text: str) -> None:
        """Print a word on what goes on, unless `-q`."""
        if not self.settings.quiet:
            click.echo(folded(text), err=True)

    def warn(self, text: str) -> None:
        """Print what a person should not miss, `-q` or not."""
        line = folded(f"warning: {text}")
        plain = not self.color or not sys.stderr.isatty()
        click.echo(line if plain else click.style(line, fg="yellow"), err=True)

    def next(self, text: str) -> None:
        """Print the one line that says what to do next."""
        self.say(f"Next: {text}")

    def answer(self, answer: msgspec.Struct) -> None:
        """Print the one JSON object, if `--json` asks for it."""
        if self.json:
            data = msgspec.json.encode(answer)
            click.echo(msgspec.json.format(data, indent=2).decode())


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
            made.add_column(column[1:], justify="right", no_wrap=True)
        else:
            made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    return made


def plural(count: int, noun: str, many: str | None = None) -> str:
    """Return a count with its noun: `1 game`, `2 games`, `1,000 games`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
