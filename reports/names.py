"""Names of strangers' bots as text that is safe to show, and as cells that are safe to open; pure.

A name may hold anything that its author could write: markup, control characters, marks that turn
the direction of text, or the beginning of a spreadsheet's formula.
"""

from __future__ import annotations

import unicodedata

__all__ = ["guarded", "shortened", "shown", "unguarded", "what_happened"]

# What a spreadsheet takes for the start of a formula, wide forms included, and the guard itself.
GUARD = "'"
DANGEROUS = frozenset("=+-@\t\r\n|%＝＋－＠" + GUARD)  # noqa: RUF001 - the wide forms are meant
# Controls, lone surrogates, and format characters, which turn or hide text.
HIDDEN = frozenset({"Cc", "Cs", "Cf", "Zl", "Zp", "Co", "Cn"})


def shown(text: str) -> str:
    """The text with every character that can't be seen written as its number: ESC as `x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _numbered(char) if unicodedata.category(char) in HIDDEN else char for char in text
    )


def _numbered(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shortened(text: str, length: int) -> str:
    """At most `length` characters of a text that is safe to show; what is left out is told by `…`.

    The end is kept too: versions of a bot differ there.
    """
    safe = shown(text)
    if len(safe) <= length:
        return safe
    tail = (length - 1) // 3
    return f"{safe[: length - 1 - tail]}…{safe[len(safe) - tail :] if tail else ''}"


def what_happened(text: str, game: str) -> str:
    """A fault's line without the bot and the game, for where both stand beside it.

    Args:
        text: as `arena.referee.faults.describe` writes it; any other stays as it is.
        game: the game's id.
    """
    _, found, rest = text.partition(f", game {game}, ")
    return f"{rest[:1].upper()}{rest[1:]}" if found and rest else text


def guarded(text: str) -> str:
    """The text as a CSV cell that no spreadsheet takes for a formula; `unguarded` undoes it."""
    return GUARD + text if text[:1] in DANGEROUS and text else text


def unguarded(cell: str) -> str:
    """What `guarded` was given."""
    if cell.startswith(GUARD) and cell[1:2] in DANGEROUS and len(cell) > 1:
        return cell[1:]
    return cell
