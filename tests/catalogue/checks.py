"""What must hold after every row of the catalogue, whatever its bot did: G1 to G8 and G10.

G9, the exit status, and the report as a whole are looked at in `test_whole_run.py`.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena.cli.play import answer_of, tell
from arena.cli.talk import Settings, Talk
from arena.cli.verify import check_record
from arena.referee.record import GameRecord, GameSpec
from arena.sandbox.processes import namespace_of, see
from tests.catalogue.refereeing import Told
from tests.catalogue.referees import Referee
from tests.living import carrying, command_line, wait_gone

__all__ = [
    "PLAYS",
    "Footprint",
    "check_output",
    "is_overload",
    "marked_processes",
    "play_checked",
]

PLAYS = 3  # of a game that is void through no fault of a bot's, at most

MEMORY_KIB = 32 * 1024
COMMON = (Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"))  # noqa: S108


def play_checked(
    referee: Referee, *hostile: GameSpec, after: bool = True
) -> tuple[GameRecord, ...]:
    """Play hostile games with honest ones beside and after them; check all that must hold.

    Where the machine keeps a bot from running for many times its limit, the game is void and is
    played again, as in a tournament: twice at most.

    Args:
        referee: who plays them.
        hostile: all at once.
        after: whether an honest game is played afterwards too.

    Returns:
        The records of the hostile games.
    """
    for _ in range(PLAYS - 1):
        records = _play_checked(referee, hostile, after=after)
        if not any(map(is_overload, records)):
            return records
    return _play_checked(referee, hostile, after=after)


def is_overload(record: GameRecord) -> bool:
    """Whether a game is void since this machine had too much to do."""
    return "this machine is overloaded" in (record.aside.void or "")


def _play_checked(
    referee: Referee, hostile: tuple[GameSpec, ...], *, after: bool
) -> tuple[GameRecord, ...]:
    footprint = Footprint(referee.folder, referee.mark)
    others = set(_owners())
    told = referee.play(*hostile, honest=referee.honest_game(), after=after)
    _check_gone(referee, told, others)
    assert told.afterwards == told.before
    assert told.grown_kib < MEMORY_KIB, f"{told.grown_kib:,} KiB more"
    footprint.check(uids={referee.uid, *(kept.uid for kept in told.kept)} - {None, os.getuid()})
    _check_honest(referee, told)
    assert referee.said() == ""
    assert referee.word.encode() not in msgspec.json.encode(told)
    for record in told.hostile:
        _check_shown(record)
        assert check_record(record) == []
    return told.hostile


def _check_gone(referee: Referee, told: Told, others: Collection[_Owned]) -> None:
    """G1: by the mark, by the namespace, and by the user id where it is a bot's own.

    A namespace ends with its first process, which is not known of a bot that soon ended by
    itself. Its number alone is soon given to another. User ids are given again too: processes
    that were there before the game, dead ones of earlier tests among them, are none of its bots'.
    """
    uids = {kept.uid for kept in told.kept} - {None}

    def left() -> list[str]:
        return [
            *marked_processes(referee.mark),
            *(
                str(kept)
                for kept in told.kept
                if kept.init and namespace_of(kept.init) == kept.namespace
            ),
            *(str(it) for it in _owners() if it.uid in uids and it not in others),
        ]

    wait_gone(left)


def _check_honest(referee: Referee, told: Told) -> None:
    """G5 and G6: who has nothing to do with it plays the same game, and in time."""
    assert told.beside
    for record in (*told.beside, *([told.after] if told.after else ())):
        assert record.aside.void is None, record.aside.void
        assert record.core.faults == (), (
            record.aside.mister_x.fault_text,
            record.aside.detectives.fault_text,
        )
        assert msgspec.json.encode(record.core) == referee.honest


def _check_shown(record: GameRecord) -> None:
    """G7: what a person is shown of a game steers no terminal."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        tell(Talk(Settings()), record, answer_of(record, "seed", 1.0))
    assert stdout.getvalue()
    check_output(stdout.getvalue(), stderr.getvalue())


def check_output(*texts: str) -> None:
    """No control character but newline stands in any of them."""
    for text in texts:
        assert [char for char in text if not char.isprintable() and char != "\n"] == []


class _Owned(NamedTuple):
    """One process of this machine; number and start name it for good."""

    pid: int
    started: int
    uid: int


class _File(NamedTuple):
    """One file, so far as a bot may have changed it."""

    mode: int
    owner: int
    digest: str


class Footprint:
    """G4: what lies around that a bot, or the referee for its sake, could have left behind.

    Args:
        folder: the referee's own; no file in it may come, go or change, save its standard error.
        mark: of the bots, in whose names it stands if they leave files for each other.
    """

    def __init__(self, folder: Path, mark: str) -> None:
        self._folder = folder
        self._mark = mark
        self._before = self._look()
        self._common = set(_names(COMMON))

    def check(self, *, uids: Iterable[int | None]) -> None:
        """Nothing has come or changed; of common folders, nothing marked or owned by a bot."""
        assert self._look() == self._before
        owners = set(uids)
        new = set(_names(COMMON)) - self._common
        ours = [path for path in new if self._mark in path or _owner(path) in owners]
        assert ours == []

    def _look(self) -> dict[str, _File]:
        found = {}
        for place, folders, files in os.walk(self._folder):
            for name in (*folders, *files):
                path = Path(place, name)
                if path != self._folder / "stderr":
                    found[str(path)] = _file(path)
        return found


def _file(path: Path) -> _File:
    told = path.lstat()
    content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    return _File(told.st_mode, told.st_uid, hashlib.sha256(content).hexdigest())


def _names(folders: Iterable[Path]) -> list[str]:
    return [str(path) for folder in folders if folder.is_dir() for path in folder.iterdir()]


def _owner(path: str) -> int:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return -1


def _owners() -> list[_Owned]:
    """Return every process with its user id."""
    seen = [see(int(name)) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    return [_Owned(it.pid, it.started, _owner(f"/proc/{it.pid}")) for it in seen if it]


def marked_processes(mark: str) -> list[str]:
    """Return command lines with a mark, of any user; zombies have none."""
    return [f"{pid} {command_line(pid).decode(errors='replace')}" for pid in carrying(mark)]
