"""Small pieces of HTML. Every text goes through `text` or `name`: nothing else may escape."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import msgspec

from reports.names import shortened, shown
from reports.win_rates import Share

__all__ = [
    "LONGEST_NAME",
    "NA",
    "Cell",
    "Column",
    "elo",
    "linked",
    "minus",
    "na",
    "name",
    "percent",
    "plus_minus",
    "section",
    "share",
    "table",
    "text",
]

LONGEST_NAME = 80
ONE_LINE = 24  # characters of a name that is never broken in two where there is room
ONE_WORD = 12  # characters of a name that is never broken in two


class Cell(msgspec.Struct, frozen=True):
    """A cell's markup, with its class; `why` a number is missing, as plain text."""

    markup: str
    kind: str = ""
    why: str = ""


class Column(msgspec.Struct, frozen=True):
    """A column's heading, markup allowed, with its class (`text` and `name` stand left)."""

    heading: str
    kind: str = ""


def text(value: object) -> str:
    """Any text as markup; what can't be seen is written as its number."""
    return html.escape(shown(str(value)))


def name(value: str) -> str:
    """A bot's name; its direction of writing stays inside."""
    safe = shortened(value, LONGEST_NAME)
    kinds = ["word"] * (len(safe) <= ONE_WORD) + ["short"] * (len(safe) <= ONE_LINE)
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<bdi{kind}>{html.escape(safe)}</bdi>"


def na(reason: str) -> Cell:
    """A number that can't be told, with the reason; a table says it below too."""
    return Cell(f'<abbr title="{text(reason)}">n/a</abbr>', "na", reason)


NA = na("the games do not tell")


def linked(markup: str, to: str | None) -> str:
    """Markup that leads somewhere, or stays as it is."""
    return markup if to is None else f'<a href="{html.escape(to)}">{markup}</a>'


def elo(value: float | None, missing: Cell = NA) -> Cell:
    """A rating in whole points, with its sign; else why there is none."""
    return missing if value is None else Cell(minus(f"{value:+.0f}" if round(value) else "0"))


def plus_minus(se: float, errors: float = 1.96) -> str:
    """Half the width of a 95 % interval; a small one is never ± 0.

    Args:
        se: the error.
        errors: how many of it half the interval has; with few deals more than by the normal.
    """
    half = errors * se
    return f"± {half:.0f}" if half >= 0.5 else f"± {max(half, 0.01):.2f}"


def minus(number: str) -> str:
    """A number with a real minus sign."""
    return number.replace("-", "\N{MINUS SIGN}")


def percent(value: float | None, digits: int = 0) -> str:
    """A share in per cent; what is not sure is neither 0 nor 100."""
    if value is None:
        return "n/a"
    step = 10.0**-digits
    shown_value = 100 * value
    if 0 < shown_value < step / 2:
        told = f"&lt; {step:g} %"
    elif 100 - step / 2 < shown_value < 100:
        told = f"&gt; {100 - step:g} %"
    else:
        told = f"{shown_value:.{digits}f} %"
    return told.replace(" ", "&nbsp;")


def share(value: Share, *, counts: bool = True) -> Cell:
    """A share of games won with its interval and counts."""
    if value.rate is None or value.low is None or value.high is None:
        return Cell("·", "na cells")
    low, high = 100 * value.low, 100 * value.high
    told = f" · {value.wins:,}/{value.games:,}" if counts else ""
    return Cell(
        f"{percent(value.rate)} <small class='range'>{low:.0f}–{high:.0f}{told}</small>"  # noqa: RUF001 - a range
    )


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Cell | str]],
    *,
    kind: str = "",
    row_heading: int = 0,
) -> str:
    """A table that scrolls by itself where it is too wide, by keyboard too.

    Why numbers are missing stands below it: a title is seen neither on paper nor by touch.

    Args:
        caption: plain text.
        columns: headings.
        rows: cells; a plain string is markup already.
        kind: class of the table.
        row_heading: place of the cell that names the row.
    """
    heads = "".join(
        f'<th scope="col"{_kind(column.kind)}>{column.heading}</th>' for column in columns
    )
    body_rows = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    reasons = list(dict.fromkeys(cell.why for row in body_rows for cell in row if cell.why))
    marks = {why: f"<sup>{k}</sup>" if len(reasons) > 1 else "" for k, why in enumerate(reasons, 1)}
    lines = []
    for row in body_rows:
        cells = []
        for place, (cell, column) in enumerate(zip(row, columns, strict=True)):
            inner = cell.markup + marks.get(cell.why, "")
            if place == row_heading:
                cells.append(f'<th scope="row">{inner}</th>')
            else:
                cells.append(f"<td{_kind(column.kind, cell.kind)}>{inner}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(lines)
    label = text(caption)
    told = " ".join(f"n/a{marks[why]}: {text(why)}." for why in reasons)
    below = f'\n<p class="why">{told}</p>' if told else ""
    return (
        f'<div class="scroll" role="group" tabindex="0" aria-label="{label}">\n'
        f"<table{_kind(kind)}><caption>{label}</caption>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{below}"
    )


def _kind(*kinds: str) -> str:
    joined = " ".join(kind for kind in kinds if kind)
    return f' class="{joined}"' if joined else ""


def section(anchor: str, heading: str, *parts: str) -> str:
    """A section of the page; empty parts are left out."""
    inner = "\n".join(part for part in parts if part)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-h">\n'
        f'<h2 id="{anchor}-h">{heading}</h2>\n{inner}\n</section>'
    )
