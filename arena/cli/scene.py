"""What is seen of a game in play: one picture for every size of window, and lines without one."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from rich.console import Group
from rich.table import Table
from rich.text import Text

from arena.cli import europe_drawn, london_drawn
from arena.cli.following import Following, Told
from arena.rules.ruleset import Event, Side
from reports.names import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console, RenderableType

__all__ = ["Eyes", "line_of", "picture", "sees", "standing"]

Eyes = Literal["mister_x", "detectives", "everything"]

LEAST = (110, 30)  # columns and rows of a window that a map fits in beside the rest
PANEL = 46  # columns beside the map
SIDES = {Side.MISTER_X: "Mister X", Side.DETECTIVES: "detectives"}
NOTE = 160  # characters of a note that are shown
# By what stands before the first hyphen of a ruleset's name; any other game is told in words.
DRAWINGS = {"london": london_drawn, "europe": europe_drawn}


def drawing_of(following: Following) -> ModuleType | None:
    """Return the module that draws this game, if there is one."""
    return DRAWINGS.get(following.ruleset.name.partition("-")[0])


def sees(eyes: Eyes, side: Side) -> bool:
    """Whether somebody with these eyes sees a side's secrets: its notes and standard error."""
    return eyes in ("everything", side.value)


def _as(eyes: Eyes) -> Side:
    """Whose view these eyes have; who sees everything sees what Mister X does, and more."""
    return Side.DETECTIVES if eyes == "detectives" else Side.MISTER_X


def picture(
    following: Following,
    eyes: Eyes,
    console: Console,
    *,
    spare: int = 0,
    below: str = "",
    believe: bool = False,
) -> list[str]:
    """Return a frame as lines for a terminal, no more than fit.

    Args:
        following: the game.
        eyes: whose.
        console: that it is drawn on; its size is looked up now.
        spare: lines that are kept free below.
        below: the frame's last line.
        believe: whether the stations where Mister X can be, by all that the detectives know, are
            marked and counted.
    """
    width, height = console.size
    rows = max(4, height - spare - 1)
    foot = [below[: width - 1]] if below else []
    rows -= len(foot)
    view = view_of(following, eyes)
    board = following.ruleset.board
    believed = following.believed() if believe else frozenset()
    drawn = None
    drawing = drawing_of(following)
    if drawing is not None and width >= LEAST[0] and height >= LEAST[1]:
        plain = console.color_system is None
        drawn = drawing.map_text(board, view, width - PANEL - 2, rows - 1, believed, plain=plain)
    if drawn is None:
        fixed = lines(
            console, head(following, eyes, view, wide=False, believed=len(believed)), width
        )
        return fitted(fixed, following, eyes, console, width, rows) + foot
    panel = fitted(
        lines(console, head(following, eyes, view, wide=True, believed=len(believed)), PANEL),
        following,
        eyes,
        console,
        PANEL,
        rows - 1,
    )
    both = Table.grid(padding=(0, 1), pad_edge=False)
    both.add_column(width=width - PANEL - 2, no_wrap=True)
    both.add_column(width=PANEL, no_wrap=True)
    both.add_row(drawn, Text.from_ansi("\n".join(panel)))
    return lines(console, Group(title(following), both), width)[:rows] + foot


def standing(following: Following, eyes: Eyes, console: Console) -> list[str]:
    """Return where everybody stands, without a map and what happened: for between other lines."""
    view = view_of(following, eyes)
    return lines(console, head(following, eyes, view, wide=True), console.width)


def fitted(
    fixed: list[str], following: Following, eyes: Eyes, console: Console, width: int, rows: int
) -> list[str]:
    """Return the fixed lines, and below them as much as fits of what happened last."""
    extra = lines(console, told_below(following, eyes), width)
    room = max(0, rows - len(fixed) - len(extra))
    past: list[str] = []
    for told in reversed(following.told[-200:]):
        said = lines(console, line_of(following, told, eyes), width)
        if len(past) + len(said) > room:
            break
        past[:0] = said
    return (fixed + past + extra)[:rows]


def lines(console: Console, what: RenderableType, width: int) -> list[str]:
    """Return something as lines of at most this width, with their colours."""
    with console.capture() as captured:
        console.print(what, width=width, no_wrap=None, soft_wrap=False)
    return captured.get().rstrip("\n").split("\n") if captured.get().strip() else []


def view_of(following: Following, eyes: Eyes) -> dict[str, Any]:
    """Return what these eyes see of the state; those that see everything, what either side does."""
    ruleset, state = following.ruleset, following.state
    view: dict[str, Any] = msgspec.to_builtins(ruleset.view(state, _as(eyes)))
    if eyes == "everything":
        view = {**msgspec.to_builtins(ruleset.view(state, Side.DETECTIVES)), **view}
    return view


