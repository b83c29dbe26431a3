"""London in characters: the map, the tickets, the travel log, and what happened in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

__all__ = ["FIGURES", "draws", "event_words", "log_text", "map_text", "tickets_table"]

# Colours that differ for those who tell red and green poorly; the labels alone tell it too.
FIGURES = {
    "x": "bold white on magenta",
    "d1": "bold black on bright_blue",
    "d2": "bold black on yellow",
    "d3": "bold black on bright_cyan",
    "d4": "bold black on bright_white",
    "d5": "bold black on bright_red",
    "b1": "bold white on blue",
    "b2": "bold white on blue",
}
SHOWN = "bold magenta"  # where Mister X was last seen
BELIEVED = "bold magenta"
CELL = 2.0  # a character's height in widths
STRETCH = 1.4  # by how much the map may be too high, where that makes room for numbers
LEAST_MAP = (60, 22)  # columns and rows, below which a map tells nothing


def draws(board: Any, view: Mapping[str, Any]) -> bool:
    """Whether a game has what is drawn here: stations with places, figures and a travel log."""
    return hasattr(board, "stations") and {"figures", "log", "doubles"} <= view.keys()


def map_text(
    board: Any,
    view: Mapping[str, Any],
    columns: int,
    rows: int,
    believed: Iterable[int] = (),
    *,
    plain: bool = False,
) -> Text | None:
    """Return the map as lines of one width; None where it has no room.

    Pawns come first, then where Mister X was seen last, then the other stations: by number where
    there is room for it, else as dots.

    Args:
        board: of the game.
        view: what the onlooker sees.
        columns: room, in characters.
        rows: room, in lines.
        believed: stations where Mister X can be, marked.
        plain: whether they are marked by a character, as there are no colours.
    """
    width = min(columns, int(rows * CELL * board.aspect))
    height = min(rows, int(width / CELL / board.aspect * STRETCH) + 1)
    if width < LEAST_MAP[0] or height < LEAST_MAP[1]:
        return None
    grid = _Grid(width, height)
    places = {
        station.id: (round(station.x * (width - 3)) + 1, round(station.y * (height - 1)))
        for station in board.stations
    }
    pawns = {figure["station"]: figure["figure"] for figure in view["figures"]}
    if "station" in view:
        pawns[view["station"]] = "x"
    for station, figure in pawns.items():
        grid.put(*places[station], "X " if figure == "x" else figure, FIGURES[figure], force=True)
    seen = [slot["station"] for slot in view["log"] if slot["station"]]
    if seen and seen[-1] not in pawns:
        grid.put(*places[seen[-1]], f"?{seen[-1]}", SHOWN, force=True)
    marked = [station for station in sorted(believed) if station not in pawns]
    for station in marked:
        grid.put(*places[station], f"*{station}" if plain else str(station), BELIEVED, or_dot="◆")
    for station, place in places.items():
        if station not in pawns and station not in marked:
            grid.put(*place, str(station), "dim", or_dot="·")
    return grid.text()


class _Grid:
    """Characters that are put where there is room."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._chars: dict[tuple[int, int], tuple[str, str]] = {}

    def put(
        self, x: int, y: int, label: str, style: str, *, force: bool = False, or_dot: str = ""
    ) -> None:
        """Put a label around a place; without room for it a dot, or nothing."""
        start = min(max(0, x - len(label) // 2), self.width - len(label))
        around = [(start + n, y) for n in range(-1, len(label) + 1)]
        if not force and any(place in self._chars for place in around):
            if (x, y) not in self._chars and or_dot:
                self._chars[x, y] = (or_dot, style)
            return
        for n, char in enumerate(label):
            self._chars[start + n, y] = (char, style)

    def text(self) -> Text:
        """Return the lines."""
        text = Text(no_wrap=True, overflow="crop")
        for y in range(self.height):
            for x in range(self.width):
                char, style = self._chars.get((x, y), (" ", ""))
                text.append(char, style or None)
            text.append("\n" if y < self.height - 1 else "")
        return text


def tickets_table(view: Mapping[str, Any]) -> Table:
    """Return where everybody stands and what they hold."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head in ("", "at", "taxi", "bus", "metro", "black", "2x"):
        table.add_column(head, justify="right" if head else "left", no_wrap=True)
    seen = [slot["station"] for slot in view["log"] if slot["station"]]
    at = str(view["station"]) if "station" in view else f"?{seen[-1]}" if seen else "?"
    x = Text(" X ", FIGURES["x"])
    table.add_row(x, at, *_kinds(view["supply"]), str(view["blacks"]), str(view["doubles"]))
    for figure in view["figures"]:
        name = figure["figure"]
        label = Text(f" {name} ", FIGURES[name])
        held = figure["tickets"]
        if figure["kind"] == "bobby":
            held = {"taxi": "any", "bus": "any", "metro": "any"}
        elif held is None:
            held = {"taxi": "pool", "bus": "pool", "metro": "pool"}
        if name in view["unmoved"]:
            label.append(" …")
        table.add_row(label, str(figure["station"]), *_kinds(held), "", "")
    if view["pool"] is not None:
        table.add_row("pool", "", *_kinds(view["pool"]), "", "")
    return table


def _kinds(tickets: Mapping[str, Any] | None) -> tuple[str, str, str]:
    if tickets is None:
        return "∞", "∞", "∞"
    return str(tickets["taxi"]), str(tickets["bus"]), str(tickets["metro"])


def log_text(view: Mapping[str, Any]) -> Text:
    """Return the travel log as it lies open: tickets by slot, stations where they were shown."""
    text = Text()
    text.append("travel log  ", "bold")
    for number, slot in enumerate(view["log"], 1):
        text.append(f"{number}:", "dim")
        text.append(slot["ticket"])
        if slot["station"]:
            text.append(f"@{slot['station']}", SHOWN)
        text.append(" ")
    return text


def event_words(event: Mapping[str, Any]) -> str:
    """Return what happened in a few words; any other ruleset's as its values."""
    kind = event.get("event", "")
    who = "X" if event.get("figure") == "x" else str(event.get("figure", ""))
    if kind == "move" and "ticket" in event:
        return f"{who} {event['ticket']} {event['to'] or '?'}"
    if kind == "double":
        return "double move:"
    if kind == "reveal" and "station" in event:
        return f"SEEN on {event['station']}"
    if kind == "sit_out":
        return f"{who} can't move"
    if kind == "capture" and "station" in event:
        return f"{who} CAPTURES X on {event['station']}"
    return " ".join(str(value) for value in event.values() if value is not None)
