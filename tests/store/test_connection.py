"""What SQLite refuses is told in one sentence, and what was stored before is kept."""

from __future__ import annotations

import errno
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from arena.errors import ArenaError, ConfigError, StoreError
from arena.store.database import Database
from tests.fake_games import fake_plan, fake_record

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.sqlite3"


def test_a_missing_file_is_made_only_where_that_is_meant(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"does not exist: play something first"):
        Database(path, create=False)
    assert not path.exists()
    Database(path).close()
    Database(path, create=False).close()


def test_wal_and_full_synchronisation_are_on(path: Path) -> None:
    with Database(path) as database:
        assert database.rows("PRAGMA journal_mode") == [("wal",)]
        assert database.rows("PRAGMA synchronous") == [(2,)]
        assert database.rows("PRAGMA foreign_keys") == [(1,)]


def test_another_programs_file_is_left_alone(path: Path) -> None:
    path.write_bytes(b"something else entirely, and long enough to be no header" * 100)
    with pytest.raises(ConfigError, match=r"no arena database"):
        Database(path)
    path.unlink()
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE theirs (a)")
    other.close()
    with pytest.raises(ConfigError, match=r"a database of another program"):
        Database(path)


def test_a_folder_in_the_way_is_told(path: Path) -> None:
    path.mkdir()
    with pytest.raises(ConfigError, match=r"can't be opened"):
        Database(path)
    with pytest.raises(ConfigError, match=r"can't be opened"):
        Database(Path("/proc/nowhere/arena.sqlite3"))


def test_a_folder_that_is_full_is_told_apart_from_a_wrong_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(StoreError, match="make room"):
        Database(path)


def test_a_locked_database_is_told_and_nothing_is_half_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.store.connection._BUSY_MS", 50)
    with Database(path) as database:
        run = database.begin(fake_plan())
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"holds the database locked.*`arena resume`"):
            database.add_record(run, fake_record(run.plan.spec(0)))
        assert list(database.results(run)) == []  # reading goes on
        other.execute("ROLLBACK")
        other.close()
        database.add_record(run, fake_record(run.plan.spec(0)))
        assert len(list(database.records(run))) == 1


@contextmanager
def held(path: Path, *, how: str) -> Iterator[sqlite3.Connection]:
    """Hold a new file locked, as an arena does that is just making it."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute(how)
    try:
        yield other
    finally:
        other.close()


@pytest.mark.parametrize("how", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_new_file_that_another_process_is_making_is_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Of the first lock SQLite itself waits for nobody, so each try ends at once."""
    tries: list[float] = []
    with held(path, how=how) as other:

        def look_again(seconds: float) -> None:
            tries.append(seconds)
            if len(tries) == 3:
                other.execute("COMMIT")

        monkeypatch.setattr("arena.store.connection._BUSY_MS", 1)
        monkeypatch.setattr("arena.store.connection.time.sleep", look_again)
        with Database(path) as database:
            assert database.rows("PRAGMA journal_mode") == [("wal",)]
    assert len(tries) == 3


