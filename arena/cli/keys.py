"""Keys of a terminal as they are pressed, and a line that is typed with them."""

from __future__ import annotations

import codecs
import os
import re
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

import trio

__all__ = ["Keyboard", "Keys", "Line", "PipedLines", "cbreak"]

ENTER = ("\r", "\n")
BACKSPACE = ("\x7f", "\x08")
END_OF_INPUT = "\x04"  # Ctrl-D
UP = ("\x1b[A", "\x1bOA")
DOWN = ("\x1b[B", "\x1bOB")
_KEY = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1bO.|\x1b[^\x1b]|.", re.DOTALL)


class Keys(Protocol):
    """Gives keys, one after the other."""

    async def key(self) -> str:
        """Wait for a key: a character or an escape sequence; empty at the end of input."""


@contextmanager
def cbreak(fd: int) -> Iterator[None]:
    """Take a terminal's keys one by one and unseen; Ctrl-C stays what it is."""
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)
        yield
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(fd, termios.TCSADRAIN, before)


async def read(fd: int) -> bytes:
    """Wait for bytes of a terminal, pipe or file; empty at its end."""
    with suppress(PermissionError):  # a file: it can always be read
        await trio.lowlevel.wait_readable(fd)
    try:
        return os.read(fd, 4_096)
    except OSError:  # the terminal was closed
        return b""


class Keyboard:
    """The keys of a terminal, which is in `cbreak` mode.

    Args:
        fd: of the terminal.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._keys: list[str] = []

    async def key(self) -> str:
        """Wait for a key: a character or an escape sequence; empty at the end of input."""
        while not self._keys:
            data = await read(self._fd)
            if not data:
                return ""
            self._keys = _KEY.findall(self._decoder.decode(data))
        return self._keys.pop(0)

    def forget(self) -> None:
        """Drop keys that were pressed before they were asked for."""
        self._keys.clear()
        with suppress(termios.error):
            termios.tcflush(self._fd, termios.TCIFLUSH)


class PipedLines:
    """Lines of a pipe or a file, where no terminal is.

    Args:
        fd: what is read.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._rest = b""
        self._over = False

    async def line(self) -> str | None:
        """Wait for a line; None at the end of input."""
        while b"\n" not in self._rest and not self._over:
            data = await read(self._fd)
            self._over = not data
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        if not line and self._over and not self._rest:
            return None
        return line.decode(errors="replace").rstrip("\r")


class Line:
    """A line that is being typed at a prompt; the cursor is always at its end.

    Attributes:
        text: what was typed.
        offers: what could come next, after a Tab that several things fit.

    Args:
        complete: gives all whole texts that could be meant by what was typed.
        history: earlier lines, oldest first.
    """

    def __init__(
        self, complete: Callable[[str], Sequence[str]], history: Sequence[str] = ()
    ) -> None:
        self.text = ""
        self.offers: tuple[str, ...] = ()
        self._complete = complete
        self._history = history
        self._back = 0  # how far up in the history

    def press(self, key: str) -> bool:
        """Take in a key; True once the line is entered.

        Raises:
            EOFError: at the end of input.
        """
        self.offers = ()
        if key in ENTER:
            return True
        if key == "" or (key == END_OF_INPUT and not self.text):
            raise EOFError
        if key == "\t":
            self._tab()
        elif key in BACKSPACE:
            self.text = self.text[:-1]
        elif key == "\x15":  # Ctrl-U
            self.text = ""
        elif key == "\x17":  # Ctrl-W
            self.text = self.text.rstrip().rpartition(" ")[0]
            self.text += " " * bool(self.text)
        elif key in UP or key in DOWN:
            self._move(1 if key in UP else -1)
        elif key.isprintable():
            self.text += key
        return False

    def _tab(self) -> None:
        fitting = self._complete(self.text)
        if not fitting:
            return
        common = shared_start(fitting)
        if len(fitting) == 1:
            common += " "
        if len(common) > len(self.text):
            self.text = common
        if len(fitting) > 1:
            start = self.text.rfind(" ") + 1
            self.offers = tuple(dict.fromkeys(text[start:].split(" ")[0] for text in fitting))

    def _move(self, step: int) -> None:
        self._back = min(max(0, self._back + step), len(self._history))
        self.text = self._history[-self._back] if self._back else ""


def shared_start(texts: Sequence[str]) -> str:
    """Return what all of these begin with."""
    low, high = min(texts), max(texts)
    same = 0
    while same < len(low) and low[same] == high[same]:
        same += 1
    return low[:same]
