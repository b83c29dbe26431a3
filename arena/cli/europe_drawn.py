"""Europe in characters: the map, hands, ticket board and entries, and what happened in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from arena.cli.characters import FIGURES, field
from reports.names import shown

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["event_words", "map_text", "panel"]

SEEN = "bold magenta"  # where Mister X was last known to be
BELIEVED = "bold magenta"
STAGES = {  # of a turn: what can be done next
    "mission": "names the mission",
    "start": "chooses the start",
    "move": "moves",
    "double": "makes a double move",
    "second": "moves again",
    "hidden": "lays a hidden move",
    "pay": "pays for an action",
    "action": "may act",
    "refill": "may put tickets back",
}
ASPECT = 1.0  # width of the field by its height


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

    Figures come first, then the city of Mister X's last entry that is known, then the other cities:
    by number, which is what a person types, where there is room for it, else as dots.

    Args:
        board: of the game.
        view: what the onlooker sees.
        columns: room, in characters.
        rows: room, in lines.
        believed: cities where Mister X can be, marked.
        plain: whether they are marked by a character, as there are no colours.
    """
    grid = field(columns, rows, ASPECT)
    if grid is None:
        return None
    across, down = [city.x for city in board.cities], [city.y for city in board.cities]
    left, top = min(across), min(down)
    wide, high = max(across) - left or 1.0, max(down) - top or 1.0
    places = {
        city.id: grid.place((city.x - left) / wide, (city.y - top) / high) for city in board.cities
    }
    pawns = {figure["city"]: figure["figure"] for figure in view["figures"]}
    if view["city"] is not None:
        pawns[view["city"]] = "x"
    for city, figure in pawns.items():
        grid.put(*places[city], "X " if figure == "x" else figure, FIGURES[figure], force=True)
    last = last_known(view)
    if last is not None and last not in pawns:
        grid.put(*places[last], f"?{last}", SEEN, force=True)
    marked = [city for city in sorted(believed) if city not in pawns]
    for city in marked:
        grid.put(*places[city], f"*{city}" if plain else str(city), BELIEVED, or_dot="◆")
    for city, place in places.items():
        if city not in pawns and city not in marked:
            grid.put(*place, str(city), "dim", or_dot="·")
    return grid.text()


def last_known(view: Mapping[str, Any]) -> int | None:
    """Return the city of Mister X's last entry that this side knows."""
    known: list[int] = [city for city in view["entries"] if city is not None]
    return known[-1] if known else None


def panel(board: Any, view: Mapping[str, Any], believed: int = 0) -> list[RenderableType]:
    """Return what always stands beside the map: whose it is, mission, figures, hands, entries.

    Args:
        board: of the game.
        view: what the onlooker sees.
        believed: how many cities Mister X can be in; 0 for nobody told.
    """
    parts: list[RenderableType] = [origin_text(board), mission_text(view)]
    parts.append(figures_table(board, view))
    parts += [*hands_of(view), log_text(view)]
    if believed:
        cities = "1 city" if believed == 1 else f"{believed} cities"
        parts.append(Text(f"to the detectives X can be in {cities}", "magenta"))
    return parts


def origin_text(board: Any) -> Text:
    """Return whose board it is, as far as there is room in a line."""
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append("board  ", "bold")
    text.append(shown(board.origin), "dim")
    return text


def mission_text(view: Mapping[str, Any]) -> Text:
    """Return mission, stage of the turn, and what lies open besides."""
    text = Text()
    text.append("mission  ", "bold")
    text.append(view["colour"] or "not named yet")
    text.append(f"   {STAGES[view['stage']]}   bag {view['bag']}")
    for key in ("spent", "paid"):
        if view[key]:
            text.append(f"   {key} {counted(view[key])}")
    return text


