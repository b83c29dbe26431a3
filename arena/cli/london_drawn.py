"""London in characters: the map, the tickets, the travel log, and what happened in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from arena.cli.characters import FIGURES, field

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["event_words", "map_text", "panel"]

SHOWN = "bold magenta"  # where Mister X was last seen
BELIEVED = "bold magenta"


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
    grid = field(columns, rows, board.aspect)
    if grid is None:
        return None
    places = {station.id: grid.place(station.x, station.y) for station in board.stations}
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


def panel(board: Any, view: Mapping[str, Any], believed: int = 0) -> list[RenderableType]:
    """Return what always stands beside the map: tickets and the travel log.

    Args:
        board: of the game.
        view: what the onlooker sees.
        believed: how many stations Mister X can be on; 0 for nobody told.
    """
    del board
    parts: list[RenderableType] = [tickets_table(view), log_text(view)]
    if believed:
        stations = "1 station" if believed == 1 else f"{believed} stations"
        parts.append(Text(f"to the detectives X can be on {stations}", "magenta"))
    return parts


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
