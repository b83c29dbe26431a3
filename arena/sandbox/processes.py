"""What the kernel tells of the processes of a sandbox, read from `/proc` from outside.

A process belongs to a sandbox if it is in the sandbox's namespace of process ids: that holds
however often it forks, whoever its parent is, and whatever it calls itself. To look through all
processes of a machine takes milliseconds; to go down from the sandbox's first process takes some
ten microseconds, but may miss one that changes its parent at that moment. Both are here.

Files are read without `pathlib`, which would double the time.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection
from typing import NamedTuple

__all__ = [
    "Seen",
    "children_of",
    "count_files",
    "count_sockets",
    "descend",
    "is_stopping",
    "namespace_of",
    "pids_by_namespace",
    "pids_in_namespace",
    "pids_in_session",
    "pss_bytes",
    "see",
]

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_READ = 8_192
_MOST = 4_096  # processes looked at in one sandbox; its own limit is far below
_STAT_FIRST = 3  # the field behind the name, as proc(5) counts
_KIB = 1024
_LINKS_OF_ONE = 3  # of a folder of threads that holds one: the kernel counts them as folders
_AFTER_NAME = 2
_STOP_BIT = 1 << (signal.SIGSTOP - 1)


class Seen(NamedTuple):
    """One process at one moment.

    Attributes:
        pid: its number outside.
        started: when, in ticks of the kernel; with `pid` it names one process for good.
        state: as in proc(5): R running, S sleeping, T stopped, Z dead but not yet reaped, …; of
            one whose first thread has ended and others go on, that of the liveliest of these.
        threads: of it; 0 for a dead one.
        resident_bytes: memory that is in use, pages shared with others included.
        swapped_bytes: memory that was moved to swap.
        cpu_s: used by itself, all threads together, dead ones too.
        reaped_s: used by its children that ended and that it waited for, and theirs in turn.
    """

    pid: int
    started: int
    state: str
    threads: int
    resident_bytes: int
    swapped_bytes: int
    cpu_s: float
    reaped_s: float


def namespace_of(pid: int) -> int:
    """Return the inode of a process's namespace of process ids; 0 if it is gone or not ours."""
    try:
        return os.stat(f"/proc/{pid}/ns/pid").st_ino  # noqa: PTH116
    except OSError:
        return 0


def pids_in_namespace(inode: int) -> list[int]:
    """Return every process in a namespace, in order of numbers; looks through all of `/proc`."""
    if not inode:
        return []
    return sorted(
        int(name)
        for name in os.listdir("/proc")  # noqa: PTH208
        if name.isdigit() and namespace_of(int(name)) == inode
    )


def pids_by_namespace() -> dict[int, list[int]]:
    """Return every process of the machine by its namespace, in order of numbers."""
    found: dict[int, list[int]] = {}
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208
        if inode := namespace_of(pid):
            found.setdefault(inode, []).append(pid)
    return found


def pids_in_session(leader: int) -> list[int]:
    """Return every process of a session, in order of numbers; looks through all of `/proc`."""
    return sorted(
        int(name)
        for name in os.listdir("/proc")  # noqa: PTH208
        if name.isdigit() and _session_of(int(name)) == leader
    )


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def descend(init: int) -> list[int]:
    """Return a process and all below it, found by going from parents to children.

    Empty if it is gone, and where the kernel keeps no lists of children.
    """
    found: list[int] = []
    left = [init]
    while left and len(found) < _MOST:
        pid = left.pop()
        try:
            left += children_of(pid)
        except FileNotFoundError:
            if not os.path.exists("/proc/self/task") or not found:  # noqa: PTH110
                return []
            continue
        except OSError:
            continue
        found.append(pid)
    return found


def children_of(pid: int) -> list[int]:
    """Return the children of a process, dead ones that nobody reaped included.

    Raises:
        OSError: if it is gone, or the kernel keeps no lists of children.
    """
    folder = f"/proc/{pid}/task"
    if os.stat(folder).st_nlink == _LINKS_OF_ONE:  # noqa: PTH116 - a quarter of a listing's time
        return [int(child) for child in _read(f"{folder}/{pid}/children").split()]
    found: list[int] = []
    for thread in os.listdir(folder):  # noqa: PTH208
        try:
            found += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
        except (FileNotFoundError, ProcessLookupError):
            if os.path.exists(f"/proc/{pid}/task/{thread}"):  # noqa: PTH110
                raise  # no such list; else a thread that ended meanwhile
    return found


