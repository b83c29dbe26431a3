"""One SQLite connection: opened privately, written in transactions, its errors told as ours."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from arena.errors import ConfigError, StoreError, cannot_write
from arena.store.archived import Untouched, copied, is_archived, open_archived
from arena.store.migrating import migrate, missing

__all__ = ["Connection"]

_BUSY_MS = 2_000  # how long another process's transaction is waited for
_OPEN_S = 10.0  # how long others may take to make the file, or to bring its schema up
_AGAIN_S = 0.01  # between two tries to open it
_NO_DATABASE = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
_NO_ACCESS = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")
_OPENING = "open it"
_OF_A_RUN = ("store ", "bench ", "finish ")  # what is done in one that is stored: it can be resumed
_ROOM = 1 << 18  # bytes: more than one game takes
_DAMAGED = "this is no arena database, or it is damaged; give --data another folder"


class Connection:
    """An open database file with the newest schema; used on one thread.

    Args:
        path: the file; with `create` it and its folder are made where they are missing.
        create: whether a missing file is made; otherwise it is an error.

    Raises:
        ConfigError: if the file is missing and must not be made, can't be opened, or is another
            program's or a newer arena's.
        StoreError: if the disk is full, or the database is locked.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        _make_private(path, create=create)
        self._untouched: Untouched | None = None
        with self.telling(_OPENING):
            if create or not is_archived(path):
                self._sqlite = _opened(path)
            else:
                self._sqlite, self._untouched = _archived(path)

    def close(self) -> None:
        """Close the file; what was committed stays."""
        self._sqlite.close()

    @contextmanager
    def writing(self, what: str) -> Iterator[None]:
        """Hold one transaction: committed at the end, rolled back by any error.

        Args:
            what: what is done, for the error's text: `"store game 12ab"`.

        Raises:
            StoreError: if the database refuses; nothing of the transaction is kept then.
        """
        with self.telling(what):
            self._sqlite.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._sqlite.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back by itself
                    self._sqlite.execute("ROLLBACK")
                raise

    def check_writable(self) -> None:
        """Make sure, as far as can be known, that a game could be stored now.

        Raises:
            StoreError: if another program holds the database locked, or the disk is full.
            ConfigError: if nothing can be written to the folder.
        """
        with self.writing("write to it"):
            pass
        try:
            with tempfile.TemporaryFile(dir=self.path.parent) as file:
                file.write(bytes(_ROOM))
        except OSError as exc:
            raise cannot_write(f"{self.path.parent}: can't be written to", exc) from exc

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement inside `writing`; return the last row's key."""
        return self._sqlite.execute(sql, values).lastrowid or 0

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query.

        Raises:
            StoreError: if the database refuses.
        """
        with self.telling("read from it"):
            rows = self._sqlite.execute(sql, values).fetchall()
        if self._untouched is not None:
            self._untouched.check()
        return rows

    @contextmanager
    def telling(self, what: str) -> Iterator[None]:
        """Turn SQLite's errors into one sentence that says what to do.

        Raises:
            StoreError: instead of any error of SQLite.
            ConfigError: if the file is no database at all, or a damaged one.
        """
        try:
            yield
        except sqlite3.Error as exc:
            if self._untouched is not None:
                self._untouched.check()  # half of a change looks like damage
            text = f"{self.path}: can't {what}: {_cure(exc, what)}"
            # Of the file that was named: later it is no better.
            wrong = _NO_DATABASE + (_NO_ACCESS if what == _OPENING else ())
            if _name(exc).startswith(wrong) or is_archived(self.path):
                raise ConfigError(text) from exc
            raise StoreError(text) from exc
        except UnicodeDecodeError as exc:  # SQLite's own words, with a damaged name in them
            raise ConfigError(f"{self.path}: can't {what}: {_DAMAGED}") from exc


def _opened(path: Path) -> sqlite3.Connection:
    """Open the file and bring it up to date, waiting for others who do the same.

    The timeout of the connection is not enough: where SQLite would have to wait with a lock in its
    hand, as in the change of a new file to WAL while another process makes its tables, it refuses
    at once. So the whole of it is tried again.
    """
    until = time.monotonic() + _OPEN_S
    while True:
        sqlite = sqlite3.connect(
            path, isolation_level=None, timeout=_BUSY_MS / 1000, cached_statements=256
        )
        try:
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
                sqlite.execute(f"PRAGMA {pragma}")
            migrate(sqlite, str(path))
        except BaseException as exc:
            sqlite.close()
            if not (isinstance(exc, sqlite3.Error) and _is_busy(exc)) or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_S)
        else:
            return sqlite


def _archived(path: Path) -> tuple[sqlite3.Connection, Untouched | None]:
    """Open the file to read it alone, or a copy if its schema is to be brought up to date."""
    sqlite, untouched = open_archived(path)
    try:
        if not missing(sqlite, str(path)):
            return sqlite, untouched
        copy = copied(sqlite, untouched, path)
    except BaseException:
        sqlite.close()
        raise
    sqlite.close()
    try:
        migrate(copy, str(path))
        copy.execute("PRAGMA query_only=ON")  # what would be written is lost with the copy
    except BaseException:
        copy.close()
        raise
    return copy, None


def _is_busy(error: sqlite3.Error) -> bool:
    return _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "") or ""


def _cure(error: sqlite3.Error, what: str) -> str:
    name = _name(error)
    resumed = what.startswith(_OF_A_RUN)
    again = "go on with `arena resume`" if resumed else "give the same command again"
    if _is_busy(error):
        return (
            "another program holds the database locked: end it (a forgotten sqlite3 shell?), "
            f"then {again}"
        )
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return (
            f"the disk is full or failing ({error}): make room, then {again}; "
            "all games that were finished before are kept"
        )
    if name.startswith(_NO_ACCESS):
        return (
            f"{error}: check that you may write to the file and its folder, or copy the folder to "
            "a disk that can be written to, and name that with --data"
        )
    if name.startswith((*_NO_DATABASE, "SQLITE_CORRUPT")):
        return f"{error}: {_DAMAGED}"
    return f"{error} ({name or type(error).__name__})"


def _make_private(path: Path, *, create: bool) -> None:
    """Make the file if need be; only its owner may read it, for it holds secrets."""
    try:
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        if path.stat().st_mode & 0o077 and not is_archived(path):
            path.chmod(0o600)  # SQLite gives its side files the mode of this one
    except OSError as exc:
        if isinstance(exc, FileNotFoundError) and not create:
            raise ConfigError(
                f"{path} does not exist: play something first (`arena run`), or name another --data"
            ) from exc
        raise cannot_write(f"{path} can't be opened", exc) from exc
