"""A bot's folder copied by content: what is kept, what is refused, and that nothing hangs."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.errors import BotRefused, ConfigError, StoreError
from arena.sandbox import copying
from arena.sandbox.staging import (
    MAX_FILES,
    Staged,
    check_folder,
    shown,
    stage,
    stage_files,
    unstage,
)
from arena.sandbox.visible import look_around
from tests.tools import need_that


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    folder = tmp_path / "mybot"
    folder.mkdir()
    (folder / "bot.py").write_text("print()\n")
    (folder / "bot.py").chmod(0o640)
    (folder / "run").write_text("#!/bin/sh\n")
    (folder / "run").chmod(0o700)
    (folder / "data").mkdir()
    (folder / "data" / "book.txt").write_text("opening\n")
    return folder


@pytest.fixture
def into(tmp_path: Path) -> Path:
    return tmp_path / "arena-data" / "staged"


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_copy_holds_what_the_folder_holds_read_only_under_its_hash(bot: Path, into: Path) -> None:
    staged = stage(bot, into)
    assert content(staged.folder) == content(bot)
    assert staged.folder == into.resolve() / staged.hash
    assert len(staged.hash) == 64
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in staged.folder.rglob("*")}
    assert modes == {"bot.py": 0o444, "run": 0o555, "data": 0o555, "book.txt": 0o444}
    assert stat.S_IMODE(staged.folder.stat().st_mode) == 0o555
    assert stat.S_IMODE(into.stat().st_mode) == 0o700


def test_same_content_gives_the_same_copy_and_any_change_another(bot: Path, into: Path) -> None:
    first = stage(bot, into)
    os.utime(bot / "bot.py", (1, 1))
    (bot / "bot.py").chmod(0o600)  # only the execute bit counts
    assert stage(bot, into) == first
    hashes = {first.hash}
    (bot / "bot.py").chmod(0o755)
    hashes.add(stage(bot, into).hash)
    (bot / "bot.py").write_text("print(1)\n")
    hashes.add(stage(bot, into).hash)
    (bot / "bot.py").rename(bot / "bot2.py")
    hashes.add(stage(bot, into).hash)
    (bot / "empty").mkdir()
    hashes.add(stage(bot, into).hash)
    (bot / "link").symlink_to("bot2.py")
    hashes.add(stage(bot, into).hash)
    hashes.add(stage(bot, into, salt="x").hash)
    assert len(hashes) == 7
    assert len(list(into.iterdir())) == 7


def test_copy_stays_when_the_folder_changes_or_goes(bot: Path, into: Path) -> None:
    staged = stage(bot, into)
    before = content(staged.folder)
    (bot / "bot.py").write_text("evil\n")
    assert content(staged.folder) == before


def test_folder_changed_into_a_link_is_not_followed(bot: Path, into: Path, tmp_path: Path) -> None:
    """E14: the copy is what runs; a link put in the folder's place is another folder."""
    staged = stage(bot, into)
    bot.rename(tmp_path / "elsewhere")
    bot.symlink_to("/etc")
    assert (staged.folder / "bot.py").read_text() == "print()\n"


@pytest.mark.parametrize("name", [".git", ".venv", "node_modules", "target", "__pycache__", ".env"])
def test_what_is_no_part_of_a_bot_is_left_out(bot: Path, into: Path, name: str) -> None:
    plain = stage(bot, into)
    for where in (bot / name, bot / "data" / name):
        where.mkdir()
        (where / "secret").write_text("x")
        os.mkfifo(where / "fifo")
    assert stage(bot, into) == plain


