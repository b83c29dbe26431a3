"""The files of a report's folder: written whole, listed, and those of an earlier one removed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from reports.site.manifest import MANIFEST, FolderWriter


def written(folder: Path, **files: str) -> FolderWriter:
    writer = FolderWriter(folder)
    for name, text in files.items():
        writer.write(name.replace("__", "/") + ".html", text)
    writer.close()
    return writer


def found(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def test_files_are_listed_with_their_content(tmp_path: Path) -> None:
    writer = written(tmp_path, index="one", bots__a="two")
    assert found(tmp_path) == {"index.html", "bots/a.html", MANIFEST} == set(writer.files)
    listed = json.loads((tmp_path / MANIFEST).read_text())
    assert listed["schema"] == "arena.report-files/1"
    assert listed["files"] == {
        "bots/a.html": hashlib.sha256(b"two").hexdigest(),
        "index.html": hashlib.sha256(b"one").hexdigest(),
    }


def test_what_only_an_earlier_report_wrote_is_removed_with_its_folder(tmp_path: Path) -> None:
    written(tmp_path, index="one", bots__a="two", replays__0f="three")
    written(tmp_path, index="one", bots__b="two")
    assert found(tmp_path) == {"index.html", "bots/b.html", MANIFEST}
    assert not (tmp_path / "replays").exists()


def test_files_of_others_and_changed_ones_stay(tmp_path: Path) -> None:
    written(tmp_path, index="one", bots__a="two", bots__b="two")
    (tmp_path / "bots" / "mine.html").write_text("mine")
    (tmp_path / "letter.txt").write_text("mine")
    (tmp_path / "bots" / "a.html").write_text("two, and what I think of it")
    written(tmp_path, index="one")
    assert found(tmp_path) == {
        "index.html",
        "bots/mine.html",
        "bots/a.html",
        "letter.txt",
        MANIFEST,
    }


@pytest.mark.parametrize(
    "file", ["../out.html", "/out.html", "bots/../../out.html", "deep/er/x.html", ".hidden", "a b"]
)
def test_no_list_reaches_out_of_the_folder(file: str, tmp_path: Path) -> None:
    folder = tmp_path / "in" / "report"
    written(folder, index="one")
    outside = tmp_path / "in" / "out.html"
    outside.write_text("mine")
    listed = {"schema": "x", "files": {file: hashlib.sha256(b"mine").hexdigest()}}
    (folder / MANIFEST).write_text(json.dumps(listed))
    written(folder, index="one")
    assert outside.read_text() == "mine"
    with pytest.raises(ValueError, match="no place for a file"):
        FolderWriter(folder).write(file, "")


def test_links_to_files_elsewhere_are_let_alone(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "report", tmp_path / "elsewhere"
    elsewhere.write_text("two")
    written(folder, index="one", bots__a="two")
    (folder / "bots" / "a.html").unlink()
    (folder / "bots" / "a.html").symlink_to(elsewhere)
    written(folder, index="one")
    assert (folder / "bots" / "a.html").is_symlink()
    assert elsewhere.read_text() == "two"


@pytest.mark.parametrize("text", ["", "[]", '{"files": 3}', "\x00"])
def test_a_list_that_cannot_be_read_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(text)
    written(tmp_path, index="one")
    assert found(tmp_path) == {"index.html", MANIFEST}


def test_what_a_broken_off_report_wrote_is_removed_by_the_next(tmp_path: Path) -> None:
    written(tmp_path, index="one", bots__a="two")

    def break_off() -> None:
        with FolderWriter(tmp_path) as writer:
            writer.write("bots/b.html", "three")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert found(tmp_path) == {"index.html", "bots/a.html", "bots/b.html", MANIFEST}
    written(tmp_path, index="one")
    assert found(tmp_path) == {"index.html", MANIFEST}
