"""Plots as SVG texts: ratings with intervals, and the heat map of win rates. Imports matplotlib.

They are drawn without a screen, come out byte-equal for equal data, keep text as text, and take
their colours from the page around them: `currentColor`, and the variables `--line` and `--accent`.
"""

from __future__ import annotations

import hashlib
import html
import io
import re
import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from reports.names import shortened
from reports.played import Floats
from reports.standings import Standing, Standings
from reports.win_rates import Matrix

__all__ = ["heat_map", "rating_plot"]

MAX_RATED = 60  # bots in the plot of ratings
MAX_MATRIX = 24  # bots a side in the heat map
NAME = 20  # characters of a name
# Stand-ins that no colour map has, for what the page decides.
TEXT, LINE, ACCENT = "#010203", "#010205", "#010207"
PAGE_COLOURS = {
    TEXT: "currentColor",
    LINE: "var(--line, #8a8f98)",
    ACCENT: "var(--accent, #1f5fbf)",
}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and scaled
    "svg.hashsalt": "arena",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.color": TEXT,
    "text.parse_math": False,  # a name may hold a dollar sign
    "text.usetex": False,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": LINE,
    "axes.unicode_minus": True,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": TEXT,
    "ytick.labelcolor": TEXT,
    "figure.dpi": 72,
}


def rating_plot(made: Standings) -> str:
    """Ratings with 95 % intervals, best on top; an open end of an interval is an arrow."""
    bots = [bot for bot in made.bots if bot.elo is not None][:MAX_RATED]
    title = "Ratings with 95 % intervals"
    if not bots:
        return _empty(title, "No bot has a rating.")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 0.62 + 0.27 * len(bots)))
        axes = figure.add_axes((0.29, 0.5 / figure.get_figheight(), 0.69, 1.0))
        axes.set_position(
            (0.29, 0.5 / figure.get_figheight(), 0.69, 1 - 0.55 / figure.get_figheight())
        )
        _draw_ratings(axes, bots)
        text = "; ".join(
            f"{shortened(bot.name, 40)} {bot.elo:.0f}{_range(bot.low, bot.high)}" for bot in bots
        )
        return _svg(figure, title, f"{title}, in Elo points: {text}.")


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    ends = ["open" if end is None else f"{end:.0f}" for end in (low, high)]
    return f" ({ends[0]} to {ends[1]})"


def _draw_ratings(axes: Axes, bots: list[Standing]) -> None:
    known = [value for bot in bots for value in (bot.elo, bot.low, bot.high) if value is not None]
    low, high = min(known), max(known)
    room = max(0.06 * (high - low), 10.0)
    axes.set_xlim(low - room, high + room)
    axes.set_ylim(len(bots) - 0.4, -0.6)
    centre = 0.0 if low <= 0 <= high else None
    if centre is not None:
        axes.axvline(centre, color=LINE, linewidth=0.8, linestyle=(0, (3, 3)), zorder=1)
    for k, bot in enumerate(bots):
        assert bot.elo is not None  # noqa: S101 - for the type checker; others were left out
        if bot.low is not None or bot.high is not None or bot.bounded:
            start = low - room * 0.8 if bot.low is None else bot.low
            end = high + room * 0.8 if bot.high is None else bot.high
            axes.plot(
                [start, end], [k, k], color=ACCENT, linewidth=2, solid_capstyle="butt", zorder=2
            )
            for value, open_end, mark in ((start, bot.low, "<"), (end, bot.high, ">")):
                shape = mark if open_end is None else "|"
                axes.plot([value], [k], shape, color=ACCENT, markersize=6, zorder=3)
        axes.plot([bot.elo], [k], "o", color=ACCENT, markersize=6.5, zorder=4)
    axes.set_yticks(range(len(bots)), [shortened(bot.name, NAME) for bot in bots])
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", length=3)
    axes.grid(axis="x", color=LINE, linewidth=0.5, alpha=0.35)
    axes.set_axisbelow(True)
    axes.set_xlabel("Elo")
    for edge in ("top", "right", "left"):
        axes.spines[edge].set_visible(False)
    axes.spines["bottom"].set_linewidth(0.8)


