"""Ctrl-C outside of the games: what is being stored is stored whole; what is stored goes on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["ignore", "is_ctrl_c", "put_off"]


@contextmanager
def put_off() -> Iterator[None]:
    """Take a Ctrl-C only at the end of this context, so that its body is done whole.

    For what takes milliseconds, on the main thread. Where Ctrl-C is ignored it stays ignored.

    Raises:
        KeyboardInterrupt: on leaving, if one came.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    came: list[int] = []

    def note(number: int, _frame: Any) -> None:
        came.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt


def ignore() -> None:
    """Take no Ctrl-C any more: the command's last word is known, and so is its exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def is_ctrl_c(error: BaseException) -> bool:
    """Whether an error is a Ctrl-C; trio gives it in a group wherever tasks were at work."""
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup(KeyboardInterrupt) is not None
    return isinstance(error, KeyboardInterrupt)
