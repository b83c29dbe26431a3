"""Exit codes: what the arena tells the shell, and which error means which."""

from __future__ import annotations

import enum

from arena.errors import ArenaError, ConfigError, Interrupted, RecordError, StoreError, Unread

__all__ = ["Exit", "exit_for"]


class Exit(enum.IntEnum):
    """Every exit code; scripts go by them, so none ever changes its meaning."""

    DONE = 0
    NO = 1  # the answer is no: worse, not qualified, differs
    USAGE = 2  # wrong usage or settings, bots that can't start, sandbox refused
    FAULTS = 3  # done, but bots faulted
    OURS = 4  # our own error, or void games left
    NOT_KNOWN = 5  # no verdict
    INTERRUPTED = 75  # interrupted or out of disk: can be resumed
    STOPPED = 130  # at once: Ctrl-C twice, or where no run is stored; a person's `quit`
    UNREAD = 141  # as of a program that SIGPIPE ends: a pipe was closed before all was written


MEANINGS = {
    Exit.DONE: "done",
    Exit.NO: "the answer is no (worse, not qualified, differs)",
    Exit.USAGE: "wrong usage, settings, bots that can't start, sandbox refused",
    Exit.FAULTS: "done, but bots faulted",
    Exit.OURS: "our own error, or void games left",
    Exit.NOT_KNOWN: "no verdict (not known)",
    Exit.INTERRUPTED: "interrupted or out of disk; can be resumed",
    Exit.STOPPED: "stopped at once: by Ctrl-C twice, by Ctrl-C where no run is stored, by `quit`",
    Exit.UNREAD: "an export, or output of `-o`, that nobody read to its end",
}


def exit_for(error: ArenaError) -> Exit:
    """Return the code that an error of ours ends the process with."""
    if isinstance(error, ConfigError):
        return Exit.USAGE
    if isinstance(error, RecordError):
        return Exit.NO
    if isinstance(error, StoreError | Interrupted):
        return Exit.INTERRUPTED
    if isinstance(error, Unread):
        return Exit.UNREAD
    return Exit.OURS
