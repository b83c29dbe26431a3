"""E12 to E14 of the catalogue: folders of bots that are made to harm, on the command line.

Each is refused before anything of it was started. What staging does in every case is in
`tests/sandbox/test_staging.py`.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from arena.sandbox.staging import stage
from tests.catalogue.checks import check_output, play_checked
from tests.catalogue.referees import Referees, Route
from tests.catalogue.rows import OK, Row, check_record
from tests.cli.bots import write_bot
from tests.cli.calling import Caller
from tests.referee.games import FAULTY
from tests.tools import need_that

SECRET = "secret-of-somebody"  # noqa: S105
REFUSED_WITHIN_S = 5.0
GIB = 1024**3


class Case(NamedTuple):
    """A folder and what is said of it."""

    name: str
    make: Callable[[Path, Path], None]  # the bot's folder; a file outside of it
    says: str  # on standard error


def _links(name: str, target: str) -> Callable[[Path, Path], None]:
    return lambda bot, outside: (bot / name).symlink_to(target.format(outside=outside))


def _loop(bot: Path, outside: Path) -> None:
    (bot / "one").symlink_to("two")
    (bot / "two").symlink_to("one")


def _chain(bot: Path, outside: Path) -> None:
    (bot / "a").mkdir()
    (bot / "a" / "up").symlink_to("..")
    (bot / "chain").symlink_to("a/up/a/up/../../" + outside.name)


def _fifo(bot: Path, outside: Path) -> None:
    os.mkfifo(bot / "pipe")


def _fifo_for_settings(bot: Path, outside: Path) -> None:
    (bot / "bot.toml").unlink()
    os.mkfifo(bot / "bot.toml")


def _socket(bot: Path, outside: Path) -> None:
    here = Path.cwd()
    os.chdir(bot)  # a socket's path must be short
    try:
        with socket.socket(socket.AF_UNIX) as it:
            it.bind("ear")
    finally:
        os.chdir(here)


def _device(bot: Path, outside: Path) -> None:
    need_that(os.geteuid() == 0, "root", "only root can make a device node")
    os.mknod(bot / "memory", stat.S_IFCHR | 0o666, os.makedev(1, 3))


def _setuid(bot: Path, outside: Path) -> None:
    (bot / "bot.py").chmod(0o4755)


def _hard_link(bot: Path, outside: Path) -> None:
    (bot / "notes").hardlink_to(outside)


def _many(bot: Path, outside: Path) -> None:
    (bot / "d").mkdir()
    for number in range(2_500):
        (bot / "d" / str(number)).touch()


def _sparse(bot: Path, outside: Path) -> None:
    with (bot / "book").open("wb") as file:
        file.truncate(2 * GIB)


def _newline(bot: Path, outside: Path) -> None:
    (bot / "book\n\x1b[2J").touch()


CASES = (
    Case("E12-root", _links("everything", "/"), "everything: a link out of the bot's folder"),
    Case("E12-marker", _links("notes", "{outside}"), "notes: a link out of the bot's folder"),
    Case("E12-up", _links("up", "../../.."), "up: a link out of the bot's folder"),
    Case("E12-beside", _links("beside", "../secret.txt"), "beside: a link out of the bot's folder"),
    Case("E12-chain", _chain, "chain: "),
    Case("E12-loop", _loop, "this link leads in a circle"),
    Case("E12-settings", _links("bot.toml", "{outside}"), "bot.toml"),
    Case("E12-proc", _links("me", "/proc/self/cwd"), "me: a link out of the bot's folder"),
    Case("E13-fifo", _fifo, "pipe: is a FIFO"),
    Case("E13-fifo-for-settings", _fifo_for_settings, "bot.toml"),
    Case("E13-socket", _socket, "ear: is a socket"),
    Case("E13-device", _device, "memory: is a character device"),
    Case("E13-setuid", _setuid, "bot.py: is setuid"),
    Case("E13-hard-link", _hard_link, "notes: this file has another name outside"),
    Case("E13-many", _many, "more than 2,000 files"),
    Case("E13-sparse", _sparse, "more than 64 MiB"),
    Case("E13-newline", _newline, r"book\n\x1b[2J"),
)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_folder_is_refused_before_anything_is_started(case: Case, tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text(SECRET)
    started = tmp_path / "started"
    bot = write_bot(tmp_path, "harm", f"open({str(started)!r}, 'w')")
    if case.name == "E12-settings":
        (bot / "bot.toml").unlink()
    case.make(bot, outside)
    began = time.monotonic()
    told = Caller()("play", bot, "greedy", "--data", tmp_path / "data")
    assert time.monotonic() - began < REFUSED_WITHIN_S
    assert told.code == 2
    assert case.says in told.stderr
    assert SECRET not in told.stdout + told.stderr
    assert "secret.txt" not in told.stderr
    check_output(told.stdout, told.stderr)
    staged = tmp_path / "data" / "staged"
    assert not started.exists()
    left = [
        path
        for path in staged.rglob("*")
        if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    assert left == []


@pytest.mark.slow
@pytest.mark.parametrize("route", ["R", "U"])
def test_folder_that_becomes_a_link_before_the_start_is_not_followed(
    route: Route, referees: Referees, tmp_path: Path
) -> None:
    """E14: between the check and the start; what was copied is played."""
    referee = referees.get(route)
    source = tmp_path / "bot"
    source.mkdir()
    shutil.copyfile(FAULTY / "speaking.py", source / "speaking.py")
    staged = stage(source, referee.folder / "staged")
    other = tmp_path / "other"
    other.mkdir()
    (other / "speaking.py").write_text("raise SystemExit('the other one was started')")
    shutil.rmtree(source)
    source.symlink_to(other)
    game = referee.game("speaking", "")
    bot = msgspec.structs.replace(game.detectives, folder=str(staged.folder))
    (record,) = play_checked(referee, msgspec.structs.replace(game, detectives=bot))
    check_record(Row("E14", "speaking", "", OK), record)
