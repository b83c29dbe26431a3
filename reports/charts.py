"""Plots as SVG texts: ratings, win rates, ends, start stations, history. Imports matplotlib.

`svg_texts.py` says how they come out. No plot tells anything by colour alone.
"""

from __future__ import annotations

import math
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from reports.names import shortened
from reports.played import Floats
from reports.report import PastRun, RoundCount, StartCount
from reports.standings import Standing, Standings
from reports.svg_texts import ACCENT, LINE, STYLE, TEXT, D, X, empty_svg, plain, svg, widest
from reports.win_rates import Matrix

__all__ = ["heat_map", "history_plot", "rating_plot", "round_plot", "start_plot"]

MAX_RATED = 60  # bots in the plot of ratings
MAX_MATRIX = 24  # bots a side in the heat map
MAX_LINES = 8  # bots in the plot of history
NAME = 20  # characters of a name
WIDTH = 460.8  # points, of all plots but the heat map
CELL = (44.6, 28.8)  # points, of the heat map
LEAN = math.radians(35)  # of the names above it
MAP_LABEL = "% escaped: Mister X in rows, detectives in columns"


def rating_plot(made: Standings) -> str:
    """Ratings with 95 % intervals, best on top; an open end of an interval is an arrow."""
    bots = [bot for bot in made.bots if bot.elo is not None][:MAX_RATED]
    if not bots:
        return empty_svg("Ratings", "No bot has a rating.")
    bounded = any(bot.se is not None for bot in bots)  # with one deal no interval is told
    title = "Ratings with 95 % intervals" if bounded else "Ratings"
    with mpl.rc_context(STYLE):
        height = 0.62 + 0.27 * len(bots)
        left = (widest(shortened(bot.name, NAME) for bot in bots) + 12) / WIDTH
        left = max(left, 0.04)  # half of the first number below stands out
        figure = Figure(figsize=(WIDTH / 72, height))
        axes = figure.add_axes((left, 0.5 / height, 0.96 - left, 1 - 0.55 / height))
        _draw_ratings(axes, bots)
        axes.set_xlabel("Elo, with 95 % intervals" if bounded else "Elo")
        text = "; ".join(
            f"{shortened(bot.name, 40)} {bot.elo:.0f}{_range(bot.low, bot.high)}" for bot in bots
        )
        return svg(figure, title, f"{title}, in Elo points: {text}.")


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
        if bot.se is not None:
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
    plain(axes, grid="x")
    axes.tick_params(axis="y", length=0)


def heat_map(made: Matrix) -> str:
    """How often the row's bot escaped from the column's, in per cent, with the number in each cell.

    The colours rise in lightness, so that they can be told without seeing colour.
    """
    title = "Win rates of Mister X"
    rows, columns = made.mister_x[:MAX_MATRIX], made.detectives[:MAX_MATRIX]
    if not rows or not columns:
        return empty_svg(title, "No game has a winner.")
    rate = np.array(
        [
            [np.nan if cell.rate is None else 100 * cell.rate for cell in line[: len(columns)]]
            for line in made.cells[: len(rows)]
        ]
    )
    with mpl.rc_context(STYLE):
        heads = [shortened(name, 14) for name in columns]
        names = [shortened(name, NAME) for name in rows]
        wide, high = CELL[0] * len(columns), CELL[1] * len(rows)
        left = widest(names) + 8
        # Names lean out above their columns: the last ones to the right of the map.
        leaning = [(widest([head]), k) for k, head in enumerate(heads)]
        out = max(
            CELL[0] * (k + 0.5) + letters * math.cos(LEAN) + 8 - wide for letters, k in leaning
        )
        top = max(letters for letters, _ in leaning) * math.sin(LEAN) + 32
        width = max(left + wide + max(out, 2), widest([MAP_LABEL]) + 4)
        height = top + high + 4
        figure = Figure(figsize=(width / 72, height / 72))
        figure.text(0, 1 - 2 / height, MAP_LABEL, va="top")
        axes = figure.add_axes((left / width, 4 / height, wide / width, high / height))
        _draw_matrix(axes, rate, names, heads)
        told = "; ".join(
            f"{shortened(x, 40)} against {shortened(d, 40)} {rate[i, j]:.0f} %"
            for i, x in enumerate(rows)
            for j, d in enumerate(columns)
            if not np.isnan(rate[i, j])
        )
        return svg(figure, title, f"How often the bot as Mister X escaped: {told}.")


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
    angle = math.degrees(LEAN)
    axes.set_xticks(range(len(columns)), columns, rotation=angle, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0, pad=4)
    for spine in axes.spines.values():
        spine.set_visible(False)


