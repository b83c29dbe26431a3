"""Referees in processes of their own, as root and as an ordinary user, and bots to play."""

from __future__ import annotations

import hashlib
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from arena.referee.record import BotSpec, GameSpec
from arena.sandbox.staging import Staged, stage, unstage
from protocol.messages import ClockSettings
from tests.catalogue.refereeing import Ask, Told
from tests.ordinary_user import CHECKOUT, OrdinaryUser
from tests.referee.games import FAULTY, spec
from tests.tools import need_that

__all__ = ["CLOCK", "ROUTES", "Referee", "Referees", "Route"]

Route = Literal["R", "U"]
ROUTES: tuple[Route, ...] = ("R", "U")

CLOCK = ClockSettings(move_ms=1_000)  # the default one; honest bots must not lose on it
HONEST = 4  # number of the honest game; it goes on for 22 rounds, as game 1 does

_BOOT = """
import sys
sys.dont_write_bytecode = True
import arena, bots, protocol, reports
sys.path.insert(0, {checkout!r})
from tests.catalogue.refereeing import main
main()
"""
_ANSWER_S = 60.0  # generous: hosts are busy
_READ = 1 << 16


class Referees:
    """The referees of a session, each started when it is first asked for.

    Args:
        make_user: gives the ordinary user, or skips the test.
    """

    def __init__(self, make_user: Callable[[], OrdinaryUser]) -> None:
        self._make_user = make_user
        self._started: dict[Route, Referee] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with ExitStack() as stack:  # all of them, whatever one of them has to complain of
            for one in self._started.values():
                stack.callback(one.close)

    def get(self, route: Route) -> Referee:
        """Return the referee of a route; skips the test where it can't be had."""
        found = self._started.get(route)
        if found is not None and found.is_alive():
            return found
        if found is not None:
            del self._started[route]
            found.close()
        root = os.geteuid() == 0
        if route == "R":
            need_that(root, "root", "only root keeps bots by user ids")
        user = self._make_user() if root and route == "U" else None
        self._started[route] = Referee(route, user)
        return self._started[route]