def title(following: Following) -> Text:
    """Return the line over everything."""
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(following.ruleset.text, "bold")
    text.append(f"   X {shown(following.name(Side.MISTER_X))}", "magenta")
    text.append(f"   detectives {shown(following.name(Side.DETECTIVES))}", "cyan")
    return text


def status(following: Following, view: dict[str, Any]) -> Text:
    """Return round, who is to move, and the clocks."""
    text = Text(no_wrap=True, overflow="ellipsis")
    if "round" in view:
        text.append(f"round {view['round']}  ", "bold")
    if following.to_move is not None:
        text.append(f"{SIDES[following.to_move]} to move")
    verdict = following.ruleset.verdict(following.state)
    if verdict is not None:
        winner = "nobody" if verdict.winner is None else SIDES[verdict.winner]
        text.append(f"{winner} won: {verdict.reason}", "bold")
    return text


def clocks(following: Following) -> Text:
    """Return what each side was charged, and what is left in its bank."""
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append("clock  ", "bold")
    for side, name in ((Side.MISTER_X, "X"), (Side.DETECTIVES, "detectives")):
        text.append(f"{name} {following.charged_ms[side] / 1000:.2f} s")
        bank = following.bank_ms[side]
        if bank:
            text.append(f", {bank / 1000:.1f} s left")
        text.append("   ")
    return text


def head(
    following: Following, eyes: Eyes, view: dict[str, Any], *, wide: bool, believed: int = 0
) -> RenderableType:
    """Return what always stands above the past: title, round, tickets, clocks, travel log."""
    parts: list[RenderableType] = [] if wide else [title(following)]
    parts += [status(following, view), clocks(following)]
    drawing = drawing_of(following)
    if drawing is not None:
        parts += drawing.panel(following.ruleset.board, view, believed)
    else:
        parts += [
            Text(f"{key}: {shown(str(value))}", no_wrap=True, overflow="ellipsis")
            for key, value in view.items()
        ]
    if eyes == "detectives":
        parts.append(Text("as the detectives see it", "dim"))
    return Group(*parts)


def told_below(following: Following, eyes: Eyes) -> RenderableType:
    """Return each side's last note and the end of its standard error, as far as they are seen."""
    parts: list[RenderableType] = []
    for side, name in SIDES.items():
        if not sees(eyes, side):
            continue
        if side in following.notes:
            note = msgspec.json.encode(following.notes[side]).decode()
            parts.append(Text(f"note of {name}: {shown(note[:NOTE])}", "green"))
        tail = following.stderr[side].splitlines()[-2:]
        parts += [
            Text(f"{name} stderr: {shown(line)}", "yellow", no_wrap=True, overflow="ellipsis")
            for line in tail
        ]
    return Group(*parts)


def plain_words(event: Mapping[str, Any]) -> str:
    """Return what happened in a game that has no drawing: its name, and what is said of it."""
    said = {key: value for key, value in event.items() if value is not None and value is not False}
    kind = said.pop("event", "")
    return " ".join([str(kind), *(f"{key} {value}" for key, value in said.items())]).strip()


def happened(events: Sequence[Event], eyes: Eyes) -> list[dict[str, Any]]:
    """Return what happened, as far as these eyes see it.

    Of two events that tell the sides the same thing in different words, as what a player draws,
    who sees everything is told the one that says more.
    """
    if eyes != "everything":
        return [msgspec.to_builtins(one.what) for one in events if one.seen_by in (None, _as(eyes))]
    found: list[dict[str, Any]] = []
    waiting: Side | None = None  # who was told the last one alone
    for event in events:
        what = msgspec.to_builtins(event.what)
        if waiting is not None and event.seen_by is waiting.other and _is_same(found[-1], what):
            if _untold(what) < _untold(found[-1]):
                found[-1] = what
            waiting = None
        else:
            found.append(what)
            waiting = event.seen_by
    return found


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two events differ only in what one of them does not tell."""
    return one.keys() == other.keys() and all(
        None in (one[key], other[key]) or one[key] == other[key] for key in one
    )


def _untold(event: Mapping[str, Any]) -> int:
    return sum(value is None for value in event.values())


def line_of(following: Following, told: Told, eyes: Eyes) -> Text:
    """Return an answer as a line, as far as these eyes see it."""
    drawing = drawing_of(following)
    in_words = drawing.event_words if drawing is not None else plain_words
    words = [in_words(event) for event in happened(told.events, eyes)]
    text = Text()
    text.append(f"{told.round:>2}  " if told.round else "", "dim")
    text.append(f"{'X' if told.side is Side.MISTER_X else 'D'}  ", "bold")
    text.append(", ".join(words).replace(":,", ":") or "nothing")
    if told.charged_ms >= 1:
        text.append(f"  {told.charged_ms:.0f}\N{NO-BREAK SPACE}ms", "dim")
    return text
