"""Start a Python bot so that it stops in pdb, on this terminal, when a turn is asked for."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from arena.errors import ConfigError
from arena.referee.record import BotSpec

__all__ = ["own_terminal", "stopping_at"]

SCRIPT = Path(__file__).with_name("stop_at_turn.py")
_PYTHON = re.compile(r"(python|pypy)[0-9.]*t?")
_TAKES_A_WORD = {"-W", "-X"}
_SHEBANG_BYTES = 256


def own_terminal() -> str:
    """Return the path of the terminal that a person types at.

    Raises:
        click.UsageError: if standard input is none.
    """
    try:
        return os.ttyname(sys.stdin.fileno())
    except (OSError, ValueError):
        raise click.UsageError(
            "--pdb is for a person at a terminal, and standard input is none."
        ) from None


def stopping_at(spec: BotSpec, turn: int, terminal: str) -> BotSpec:
    """Return the bot with a command that stops in pdb as this turn is asked for.

    Args:
        spec: staged.
        turn: of its side, from 1.
        terminal: the path of the terminal that the debugger is on.

    Raises:
        ConfigError: if the bot is no Python program, or not started from a file.
    """
    command = _with_interpreter(spec.command, Path(spec.folder))
    at = 1
    while command and at < len(command) and command[at].startswith("-") and command[at] != "-m":
        if command[at] in {"-", "-c"}:
            break
        at += 2 if command[at] in _TAKES_A_WORD else 1
    behind = command[at:]
    if not behind or behind[0] in {"-", "-c"} or behind == ("-m",):
        raise ConfigError(
            f"--pdb stops Python bots that lie in a file, and {spec.name} is started by "
            f"`{' '.join(spec.command)}`: use --no-clock and a debugger of its own."
        )
    words = (*command[:at], str(SCRIPT), str(turn), terminal, *behind)
    return msgspec.structs.replace(spec, command=words)


def _with_interpreter(command: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The command with the interpreter before it that a script names; empty if it is no Python."""
    words = tuple(command)
    if not _PYTHON.fullmatch(Path(words[0]).name):
        try:
            with (folder / words[0]).open("rb") as script:
                first = os.fsdecode(script.read(_SHEBANG_BYTES).partition(b"\n")[0])
        except OSError:  # found in PATH: a program of the machine
            return ()
        named = first.removeprefix("#!").split() if first.startswith("#!") else []
        if named and Path(named[0]).name == "env":
            named = [word for word in named[1:] if word != "-S"]
        words = (*named, *words)
        if not named or not _PYTHON.fullmatch(Path(named[0]).name):
            return ()
    return words
