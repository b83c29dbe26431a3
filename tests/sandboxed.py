"""Programs in real sandboxes, for tests: in route R as root, in route U as anybody else."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from arena.sandbox.finding import Found, find_sandbox
from arena.sandbox.limits import default_limits
from arena.sandbox.sandboxes import Box, Sandbox
from arena.sandbox.visible import look_around
from protocol.messages import Limits
from tests.living import wait_gone
from tests.tools import need_that

__all__ = [
    "ALARM_S",
    "Inside",
    "few",
    "found_sandbox",
    "need_sandbox",
    "probe",
    "sandboxed",
    "staged",
    "started",
]

ALARM_S = 30  # the longest life of any program that a test starts
LIMITS = default_limits()
_WAIT_S = 20.0


_found: list[Found] = []


def found_sandbox() -> Found | str:
    """Find the sandbox of this machine, once; the text of the refusal if there is none.

    A refusal is not kept: what refused one test, such as a full disk, may not be so for the next.
    """
    if not _found:
        visible = look_around(interpreters=[sys.executable])
        found = find_sandbox(visible, python=sys.executable, limit_s=20.0)
        if not isinstance(found, Found):
            return found.text()
        _found.append(found)
    return _found[0]


def need_sandbox() -> Found:
    """Return the sandbox of this machine, or skip the test with the reason."""
    found = found_sandbox()
    need_that(isinstance(found, Found), "sandbox", f"there is no sandbox here: {found}")
    assert isinstance(found, Found)
    return found


class Inside:
    """A program in a sandbox, with its pipes."""

    def __init__(self, process: subprocess.Popen[bytes], box: Box) -> None:
        self.process = process
        self.box = box
        self._rest = b""

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def has_output(self, *, within_s: float) -> bool:
        """Whether there is more to read, its end included."""
        assert self.process.stdout is not None
        ready = select.select([self.process.stdout], [], [], within_s)[0]
        return bool(self._rest) or bool(ready)

    def line(self, within_s: float = _WAIT_S) -> bytes:
        """Return the next line; empty at the end."""
        assert self.process.stdout is not None
        end = time.monotonic() + within_s
        while b"\n" not in self._rest:
            left = end - time.monotonic()
            assert left > 0, f"no line; so far {self._rest!r}"
            if select.select([self.process.stdout], [], [], left)[0]:
                chunk = os.read(self.process.stdout.fileno(), 65_536)
                if not chunk:
                    break
                self._rest += chunk
        line, found, self._rest = self._rest.partition(b"\n")
        return line + found

    def learn(self) -> None:
        """Wait until the sandbox's processes are known."""
        end = time.monotonic() + _WAIT_S
        while not self.box.learn():
            assert time.monotonic() < end
            assert self.process.poll() is None

    def wait_over(self) -> None:
        """Wait until the program's outermost process has ended and nobody is left inside."""
        self.process.wait(_WAIT_S)
        wait_gone(lambda: "somebody in the sandbox" * (not self.box.is_over()))


@contextmanager
def staged(code: str) -> Iterator[Path]:
    """Give a folder with a program, readable as staged copies are."""
    with tempfile.TemporaryDirectory(prefix="arena-test-") as name:
        folder = Path(name)
        (folder / "bot.py").write_text(f"import signal; signal.alarm({ALARM_S})\n{code}")
        (folder / "bot.py").chmod(0o444)
        folder.chmod(0o755)
        yield folder


@contextmanager
def sandboxed(
    code: str, *, limits: Limits = LIMITS, cpu_s: int | None = 20, sandbox: Sandbox | None = None
) -> Iterator[Inside]:
    """Run a Python program in this machine's sandbox; nothing of it is left afterwards."""
    with (
        staged(code) as folder,
        started(folder, limits=limits, cpu_s=cpu_s, sandbox=sandbox) as inside,
    ):
        yield inside


@contextmanager
def started(
    folder: Path,
    *,
    limits: Limits = LIMITS,
    cpu_s: int | None = 20,
    sandbox: Sandbox | None = None,
) -> Iterator[Inside]:
    """Run the program of a staged folder, as `sandboxed` does; it says something by itself."""
    own = sandbox or Sandbox(need_sandbox().profile)
    command = [sys.executable, "-B", "-S", "-u", "bot.py"]
    process, box = own.start(command, str(folder), limits=limits, cpu_s=cpu_s)
    inside = Inside(process, box)
    try:
        if not inside.has_output(within_s=_WAIT_S):
            pytest.fail("the program in the sandbox says nothing")
        if process.poll() is None:
            with suppress(AssertionError):
                inside.learn()
        yield inside
    finally:
        if process.poll() is None:
            box.kill(process.pid)
        inside.wait_over()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        box.close()
        if sandbox is None:
            own.close()


def probe(code: str, *, limits: Limits = LIMITS, given: bytes = b"") -> str:
    """Run a Python program in this machine's sandbox to its end; return what it printed.

    Fails with its standard error if it ends with another status than 0.
    """
    own = Sandbox(need_sandbox().profile)
    with staged(code) as folder:
        command = [sys.executable, "-B", "-S", "-u", "bot.py"]
        process, box = own.start(command, str(folder), limits=limits, cpu_s=20)
        try:
            out, err = process.communicate(given, timeout=ALARM_S)
        finally:
            box.kill(0 if process.returncode is not None else process.pid)
            process.wait()
            box.close()
            own.close()
    assert process.returncode == 0, err.decode(errors="backslashreplace")
    return out.decode()


def few(**changes: int) -> Limits:
    """Return the default limits with some of them changed."""
    return msgspec.structs.replace(LIMITS, **changes)
