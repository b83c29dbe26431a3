"""`arena export`: where it writes, and what it never writes over."""

from __future__ import annotations

import os
import sqlite3
import threading
import zlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.cli.exits import Exit
from arena.cli.stored import DATABASE
from arena.store.database import Database
from tests.cli.calling import Caller
from tests.fake_games import fake_plan, fake_record


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a run of two games that is over."""
    folder = tmp_path / "data"
    with Database(folder / DATABASE) as database:
        run = database.begin(fake_plan(2, deals=1))
        for spec in run.plan.specs():
            record = fake_record(spec)
            database.add_record(run, replace(record, core=replace(record.core, plays=())))
        database.finish(run)
    return folder


def damage(data: Path, *, lacking: bool = False) -> str:
    """Spoil the record of the last game, all of it or by its last field; return its id."""
    with sqlite3.connect(data / DATABASE) as connection:
        core = connection.execute("SELECT core FROM record WHERE game = 2").fetchone()[0]
        left = zlib.decompress(core)
        left = left[: left.rindex(b',"facts"')] + b"}"
        spoilt = zlib.compress(left) if lacking else b"junk"
        connection.execute("UPDATE record SET core = ? WHERE game = 2", (spoilt,))
        game = connection.execute("SELECT id FROM game WHERE key = 2").fetchone()[0]
    connection.close()
    return str(game)


@pytest.mark.parametrize(
    "words",
    [
        ("export", "--format", "csv"),
        ("export", "--format", "jsonl"),
        ("report",),
        ("report", "--single"),
        ("replay",),
        ("resume",),
        ("rerun", "--side", "x", "--bot", "random"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("spoilt", ["junk", "lacking"])
def test_a_damaged_record_is_told_by_its_game_with_a_cure(
    arena: Caller, data: Path, words: tuple[str, ...], spoilt: str
) -> None:
    game = damage(data, lacking=spoilt == "lacking")
    called = arena(*words, "--data", data)
    assert called.code == Exit.USAGE, called.stderr
    assert f"/{game} is damaged (" in called.stderr
    assert f"/{game} --data {data}` plays it anew, or" in called.stderr
    verified = arena("verify", "--data", data, "--json").json["failed"]
    assert [one["id"] for one in verified if "damaged" in one["what"]] == [game]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_good_file_outlives_an_export_that_fails(
    arena: Caller, data: Path, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "keep"
    assert arena("export", "--format", kind, "-o", file, "--data", data).code == 0
    good = file.read_bytes()
    assert good.count(b"\n") >= 2
    damage(data)
    assert arena("export", "--format", kind, "-o", file, "--data", data).code != 0
    assert file.read_bytes() == good
    assert {path.name for path in tmp_path.iterdir()} == {"data", "keep"}


@pytest.mark.parametrize("name", [DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "link", "hard"])
@pytest.mark.parametrize(
    "words", [("export", "--format", "csv"), ("report", "--single"), ("report",), ("replay",)]
)
def test_the_database_is_never_written_over(
    arena: Caller, data: Path, words: tuple[str, ...], name: str
) -> None:
    (data / "link").symlink_to(DATABASE)
    (data / "hard").hardlink_to(data / DATABASE)
    called = arena(*words, "-o", data / name, "--data", data)
    assert called.code == Exit.USAGE
    assert f"{data / name}: games are stored in this file; name another" in called.stderr
    assert arena("games", "--data", data).code == 0


def test_the_database_of_another_folder_is_not_written_over(
    arena: Caller, data: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other" / DATABASE
    Database(other).close()
    called = arena("export", "--format", "csv", "-o", other, "--data", data)
    assert called.code == Exit.USAGE
    assert other.read_bytes().startswith(b"SQLite format 3")


def test_a_pipe_is_written_to(arena: Caller, data: Path, tmp_path: Path) -> None:
    fifo, file = tmp_path / "fifo", tmp_path / "file"
    os.mkfifo(fifo)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    assert arena("export", "--format", "csv", "-o", fifo, "--data", data).code == 0
    reader.join()
    arena("export", "--format", "csv", "-o", file, "--data", data)
    assert read == [file.read_bytes()]


@pytest.mark.parametrize("words", [("export", "--format", "csv"), ("report", "--single")])
def test_no_folder_is_made_for_one_file(
    arena: Caller, data: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    place = tmp_path / "typo" / "a"
    called = arena(*words, "-o", place / "file", "--data", data)
    assert called.code == Exit.USAGE
    assert f"{place / 'file'}: can't be written (there is no folder {place})" in called.stderr
    assert not place.parent.exists()