def heat_map(made: Matrix) -> str:
    """How often the row's bot escaped from the column's, in per cent, with the number in each cell.

    The colours rise in lightness, so that they can be told without seeing colour.
    """
    title = "Win rates of Mister X"
    rows, columns = made.mister_x[:MAX_MATRIX], made.detectives[:MAX_MATRIX]
    if not rows or not columns:
        return _empty(title, "No game has a winner.")
    rate = np.array(
        [
            [np.nan if cell.rate is None else 100 * cell.rate for cell in line[: len(columns)]]
            for line in made.cells[: len(rows)]
        ]
    )
    with mpl.rc_context(STYLE):
        cell_width, cell_height, left, top = 0.62, 0.4, 1.75, 1.25
        width = left + cell_width * len(columns) + 0.7  # the last name leans out
        height = top + cell_height * len(rows) + 0.1
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes(
            (
                left / width,
                0.1 / height,
                cell_width * len(columns) / width,
                cell_height * len(rows) / height,
            )
        )
        _draw_matrix(axes, rate, rows, columns)
        told = "; ".join(
            f"{shortened(x, 40)} against {shortened(d, 40)} {rate[i, j]:.0f} %"
            for i, x in enumerate(rows)
            for j, d in enumerate(columns)
            if not np.isnan(rate[i, j])
        )
        return _svg(figure, title, f"How often the bot as Mister X escaped: {told}.")


def _draw_matrix(axes: Axes, rate: Floats, rows: list[str], columns: list[str]) -> None:
    colours = mpl.colormaps["cividis"]
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    for i in range(len(rows)):
        for j in range(len(columns)):
            value = rate[i, j]
            if np.isnan(value):
                axes.text(j, i, "·", ha="center", va="center", color=LINE)
                continue
            red, green, blue, _ = colours(value / 100)
            box = (j - 0.48, i - 0.47)
            axes.add_patch(Rectangle(box, 0.96, 0.94, facecolor=(red, green, blue), linewidth=0))
            light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.45
            axes.text(
                j,
                i,
                f"{value:.0f}",
                ha="center",
                va="center",
                color="#000000" if light else "#ffffff",
            )
    axes.xaxis.set_ticks_position("top")
    axes.xaxis.set_label_position("top")
    names = [shortened(name, 14) for name in columns]
    axes.set_xticks(range(len(columns)), names, rotation=35, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), [shortened(name, NAME) for name in rows])
    axes.tick_params(length=0, pad=4)
    axes.set_xlabel("detectives", color=LINE)
    axes.set_ylabel("Mister X", color=LINE)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _svg(figure: Figure, title: str, description: str) -> str:
    """Write the figure with its text alternative and the page's colours."""
    figure.patch.set_visible(False)
    for axes in figure.axes:
        axes.patch.set_visible(False)
    text = io.StringIO()
    with warnings.catch_warnings():
        # The reader's own font draws the names; that the one used for measuring lacks a glyph is
        # nothing to tell.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        figure.savefig(
            text,
            format="svg",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    drawn = text.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    for element in ("metadata", "style"):  # its style would hold for the whole page
        drawn = re.sub(rf"\s*<{element}\b.*?</{element}>", "", drawn, flags=re.DOTALL)
    for stand_in, colour in PAGE_COLOURS.items():
        drawn = drawn.replace(stand_in, colour)
    # Plots stand in one page, so their ids must differ.
    prefix = hashlib.sha256(title.encode()).hexdigest()[:6]
    drawn = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', drawn)
    drawn = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{prefix}-", drawn)
    head, body = drawn.split(">", 1)
    head += f' role="img" aria-labelledby="{prefix}-title {prefix}-text"'
    return (
        f'{head}>\n <title id="{prefix}-title">{html.escape(title)}</title>\n'
        f' <desc id="{prefix}-text">{html.escape(description)}</desc>{body}'
    )


def _empty(title: str, text: str) -> str:
    """A plot of nothing."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 40" role="img" '
        f'width="320" height="40"><title>{html.escape(title)}</title>'
        f'<text x="0" y="24" fill="currentColor" font-size="13">{html.escape(text)}</text></svg>\n'
    )
