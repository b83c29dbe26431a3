"""Run a Python bot, and stop in pdb when it is asked for one turn; `arena rerun --pdb` starts this.

A script of the standard library alone, for whatever interpreter the bot has. Its arguments: the
turn, a terminal, and what stands behind the interpreter and its options in the bot's command.
The bot's standard input goes through here, so the turn is seen before the bot can read it.
"""

from __future__ import annotations

import json
import os
import pdb
import runpy
import signal
import sys
import threading
from bdb import BdbQuit
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

SDK = "misterx_sdk.py"
LONGEST_WAIT_S = 10.0  # for the bot's main thread to notice that it is to stop


class Stop(pdb.Pdb):
    """A debugger on a terminal, that comes at the next line of the bot's own code.

    Args:
        terminal: the path of the terminal's device.
        folder: the bot's; what lies elsewhere, and the SDK, is passed over at first.
    """

    def __init__(self, terminal: str, folder: Path) -> None:
        # Not to become this session's terminal: Ctrl-C is for the arena.
        device = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
        super().__init__(stdin=os.fdopen(device), stdout=os.fdopen(os.dup(device), "w"))
        self.nosigint = True
        self._folder = folder
        self._is_there = False

    def stop_here(self, frame: FrameType) -> bool:
        """Whether to stop in a frame; see `bdb`."""
        if not self._is_there:
            file = Path(self.canonic(frame.f_code.co_filename))
            if not file.is_relative_to(self._folder) or file.name == SDK:
                return False
        return bool(super().stop_here(frame))

    def user_line(self, frame: FrameType) -> None:
        """Stop at a line."""
        self._is_there = True
        super().user_line(frame)

    def user_call(self, frame: FrameType, argument_list: Any) -> None:
        """Stop at a call, but not before the first line."""
        if self._is_there:
            super().user_call(frame, argument_list)

    def user_return(self, frame: FrameType, return_value: Any) -> None:
        """Stop at a return, but not before the first line."""
        if self._is_there:
            super().user_return(frame, return_value)

    def user_opcode(self, frame: FrameType) -> None:
        """Stop at an instruction (as Python 3.13 does), but not before the first line."""
        if self._is_there:
            super().user_opcode(frame)  # type: ignore[misc]  # of newer versions


def is_asked(line: bytes) -> bool:
    """Whether a line of the referee asks for a turn; not for a further part of one."""
    message = json.loads(line)
    return (message["type"], message.get("part")) == ("turn", 1)


def pass_on(source: int, target: int, turn: int, reached: threading.Event) -> None:
    """Give the bot its lines, and stop its main thread before the one that asks for the turn."""
    turns = 0
    with os.fdopen(source, "rb") as lines, os.fdopen(target, "wb", buffering=0) as bot:
        for line in lines:
            turns += is_asked(line)
            if turns == turn and not reached.is_set():
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
                reached.wait(LONGEST_WAIT_S)
            try:
                bot.write(line)
            except BrokenPipeError:
                return


def main() -> None:
    """Run the bot as its own command would."""
    turn, terminal, *words = sys.argv[1:]
    folder = Path.cwd().resolve()
    debugger, reached = Stop(terminal, folder), threading.Event()

    def stop(_number: int, frame: FrameType | None) -> None:
        reached.set()
        debugger.set_trace(frame)

    signal.signal(signal.SIGUSR1, stop)
    source = os.dup(0)
    inside, outside = os.pipe()
    os.dup2(inside, 0)
    os.close(inside)
    threading.Thread(
        target=pass_on, args=(source, outside, int(turn), reached), daemon=True
    ).start()
    module = words[1] if words[0] == "-m" else None
    home = folder if module else Path(words[0]).absolute().parent
    if not sys.flags.safe_path:
        sys.path[0] = str(home)  # where this script's folder stood
    sys.argv = words[1:] if module else words
    with suppress(BdbQuit):  # `q`: the person has seen enough
        if module:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
