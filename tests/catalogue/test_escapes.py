"""Section E of the catalogue: bots that try to get out, to attack, to tell each other something.

Every row is played as root and as an ordinary user. The bot says itself what it got, beside what
the test finds; what must hold after each row is in `checks.py`. E10 is in `test_signals.py`, E12
to E14 are in `test_folders.py`, E26 is in `test_refusal.py`.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.referee.record import GameRecord, GameSpec
from arena.sandbox.limits import BOT_ENVIRONMENT
from tests.catalogue.checks import play_checked
from tests.catalogue.outside import Outside, Report, equipped, report_of
from tests.catalogue.referees import Referee, Referees, Route
from tests.catalogue.rows import OK, Row, check_record
from tests.ordinary_user import CHECKOUT, OrdinaryUser
from tests.tools import need_that

pytestmark = pytest.mark.slow

ROUTES: tuple[Route, ...] = ("R", "U")
OPPONENT = "an-opponent-with-a-name"

# Rows in which a bot gets nothing at all, and the game goes on as if nothing had happened.
HARMLESS = (
    Row("E1", "processes", "kill-parent", OK),
    Row("E2", "processes", "ptrace", OK),
    Row("E3", "processes", "peek-proc", OK),
    Row("E4", "places", "read-secret", OK),
    Row("E5", "places", "read-others", OK),
    Row("E7", "reaching", "tcp-udp", OK),
    Row("E8", "reaching", "unix-sockets", OK),
    Row("E15", "processes", "setuid", OK),
    Row("E16", "processes", "mount", OK),
    Row("E17", "processes", "chroot", OK),
    Row("E18", "processes", "userns", OK),
    Row("E19", "processes", "sysctl", OK),
    Row("E20", "processes", "odd-calls", OK),
    Row("E22", "places", "devices", OK),
    Row("E24", "places", "sockets", OK),
    Row("E25", "places", "environment", OK),
)


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    """What is laid out; nobody was there after the last row either."""
    with Outside() as found:
        yield found


@pytest.fixture(params=ROUTES)
def route(request: pytest.FixtureRequest) -> Route:
    """As root, and as an ordinary user."""
    found: Route = request.param
    return found


@pytest.fixture
def referee(route: Route, referees: Referees) -> Referee:
    """The referee of each route."""
    return referees.get(route)


def game(
    referee: Referee, row: Row, given: dict[str, Any], *, number: int = 0, both: bool = False
) -> GameSpec:
    """Return a game with the row's bot as the detectives, or on both sides."""
    plain = referee.game(row.program, row.row, number=number)
    bot = equipped(plain.detectives, {"mark": referee.mark, "referee": os.getpid(), **given})
    opponent = bot if both else msgspec.structs.replace(plain.mister_x, name=OPPONENT)
    return msgspec.structs.replace(plain, mister_x=opponent, detectives=bot)


@pytest.mark.parametrize("row", HARMLESS, ids=[row.name for row in HARMLESS])
def test_bot_gets_nothing_and_the_game_goes_on(
    row: Row, referee: Referee, outside: Outside
) -> None:
    given = outside.given(
        others=[str(path) for path in (referee.folder / "staged").glob("*/*.txt")],
        variables=sorted({*os.environ, "ARENA_TEST_SECRET"} - {*BOT_ENVIRONMENT, "PWD"}),
    )
    (record,) = play_checked(referee, game(referee, row, given))
    check_record(row, record)
    report = report_of(record)
    assert report.got == []
    assert outside.word.encode() not in msgspec.json.encode(record)
    outside.check()
    LOOKS.get(row.row, _nothing)(report, referee)


# --- what else a row's bot must or must not have seen --------------------------------------------


def _nothing(report: Report, referee: Referee) -> None:
    """All is said."""


def _killed_nobody(report: Report, referee: Referee) -> None:
    """E1: of 100,000 numbers none but its own and its parent's is anybody's."""
    assert report.saw["killed"] == []
    assert report.saw["parent"] == 1


def _saw_nobody(report: Report, referee: Referee) -> None:
    """E3: nobody but bubblewrap's first process, and no secret, name or path of ours."""
    assert report.saw["pids"] == [1]
    loot = report.loot
    assert len(loot) > 1_000
    for known in (sys.prefix, sys.base_prefix):  # a bot may know where its interpreter lies
        loot = loot.replace(known.encode(), b"")
    for word in (referee.word, OPPONENT, str(CHECKOUT), "speaking.py"):
        assert word.encode() not in loot, word


def _saw_no_host(report: Report, referee: Referee) -> None:
    """E4: the top folders alone."""
    shown = {"bin", "bot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp"}
    above = {Path(path).parts[1] for path in (sys.prefix, sys.base_prefix, str(referee.folder))}
    assert set(report.saw["root"]) <= {*shown, "usr", "nix", "gnu", *above}
    assert all(name.startswith(("alternatives", "java-", "ld.so")) for name in report.saw["etc"])


def _saw_its_own_folder(report: Report, referee: Referee) -> None:
    """E5: what was staged for it, and nothing beside it."""
    assert "places.py" in report.saw["bot"]
    assert "notes.txt" not in report.saw["bot"]
    assert not [name for name in report.saw["beside"] if len(name) == 64]


def _saw_its_own_sockets(report: Report, referee: Referee) -> None:
    """E8: a pair of its own works."""
    assert report.saw["own pair"] == 1
    assert report.saw["names"] == []


