"""Every error the arena raises on purpose.

ArenaError                     shown to a person without a traceback
├── ConfigError                something impossible was asked for: exit code 2
│   ├── BotRefused             a bot can't be staged, started or greeted: exit code 2
│   └── RecordDamaged          a stored record can't be read back: exit code 2
├── IllegalMove(rule, text)    the rules do not allow this here
├── RecordError                a record does not replay, or shows what it may not
├── BotFault(kind, text)       a bot broke its side of the bargain: forfeit
├── HostFault                  our own machine failed a game: the game is void
│   └── StoreError             the database refused: exit code 75
├── Interrupted                a run was stopped and can be resumed: exit code 75
└── Unread                     who was to read what is written left before its end: exit code 141

The errors of `protocol` stand apart (`protocol/errors.py`): that package imports nothing of ours.
They are turned into these at the referee's edge, with `from`.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = [
    "ArenaError",
    "BotFault",
    "BotRefused",
    "ConfigError",
    "HostFault",
    "IllegalMove",
    "Interrupted",
    "RecordDamaged",
    "RecordError",
    "StoreError",
    "Unread",
    "cannot_write",
    "leaves",
    "one_error",
    "worst_of",
]


E = TypeVar("E", bound=BaseException)


class ArenaError(Exception):
    """Something that a person can be told in one sentence; never shown with a traceback."""


class ConfigError(ArenaError):
    """Something impossible was asked for; the text says where and what to write instead."""


class BotRefused(ConfigError):
    """A bot was not started: its folder, settings or greeting can't be used as they are."""


class RecordDamaged(ConfigError):
    """A stored record can't be read back, now or later; the text names the game and the cure."""


class IllegalMove(ArenaError):
    """The rules do not allow these plies here.

    Args:
        rule: the name of the rule that forbids it, such as `"L12"`.
        text: one sentence for the bot's author; never tells what the side may not know.
    """

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(f"{rule}: {text}")
        self.rule = rule
        self.text = text


class RecordError(ArenaError):
    """A record does not replay against the rules; the text says at which play, and what differs."""


class BotFault(ArenaError):
    """A bot broke its side of the bargain: it forfeits the game.

    Args:
        kind: one of `resource`, `crash`, `protocol`, `illegal`, `timeout`, `refused`.
        text: one line: what was expected, what came, the limit and the measured number.
        hint: one line that says what to do about it; may be empty.
    """

    def __init__(self, kind: str, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.hint = hint


class HostFault(ArenaError):
    """Our own machine or code failed a game: the game is void, and nobody's result changes."""


class StoreError(HostFault):
    """The database refused to read or write; finished games that were stored stay stored."""


class Interrupted(ArenaError):
    """A run was stopped before its end; `arena resume` plays what is missing."""


class Unread(ArenaError):
    """Nobody reads on what is written to a pipe: somebody's wish, and no error to be shown."""


NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def cannot_write(text: str, refused: OSError) -> ConfigError | StoreError | Unread:
    """Return the error for a place that can't be written to.

    A full disk is an accident: once there is room the same command goes on. A pipe that is closed
    (`| head`) is as its reader wants it. Everything else, such as a file where a folder is to be,
    was asked for.

    Args:
        text: one sentence with the place; the system's reason is put behind it.
        refused: what the system said.
    """
    why = f"{text} ({refused.strerror or type(refused).__name__})"
    if refused.errno in NO_ROOM:
        return StoreError(f"{why}: make room, then give the same command again")
    if refused.errno == errno.EPIPE:
        return Unread(why)
    return ConfigError(f"{why}; name another place")


def leaves(group: BaseExceptionGroup[E]) -> list[E]:
    """Return the errors of a group, however deep they lie.

    Trio gives what fails in a nursery as a group. A clause `except*` collects from it and raises
    nothing itself: some releases of Python 3.11 wrap what is raised there in a group once more.
    """
    errors: list[E] = []
    for error in group.exceptions:
        errors += leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return errors


def worst_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return what a person has to know of several errors that came at once.

    That is a Ctrl-C, which is why the others came; then a database that refuses, for the same
    reason; then what nobody expected, which nothing may hide; then what is ours. A group in which
    there is none of them, such as of tasks that were cancelled, is returned as it is.
    """
    errors = leaves(group)
    ours = [error for error in errors if isinstance(error, ArenaError)]
    for found in (
        [error for error in errors if isinstance(error, KeyboardInterrupt)],
        [error for error in ours if isinstance(error, StoreError)],
        [error for error in errors if isinstance(error, Exception) and error not in ours],
        ours,
    ):
        if found:
            return found[0]
    return group


@contextmanager
def one_error() -> Iterator[None]:
    """Raise one error for several that came at once in this context: the worst of them.

    Raises:
        BaseException: `worst_of` what came; it keeps its own cause.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        worst = worst_of(group)
        raise worst from worst.__cause__
