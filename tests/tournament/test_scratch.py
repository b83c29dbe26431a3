"""Folders of clusters: gone at their end, and what a kill left behind at the next start."""

from __future__ import annotations

import errno
import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.tournament.executors.scratch import open_scratch

KILLED = """
import os, signal, sys
from pathlib import Path
from arena.tournament.executors.scratch import open_scratch
with open_scratch(Path(sys.argv[1])) as scratch:
    (scratch / "deep").mkdir()
    (scratch / "deep" / "file").write_text("left")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_scratch_folder_is_there_and_gone_with_all_that_is_in_it(tmp_path: Path) -> None:
    with open_scratch(tmp_path) as scratch:
        assert scratch.parent == tmp_path
        (scratch / "deep").mkdir()
        (scratch / "deep" / "file").write_text("")
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_it_lies_where_the_system_keeps_what_is_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with open_scratch(None) as scratch:
        assert scratch.parent == tmp_path


def test_what_a_killed_process_left_goes_and_nothing_else_does(tmp_path: Path) -> None:
    (tmp_path / "staged").mkdir()
    (tmp_path / "dask-notes.txt").write_text("mine")
    (tmp_path / "dask-examples").mkdir()  # the data folder may be one that has other things too
    (tmp_path / "dask-examples" / "mine.py").write_text("mine")
    subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False, timeout=60)
    (left,) = tmp_path.glob("dask-*/deep/file")
    with open_scratch(tmp_path) as first, open_scratch(tmp_path) as second:
        assert not left.exists()
        assert first != second
        assert first.is_dir()
        assert second.is_dir()
    assert {file.name for file in tmp_path.rglob("*")} == {
        *("staged", "dask-notes.txt", "dask-examples", "mine.py"),
    }


def test_one_that_another_took_for_left_behind_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its making and its locking somebody may look."""
    made: list[Path] = []
    really = fcntl.flock

    def with_a_sweeper(fd: int, operation: int) -> None:
        folder = Path(f"/proc/self/fd/{fd}").readlink().parent
        made.append(folder)
        if len(made) == 1:
            shutil.rmtree(folder)
        elif len(made) == 2:
            raise BlockingIOError(errno.EWOULDBLOCK, "held")
        really(fd, operation)

    monkeypatch.setattr("fcntl.flock", with_a_sweeper)
    with open_scratch(tmp_path) as scratch:
        assert scratch == made[-1]
        assert scratch.is_dir()
    assert len(made) == 3


def test_where_locks_are_not_kept_nothing_of_others_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_fd: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks on this disk")

    with open_scratch(tmp_path) as others:
        monkeypatch.setattr("fcntl.flock", refuse)
        with open_scratch(tmp_path) as scratch:
            assert scratch.is_dir()
        assert list(tmp_path.iterdir()) == [others]
