"""How a run is watched: a live table on a terminal, one line a minute elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich import box
from rich.console import Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from arena.cli.ratings_shown import share
from arena.cli.talk import PIPE_WIDTH, narrow
from arena.cli.tally import Tally
from reports.names import shown as as_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from arena.cli.talk import Talk

__all__ = ["LiveView", "PlainView", "View", "watching"]

EVERY_S = 60.0  # between two lines where nobody watches
FRAMES_PER_S = 4.0
AROUND = 8  # lines of the live view that are no bot's, one left over so that nothing scrolls


class View(Protocol):
    """What is told of a tally each time that it changes."""

    def update(self) -> None:
        """Look at the tally."""


class QuietView:
    """Says nothing, as `-q` asks."""

    def update(self) -> None:
        """Do nothing."""


class PlainView:
    """One line a minute, for log files."""

    def __init__(self, tally: Tally, talk: Talk) -> None:
        self.tally = tally
        self.talk = talk
        self.told = time.monotonic()

    def update(self) -> None:
        """Print the headline if a minute has passed."""
        now = time.monotonic()
        if now - self.told >= EVERY_S:
            self.told = now
            self.talk.say(self.tally.headline(now))


class LiveView:
    """A table that is drawn again and again in place; `live` draws it by its own clock."""

    def __init__(self, tally: Tally, console: Console) -> None:
        self.tally = tally
        self.console = console

    def update(self) -> None:
        """Do nothing: frames are drawn by the clock, not by the game."""

    def __rich__(self) -> RenderableType:
        """Return the picture of this moment."""
        return picture(
            self.tally,
            time.monotonic(),
            rows=self.console.height - AROUND,
            width=self.console.width,
        )


def picture(tally: Tally, now: float, *, rows: int, width: int = PIPE_WIDTH) -> Group:
    """Return the bar, the headline, the table of the best `rows` bots, and faults by kind."""
    bar = ProgressBar(total=max(tally.planned, 1), completed=tally.done, width=None)
    parts: list[RenderableType] = [Text(tally.headline(now)), Padding(bar, 0)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("bot", no_wrap=True, overflow="ellipsis", min_width=8, max_width=24)
    for column in ("games", "won", "as Mister X", "as detectives", "faults"):
        table.add_column(column, justify="right", no_wrap=True)
    standings = tally.standings()
    shown = standings if len(standings) <= rows else standings[: max(rows - 1, 1)]
    for row in shown:
        table.add_row(
            Text(as_text(row.name)),
            f"{row.games:,}",
            share(row.won, row.games),
            share(row.won_x, row.games_x),
            share(row.won_d, row.games_d),
            Text(f"{row.faults:,}" if row.faults else "·", style="red" if row.faults else ""),
        )
    narrow(table, width)
    parts.append(table)
    if len(shown) < len(standings):
        parts.append(Text(f"… and {len(standings) - len(shown)} more bots"))
    return Group(*parts)


@contextmanager
def watching(tally: Tally, talk: Talk) -> Iterator[View]:
    """Give the view that suits the stream: nothing with `-q`, a live table on a terminal."""
    console = talk.console(stderr=True)
    if talk.settings.quiet:
        yield QuietView()
    elif console.is_terminal and not console.is_dumb_terminal:
        view = LiveView(tally, console)
        with Live(
            view,
            console=console,
            refresh_per_second=FRAMES_PER_S,
            transient=True,
            vertical_overflow="crop",
            redirect_stdout=False,
            redirect_stderr=False,
        ):
            yield view
    else:
        yield PlainView(tally, talk)