def test_link_inside_the_folder_is_kept_as_a_link(bot: Path, into: Path) -> None:
    (bot / "data" / "main.py").symlink_to("../bot.py")
    (bot / "more").symlink_to("data")
    staged = stage(bot, into)
    assert (staged.folder / "data" / "main.py").readlink() == Path("../bot.py")
    assert (staged.folder / "more" / "book.txt").read_text() == "opening\n"


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("/", "out of the bot's folder"),
        ("/etc/passwd", "out of the bot's folder"),
        ("../secret", "out of the bot's folder"),
        ("../../../../../../../../etc/passwd", "out of the bot's folder"),
        ("data/../../secret", "out of the bot's folder"),
        ("..", "out of the bot's folder"),
        ("../mybot/bot.py", "leads to nothing|out of the bot's folder"),
        ("link", "in a circle"),
        ("nowhere", "leads to nothing"),
        ("__pycache__/x", "leads to nothing"),
    ],
)
def test_link_that_leads_out_or_nowhere_is_refused_by_name(
    bot: Path, into: Path, tmp_path: Path, target: str, says: str
) -> None:
    """E12: the text names the link inside the bot's folder, and no path of this host."""
    (tmp_path / "secret").write_text("marker")
    (bot / "data" / "deep").mkdir()
    (bot / "link").symlink_to(target)
    with pytest.raises(BotRefused, match=says) as caught:
        stage(bot, into)
    assert str(caught.value).startswith("link: ")
    assert str(tmp_path) not in str(caught.value)
    assert list(into.iterdir()) == []


def test_links_in_a_chain_that_leaves_are_refused(bot: Path, into: Path) -> None:
    (bot / "up").symlink_to("data/down")
    (bot / "data" / "down").symlink_to("..")
    stage(bot, into)  # `..` of data is the folder itself
    (bot / "data" / "out").symlink_to("down/../.")  # looks like `data`, is the folder above
    with pytest.raises(BotRefused, match="data/out: a link out of the bot's folder"):
        stage(bot, into)


def test_special_files_are_refused_without_waiting(bot: Path, into: Path) -> None:
    """E13: nobody ever writes into the FIFO, so opening it would hang."""
    os.mkfifo(bot / "fifo")
    with pytest.raises(BotRefused, match="fifo: is a FIFO"):
        stage(bot, into)
    (bot / "fifo").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(bot, os.O_RDONLY)
        try:
            server.bind(f"/proc/self/fd/{here}/sock")  # whole paths may be too long for a socket
        finally:
            os.close(here)
    with pytest.raises(BotRefused, match="sock: is a socket"):
        stage(bot, into)


