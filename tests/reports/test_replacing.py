"""Files are written as a whole or not at all; what can't be replaced is written to."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reports.replacing import replace_file
from tests.tools import need_that


def failing() -> Iterator[bytes]:
    """A part, and then no more."""
    yield b"new"
    raise ValueError("damaged")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_parts_are_written_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "f"
    assert replace_file(file, [b"one", b"", b"two"]) == 6
    assert file.read_bytes() == b"onetwo"
    assert names(file.parent) == {"f"}


def test_a_good_file_outlives_parts_that_can_not_be_made(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"good")
    with pytest.raises(ValueError, match="damaged"):
        replace_file(file, failing())
    assert file.read_bytes() == b"good"
    assert names(tmp_path) == {"f"}


def test_no_file_is_left_where_there_was_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="damaged"):
        replace_file(tmp_path / "f", failing())
    assert names(tmp_path) == set()


def test_the_mode_of_a_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.touch(0o600)
    replace_file(file, [b"new"])
    assert (file.stat().st_mode & 0o777, file.read_bytes()) == (0o600, b"new")


def test_the_longest_name_has_room(tmp_path: Path) -> None:
    file = tmp_path / ("ü" * 127)
    replace_file(file, [b"new"])
    assert file.read_bytes() == b"new"


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to("far/further")
    (tmp_path / "far" / "further").symlink_to("file")
    for text in (b"first", b"second"):  # it leads nowhere yet; it does
        replace_file(tmp_path / "near", [text])
        assert (tmp_path / "far" / "file").read_bytes() == text
    assert (tmp_path / "near").is_symlink()
    assert names(tmp_path / "far") == {"file", "further"}


def test_a_link_is_replaced_where_it_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "private").write_bytes(b"mine")
    (tmp_path / "f").symlink_to("private")
    replace_file(tmp_path / "f", [b"new"], follow_links=False)
    assert not (tmp_path / "f").is_symlink()
    assert (tmp_path / "private").read_bytes() == b"mine"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    assert replace_file(fifo, [b"one", b"two"]) == 6
    reader.join()
    assert read == [b"onetwo"]
    assert fifo.is_fifo()


def test_a_stream_of_this_process_is_written_to_whatever_is_behind(tmp_path: Path) -> None:
    behind = tmp_path / "behind"
    with behind.open("wb") as file:
        link = tmp_path / "link"
        link.symlink_to(f"/dev/fd/{file.fileno()}")
        inode = behind.stat().st_ino
        for path in (Path(f"/dev/fd/{file.fileno()}"), link):
            assert replace_file(path, [b"new"]) == 3
    assert (behind.read_bytes(), behind.stat().st_ino) == (b"new", inode)
    assert link.is_symlink()


def test_a_device_is_written_to() -> None:
    replace_file(Path("/dev/null"), [b"new"])
    assert Path("/dev/null").is_char_device()


def refusing(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """Let a method of every path fail, as the system would let it."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, name, refuse)


def kept_and_written_over(file: Path) -> None:
    """See that a file can be written over in its place, and that what can't be made spoils none."""
    before = file.stat()
    with pytest.raises(ValueError, match="damaged"):
        replace_file(file, failing())
    assert file.read_bytes() == b"long and good"
    assert replace_file(file, [b"new", b"er"]) == 5
    assert file.read_bytes() == b"newer"
    after = file.stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert not [name for name in names(file.parent) if name.startswith(".arena")]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A file in a folder of its own."""
    file = tmp_path / "folder" / "f"
    file.parent.mkdir()
    file.write_bytes(b"long and good")
    return file


def test_a_file_with_a_second_name_keeps_it(good: Path) -> None:
    (good.parent / "second").hardlink_to(good)
    kept_and_written_over(good)
    assert (good.parent / "second").read_bytes() == b"newer"


@pytest.mark.parametrize("ids", [(65_534, -1), (-1, 65_534)], ids=["owner", "group"])
def test_another_owner_or_group_keeps_the_file(good: Path, ids: tuple[int, int]) -> None:
    need_that(os.geteuid() == 0, "root", "only root can give files away")
    os.chown(good, *ids)
    kept_and_written_over(good)


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV])
def test_a_mount_is_written_over(good: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    refusing(monkeypatch, "replace", number)
    kept_and_written_over(good)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_file_in_a_closed_folder_is_written_over(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    refusing(monkeypatch, "touch", number)
    refusing(monkeypatch, "replace", number)
    kept_and_written_over(good)
    assert names(tmp_path / "temporary") == set()
    with pytest.raises(OSError, match=os.strerror(number)):
        replace_file(good.with_name("new"), [b"new"])
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OSError, match=os.strerror(number)):
        replace_file(good, [b"new"])
    assert good.read_bytes() == b"newer"


def test_a_folder_that_is_not_there_is_made_or_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"there is no folder {tmp_path}/a/b"):
        replace_file(tmp_path / "a" / "b" / "f", [b"new"], make_folder=False)
    assert names(tmp_path) == set()
    (tmp_path / "file").touch()
    (tmp_path / "nowhere").symlink_to("away")
    for name in ("file", "nowhere"):
        for place in (tmp_path / name / "f", tmp_path / name / "a" / "f"):
            for make in (True, False):
                with pytest.raises(NotADirectoryError, match=f"{tmp_path / name} is no folder"):
                    replace_file(place, [b"new"], make_folder=make)


def test_a_folder_and_a_ring_of_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ring").symlink_to("ring")
    for path in (tmp_path, tmp_path / "ring"):
        with pytest.raises(OSError, match=r"Is a directory|Too many levels"):
            replace_file(path, [b"new"])
    assert names(tmp_path) == {"ring"}
