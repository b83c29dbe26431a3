"""`arena limits`: what a bot is held to, from the one source that the referee uses too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from arena.cli import answers, config
from arena.cli.options import talking
from arena.cli.talk import Talk, table
from arena.sandbox.limits import default_limits, not_set_here
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
    "nodes_turn_ms": ("ms", "wall time of a turn in a game on nodes"),
    "move_ms": ("ms", "clock: free for each turn"),
    "bank_ms": ("ms", "clock: for the whole game, drawn on after that"),
    "increment_ms": ("ms", "clock: added to the bank after each answer"),
    "kind": ("", "clock: charges wall time, or cpu: CPU time of all of the bot's processes"),
    "pondering": ("", "CPU time off turn: watch it, freeze every bot, or allow it"),
}


def limits_of(asked: config.Limits) -> Limits:
    """Return the limits of a run: the defaults, and what its settings say instead."""
    said = {key: value for key, value in msgspec.structs.asdict(asked).items() if value is not None}
    return msgspec.structs.replace(default_limits(), **said)


def clock_of(clock: config.Clock) -> ClockSettings:
    """Return the clock as it goes on the wire."""
    return ClockSettings(**msgspec.structs.asdict(clock))


@click.command("limits")
@click.argument(
    "file", required=False, metavar="[FILE.toml]", type=click.Path(dir_okay=False, path_type=Path)
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
    unset = not_set_here()
    for line in unset:
        talk.say(f"Not held to here: {line}.")
    talk.answer(answers.LimitsAnswer(limits=limits, clock=clock, not_set_here=unset))
    talk.next("arena protocol", "how a bot is spoken to")


def said(value: int | str) -> str:
    """Return a limit or a setting as it is shown."""
    return value if isinstance(value, str) else f"{value:,}"
