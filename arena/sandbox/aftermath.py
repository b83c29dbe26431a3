"""Who ends what an arena leaves behind that is killed while it starts bots itself.

A sandbox goes with who started it: the kernel tells it. But not at every instant. Bubblewrap asks
to be told only some milliseconds after its start, and its inner process asks later still, while it
waits for the outer one. If we are killed in between, nobody is told, and both, or the inner one
alone, may stay for ever. Workers have a guardian above them for that (`guardian.py`). The process
that a person started can't be put below another one: it has this watcher beside it, which outlives
it and finds its sandboxes by a word in bubblewrap's environment, of which no bot sees anything.

Run as a program, this file is the watcher; it needs the standard library alone.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from contextlib import suppress

__all__ = ["environment", "may_be_killed", "sweep", "watch"]

_NAME = "ARENA_STARTED_BY"
_SWEEP_S = 1.0  # a process that was just being forked comes up in this time
_AGAIN_S = 0.05

_programs: list[int] = []
_watched: list[int] = []


def may_be_killed() -> None:
    """Say that this process is a program of its own: anywhere else `watch` does nothing.

    A test that runs a command as a function has no use for a watcher that stays.
    """
    _programs.append(os.getpid())


def watch() -> None:
    """Have a watcher from now on, until the end of this process; twice is once.

    Raises:
        OSError: if it can't be started.
    """
    if os.getpid() in _watched or os.getpid() not in _programs:
        return
    word = os.urandom(16).hex()
    theirs, ours = os.pipe()
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", __file__],
            {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, theirs, 0),
                (os.POSIX_SPAWN_DUP2, null, 1),
                (os.POSIX_SPAWN_DUP2, null, 2),
            ],
            setpgroup=0,  # a terminal's Ctrl-C passes it by
        )
    finally:
        os.close(theirs)
        os.close(null)
    os.write(ours, f"{word}\n".encode())
    os.environ[_NAME] = word
    _watched.append(os.getpid())
    atexit.register(_dismiss, os.getpid(), pid, ours)


def environment() -> dict[str, str]:
    """Return the environment of every bubblewrap: a word if there is a watcher, else nothing.

    Workers inherit it, so that what they leave behind is found too if their guardian is killed.
    """
    word = os.environ.get(_NAME)
    return {} if word is None else {_NAME: word}


def _dismiss(own: int, pid: int, pipe: int) -> None:
    """Have the watcher look once and end: a second Ctrl-C may have broken off the tidying up."""
    if os.getpid() != own:
        return
    with suppress(OSError):
        os.write(pipe, b".")
    os.close(pipe)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


def sweep(word: str) -> None:
    """Kill every process whose environment begins with the word; bubblewrap's is no more."""
    wanted = f"{_NAME}={word}\0".encode()
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit() and _has(int(name), wanted):
            with suppress(OSError):
                fd = os.pidfd_open(int(name))
                try:
                    if _has(int(name), wanted):  # now that its number can't change hands
                        signal.pidfd_send_signal(fd, signal.SIGKILL)
                finally:
                    os.close(fd)


def _has(pid: int, wanted: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return file.read(len(wanted)) == wanted
    except OSError:
        return False


def main() -> None:
    """Wait for the end of the one who has the other end of our input, and clean up behind it."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    word = sys.stdin.buffer.readline().decode().strip()
    if not word:
        return
    if sys.stdin.buffer.read(1):  # it ends by itself, and begins nothing more
        sweep(word)
        return
    until = time.monotonic() + _SWEEP_S
    while time.monotonic() < until:
        sweep(word)
        time.sleep(_AGAIN_S)


if __name__ == "__main__":
    main()
