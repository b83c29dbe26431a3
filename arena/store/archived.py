"""A database that can be read here and not be written to: a mounted archive, somebody's folder.

SQLite shares a file in WAL mode with others through two side files, which a reader has to be able
to make. Where it can't, and none of them is there, the file is read as one that never changes, and
looked at after every reading: a change that was made all the same is told, never read in part.
Where its schema is of an older release, a copy is brought up to date and read.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from arena.errors import ConfigError, StoreError

__all__ = ["Untouched", "copied", "is_archived", "open_archived"]


def is_archived(path: Path) -> bool:
    """Whether a database is there that we may read, and not write to it or beside it."""
    may_write = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return not may_write and os.access(path, os.R_OK)


class Untouched:
    """A file that is read as one that never changes.

    Args:
        path: of the database.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before = self._state()

    def check(self) -> None:
        """Make sure that what was read until now was all of one state.

        Who writes has a side file with content from the first change on, until the changes stand
        in the database itself.

        Raises:
            StoreError: if somebody has written to it.
        """
        if self._state() != self._before:
            raise StoreError(
                f"{self._path} was written to by another process while it was read: give the same "
                "command again once that has ended"
            )

    def _state(self) -> tuple[int, ...]:
        found = self._path.stat()
        return (found.st_ino, found.st_size, found.st_mtime_ns, _size(_wal(self._path)))


def open_archived(path: Path) -> tuple[sqlite3.Connection, Untouched | None]:
    """Open a database to read it alone; what it comes with is to be checked after each reading.

    Raises:
        ConfigError: if its last games lie in a side file that can't be read from here.
        sqlite3.Error: if SQLite refuses.
    """
    wal = _wal(path)
    if wal.exists() and Path(f"{path}-shm").exists():
        shared = _connected(path, "mode=ro")  # as others share it, who may be writing now
        try:
            shared.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            shared.close()  # we may not even read the side files
        else:
            return shared, None
    untouched = Untouched(path)  # before it is opened: nothing is read that it does not know
    if _size(wal):
        raise ConfigError(
            f"{path} can be read here and not be written to, and its last games lie in {wal.name}: "
            "copy both into a folder that can be written to, and name that with --data"
        )
    return _connected(path, "mode=ro&immutable=1"), untouched


def copied(
    archived: sqlite3.Connection, untouched: Untouched | None, path: Path
) -> sqlite3.Connection:
    """Copy a database into one that ends with its connection and that nobody else can open.

    It lies in memory and, where it is large, in the system's folder for temporary files.

    Args:
        archived: as `open_archived` opens it.
        untouched: as it comes with it.
        path: of the file, for error texts.

    Raises:
        ConfigError: if the copy can't be made.
        StoreError: if somebody has written to it meanwhile.
        sqlite3.Error: if it can't be read.
    """
    copy = sqlite3.connect("", isolation_level=None, cached_statements=256)
    try:
        archived.backup(copy)
    except sqlite3.OperationalError as exc:
        copy.close()
        raise ConfigError(
            f"{path} is of an older release and can't be written to here, and the folder for "
            f"temporary files takes no copy of it ({exc}): make room there or name another one "
            "with TMPDIR, or copy the folder to a disk that can be written to, and name that with "
            "--data"
        ) from exc
    except BaseException:
        copy.close()
        raise
    finally:
        if untouched is not None:
            untouched.check()  # half of a change looks like damage
    return copy


def _connected(path: Path, how: str) -> sqlite3.Connection:
    name = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(name, uri=True, isolation_level=None, cached_statements=256)


def _wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
