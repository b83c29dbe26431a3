"""A matplotlib figure → the SVG text that a page holds; imports matplotlib.

It is drawn without a screen, comes out byte-equal for equal data, keeps text as text, and takes its
colours from the page around it: `currentColor`, and the variables `--line`, `--accent`, `--x` (of
Mister X) and `--d` (of the detectives).
"""

from __future__ import annotations

import hashlib
import html
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

__all__ = ["ACCENT", "LINE", "STYLE", "TEXT", "D", "X", "empty_svg", "plain", "svg", "widest"]

# Stand-ins that no colour map has, for what the page decides.
TEXT, LINE, ACCENT, X, D = "#010203", "#010205", "#010207", "#010209", "#01020b"
PAGE_COLOURS = {
    TEXT: "currentColor",
    LINE: "var(--line, #8a8f98)",
    ACCENT: "var(--accent, #1f5fbf)",
    X: "var(--x, #b3541e)",
    D: "var(--d, #1f5fbf)",
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


def plain(axes: Axes, grid: Literal["x", "y"]) -> None:
    """Give axes no frame, and faint lines across."""
    axes.tick_params(length=3)
    axes.grid(axis=grid, color=LINE, linewidth=0.5, alpha=0.35)
    axes.set_axisbelow(True)
    for edge in ("top", "right", "left"):
        axes.spines[edge].set_visible(False)
    axes.spines["bottom"].set_linewidth(0.8)


@contextmanager
def _strange_letters() -> Iterator[None]:
    """The reader's own font draws the names: that the one to measure by lacks some is no matter."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        yield


def widest(words: Iterable[str]) -> float:
    """Return the width of the widest word in points, in the size of the style."""
    font = FontProperties(size=STYLE["font.size"])
    with _strange_letters():
        return max(
            (text_to_path.get_text_width_height_descent(word, font, ismath=False)[0])
            for word in words
        )


def svg(figure: Figure, title: str, description: str, *, key: str = "") -> str:
    """Return the figure as a text, with its text alternative and the page's colours.

    Args:
        figure: drawn in `STYLE`; changed by it.
        title: of a few words.
        description: what the plot shows, in words.
        key: tells two plots of one title in one page apart.
    """
    figure.patch.set_visible(False)
    for axes in figure.axes:
        axes.patch.set_visible(False)
    text = io.StringIO()
    with _strange_letters():
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
    told_apart = f"{title} {key}".encode("utf-8", "surrogatepass")
    prefix = hashlib.sha256(told_apart).hexdigest()[:8]
    drawn = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', drawn)
    drawn = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{prefix}-", drawn)
    head, body = drawn.split(">", 1)
    head += f' role="img" aria-labelledby="{prefix}-title {prefix}-text"'
    return (
        f'{head}>\n <title id="{prefix}-title">{html.escape(title)}</title>\n'
        f' <desc id="{prefix}-text">{html.escape(description)}</desc>{body}'
    )


def empty_svg(title: str, text: str) -> str:
    """Return a plot of nothing, which says so."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 40" role="img" '
        f'width="320" height="40"><title>{html.escape(title)}</title>'
        f'<text x="0" y="24" fill="currentColor" font-size="13">{html.escape(text)}</text></svg>\n'
    )
