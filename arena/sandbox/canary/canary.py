"""A bot that tries to get out, and says what it got; `selftest.py` runs it in the sandbox.

Only the standard library, and as little of it as will do: it starts with `-I -S`. It opens what it
must not open and writes nothing into it.
"""

# No pathlib: it takes longer to load than all of this to run. A bot's /tmp is its own.
# ruff: noqa: PTH108, PTH118, PTH123, S108

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_DESCRIPTORS = 64
LIFE_S = 10  # whatever becomes of the one who asked


def opens(path: str, flags: int) -> bool:
    """Whether a file can be opened."""
    try:
        os.close(os.open(path, flags))
    except OSError:
        return False
    return True


def writable_places(proc_sys: list[str], folders: list[str]) -> list[str]:
    """Which of these files can be written, and in which of these folders a file can be made."""
    got = [path for path in proc_sys if opens(path, os.O_WRONLY)]
    for folder in folders:
        path = os.path.join(folder, "canary-was-here")
        if opens(path, os.O_WRONLY | os.O_CREAT):
            os.unlink(path)
            got.append(folder)
    return got


def connects(name: str) -> bool:
    """Whether a socket of this name, in this network and on no disk, can be reached."""
    with socket.socket(socket.AF_UNIX) as it:
        it.settimeout(0.2)
        try:
            it.connect("\0" + name)
        except OSError:
            return False
    return True


def makes_socket(family: int) -> bool:
    """Whether a socket of this family can be made."""
    try:
        socket.socket(family, socket.SOCK_DGRAM).close()
    except OSError:
        return False
    return True


def locks() -> bool:
    """Whether a file that others have too can be locked."""
    with open("/dev/null", "r+b") as file:
        for lock in (fcntl.flock, fcntl.lockf):
            with suppress(OSError):
                lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
    return False


def sees_process(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except OSError as exc:
        return exc.errno == errno.EPERM
    return True


def forks(most: int) -> int:
    """Return how many children it can have at once; stops a little above `most`."""
    children = []
    for _ in range(most + 8):
        try:
            child = os.fork()
        except OSError:
            break
        if not child:
            time.sleep(LIFE_S)
            os._exit(0)
        children.append(child)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return len(children)


def status() -> dict[str, str | None]:
    """Rights and filters of this process; None where there is no /proc."""
    found = {}
    with suppress(OSError), open("/proc/self/status") as file:  # there may be no /proc
        for line in file:
            name, _, value = line.partition(":")
            found[name] = value.strip()
    return {name: found.get(name) for name in ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp")}


def descriptors() -> list[int]:
    """What is open."""
    found = []
    for fd in range(MOST_DESCRIPTORS):
        try:
            os.fstat(fd)
        except OSError:
            continue
        found.append(fd)
    return found


def look(asked: dict[str, Any]) -> dict[str, Any]:
    """Try all that must not work."""
    open_at_start = descriptors()
    space = os.statvfs("/tmp")
    return {
        "seen": [path for path in asked["hidden"] if os.path.lexists(path)],
        "connected": connects(asked["name"]),
        "processes": [pid for pid in asked["pids"] if sees_process(pid)],
        "written": writable_places(asked["proc_sys"], asked["folders"]),
        "families": [family for family in asked["families"] if makes_socket(family)],
        "locked": locks(),
        "forked": forks(asked["processes"]),
        "uid": os.getuid(),
        "status": status(),
        "descriptors": open_at_start,
        "environment": dict(os.environ),
        "tmp_bytes": space.f_blocks * space.f_frsize,
    }


def line() -> bytes:
    """Read a line, and nothing behind it."""
    got = b""
    while not got.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            break
        got += byte
    return got


def leave_a_grandchild() -> None:
    """Leave a process that belongs to nobody, ignores what it can, and holds the output open."""
    if not os.fork():
        os.setsid()
        for number in range(1, 65):
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_IGN)
        if os.fork():
            os._exit(0)
        os.write(1, b"grandchild\n")
        time.sleep(LIFE_S)
        os._exit(0)


def main() -> None:
    """Answer one question, pass bytes on, and leave somebody behind."""
    signal.alarm(LIFE_S)
    asked = json.loads(line())
    answer = json.dumps(look(asked)).encode() + b"\n"
    os.write(1, answer)
    left = asked["echo_bytes"]
    while left:
        chunk = os.read(0, left)
        if not chunk:
            return
        left -= len(chunk)
        while chunk:
            chunk = chunk[os.write(1, chunk) :]
    leave_a_grandchild()
    time.sleep(LIFE_S)


if __name__ == "__main__":
    main()