def figures_table(board: Any, view: Mapping[str, Any]) -> Table:
    """Return where everybody stands, by number and name."""
    names = {city.id: shown(city.name) for city in board.cities}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head in ("", "led by", "at", "city"):
        table.add_column(head, justify="right" if head == "at" else "left", no_wrap=True)
    at, last = view["city"], last_known(view)
    if at is not None:
        told = str(at), names[at]
    elif last is not None:
        told = f"?{last}", f"was in {names[last]}"
    else:
        told = "?", ""
    table.add_row(Text(" X ", FIGURES["x"]), "", *told)
    for figure in view["figures"]:
        label = Text(f" {figure['figure']} ", FIGURES[figure["figure"]])
        if figure["figure"] in view["unmoved"]:
            label.append(" …")
        table.add_row(label, figure["player"], str(figure["city"]), names[figure["city"]])
    return table


def hands_of(view: Mapping[str, Any]) -> list[Text]:
    """Return what players hold, as far as it is seen: tickets, or how many."""
    own = counted(view["hand"]) if "hand" in view else f"{view['mister_x_hand']} tickets"
    if "hands" in view:
        hands = [counted(hand) for hand in view["hands"]]
    else:
        hands = [f"{size} tickets" for size in view["hand_sizes"]]
    found = []
    for name, held in (("X", own), *((f"p{k}", hand) for k, hand in enumerate(hands, 1))):
        text = Text()
        text.append(f"{name}  ", "bold")
        text.append(held or "none")
        found.append(text)
    return found


def counted(hand: Sequence[str]) -> str:
    """Return tickets with how often each is there: `car-double ×2, rail-hidden`."""  # noqa: RUF002 - a sign of times
    return ", ".join(
        ticket if count == 1 else f"{ticket} ×{count}"  # noqa: RUF001 - a sign of times
        for ticket, count in Counter(hand).items()
    )


def log_text(view: Mapping[str, Any]) -> Text:
    """Return the ticket board by entry, and cities where this side knows them."""
    text = Text()
    text.append("entries  ", "bold")
    board = view["board"]
    for number, city in enumerate(view["entries"]):
        slot = board[number - 1] if 0 < number <= len(board) else None
        text.append(f"{number}:", "dim")
        if number == 0:
            text.append("start")
        elif slot is not None:
            text.append("hidden" if slot["ticket"] is None else slot["ticket"].partition("-")[0])
        if city is not None:
            text.append(f"@{city}", SEEN if number in view["known"] else "")
        text.append(" ")
    return text


def event_words(event: Mapping[str, Any]) -> str:
    """Return what happened in a few words; a thing unknown here as its values."""
    kind = event.get("event", "")
    if kind not in WORDS:
        return " ".join(str(value) for value in event.values() if value is not None)
    told = {key: "?" if value is None else value for key, value in event.items()}
    who = "X" if event.get("figure") == "x" else event.get("figure")
    player = "X" if event.get("player") == "x" else event.get("player")
    ticket = "a ticket" if event.get("ticket") is None else event["ticket"]
    drawn = ""
    if kind == "draw" and event["tickets"] is not None:
        drawn = f": {counted(event['tickets'])}"
    cities = ", ".join(map(str, event.get("cities", ())))
    path = ", ".join(map(str, event.get("path", ())))
    more = {"who": who, "player": player, "ticket": ticket, "drawn": drawn, "cities": cities}
    return WORDS[kind].format(**{**told, **more, "path": path})


WORDS = {
    "mission": "mission {colour}",
    "start": "X starts in {city}",
    "place": "the detectives start in {cities}",
    "move": "{who} {ticket} {to}",
    "pay": "{player} pays {ticket}",
    "lay": "X lays {ticket} face down, to {to}",
    "stuck": "X is stuck and puts back {tickets} tickets",
    "put_back": "{player} puts back {ticket}",
    "draw": "{player} draws {count}{drawn}",
    "shortage": "{tickets} tickets go from the box into the bag",
    "sit_out": "{who} stays",
    "investigate": "X's entry {entry} was {city}",
    "special": "{who} special, by {transport} to {to}",
    "open": "X is SEEN in {city} (entry {entry})",
    "declare": "X's entry {entry} was {city}: DECLARED",
    "capture": "{who} CAPTURES X in {city}",
    "end": "X's path: {path}",
}