@pytest.mark.parametrize("how", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_new_file_that_stays_locked_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr("arena.store.connection._BUSY_MS", 1)
    monkeypatch.setattr("arena.store.connection._OPEN_S", 0.05)
    with (
        held(path, how=how),
        pytest.raises(StoreError, match=r"can't open it.*holds the database locked"),
    ):
        Database(path)
    Database(path).close()


def test_a_full_disk_is_told_and_finished_games_are_kept(path: Path) -> None:
    with Database(path) as database:
        run = database.begin(fake_plan(4, deals=20))
        (pages,) = database.rows("PRAGMA page_count")[0]
        database.rows(f"PRAGMA max_page_count = {pages + 20}")
        stored = 0

        def store_all() -> None:
            nonlocal stored
            for spec in run.plan.specs():
                database.add_record(run, fake_record(spec))
                stored += 1

        with pytest.raises(StoreError, match=r"disk is full.*`arena resume`"):
            store_all()
        assert 0 < stored < run.plan.count
        assert len(list(database.results(run))) == stored
        database.rows("PRAGMA max_page_count = 1000000")
        assert next(database.missing(run)) == stored
        database.add_record(run, fake_record(run.plan.spec(stored)))
    with Database(path) as database:
        assert database.rows("PRAGMA integrity_check") == [("ok",)]
        assert len(list(database.records(run))) == stored + 1


@pytest.mark.slow
def test_a_file_size_limit_of_the_system_is_told_like_a_full_disk(path: Path) -> None:
    script = (
        "import sys\n"
        "sys.path.append(sys.argv[2])\n"  # behind the installed package
        "from pathlib import Path\n"
        "from arena.errors import StoreError\n"
        "from arena.store.database import Database\n"
        "from tests.fake_games import fake_plan, fake_record\n"
        "with Database(Path(sys.argv[1])) as database:\n"
        "    run = database.begin(fake_plan(4, deals=100))\n"
        "    try:\n"
        "        for stored, spec in enumerate(run.plan.specs()):\n"
        "            database.add_record(run, fake_record(spec))\n"
        "    except StoreError as error:\n"
        "        print(stored, error)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, str(path), str(ROOT)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)),
    )
    stored, _, text = ended.stdout.partition(" ")
    assert "full or failing" in text
    with Database(path) as database:
        assert len(list(database.results(database.find_run()))) == int(stored) > 0


def test_errors_name_the_file_and_what_was_tried(path: Path) -> None:
    with Database(path) as database, pytest.raises(StoreError) as caught:
        database.rows("SELECT * FROM nowhere")
    assert str(caught.value).startswith(f"{path}: can't read from it: no such table: nowhere")


@pytest.mark.parametrize(
    ("name", "cure", "kind"),
    [
        ("SQLITE_READONLY", "check that you may write to the file", StoreError),
        ("SQLITE_CANTOPEN", "check that you may write to the file", StoreError),
        ("SQLITE_IOERR_FSYNC", "make room, then give the same command again", StoreError),
        ("SQLITE_CORRUPT", "give --data another folder", ConfigError),
        ("SQLITE_CORRUPT_INDEX", "give --data another folder", ConfigError),
        ("SQLITE_TOOBIG", "SQLITE_TOOBIG", StoreError),
    ],
)
def test_each_kind_of_refusal_has_its_cure(
    path: Path, name: str, cure: str, kind: type[ArenaError]
) -> None:
    error = sqlite3.OperationalError("no luck")
    error.sqlite_errorname = name
    with (
        Database(path) as database,
        pytest.raises(kind) as caught,
        database._db.telling("do it"),
    ):
        raise error
    assert str(caught.value).startswith(f"{path}: can't do it: ")
    assert cure in str(caught.value)


@pytest.mark.parametrize("what", ["store game 12ab", "finish a run", "bench mine"])
def test_a_run_that_is_stored_is_gone_on_with(path: Path, what: str) -> None:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorname = "SQLITE_BUSY"
    with (
        Database(path) as database,
        pytest.raises(StoreError, match=r"then go on with `arena resume`"),
        database._db.telling(what),
    ):
        raise error


def test_whether_a_game_could_be_stored_is_known_before(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.store.connection._BUSY_MS", 1)
    with Database(path) as database:
        database.check_writable()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"locked: .*then give the same command again"):
            database.check_writable()
        other.close()
        database.check_writable()

        def full(**_: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr("tempfile.TemporaryFile", full)
            with pytest.raises(StoreError, match="make room, then give the same command again"):
                database.check_writable()
        Path(f"{path}.lock").unlink()
        Path(f"{path}.lock").mkdir()
        database.close()
    with Database(path) as database, pytest.raises(StoreError, match="can't be locked"):
        database.check_writable()


def test_a_damaged_file_is_no_accident_that_passes(path: Path) -> None:
    """With whole headers it opens; what comes of it is told when it is read."""
    with Database(path) as database:
        run = database.begin(fake_plan(4, deals=20))
        for spec in run.plan.specs():
            database.add_record(run, fake_record(spec))
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"it is damaged; give --data another folder"):
        read_all(path)


def test_damage_in_a_name_is_told_too(path: Path) -> None:
    """SQLite puts it into its error, which Python then can't read."""
    Database(path).close()
    content = path.read_bytes()
    assert content.count(b"CREATE TABLE game") == 1
    path.write_bytes(content.replace(b"CREATE TABLE game", b"CREATE TABLX \xff\xfe\xff\xff"))
    with pytest.raises(ConfigError, match=r"it is damaged; give --data another folder"):
        Database(path, create=False)


def read_all(path: Path) -> int:
    with Database(path, create=False) as database:
        return len(list(database.results(database.find_run())))
