"""A look at any path a person can write: what is there, or why it can't be seen."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from arena.tournament.paths import is_file, is_folder, kind_of, why_not


def test_what_is_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    assert kind_of(tmp_path) == stat.S_IFDIR
    assert kind_of(str(tmp_path / "link")) == stat.S_IFREG
    assert [is_file(path) for path in (tmp_path, tmp_path / "file")] == [False, True]
    assert [is_folder(path) for path in (tmp_path, tmp_path / "file")] == [True, False]
    assert why_not(tmp_path) == ""


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("nothing", ""),
        ("file/below", ""),
        ("x" * 300, "File name too long"),
        ("x/" * 3_000, "File name too long"),
        ("a\0b", "no file can have this name"),
        ("\ud800", "no file can have this name"),
        ("loop", "Too many levels of symbolic links"),
        ("\udcff", ""),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_what_is_not_there_is_nothing_and_no_error(tmp_path: Path, word: str, why: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    path = f"{tmp_path}/{word}"
    assert (kind_of(path), is_file(path), is_folder(path), why_not(path)) == (
        None, False, False, why,
    )  # fmt: skip


def test_what_may_not_be_looked_at_is_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", refuse)
    assert kind_of(tmp_path) is None
    assert why_not(tmp_path) == "Permission denied"