def test_device_node_is_refused(bot: Path, into: Path) -> None:
    made = True
    try:
        os.mknod(bot / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        made = False
    need_that(made, "device nodes", "this user can't make device nodes")
    with pytest.raises(BotRefused, match="null: is a character device"):
        stage(bot, into)


@pytest.mark.parametrize("bit", [stat.S_ISUID, stat.S_ISGID])
def test_setuid_file_is_refused(bot: Path, into: Path, bit: int) -> None:
    (bot / "run").chmod(0o755 | bit)
    with pytest.raises(BotRefused, match=r"run: is setuid or setgid.*chmod ug-s"):
        stage(bot, into)


def test_hard_link_to_a_file_elsewhere_is_refused_and_within_the_folder_not(
    bot: Path, into: Path, tmp_path: Path
) -> None:
    (bot / "again.py").hardlink_to(bot / "bot.py")
    stage(bot, into)
    (tmp_path / "foreign").write_text("marker")
    (bot / "mine").hardlink_to(tmp_path / "foreign")
    with pytest.raises(BotRefused, match=r"mine: .*hard link"):
        stage(bot, into)


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2Jb", "a\x7f", "\u202egpj.py"])
def test_name_with_a_control_character_is_refused_and_shown_escaped(
    bot: Path, into: Path, name: str
) -> None:
    (bot / name).write_text("")
    with pytest.raises(BotRefused, match="control character") as caught:
        stage(bot, into)
    assert str(caught.value).isprintable()


def test_name_that_is_not_utf_8_is_refused(bot: Path, into: Path) -> None:
    with open(os.fsencode(bot) + b"/\xff\xfe", "wb"):  # noqa: PTH123 (a name of bytes)
        pass
    with pytest.raises(BotRefused, match="not UTF-8") as caught:
        stage(bot, into)
    assert str(caught.value).isprintable()


def test_too_many_files_or_folders_are_refused(bot: Path, into: Path) -> None:
    many = bot / "many"
    many.mkdir()
    for number in range(MAX_FILES - 3):
        (many / str(number)).touch()
    stage(bot, into)  # with the three of the folder itself: 2,000
    (many / "last").touch()
    with pytest.raises(BotRefused, match="more than 2,000 files"):
        stage(bot, into)
    for number in range(MAX_FILES):
        (bot / "data" / str(number)).mkdir()
    with pytest.raises(BotRefused, match="more than 2,000 f"):
        stage(bot, into)


def test_names_are_not_read_without_end(
    bot: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "MAX_LOOKED_AT", 100)
    for number in range(100):
        (bot / f".{number}").touch()
    with pytest.raises(BotRefused, match="more than 100 names"):
        stage(bot, into)


def test_sparse_file_is_refused_before_it_is_read(bot: Path, into: Path) -> None:
    with (bot / "sparse").open("wb") as file:
        file.truncate(2 * 1024**3)
    with pytest.raises(BotRefused, match="more than 64 MiB"):
        stage(bot, into)


def test_size_is_counted_over_all_files(
    bot: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "MAX_BYTES", 1024 * 1024)
    (bot / "a").write_bytes(bytes(600_000))
    stage(bot, into)
    (bot / "b").write_bytes(bytes(600_000))
    with pytest.raises(BotRefused, match="more than 1 MiB"):
        stage(bot, into)


def test_folders_without_end_are_refused(bot: Path, into: Path) -> None:
    deep = bot
    for _ in range(copying.MAX_DEPTH + 2):
        deep = deep / "d"
        deep.mkdir()
    with pytest.raises(BotRefused, match="deeper than 32"):
        stage(bot, into)


def test_a_user_without_a_name_or_a_home_can_stage(
    bot: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container that is started with a number for its user."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 3_999_999_999)
    assert stage(bot, into).folder.is_dir()
    with pytest.raises(BotRefused, match="root folder"):
        check_folder(Path("/"), into)
    look_around()


def test_root_home_and_data_folders_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "homes" / "ann"
    (home / "bots").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    data = home / "bots" / "arena-data"
    for folder, says in (
        (Path("/"), "root folder"),
        (home, "home folder"),
        (home.parent, "home folder"),
        (home / "bots", "holds the data folder"),
        (data, "no such folder"),
    ):
        with pytest.raises(BotRefused, match=says):
            check_folder(folder, data)
    data.mkdir()
    with pytest.raises(BotRefused, match="holds the data folder"):
        check_folder(data, data)
    (home / "file").touch()
    with pytest.raises(BotRefused, match="is not a folder"):
        check_folder(home / "file", data)
    (home / "loop").symlink_to("loop")
    with pytest.raises(BotRefused, match="no such folder"):
        check_folder(home / "loop", data)
    (home / "good").mkdir()
    (home / "link").symlink_to("good")
    assert check_folder(home / "link", data) == (home / "good").resolve()


def test_finish_sees_a_writable_copy_once_and_leaves_none_if_it_fails(
    bot: Path, into: Path
) -> None:
    calls: list[Path] = []

    def made(copy: Path) -> None:
        calls.append(copy)
        (copy / "target").mkdir()
        (copy / "target" / "bot").write_text("built")

    def failed(copy: Path) -> None:
        raise BotRefused(f"{copy.name} did not build")

    with pytest.raises(BotRefused, match="did not build"):
        stage(bot, into, salt="b", finish=failed)
    assert list(into.iterdir()) == []
    first = stage(bot, into, salt="b", finish=made)
    again = stage(bot, into, salt="b", finish=made)
    assert first == again
    assert len(calls) == 1
    assert (first.folder / "target" / "bot").read_text() == "built"
    assert stat.S_IMODE((first.folder / "target" / "bot").stat().st_mode) == 0o444


def swapped(
    monkeypatch: pytest.MonkeyPatch, call: str, name: str, swap: Callable[[], None]
) -> None:
    """Have something changed right after the staging looked at `name` with an `os` function."""
    looked = getattr(os, call)

    def look(path: str | int, *args: int, **more: int) -> Any:
        found = looked(path, *args, **more)
        if path == name or (call == "fstat" and found.st_size == len("print()\n")):
            swap()
        return found

    monkeypatch.setattr(os, call, look)


def test_file_that_goes_while_it_is_copied_is_told(
    bot: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swapped(monkeypatch, "stat", "bot.py", (bot / "bot.py").unlink)
    with pytest.raises(BotRefused, match="changed while it was copied"):
        stage(bot, into)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (os.mkfifo, "changed into something that is no file"),
        (lambda path: path.symlink_to("/etc/passwd"), "changed into a link"),
    ],
)
def test_file_that_changes_its_kind_while_it_is_copied_is_neither_read_nor_followed(
    bot: Path,
    into: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], None],
    says: str,
) -> None:
    """E14 within the folder; the FIFO, which nobody writes, does not hang."""

    def swap() -> None:
        (bot / "bot.py").unlink()
        make(bot / "bot.py")

    swapped(monkeypatch, "stat", "bot.py", swap)
    with pytest.raises(BotRefused, match=says):
        stage(bot, into)


