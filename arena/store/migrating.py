"""Bring a database to the newest schema: the files of `migrations/`, each once and in order.

`PRAGMA user_version` is the number of the last one. A file is never edited after a release; what
changes is a new file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib import resources

from arena.errors import ConfigError

__all__ = ["APPLICATION_ID", "migrate", "migrations", "missing"]

APPLICATION_ID = 0x4D724178  # "MrAx", at its place in the file's header


def migrations() -> list[tuple[int, str]]:
    """Return the migrations as (number, SQL), from 1 on without a gap."""
    folder = resources.files("arena.store") / "migrations"
    files = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name[:4]), (folder / name).read_text("utf-8")) for name in files]


def missing(connection: sqlite3.Connection, path: str) -> list[tuple[int, str]]:
    """Return the migrations that a database still needs, writing nothing.

    Args:
        connection: in autocommit mode.
        path: of the file, for error texts.

    Raises:
        ConfigError: if the file is another program's, or was written by a newer arena.
        sqlite3.Error: if the database refuses.
    """
    connection.execute("BEGIN")  # one look: another process may be making the tables just now
    version = _number(connection, "user_version")
    owner = _number(connection, "application_id")
    is_theirs = owner != APPLICATION_ID and bool(owner or version or _has_tables(connection))
    connection.execute("COMMIT")
    if is_theirs:
        raise ConfigError(
            f"{path} is a database of another program: give --data a folder of its own"
        )
    steps = migrations()
    if version > len(steps):
        raise ConfigError(
            f"{path} has schema {version}, this arena knows up to {len(steps)}: "
            "use the arena that wrote it, or a newer one"
        )
    return steps[version:]


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Apply what is missing, each migration in a transaction of its own.

    Args:
        connection: in autocommit mode.
        path: of the file, for error texts.

    Raises:
        ConfigError, sqlite3.Error: as `missing`.
    """
    for number, script in missing(connection, path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Looked at again under the lock: another process may have been faster.
            if _number(connection, "user_version") < number:
                for statement in _statements(script):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except sqlite3.Error:
            connection.rollback()
            raise


def _statements(script: str) -> Iterator[str]:
    # `executescript` would commit first and so give the lock away.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _has_tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
