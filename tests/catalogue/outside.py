"""What the tests of section E lay out, for bots not to reach: processes, sockets, files."""

from __future__ import annotations

import base64
import json
import secrets
import shutil
import socket
import subprocess
import tempfile
import zlib
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from arena.referee.record import BotSpec, GameRecord, SideWord
from tests.tools import need

__all__ = ["Outside", "Report", "equipped", "report_of"]

_DECOY_S = "300"
_RUN = Path("/run")


class Outside:
    """A decoy process, listeners on the loopback and on paths, and files with a secret in them.

    Attributes:
        word: the secret.
        decoy: a process that nobody may touch.
        tcp, udp: ports of the listeners.
        name: of an abstract socket.
        paths: of sockets, in `/run` too where we may make one.
        secret: files of a home, a data folder and the settings of a run, made for this.
        folder: where all of it lies; everybody may look into it.
    """

    def __init__(self) -> None:
        self.word = f"secret{secrets.token_hex(8)}"
        self.name = f"arena-test-{secrets.token_hex(6)}"
        self._stack = ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="arena-outside-"))
        self.folder.chmod(0o755)
        self._stack.callback(shutil.rmtree, self.folder)
        self.decoy = subprocess.Popen([need("sleep"), _DECOY_S], start_new_session=True)
        self._listening: list[socket.socket] = []
        self.tcp = self._listen(socket.SOCK_STREAM)
        self.udp = self._listen(socket.SOCK_DGRAM)
        self.paths = self._listen_on_paths()
        self.secret = self._write_secrets()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.decoy.kill()
        self.decoy.wait()
        self._stack.close()

    def given(self, **more: Any) -> dict[str, Any]:
        """Return what a bot is told of all this; never the secret."""
        return {
            "decoy": self.decoy.pid,
            "tcp": self.tcp,
            "udp": self.udp,
            "name": self.name,
            "paths": self.paths,
            "secret": self.secret,
            **more,
        }

    def check(self) -> None:
        """Nobody was here: the decoy lives, no listener was reached, every file is as it was."""
        assert self.decoy.poll() is None, "the decoy was killed"
        for listener in self._listening:
            with suppress(BlockingIOError):
                if listener.type == socket.SOCK_STREAM:
                    listener.accept()[0].close()
                else:
                    listener.recv(100)
                raise AssertionError(f"somebody reached {listener.getsockname()}")
        for path in self.secret:
            assert Path(path).read_text() == self.word

    def _listen(self, kind: socket.SocketKind) -> int:
        it = self._keep(socket.socket(socket.AF_INET, kind))
        it.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            it.listen()
        return int(it.getsockname()[1])

    def _listen_on_paths(self) -> list[str]:
        it = self._keep(socket.socket(socket.AF_UNIX))
        it.bind(f"\0{self.name}")
        it.listen()
        paths = []
        for folder in (self.folder, _RUN, Path(tempfile.gettempdir())):
            path = folder / f"{self.name}.sock"
            it = socket.socket(socket.AF_UNIX)
            self._stack.enter_context(it)
            with suppress(PermissionError):  # only root has a place in /run
                it.bind(str(path))
                self._keep(it).listen()
                path.chmod(0o777)
                self._stack.callback(path.unlink)
                paths.append(str(path))
        return paths

    def _keep(self, it: socket.socket) -> socket.socket:
        it.setblocking(False)
        self._stack.enter_context(it)
        self._listening.append(it)
        return it

    def _write_secrets(self) -> list[str]:
        found = []
        for name in ("home/.ssh/id_test", "data/arena.sqlite3", "data/seeds", "tournament.toml"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.word)
            path.chmod(0o644)  # it is the sandbox that hides it
            found.append(str(path))
        return found


class Report(msgspec.Struct, frozen=True):
    """What a bot of `faulty_bots/attempts.py` told."""

    got: list[str]
    saw: dict[str, Any]

    @property
    def loot(self) -> bytes:
        """All that it read."""
        return zlib.decompress(base64.b85decode(self.saw["loot"]))


def report_of(record: GameRecord, side: SideWord = "detectives") -> Report:
    """Return what a bot told in a game; fails if it told nothing."""
    aside = record.aside.mister_x if side == "mister_x" else record.aside.detectives
    lines = [line for line in aside.stderr.splitlines() if line.startswith("TOLD ")]
    assert len(lines) == 1, (aside.stderr[-2000:], aside.fault_text)
    return msgspec.json.decode(lines[0].removeprefix("TOLD "), type=Report)


def equipped(bot: BotSpec, given: dict[str, Any]) -> BotSpec:
    """Return a bot that is started with what it may go for."""
    return msgspec.structs.replace(bot, command=(*bot.command, json.dumps(given)))
