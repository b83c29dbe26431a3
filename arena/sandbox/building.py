"""A bot's own build, run once in its copy before that is made read-only."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from arena.errors import BotRefused
from arena.sandbox.staging import shown

__all__ = ["BUILD_S", "build"]

BUILD_S = 600.0  # all commands of a bot together
_TAIL_BYTES = 2_000
_KEPT = ("HOME", "LANG", "PATH")  # compilers need them; nothing else of ours is anybody's business


def build(commands: Sequence[Sequence[str]], folder: Path, *, limit_s: float = BUILD_S) -> None:
    """Run a bot's build commands in its copy, one after the other.

    Args:
        commands: programs with their arguments; never given to a shell.
        folder: the copy, in which they run.
        limit_s: for all of them together.

    Raises:
        BotRefused: if one can't be started, fails or takes too long; with the end of its output.
    """
    ends = time.monotonic() + limit_s
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    for command in commands:
        said = shown(" ".join(command))
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            except OSError as exc:
                raise BotRefused(f"build: '{said}' can't be started ({exc.strerror})") from exc
            try:
                status = process.wait(timeout=max(0.0, ends - time.monotonic()))
            except subprocess.TimeoutExpired as exc:
                raise BotRefused(
                    f"build: '{said}' was stopped: a build may take {limit_s:.0f} s in all"
                ) from exc
            finally:
                with suppress(ProcessLookupError):  # what it left running, or it itself
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if status:
                raise BotRefused(f"build: '{said}' ended with status {status}:\n{_tail(output)}")


def _tail(output: IO[bytes]) -> str:
    """Return the end of what a build printed, with what could disturb a terminal taken out."""
    output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL_BYTES))
    text = output.read().decode("utf-8", "replace")
    lines = ("".join(c if c.isprintable() else "?" for c in line) for line in text.splitlines())
    return "\n".join(lines)