def _saw_setuid_programs(report: Report, referee: Referee) -> None:
    """E15: they are in sight, and no mount heeds the bit."""
    assert report.saw["mounts that heed setuid"] == []
    assert report.saw["setuid programs"]


def _saw_the_documented_environment(report: Report, referee: Referee) -> None:
    """E25: a few variables, and three pipes."""
    assert report.saw["environment"] == {**BOT_ENVIRONMENT, "PWD": "/bot"}
    assert report.saw["files"] == {"0": "0o10000", "1": "0o10000", "2": "0o10000"}
    assert report.saw["folder"] == "/bot"


LOOKS: dict[str, Callable[[Report, Referee], None]] = {
    "kill-parent": _killed_nobody,
    "peek-proc": _saw_nobody,
    "read-secret": _saw_no_host,
    "read-others": _saw_its_own_folder,
    "unix-sockets": _saw_its_own_sockets,
    "setuid": _saw_setuid_programs,
    "environment": _saw_the_documented_environment,
}


# --- rows of their own ---------------------------------------------------------------------------


def test_bot_that_kills_its_group_ends_itself_alone(referee: Referee, outside: Outside) -> None:
    """E1."""
    row = Row("E1", "processes", "kill-group", "crash", r"ended with SIGKILL")
    (record,) = play_checked(referee, game(referee, row, outside.given()))
    check_record(row, record)
    outside.check()


def test_call_of_a_32_bit_program_ends_who_makes_it(referee: Referee, outside: Outside) -> None:
    """E20: where the kernel would take it, the filter kills the process with SIGSYS."""
    asked = "import sys; sys.path[:0] = sys.argv[1:]; import processes as p; p.getpid_32()"
    folder = str(CHECKOUT / "tests" / "faulty_bots")
    alone = subprocess.run([sys.executable, "-c", asked, folder], check=False)
    need_that(alone.returncode == 0, "32-bit calls", "this kernel takes no 32-bit system calls")
    row = Row("E20", "processes", "calls-32", OK)
    (record,) = play_checked(referee, game(referee, row, outside.given()))
    check_record(row, record)
    assert report_of(record).saw["status"] == -signal.SIGSYS


def test_bot_can_not_change_itself_for_its_next_game(referee: Referee, outside: Outside) -> None:
    """E6: the folder is read-only, and the next game is what the first one would have been."""
    row = Row("E6", "places", "write-self", OK)
    played: list[GameRecord] = []
    for _ in range(2):
        (record,) = play_checked(referee, game(referee, row, outside.given()), after=False)
        check_record(row, record)
        assert report_of(record).got == []
        played.append(record)
    assert played[0].core == played[1].core


def test_bot_reaches_no_terminal(
    route: Route, outside: Outside, ordinary_users: Callable[[], OrdinaryUser], tmp_path: Path
) -> None:
    """E21: the referee has one, with a person before it."""
    row = Row("E21", "places", "terminal", OK)
    with _terminal() as (ours, theirs), _referee_at(theirs, route, ordinary_users) as referee:
        modes = termios.tcgetattr(theirs)
        (record,) = play_checked(referee, game(referee, row, outside.given()))
        check_record(row, record)
        report = report_of(record)
        assert report.got == []
        assert report.saw["session"] != [os.getsid(0), os.getpgrp()]
        assert termios.tcgetattr(theirs) == modes
        for end in (ours, theirs):  # nothing was shown, nothing was typed
            with pytest.raises(BlockingIOError):
                os.read(end, 100)


@contextmanager
def _terminal() -> Iterator[tuple[int, int]]:
    """A pseudo-terminal: the end of its emulator, and the end that programs have."""
    ours, theirs = pty.openpty()
    try:
        for end in (ours, theirs):
            os.set_blocking(end, False)
        os.fchmod(theirs, 0o666)
        yield ours, theirs
    finally:
        os.close(theirs)
        os.close(ours)


@contextmanager
def _referee_at(
    terminal: int, route: Route, make_user: Callable[[], OrdinaryUser]
) -> Iterator[Referee]:
    """A referee whose session this terminal controls, with its own input and output in pipes."""
    need_that(route == "U" or os.geteuid() == 0, "root", "only root keeps bots by user ids")
    user = make_user() if route == "U" and os.geteuid() == 0 else None
    take = (
        "import fcntl, os, sys, termios; os.setsid(); at = os.open(sys.argv[1], os.O_RDWR); "
        "fcntl.ioctl(at, termios.TIOCSCTTY, 0); os.close(at); os.execv(sys.argv[2], sys.argv[2:])"
    )
    real = subprocess.Popen

    def start(words: list[str], **settings: Any) -> subprocess.Popen[bytes]:
        return real([words[0], "-c", take, os.ttyname(terminal), *words], **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", start)
        found = Referee(route, user)
    try:
        yield found
    finally:
        found.close()


def test_nothing_is_left_for_anybody(referee: Referee, outside: Outside) -> None:
    """E9, E11, E23: not for the opponent, not in a parallel game, not in the next one."""
    row = Row("E23", "places", "state", OK)
    left: set[str] = set()
    for _ in range(2):
        games = [game(referee, row, outside.given(), number=n, both=True) for n in range(2)]
        for record in play_checked(referee, *games, after=False):
            check_record(row, record)
            for side in ("mister_x", "detectives"):
                report = report_of(record, side)
                assert report.got == []
                left.update(report.saw["left"])
    assert left == {"/dev/shm", "/tmp"}  # noqa: S108 - each its own