def test_folder_that_changes_into_a_link_while_it_is_copied_is_not_entered(
    bot: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap() -> None:
        (bot / "data").rename(bot.parent / "data")
        (bot / "data").symlink_to("/etc")

    swapped(monkeypatch, "stat", "data", swap)
    with pytest.raises(BotRefused, match="data: can't be read \\(changed into a link"):
        stage(bot, into)


def test_file_that_grows_while_it_is_copied_is_told(
    bot: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def grow() -> None:
        with (bot / "bot.py").open("a") as file:
            file.write("more")

    swapped(monkeypatch, "fstat", "bot.py", grow)
    with pytest.raises(BotRefused, match=r"bot\.py: grew while it was copied"):
        stage(bot, into)


@pytest.mark.parametrize("place", ["mkdir", "write_bytes", "rename"])
def test_full_or_broken_disk_is_the_hosts_fault_and_leaves_nothing(
    bot: Path, into: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    stage(bot, into, salt="first")  # so that `mkdir` below is that of a folder of the bot

    def full(path: Path, *args: object, **more: object) -> None:
        del args, more
        if path != into:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, place, full)
    with pytest.raises(StoreError, match=r"can't be copied there \(No space left on device\)"):
        stage(bot, into, more={"more": b""})
    monkeypatch.undo()
    assert len(list(into.iterdir())) == 1


def test_two_at_once_end_with_one_copy(bot: Path, into: Path) -> None:
    """Both are half made when the first gets its name; the second takes that one."""
    barrier = threading.Barrier(2, timeout=20)
    found: list[Staged] = []

    def meet(copy: Path) -> None:
        assert copy.is_dir()
        barrier.wait()

    def run() -> None:
        found.append(stage(bot, into, salt="s", finish=meet))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert len(found) == 2
    assert found[0] == found[1]
    assert [path.name for path in into.iterdir()] == [found[0].hash]


def test_what_a_killed_run_left_half_made_is_swept_up_later(bot: Path, into: Path) -> None:
    old, new = into / ".new-old", into / ".new-new"
    for left in (old, new):
        (left / "sub").mkdir(parents=True)
        (left / "sub").chmod(0o555)
    os.utime(old, (1, 1))
    stage(bot, into)
    assert not old.exists()
    assert new.exists()


def test_place_that_cannot_hold_copies_was_asked_for_wrongly(bot: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="can't be copied there"):
        stage(bot, tmp_path / "file" / "staged", data=tmp_path / "file")


def test_unreadable_file_is_named(bot: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said by hand, since root can read every file."""
    opened = os.open

    def refusing(path: str, flags: int, **more: int) -> int:
        if path == "book.txt":
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, **more)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(BotRefused, match=r"data/book\.txt: can't be read \(Permission denied\)"):
        stage(bot, into)


def test_files_from_memory_give_the_copy_that_a_folder_gives(bot: Path, into: Path) -> None:
    (bot / "data" / "book.txt").unlink()
    (bot / "data").rmdir()
    files = {"bot.py": (b"print()\n", False), "run": (b"#!/bin/sh\n", True)}
    assert stage_files(files, into) == stage(bot, into)


def test_more_files_come_beside_what_is_there_and_never_over_it(bot: Path, into: Path) -> None:
    staged = stage(bot, into, more={"sdk.py": b"sdk", "bot.py": b"other"})
    assert content(staged.folder) == {**content(bot), "sdk.py": "sdk"}
    (bot / "sdk.py").write_text("sdk")
    assert stage(bot, into) == staged


def test_unstage_deletes_a_copy_and_minds_no_missing_one(bot: Path, into: Path) -> None:
    staged = stage(bot, into)
    unstage(staged.folder)
    assert not staged.folder.exists()
    unstage(staged.folder)


def test_shown_is_one_short_printable_line() -> None:
    assert shown("a\nb\x1b") == "a\\nb\\x1b"
    assert len(shown("x" * 500)) == 80
    assert shown(os.fsdecode(b"\xff")).isprintable()
