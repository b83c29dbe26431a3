"""A database that can be read and not be written to: whole, or not at all."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.errors import ConfigError, StoreError
from arena.store.archived import Untouched, copied, is_archived
from arena.store.database import Database
from arena.store.migrating import migrations
from arena.store.runs import Run
from tests.fake_games import fake_plan, fake_record
from tests.sandboxed import need_sandbox

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with one game of a run, in a folder of its own."""
    made = tmp_path / "data" / "arena.sqlite3"
    with Database(made) as database:
        run = database.begin(fake_plan(4, deals=2))
        database.add_record(run, fake_record(run.plan.spec(0)))
    return made


@pytest.fixture
def archived(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens an existing database may not write there."""
    monkeypatch.setattr("arena.store.connection.is_archived", lambda _: True)


def played(database: Database) -> int:
    return len(list(database.results(database.find_run())))


@pytest.mark.usefixtures("archived")
def test_it_is_read_and_nothing_is_made_beside_it(path: Path) -> None:
    path.chmod(0o444)
    with Database(path, create=False) as database:
        assert played(database) == 1
        assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o444


@pytest.mark.usefixtures("archived")
def test_what_would_write_says_where_one_may(path: Path) -> None:
    with Database(path, create=False) as database:
        run = database.find_run()
        with pytest.raises(ConfigError, match=r"copy the folder to a disk that can be written to"):
            database.touch(run)


@pytest.mark.usefixtures("archived")
def test_what_is_written_to_while_it_is_read_is_not_read_in_part(path: Path) -> None:
    with Database(path, create=False) as database:
        assert played(database) == 1
        with Database(path) as other:
            assert played(database) == 1  # it is open elsewhere, and as it was
            run = other.find_run()
            other.add_record(run, fake_record(run.plan.spec(1)))
            with pytest.raises(StoreError, match="was written to by another process while"):
                played(database)
        with pytest.raises(StoreError, match="was written to by another process while"):
            played(database)
        path.write_bytes(b"")
        with pytest.raises(StoreError, match="was written to by another process while"):
            database.rows("SELECT * FROM voids")
    path.write_bytes(b"no database at all")
    with pytest.raises(ConfigError, match="file is not a database"):
        Database(path, create=False)


@pytest.mark.usefixtures("archived")
def test_beside_a_writer_it_is_read_with_its_last_games(path: Path) -> None:
    with Database(path) as other:
        run = other.find_run()
        other.add_record(run, fake_record(run.plan.spec(1)))
        with Database(path, create=False) as database:
            assert played(database) == 2
            other.add_record(run, fake_record(run.plan.spec(2)))
            assert played(database) == 3


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The schema has changed since the database was written."""
    steps = [*migrations(), (len(migrations()) + 1, "ALTER TABLE run ADD COLUMN later;\n")]
    monkeypatch.setattr("arena.store.migrating.migrations", lambda: steps)


@pytest.mark.parametrize("live", [True, False], ids=["live", "closed"])
def test_one_of_an_older_release_is_read_from_a_copy(
    path: Path, request: pytest.FixtureRequest, live: bool
) -> None:
    path.chmod(0o444)
    with Database(path) as writer:
        if not live:
            writer.close()
        there, before = set(path.parent.iterdir()), path.read_bytes()
        request.getfixturevalue("archived")
        request.getfixturevalue("newer")
        with Database(path, create=False) as database:
            assert played(database) == 1
            assert database.rows("SELECT later FROM run") == [(None,)]
            with pytest.raises(ConfigError, match=r"readonly.* copy the folder to a disk"):
                database.touch(database.find_run())
        assert (set(path.parent.iterdir()), path.read_bytes()) == (there, before)


def test_one_that_no_copy_can_be_made_of_is_told(path: Path) -> None:
    class Full(sqlite3.Connection):
        def backup(self, *_: Any, **__: Any) -> None:
            raise sqlite3.OperationalError("database or disk is full")

    with closing(Full(path)) as archived:
        with pytest.raises(
            ConfigError, match=r"is full\): make room there or name another one with"
        ):
            copied(archived, None, path)
        untouched = Untouched(path)
        path.write_bytes(b"")
        with pytest.raises(StoreError, match="was written to by another process while"):
            copied(archived, untouched, path)


def copy_some(path: Path, run: Run, database: Database, names: Sequence[str]) -> Path:
    """Copy some files of an open database, whose last game is in a side file."""
    database.add_record(run, fake_record(run.plan.spec(1)))
    copy = path.parent.with_name("copy")
    copy.mkdir()
    for name in names:
        shutil.copy(path.with_name(name), copy)
    return copy / path.name


@pytest.mark.usefixtures("archived")
def test_a_copy_without_its_last_games_index_is_not_read_in_part(path: Path) -> None:
    with Database(path) as other:
        copy = copy_some(path, other.find_run(), other, (path.name, f"{path.name}-wal"))
    with pytest.raises(ConfigError, match=r"last games lie in arena\.sqlite3-wal: copy both into"):
        Database(copy, create=False)


@pytest.mark.parametrize(
    ("may", "it_is"),
    [("rwf", False), ("rw", True), ("rf", True), ("r", True), ("f", False), ("", False)],
)
def test_an_archive_is_what_one_can_read_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch, may: str, it_is: bool
) -> None:
    """`r`, `w`: the file can be read, written to; `f`: its folder can be written to."""
    rights = {(path, os.R_OK): "r", (path, os.W_OK): "w", (path.parent, os.W_OK): "f"}
    monkeypatch.setattr(os, "access", lambda where, how: rights[where, how] in may)
    assert is_archived(path) is it_is


READ = """
import sys
from pathlib import Path
from arena.errors import ConfigError
from arena.store.database import Database
try:
    with Database(Path(sys.argv[1]), create=False) as database:
        run = database.find_run()
        print(len(list(database.results(run))))
        with database.claim(run):
            print("claimed")
except ConfigError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("disk", [True, False], ids=["disk", "rights"])
@pytest.mark.parametrize("live", [True, False], ids=["live", "closed"])
def test_another_process_reads_where_it_may_not_write(path: Path, disk: bool, live: bool) -> None:
    """On a mounted archive, and in a folder whose rights let it: SQLite's own locks included."""
    bwrap = need_sandbox().profile.bwrap
    mounts = ["--dev-bind", "/", "/", "--cap-drop", "ALL"]  # or root may write anywhere
    if disk:
        mounts += ["--ro-bind", str(path.parent), str(path.parent)]
    with Database(path) as database:
        if not live:
            database.close()
        path.chmod(0o400)
        path.parent.chmod(0o555)
        try:
            told = subprocess.run(
                [bwrap, *mounts, "--", sys.executable, "-c", READ, str(path)],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
            )
        finally:
            path.parent.chmod(0o755)
    found, refused = told.stdout.splitlines()
    assert found == "1"
    assert refused.startswith(f"{path}.lock can't be locked, where nothing can be written to: ")
