"""One look at what a person's word may lead to: it never fails, whatever was written there.

`Path.exists` and its kin raise where a folder may not be searched, and where a name is too long.
"""

from __future__ import annotations

import stat
from pathlib import Path

__all__ = ["is_file", "is_folder", "kind_of", "why_not"]

_NOTHING = (FileNotFoundError, NotADirectoryError)


def kind_of(path: str | Path) -> int | None:
    """Return what a path leads to, as a file type; None if to nothing that can be seen."""
    found = _look(path)
    return found if isinstance(found, int) else None


def is_file(path: str | Path) -> bool:
    """Whether a path leads to a file."""
    return kind_of(path) == stat.S_IFREG


def is_folder(path: str | Path) -> bool:
    """Whether a path leads to a folder."""
    return kind_of(path) == stat.S_IFDIR


def why_not(path: str | Path) -> str:
    """Return why a path can't be looked at, such as `Permission denied`.

    Empty if it can, and if nothing stands there.
    """
    found = _look(path)
    if isinstance(found, (int, *_NOTHING)):
        return ""
    return getattr(found, "strerror", None) or "no file can have this name"


def _look(path: str | Path) -> int | OSError | ValueError:
    try:
        return stat.S_IFMT(Path(path).stat().st_mode)
    except (OSError, ValueError) as error:  # the second: a zero byte in a name, or no character
        return error
