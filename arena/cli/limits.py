"""`arena limits`: what a bot is held to, from the one source that the referee uses too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from arena.cli import answers, config
from arena.cli.options import PathName, talking
from arena.cli.talk import Talk, table
from arena.sandbox import limits as fixed
from arena.sandbox.limits import build_limits, default_limits, not_set_here
from protocol.messages import ClockSettings, Limits

__all__ = ["clock_of", "command", "limits_of"]

MEANINGS = {
    "line_bytes": ("bytes", "one line from a bot, its newline included"),
    "note_bytes": ("bytes", "the note of one play"),
    "log_line_bytes": ("bytes", "one log line; the rest is dropped, never a fault"),
    "log_game_bytes": ("bytes", "all log lines of a game; more is dropped and counted"),
    "blank_lines": ("lines", "blank lines a turn"),
    "depth": ("levels", "nesting of JSON objects and lists"),
    "unknown_keys": ("keys", "keys of a line that the protocol does not know"),
    "first_ready_ms": ("ms", "from spawn to the first `ready`; never charged"),
    "ready_ms": ("ms", "each later `ready`; never charged"),
    "memory_mib": ("MiB", "memory of the bot"),
    "processes": ("", "processes and threads"),
    "open_files": ("", "open files"),
    "file_mib": ("MiB", "size of a file that the bot writes"),
    "tmp_mib": ("MiB", "size of /tmp, in the sandbox"),
    "shm_mib": ("MiB", "size of /dev/shm, in the sandbox"),
    "tmp_files": ("files", "in /tmp and /dev/shm, in the sandbox"),
    "sockets": ("", "sockets of all processes, in the sandbox"),
    "nodes_turn_ms": ("ms", "wall time of a turn in a game on nodes"),
    "move_ms": ("ms", "clock: free for each turn"),
    "bank_ms": ("ms", "clock: for the whole game, drawn on after that"),
    "increment_ms": ("ms", "clock: added to the bank after each answer"),
    "kind": ("", "clock: charges wall time, or cpu: CPU time of all of the bot's processes"),
    "pondering": ("", "CPU time off turn: watch it, freeze every bot, or allow it"),
}


# The same in every run: name, number, unit, of what.
FIXED = (
    ("address_space_mib", fixed.ADDRESS_SPACE_MIB, "MiB", "address space of a process: a backstop"),
    ("memlock_kib", fixed.MEMLOCK_BYTES // 1024, "KiB", "locked memory of a process"),
    ("signals", fixed.SIGNALS, "", "signals and timers that wait, in the sandbox"),
    ("nice", fixed.BOT_NICE, "", "by how much a bot gives way to the referee"),
    ("notes_bytes", fixed.NOTES_BYTES, "bytes", "all notes of a side in a game"),
    ("stderr_head_bytes", fixed.STDERR_HEAD_BYTES, "bytes", "kept of the standard error's start"),
    ("stderr_tail_bytes", fixed.STDERR_TAIL_BYTES, "bytes", "kept of its end"),
    ("build_s", round(fixed.BUILD_S), "s", "all commands of a build"),
    ("build_memory_mib", build_limits().memory_mib, "MiB", "memory of a build"),
    ("build_processes", build_limits().processes, "", "its processes and threads"),
    ("build_mib", fixed.BUILD_BYTES // 1024 // 1024, "MiB", "what it leaves"),
    ("build_files", fixed.BUILD_FILES, "files", "what it leaves"),
)


def limits_of(asked: config.Limits) -> Limits:
    """Return the limits of a run: the defaults, and what its settings say instead."""
    said = {key: value for key, value in msgspec.structs.asdict(asked).items() if value is not None}
    return msgspec.structs.replace(default_limits(), **said)


def clock_of(clock: config.Clock) -> ClockSettings:
    """Return the clock as it goes on the wire."""
    return ClockSettings(**msgspec.structs.asdict(clock))


@click.command("limits")
@click.argument(
    "file", required=False, metavar="[FILE.toml]", type=PathName(dir_okay=False, path_type=Path)
)
@talking
def command(talk: Talk, file: Path | None) -> None:
    """Print what a bot is held to: by default, or by a tournament's file.

    The same numbers are sent to every bot in the first message.
    """
    settings = config.load(file) if file else config.Tournament()
    limits, clock = limits_of(settings.limits), clock_of(settings.clock)
    values: dict[str, Any] = {**msgspec.structs.asdict(limits), **msgspec.structs.asdict(clock)}
    talk.result(
        table(
            ("limit", "#value", "unit", "of what"),
            ((key, said(value), *MEANINGS[key]) for key, value in values.items()),
        )
    )
    talk.result("")
    talk.result(
        table(
            ("the same in every run", "#value", "unit", "of what"),
            ((name, f"{number:,}", unit, what) for name, number, unit, what in FIXED),
        )
    )
    unset = not_set_here()
    for line in unset:
        talk.say(f"Not held to here: {line}.")
    numbers = {name: number for name, number, _, _ in FIXED}
    talk.answer(answers.LimitsAnswer(limits=limits, clock=clock, fixed=numbers, not_set_here=unset))
    talk.next("arena protocol", "how a bot is spoken to")


def said(value: int | str) -> str:
    """Return a limit or a setting as it is shown."""
    return value if isinstance(value, str) else f"{value:,}"
