"""A command of the arena on a pseudo-terminal, for those who would type at one."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

__all__ = ["Terminal"]

LIMIT_S = 60.0


class Terminal:
    """A command on a terminal of its own; stdout is a pipe, as with `--json`."""

    def __init__(self, folder: Path, *words: str, rows: int = 40, columns: int = 120) -> None:
        self.seen = ""
        self._fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.settings = termios.tcgetattr(inner)
        self._inner = inner
        environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "arena", *words],
            cwd=folder,
            stdin=inner,
            stdout=subprocess.PIPE,
            stderr=inner,
            start_new_session=True,
            text=True,
            env={**environment, "TERM": "xterm"},
        )

    def until(self, text: str) -> None:
        """Read until a text was seen, which is then behind."""
        limit = time.monotonic() + LIMIT_S
        while text not in self.seen:
            assert time.monotonic() < limit, f"{text!r} never came: {self.seen[-2_000:]}"
            if select.select([self._fd], [], [], 0.1)[0]:
                self.seen += os.read(self._fd, 65_536).decode(errors="replace")
            elif self.process.poll() is not None:
                raise AssertionError(f"{text!r} never came: {self.seen[-2_000:]}")
        self.seen = self.seen.partition(text)[2]

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def end(self) -> tuple[int, str]:
        """Wait for the end; returns exit code and stdout. The terminal is as it was before."""
        limit = time.monotonic() + LIMIT_S
        while self.process.poll() is None:
            assert time.monotonic() < limit, self.seen[-2_000:]
            if select.select([self._fd], [], [], 0.05)[0]:
                self.seen += os.read(self._fd, 65_536).decode(errors="replace")
        while select.select([self._fd], [], [], 0.05)[0]:
            self.seen += os.read(self._fd, 65_536).decode(errors="replace")
        assert termios.tcgetattr(self._inner) == self.settings
        assert self.process.stdout is not None
        return self.process.returncode, self.process.stdout.read()

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        os.close(self._fd)
        os.close(self._inner)
