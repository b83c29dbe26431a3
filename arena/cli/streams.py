"""The three standard streams as a command needs them: there, and able to carry every character."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["STDOUT", "is_unread", "make_ready"]

STDOUT = "<stdout>"  # the file's name of an error that stdout raised


class Results(io.BufferedWriter):
    """What results are written to: its errors can be told from those of any other file.

    That nobody reads on (`arena verify | head`) ends no command, whose exit code is a verdict that
    is still to be reached; the rest goes nowhere.
    """

    unread = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Write; an error carries the stream's name."""
        try:
            return super().write(data)
        except OSError as error:
            self._take(error)
            return super().write(data)

    def flush(self) -> None:
        """Bring all out; an error carries the stream's name."""
        try:
            super().flush()
        except OSError as error:
            self._take(error)
            super().flush()

    def _take(self, error: OSError) -> None:
        if not isinstance(error, BrokenPipeError):
            error.filename = STDOUT
            raise error
        self.unread = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


class Talking(io.BufferedWriter):
    """What talk is written to: nobody hearing it, or a full log, ends no command.

    Nor does a Ctrl-C in the middle say a line twice: below this nothing is Python's, so what was
    written is counted before a signal is taken.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or let it be."""
        with suppress(OSError):
            return super().write(data)
        return memoryview(data).nbytes

    def flush(self) -> None:
        """Bring all out, or let it be."""
        with suppress(OSError):
            super().flush()


def is_unread() -> bool:
    """Whether the reader of stdout has left before the end."""
    buffer = getattr(sys.stdout, "buffer", None)
    return isinstance(buffer, Results) and buffer.unread


def make_ready() -> None:
    """Put nothing where a stream was closed (`arena games >&-`), and never fail on a character.

    A closed descriptor would be given to the next file that is opened, and what is printed would
    land in the database. An encoding that lacks a character gets `?` for it; data (`--json`,
    exports) is UTF-8 everywhere and does not go this way.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    sys.stdout = stream(Results(io.FileIO(1, "w", closefd=False)), sys.stdout)
    sys.stderr = stream(Talking(io.FileIO(2, "w", closefd=False)), sys.stderr)


def stream(new: io.BufferedWriter, old: TextIO | None) -> io.TextIOWrapper:
    """Return a text stream in place of another, with its encoding."""
    if old is not None:
        old.flush()
    return io.TextIOWrapper(
        new,
        encoding=old.encoding if old is not None else "utf-8",
        errors="replace",
        line_buffering=new.isatty() or new.fileno() == 2,
    )
