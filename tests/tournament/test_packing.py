"""A staged bot as bytes: the same, wherever it is laid out."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from arena.errors import HostFault
from arena.sandbox.staging import stage
from arena.tournament.executors.packing import digest_of, pack, unpack


def a_bot(folder: Path) -> Path:
    """Stage a folder with all that a bot may have; return the copy."""
    bot = folder / "bot"
    (bot / "lib" / "deep").mkdir(parents=True)
    (bot / "empty").mkdir()
    (bot / "run").write_bytes(b"#!/bin/sh\n")
    (bot / "run").chmod(0o755)
    (bot / "lib" / "ä b.bin").write_bytes(bytes(range(256)))
    (bot / "lib" / "deep" / "link").symlink_to("../ä b.bin")
    (bot / "a.b").write_bytes(b"")
    return stage(bot, folder / "staged").folder


def looked_at(folder: Path) -> dict[str, tuple[str, object]]:
    """What lies in a folder: names, kinds, contents, execute bits."""
    found: dict[str, tuple[str, object]] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()))
        elif path.is_dir():
            found[name] = ("folder", None)
        else:
            found[name] = ("file", (path.read_bytes(), bool(path.stat().st_mode & 0o100)))
    return found


def test_what_arrives_is_what_was_sent(tmp_path: Path) -> None:
    copy = a_bot(tmp_path)
    packed = pack(copy)
    place = unpack(packed, digest_of(packed), tmp_path / "far" / "bots")
    assert place == tmp_path / "far" / "bots" / digest_of(packed)
    assert looked_at(place) == looked_at(copy)
    assert len(looked_at(place)) == 7
    assert pack(place) == packed


UNPACKS = """
import sys
from pathlib import Path
from arena.tournament.executors.packing import unpack
assert sys.getfilesystemencoding() == "ascii"
unpack(sys.stdin.buffer.read(), sys.argv[1], Path(sys.argv[2]))
"""


def test_names_are_the_same_bytes_whatever_the_locale(tmp_path: Path) -> None:
    copy = a_bot(tmp_path)
    (copy / os.fsdecode(b"no text \xff")).write_bytes(b"1")
    packed = pack(copy)
    ascii_only = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    subprocess.run(
        [sys.executable, "-c", UNPACKS, digest_of(packed), tmp_path / "far"],
        input=packed,
        env={**os.environ, **ascii_only},
        check=True,
    )
    assert looked_at(tmp_path / "far" / digest_of(packed)) == looked_at(copy)


def test_what_arrived_can_be_read_by_bots_and_deleted_by_its_owner(tmp_path: Path) -> None:
    packed = pack(a_bot(tmp_path))
    place = unpack(packed, digest_of(packed), tmp_path / "bots")
    assert stat.S_IMODE(place.stat().st_mode) == 0o755
    for path in place.rglob("*"):
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == 0o755 if path.is_dir() else mode in (0o444, 0o555)
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_a_copy_that_lies_there_is_kept(tmp_path: Path) -> None:
    packed = pack(a_bot(tmp_path))
    place = unpack(packed, digest_of(packed), tmp_path / "bots")
    inode = place.stat().st_ino
    assert unpack(b"", digest_of(packed), tmp_path / "bots") == place
    assert place.stat().st_ino == inode
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_damaged_bytes_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    packed = pack(a_bot(tmp_path))
    with pytest.raises(HostFault, match="arrived damaged"):
        unpack(packed[:-1] + b"?", digest_of(packed), tmp_path / "bots")
    assert not (tmp_path / "bots").exists()


def test_places_that_can_not_be_read_or_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(HostFault, match="/none: the staged bot can't be read"):
        pack(tmp_path / "none")
    packed = pack(a_bot(tmp_path))
    (tmp_path / "file").write_text("")
    with pytest.raises(HostFault, match="/file: a bot can't be written there"):
        unpack(packed, digest_of(packed), tmp_path / "file")