def round_plot(made: list[RoundCount], about: str = "") -> str:
    """In which round games ended: bars for each side's wins, one on the other.

    Args:
        made: the rounds.
        about: whose games they are, for the title; plain text.
    """
    title = f"Games{f' {shortened(about, 90)}' if about else ''} by the round in which they ended"
    if not made:
        return empty_svg(title, "No game was played out.")
    number = [row.round for row in made]
    caught = np.array([row.detectives for row in made], dtype=np.float64)
    escaped = np.array([row.mister_x for row in made], dtype=np.float64)
    with mpl.rc_context(STYLE | {"hatch.linewidth": 1.6}):
        figure = Figure(figsize=(6.4, 2.5))
        axes = figure.add_axes((0.09, 0.21, 0.89, 0.66))
        marks: dict[str, dict[str, Any]] = {
            "won by the detectives": {"facecolor": "none", "edgecolor": D, "hatch": "////"},
            "won by Mister X": {"facecolor": X, "edgecolor": X},
        }
        tops = caught + escaped
        for (label, mark), below, above in zip(
            marks.items(), (np.zeros_like(caught), caught), (caught, tops), strict=True
        ):
            bars = [
                [(k - 0.43, low), (k + 0.43, low), (k + 0.43, high), (k - 0.43, high)]
                for k, low, high in zip(number, below, above, strict=True)
                if high > low
            ]
            axes.add_collection(PolyCollection(bars, linewidths=1, label=label, **mark))
        axes.legend(
            handles=[Patch(label=label, **mark) for label, mark in marks.items()],
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=2,
            frameon=False,
            borderaxespad=0.2,
        )
        # Texts, not ticks: of those each takes milliseconds to make.
        axes.set_xticks([])
        step = 1 + len(number) // 25
        for k in number[::step]:
            axes.text(k, -0.03 * tops.max(), str(k), ha="center", va="top")
        axes.set_xlim(number[0] - 0.6, number[-1] + 0.6)
        axes.set_ylim(0, 1.05 * tops.max())
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.set_xlabel("round", labelpad=16)
        axes.set_ylabel("games")
        plain(axes, "y")
        told = "; ".join(
            f"round {row.round}: {row.detectives} by the detectives, {row.mister_x} by Mister X"
            for row in made
            if row.detectives or row.mister_x
        )
        return svg(figure, title, f"{title}, forfeits left out; won: {told}.", key=about)


def start_plot(made: list[StartCount]) -> str:
    """How often Mister X escaped by his start station, with 95 % intervals."""
    title = "Escapes by start station"
    known = [row for row in made if row.escaped.rate is not None][:MAX_RATED]
    if not known:
        return empty_svg(title, "No start station is known.")
    with mpl.rc_context(STYLE):
        names = [row.name or str(row.station) for row in known]
        is_named = any(row.name for row in known)
        # Numbers stand below the axis, names hang down from it.
        more = max(0.0, widest(names) - 10) / 72 if is_named else 0.0
        height = 2.6 + more
        foot = (0.55 + more) / height
        figure = Figure(figsize=(6.4, height))
        axes = figure.add_axes((0.09, foot, 0.89, 1 - 0.15 / height - foot))
        for place, row in enumerate(known):
            low, high = 100 * (row.escaped.low or 0.0), 100 * (row.escaped.high or 0.0)
            axes.plot([place, place], [low, high], color=X, linewidth=2, solid_capstyle="butt")
            rate = 100 * (row.escaped.rate or 0.0)
            axes.plot([place], [rate], "o", color=X, markersize=6, clip_on=False, zorder=3)
        axes.set_xticks(range(len(known)), names, rotation=90 if is_named else 0)
        axes.set_xlim(-0.6, len(known) - 0.4)
        axes.set_ylim(0, 100)
        axes.set_xlabel("where Mister X began" if is_named else "station on which Mister X began")
        axes.set_ylabel("escaped, %; 95 % interval")
        plain(axes, "y")
        told = "; ".join(
            f"{name}: {100 * (row.escaped.rate or 0.0):.0f} % of {row.escaped.games}"
            for name, row in zip(names, known, strict=True)
        )
        return svg(figure, title, f"{title}: {told}.")