class Referee:
    """A referee's process, and the bots that it can seat.

    Args:
        route: of its sandbox.
        user: who runs it; None for who runs the tests.

    Attributes:
        route: as given.
        word: a secret that stands in its environment, on its command line, in a file beside the
            bots' folders, and in the honest bot's own.
        mark: stands on the command line of every bot.
        uid: of the process.
        folder: its own: `home` to work in, `scratch` for its temporary files, `staged`.
        honest: the core of the honest game, played with nobody else around.
    """

    def __init__(self, route: Route, user: OrdinaryUser | None = None) -> None:
        self.route = route
        self.word = f"word{secrets.token_hex(8)}"
        self.mark = f"mark{secrets.token_hex(6)}"
        self.uid = user.uid if user else os.geteuid()
        self.folder = Path(tempfile.mkdtemp(prefix="arena-table-"))
        self._python = str(user.python) if user else sys.executable
        self._rest = b""
        self._killed = False
        with ExitStack() as undo:
            undo.callback(unstage, self.folder)  # who is not root can't delete read-only folders
            self._furnish(user)
            self._hostile = stage(FAULTY, self.folder / "staged")
            self._honest = self._stage_honest()
            self._process = self._start(user)
            undo.callback(self._process.communicate)
            undo.callback(self._process.kill)
            self.honest = self._warm_up()
            undo.pop_all()

    def _furnish(self, user: OrdinaryUser | None) -> None:
        self.folder.chmod(0o755)
        for name in ("home", "scratch", "staged"):
            (self.folder / name).mkdir()
            os.chown(self.folder / name, self.uid, user.gid if user else -1)
        (self.folder / "staged" / "seeds.txt").write_text(self.word)

    def _warm_up(self) -> bytes:
        """Let as many games be played as there ever are at once."""
        kept_in = msgspec.json.decode(self._line(), type=str)
        assert kept_in.endswith(f"route {self.route}")
        alone = self.play(*[self.honest_game()] * 3)  # as many at once as there ever are
        (first, *others) = alone.hostile
        assert first.aside.void is None, first.aside.void
        assert first.core.faults == (), first.aside
        core = msgspec.json.encode(first.core)
        assert all(msgspec.json.encode(other.core) == core for other in others)
        return core

    def _stage_honest(self) -> Staged:
        folder = self.folder / "honest"
        folder.mkdir()
        shutil.copyfile(FAULTY / "speaking.py", folder / "speaking.py")
        (folder / "notes.txt").write_text(self.word)
        return stage(folder, self.folder / "staged")

    def _start(self, user: OrdinaryUser | None) -> subprocess.Popen[bytes]:
        environment = user.environment() if user else dict(os.environ)
        environment.update(
            HOME=str(self.folder / "home"),
            TMPDIR=str(self.folder / "scratch"),
            PYTHONDONTWRITEBYTECODE="1",
            ARENA_TEST_SECRET=self.word,
        )
        become: dict[str, Any] = {}
        if user is not None:
            become = {"user": user.uid, "group": user.gid, "extra_groups": []}
        boot = _BOOT.format(checkout=str(user.checkout if user else CHECKOUT))
        with (self.folder / "stderr").open("wb") as stderr:
            return subprocess.Popen(
                [self._python, "-P", "-c", boot, self.word],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=self.folder / "home",
                env=environment,
                **become,
            )

    def bot(self, program: str, row: str = "", *, name: str = "") -> BotSpec:
        """Return a bot of `tests/faulty_bots`; the honest one is `speaking`."""
        staged = self._honest if program == "speaking" else self._hostile
        return BotSpec(
            name=name or row or program,
            version="1",
            hash=hashlib.sha256(f"{staged.hash} {program} {row}".encode()).hexdigest(),
            command=(self._python, "-S", f"./{program}.py", row, self.mark),
            folder=str(staged.folder),
        )

    def game(
        self,
        program: str,
        row: str,
        *,
        number: int = 1,
        mister_x: BotSpec | None = None,
        **settings: Any,
    ) -> GameSpec:
        """Return a game of an honest Mister X, or another one, against a hostile bot."""
        return spec(
            mister_x or self.bot("speaking"),
            self.bot(program, row),
            number=number,
            **{"clock": CLOCK, "sandbox": "auto", **settings},
        )

    def honest_game(self) -> GameSpec:
        """Return the game that is played beside and after."""
        return self.game("speaking", "", number=HONEST)

    def play(self, *hostile: GameSpec, honest: GameSpec | None = None, after: bool = False) -> Told:
        """Play games, all at once; see `refereeing.Ask`."""
        self.ask(*hostile, honest=honest, after=after)
        return self.told()

    def ask(self, *hostile: GameSpec, honest: GameSpec | None = None, after: bool = False) -> None:
        """Let games begin; see `play`."""
        assert self._process.stdin is not None
        asked = msgspec.json.encode(Ask(hostile=hostile, honest=honest, after=after))
        self._process.stdin.write(asked + b"\n")

    def told(self) -> Told:
        """Wait for the games that were asked for last."""
        return msgspec.json.decode(self._line(), type=Told)

    def kill(self) -> None:
        """Kill it, as nobody would who wants to know more of it."""
        self._process.kill()
        self._process.wait()
        self._killed = True

    def _line(self) -> bytes:
        output = self._process.stdout
        assert output is not None
        until = time.monotonic() + _ANSWER_S
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            left = until - time.monotonic()
            assert left > 0, "the referee does not answer"
            if select.select([output], [], [], left)[0]:
                parts.append(output.read(_READ))
                assert parts[-1], f"the referee is gone: {self.said()}"
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def said(self) -> str:
        """Return what it wrote on its standard error."""
        return (self.folder / "stderr").read_text(errors="backslashreplace")

    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it: without anything more to do it goes by itself, with status 0 and no word."""
        try:
            self._process.communicate(timeout=_ANSWER_S)
        finally:
            if self.is_alive():
                self._process.kill()
                self._process.communicate()
            said = self.said()
            unstage(self.folder)
        assert (self._process.returncode, said) == (-signal.SIGKILL if self._killed else 0, "")
