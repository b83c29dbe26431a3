"""A bot that tries what its row says once, tells on standard error what came of it, and plays on.

Started with the row, a mark, and what the test has laid out, as JSON. What it tells is one line of
JSON behind `TOLD `: `got` names each attempt that worked and must not; `saw` is what it found.
"""

# No pathlib: it takes longer to load than these bots to start.
# ruff: noqa: PTH208

from __future__ import annotations

import base64
import ctypes
import json
import os
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from speaking import Message, Talk, encode, write

LIBC = ctypes.CDLL(None, use_errno=True)
ARM = os.uname().machine == "aarch64"
LOOT_BYTES = 30_000  # packed, of what is told in one line
LOG_BYTES = 900
FIRST = 50  # process ids below are those of a sandbox: the machine's own are taken long since


def call(x86: int, arm: int | None, *args: Any) -> int:
    """Make a system call by its number; raises as the functions of `os` do."""
    number = arm if ARM else x86
    if number is None:
        raise OSError(38, "this machine has no such call")
    found: int = LIBC.syscall(number, *args)
    if found < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return found


def raised(found: int) -> int:
    """Return what a function of the C library returned, or raise its error."""
    if found < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return found


def read(path: str, most: int = 20_000) -> bytes:
    """Return the beginning of a file."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(fd, most)
    finally:
        os.close(fd)


def opens(path: str, flags: int = os.O_RDONLY) -> int:
    """Open a file, and close it again untouched."""
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY))
    return 0


class Attempt(Talk):
    """Tries at its first turn; subclasses have a method for each row."""

    at_turn = 1

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[str, Any] = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
        self.side = ""
        self.got: list[str] = []
        self.saw: dict[str, Any] = {}
        # Where the sandbox fails, no signal goes to what is not the test's own.
        self.shut_in = os.getpid() < FIRST

    def deal(self, message: Message) -> None:
        """Remember which side it is."""
        self.side = message["side"]
        super().deal(message)

    def turn(self, message: Message) -> None:
        """Try, tell, play on."""
        if self.turns == self.at_turn:
            getattr(self, self.row.replace("-", "_"))()
            self.tell()
        super().turn(message)

    def tries(self, what: str, attempt: Callable[..., Any], *args: Any) -> Any:
        """Return what an attempt gives, and note down that it worked; None if it failed."""
        try:
            found = attempt(*args)
        except (OSError, ValueError) as exc:
            del exc
            return None
        self.got.append(what)
        return found

    def tell(self) -> None:
        """Tell what came of it: to its author, in the log, and in a note."""
        told = json.dumps({"got": self.got, "saw": self.saw})
        os.write(2, f"TOLD {told}\n".encode())
        write(encode({"type": "log", "text": told[:LOG_BYTES]}))


def packed(loot: bytes) -> str:
    """Return loot so that a line can hold it: what was read may be long."""
    while True:
        text = base64.b85encode(zlib.compress(loot, 9)).decode()
        if len(text) <= LOOT_BYTES:
            return text
        loot = loot[: len(loot) * 3 // 4]


def everybody() -> list[int]:
    """Return every process that can be seen but this one."""
    found: list[int] = []
    with suppress(OSError):
        found = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in found if pid != os.getpid()]
