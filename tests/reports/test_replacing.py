"""Files are written as a whole or not at all; what can't be replaced is written to."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reports.replacing import replace_file


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


def test_a_folder_and_a_ring_of_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ring").symlink_to("ring")
    for path in (tmp_path, tmp_path / "ring"):
        with pytest.raises(OSError, match=r"Is a directory|Too many levels"):
            replace_file(path, [b"new"])
    assert names(tmp_path) == {"ring"}
