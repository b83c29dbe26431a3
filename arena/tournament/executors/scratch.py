"""A folder for what a cluster on this machine writes while it is there."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["open_scratch"]

_PREFIX = "dask-"
_MARK = ".arena-scratch"  # a file in it that is locked; what has none is somebody else's


@contextmanager
def open_scratch(folder: Path | None) -> Iterator[Path]:
    """Give a new folder, which is deleted at the end with all that is in it.

    A coordinator that is killed can't delete its own. It is locked as long as its process lives, so
    the next one that starts in the same place can tell, and deletes it.

    Args:
        folder: in which it is made; None for where the system keeps what is temporary, where
            nothing of others is looked at.
    """
    if folder is not None:
        for left in folder.glob(f"{_PREFIX}*"):
            _delete_if_left(left)
    place, lock = _made(folder)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def _made(folder: Path | None) -> tuple[Path, int]:
    """Make a folder and lock it; once more if somebody took it for left behind meanwhile."""
    while True:
        place = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
        with suppress(FileNotFoundError):
            lock = os.open(place / _MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            if _is_ours(lock) and place.is_dir():
                return place, lock
            os.close(lock)


def _is_ours(lock: int) -> bool:
    """Lock a folder that we made; whether no other has."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk without locks: then nobody takes it for left behind either
        pass
    return True


def _delete_if_left(left: Path) -> None:
    """Delete a folder of ours that nobody holds; leave it where that can't be told."""
    with suppress(OSError):
        lock = os.open(left / _MARK, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
        finally:
            os.close(lock)
