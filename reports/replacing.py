"""A file that is written as a whole: whoever reads it sees all of the old one or all of the new.

But for the places where no file can take another's place: see `replace_file`.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["replace_file"]

_MOST_LINKS = 40  # as many as Linux follows
_OF_STREAMS = (Path("/dev"), Path("/dev/fd"))  # `/dev/stdout` and the like, whatever is behind
# Of a file that one may write to: its folder is closed or on another disk, or it is a mount.
_IN_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)


def replace_file(
    path: Path, parts: Iterable[bytes], *, follow_links: bool = True, make_folder: bool = True
) -> int:
    """Write a file beside its place, then put it there.

    Where the parts can't all be made, what was there stays as it was; a file that is replaced hands
    its mode on. One that has a second name, another owner or group, that is a mount or lies in a
    folder that can't be written to is kept and written over, once all parts are made: only there
    can a disk that is full leave half of it. A pipe, a device or a stream of this process
    (`/dev/stdout`) is written to as it stands.

    Args:
        path: the file.
        parts: all of it, in order.
        follow_links: whether a link stays one, and the file that it leads to is replaced;
            otherwise the link itself is, as anything else but a folder that stands there.
        make_folder: whether its folder is made where it is missing; otherwise it is an error.

    Returns:
        How many bytes it has.

    Raises:
        OSError: if it can't be written.
    """
    _look_for_folder(path.parent, make=make_folder)
    place, old = _place(path) if follow_links else (path, None)
    if place is None:
        with path.open("wb") as file:
            return _write(file.write, parts)
    made = _new_file(place, old)
    try:
        with made.open("wb") as file:
            size = _write(file.write, parts)
        _put(made, place, old)
    finally:
        made.unlink(missing_ok=True)
    return size


def _look_for_folder(folder: Path, *, make: bool) -> None:
    """Make a folder, or make sure that it is there.

    Raises:
        OSError: if it can't be; its words name what is in the way.
    """
    if folder.is_dir():
        return
    for above in (folder, *folder.parents):
        if os.path.lexists(above) and not above.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"{above} is no folder")
    if not make:
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}")
    folder.mkdir(parents=True, exist_ok=True)


def _place(path: Path) -> tuple[Path | None, os.stat_result | None]:
    """Return the file that a path leads to, as it is now; None where it can't be replaced."""
    for _ in range(_MOST_LINKS):
        folder = path.parent.resolve()
        if folder in _OF_STREAMS or folder.is_relative_to("/proc"):
            return None, None
        if not path.is_symlink():
            break
        path = folder / path.readlink()
    try:
        old = path.stat()
    except FileNotFoundError:
        return path, None
    return (path, old) if stat.S_ISREG(old.st_mode) else (None, None)


def _new_file(place: Path, old: os.stat_result | None) -> Path:
    """Make an empty file beside a place, or elsewhere if only the old one can be written to."""
    beside = place.with_name(f".arena-{secrets.token_hex(8)}")  # a long name may leave no room
    try:
        beside.touch(exist_ok=False)
    except OSError as exc:
        if old is None or exc.errno not in _IN_PLACE or not os.access(place, os.W_OK):
            raise
        number, name = tempfile.mkstemp(prefix="arena-")
        os.close(number)
        return Path(name)
    return beside


def _put(made: Path, place: Path, old: os.stat_result | None) -> None:
    """Put a finished file in its place, or what it holds into the file that is there."""
    if old is None:
        made.replace(place)
        return
    new = made.stat()
    with made.open("rb") as source:
        if old.st_nlink == 1 and (old.st_uid, old.st_gid) == (new.st_uid, new.st_gid):
            try:
                made.chmod(stat.S_IMODE(old.st_mode))
                made.replace(place)
            except OSError as exc:
                if exc.errno not in _IN_PLACE:
                    raise
            else:
                return
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_TRUNC), "wb") as target:
            shutil.copyfileobj(source, target)


def _write(write: Callable[[bytes], object], parts: Iterable[bytes]) -> int:
    size = 0
    for part in parts:
        write(part)
        size += len(part)
    return size
