"""A file that is written as a whole: whoever reads it sees all of the old one or all of the new."""

from __future__ import annotations

import secrets
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["replace_file"]

_MOST_LINKS = 40  # as many as Linux follows
_OF_STREAMS = (Path("/dev"), Path("/dev/fd"))  # `/dev/stdout` and the like, whatever is behind


def replace_file(path: Path, parts: Iterable[bytes], *, follow_links: bool = True) -> int:
    """Write a file beside its place, then put it there; its folder is made where it is missing.

    Where anything fails, the making of the parts included, what was there stays as it was, and a
    file that is replaced hands its mode on. A pipe, a device or a stream of this process
    (`/dev/stdout`) can't be replaced and is written to as it stands.

    Args:
        path: the file.
        parts: all of it, in order.
        follow_links: whether a link stays one, and the file that it leads to is replaced;
            otherwise the link itself is, as anything else but a folder that stands there.

    Returns:
        How many bytes it has.

    Raises:
        OSError: if it can't be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    place, mode = _place(path) if follow_links else (path, None)
    if place is None:
        with path.open("wb") as file:
            return _write(file.write, parts)
    beside = place.with_name(f".arena-{secrets.token_hex(8)}")  # a long name may leave no room
    try:
        with beside.open("xb") as file:
            size = _write(file.write, parts)
            if mode is not None:
                beside.chmod(mode)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
    return size


def _place(path: Path) -> tuple[Path | None, int | None]:
    """Return the file that a path leads to, and its mode; None where it can't be replaced."""
    for _ in range(_MOST_LINKS):
        folder = path.parent.resolve()
        if folder in _OF_STREAMS or folder.is_relative_to("/proc"):
            return None, None
        if not path.is_symlink():
            break
        path = folder / path.readlink()
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return path, None
    return (path, stat.S_IMODE(mode)) if stat.S_ISREG(mode) else (None, None)


def _write(write: Callable[[bytes], object], parts: Iterable[bytes]) -> int:
    size = 0
    for part in parts:
        write(part)
        size += len(part)
    return size