def see(pid: int) -> Seen | None:
    """Look at one process; None if it is gone."""
    try:
        path = f"/proc/{pid}"
        fields = _fields(path)
        state = fields[0].decode()
        threads = int(fields[20 - _STAT_FIRST])
        if state in "ZX":
            threads = max(0, threads - 1)  # the first one counts until the process is reaped
            if threads and (other := _live_thread(pid)):
                path = other  # it has the process's memory, and its first thread none any more
                of_other = _fields(path)
                state = of_other[0].decode()
                fields[24 - _STAT_FIRST] = of_other[24 - _STAT_FIRST]
        swapped = 0
        if _SWAP:
            swapped = _swapped(_read(f"{path}/status"))
        return Seen(
            pid,
            int(fields[22 - _STAT_FIRST]),
            state,
            threads,
            int(fields[24 - _STAT_FIRST]) * _PAGE,
            swapped,
            _cpu_s(pid, fields),
            (int(fields[16 - _STAT_FIRST]) + int(fields[17 - _STAT_FIRST])) * _TICK_S,
        )
    except (OSError, ValueError, IndexError):
        return None


def _fields(path: str) -> list[bytes]:
    """Return what the kernel tells of a process or thread, from its state on."""
    stat = _read(f"{path}/stat")
    return stat[stat.rindex(b")") + _AFTER_NAME :].split()


def _live_thread(pid: int) -> str:
    """Return where the liveliest thread of a process is told of; empty if none is left."""
    found = ""
    for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
        path = f"/proc/{pid}/task/{thread}"
        try:
            state = _fields(path)[0].decode()
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended meanwhile
        if state not in "TtZX":
            return path
        if state in "Tt":
            found = path
    return found


def pss_bytes(pid: int) -> int | None:
    """Return a process's memory with shared pages split among their users, swap included.

    Takes a few milliseconds for a large process; None if it is gone or can't be read.
    """
    try:
        text = _read(f"/proc/{pid}/smaps_rollup")
    except OSError:
        return None
    found = [
        int(line.split()[1])
        for line in text.splitlines()
        if line.startswith((b"Pss:", b"SwapPss:"))
    ]
    return sum(found) * _KIB if found else None


def count_files(init: int, places: Collection[str]) -> int | None:
    """Return how many files and folders there are in file systems of a sandbox.

    Args:
        init: its first process.
        places: mount points inside, each of a file system of its own.

    Returns:
        The sum; None if they can't be read, or the sandbox still has our own root.
    """
    count = 0
    root = f"/proc/{init}/root"
    try:
        if os.path.samefile(f"{root}/", "/"):  # noqa: PTH121
            return None
        for place in places:
            told = os.statvfs(f"{root}{place}")
            count += told.f_files - told.f_ffree
    except OSError:
        return None
    return count


def is_stopping(pid: int) -> bool:
    """Whether a SIGSTOP waits for a process: it does nothing of its own before it stops.

    On a busy machine a process may wait long for a processor to stop on.
    """
    try:
        status = _read(f"/proc/{pid}/status")
    except OSError:
        return False
    pending = 0
    for name in (b"\nSigPnd:", b"\nShdPnd:"):
        at = status.find(name)
        if at >= 0:
            pending |= int(status[at + len(name) :].split(None, 1)[0], 16)
    return bool(pending & _STOP_BIT)


def count_sockets(init: int) -> int | None:
    """Return how many sockets there are in a sandbox's own network; None if it can't be read."""
    try:
        first = _read(f"/proc/{init}/net/sockstat").split(b"\n", 1)[0]
        return int(first.split()[-1])
    except (OSError, ValueError, IndexError):
        return None


def _cpu_s(pid: int, fields: list[bytes]) -> float:
    """Read a process's CPU clock in nanoseconds; its ticks where that is not allowed."""
    try:
        return time.clock_gettime(((~pid) << 3) | 2)
    except OSError:
        return (int(fields[14 - _STAT_FIRST]) + int(fields[15 - _STAT_FIRST])) * _TICK_S


def _swapped(status: bytes) -> int:
    at = status.find(b"VmSwap:")
    return int(status[at + 7 :].split(None, 1)[0]) * _KIB if at >= 0 else 0


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, _READ)
    finally:
        os.close(fd)


def _has_swap() -> bool:
    try:
        return _read("/proc/swaps").count(b"\n") > 1
    except OSError:
        return True


_SWAP = (
    _has_swap()
)  # at the start of a worker; who adds swap in the middle of a run is not followed