def history_plot(runs: list[PastRun], bots: list[str]) -> str:
    """Ratings of bots over runs, the oldest on the left, each line with its name at its end.

    Args:
        runs: in the order of time.
        bots: whose lines to draw; at most the first `MAX_LINES`.
    """
    title = "Ratings over runs"
    told = []
    with mpl.rc_context(STYLE):
        right = (widest(shortened(bot, NAME) for bot in bots[:MAX_LINES]) + 10) / WIDTH
        figure = Figure(figsize=(WIDTH / 72, 3.0))
        axes = figure.add_axes((0.1, 0.17, 0.9 - right, 0.78))
        ends: list[tuple[float, str, str]] = []
        for number, bot in enumerate(bots[:MAX_LINES]):
            mark, dashes, colour = _LINES[number]
            beside = 0.04 * (number - (min(len(bots), MAX_LINES) - 1) / 2)  # not on each other
            points = [
                (place + beside, rating)
                for place, run in enumerate(runs)
                for rating in run.ratings
                if rating.bot == bot and rating.elo is not None
            ]
            if not points:
                continue
            places = [place for place, _ in points]
            elo = [rating.elo or 0.0 for _, rating in points]
            axes.plot(places, elo, mark, color=colour, markersize=5)
            axes.plot(places, elo, color=colour, linewidth=1.4, linestyle=dashes)
            for place, rating in points:
                if rating.low is not None and rating.high is not None:
                    axes.plot([place, place], [rating.low, rating.high], color=colour, linewidth=1)
            # A name in the colour of lines would be too faint to read.
            ends.append((elo[-1], shortened(bot, NAME), TEXT if colour == LINE else colour))
            ratings = ", ".join(f"{value:.0f}" for value in elo)
            told.append(f"{shortened(bot, 40)} {ratings}")
        if not told:
            return empty_svg(title, "No run has ratings.")
        labels = [run.created[:10] for run in runs]
        if len(set(labels)) < len(labels) or not all(labels):
            labels = [run.run[:10] for run in runs]  # several of a day
        axes.set_xticks(range(len(runs)), labels)
        if (widest(labels) + 8) * len(runs) > (0.9 - right) * WIDTH:
            for place, label in enumerate(axes.get_xticklabels()):
                label.set_visible(place in (0, len(runs) - 1))
        axes.set_xlim(-0.3, len(runs) - 0.7)
        axes.set_ylabel("Elo, with 95 % intervals")
        plain(axes, "y")
        _name_ends(axes, ends)
        return svg(figure, title, f"{title}, in Elo points, the oldest first: {'; '.join(told)}.")


_LINES = tuple(
    (mark, dashes, colour)
    for mark, dashes, colour in zip(
        "os^Dv*PX",
        ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), "-", (0, (5, 2)), (0, (1, 1.5)), "-"),
        (ACCENT, X, TEXT, LINE, X, TEXT, ACCENT, LINE),
        strict=True,
    )
)


def _name_ends(axes: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Write each line's name beside its end, moved apart where two would meet."""
    low, high = axes.get_ylim()
    room = 0.075 * (high - low)
    above = -np.inf
    for elo, name, colour in sorted(ends):
        above = max(elo, above + room)
        axes.annotate(
            name,
            (axes.get_xlim()[1], above),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            annotation_clip=False,
        )
