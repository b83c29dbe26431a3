"""A map in characters: labels that are put where there is room, on a field of a board's shape."""

from __future__ import annotations

from rich.text import Text

__all__ = ["FIGURES", "Grid", "field"]

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
CELL = 2.0  # a character's height in widths
STRETCH = 1.4  # by how much the map may be too high, where that makes room for numbers
LEAST_MAP = (60, 22)  # columns and rows, below which a map tells nothing


def field(columns: int, rows: int, aspect: float) -> Grid | None:
    """Return an empty field of a board's shape; None where it has no room.

    Args:
        columns: room, in characters.
        rows: room, in lines.
        aspect: the board's width by its height.
    """
    width = min(columns, int(rows * CELL * aspect))
    height = min(rows, int(width / CELL / aspect * STRETCH) + 1)
    if width < LEAST_MAP[0] or height < LEAST_MAP[1]:
        return None
    return Grid(width, height)


class Grid:
    """Characters that are put where there is room."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._chars: dict[tuple[int, int], tuple[str, str]] = {}

    def place(self, x: float, y: float) -> tuple[int, int]:
        """Return the character at a place of the board, from (0, 0) to (1, 1)."""
        return round(x * (self.width - 3)) + 1, round(y * (self.height - 1))

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
