"""Two sandboxes that try to talk to each other: row E10, and what else the kernel shares.

Both run this. On standard input `send 0` or `send 1` holds that bit in every way there is, until
the next one; `read` answers with what can be seen of the partner's, as JSON. Answers are one line.

Not here is what nobody promises: time, caches, and which pages of shared files are in memory.
"""

# No pathlib: it takes longer to load than these bots to start.
# ruff: noqa: PTH110, PTH116, PTH123, S108

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import mmap
import os
import signal
import socket
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

LIFE_S = 60

LIBC = ctypes.CDLL(None, use_errno=True)
ARM = os.uname().machine == "aarch64"
FILES = ("/dev/null", "/usr/lib/os-release", "/usr/bin", __file__, sys.executable)
RARE = "/usr/share/common-licenses/Artistic"  # read by nobody else
NAME = "arena-pair"
KEY = 0x6172656E
RW_HINT, OFD_GETLK, OFD_SETLK = 1035, 36, 37
USER_KEYRING, SESSION_KEYRING = -4, -3
PROC = ("meminfo", "stat", "loadavg", "vmstat", "locks", "keys", "uptime", "sys/fs/file-nr")
LARGE = ("kallsyms", "config.gz")


def call(x86: int, arm: int, *args: Any) -> int:
    """Make a system call by its number; raises as the functions of `os` do."""
    found: int = LIBC.syscall(arm if ARM else x86, *args)
    if found < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return found


def opened(path: str) -> int:
    """Open a file, for writing too where that is allowed."""
    with suppress(OSError):
        return os.open(path, os.O_RDWR | os.O_NONBLOCK)
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


class Sender:
    """Holds a bit."""

    def __init__(self) -> None:
        self.files = [opened(path) for path in FILES if os.path.exists(path)]
        self.held = ExitStack()

    def send(self, bit: int) -> None:
        """Hold this bit until the next one."""
        self.held.close()
        for fd in self.files:
            for way in (self.hint, self.stamp):
                with suppress(OSError):
                    way(fd, bit)
        if not bit:
            return
        for fd in self.files:
            self.lock(fd)
            with suppress(OSError):
                self.lease(fd)
        for take in (
            *(self.touch, self.keys, self.ipc, self.aio, self.sockets, self.packets),
            *(self.pipes, self.terminals, self.notes, self.memory),
        ):
            with suppress(OSError):
                take()

    def hint(self, fd: int, bit: int) -> None:
        """The kernel remembers for each file how long its data will live."""
        fcntl.fcntl(fd, RW_HINT + 1, struct.pack("Q", 3 if bit else 0))

    def stamp(self, fd: int, bit: int) -> None:
        """Set a time of change."""
        os.utime(fd, (bit, bit))

    def lock(self, fd: int) -> None:
        """Lock a file in each of three ways."""
        for way in (fcntl.flock, fcntl.lockf):
            for how in (fcntl.LOCK_EX, fcntl.LOCK_SH):
                with suppress(OSError):
                    way(fd, how | fcntl.LOCK_NB)
        with suppress(OSError):
            fcntl.fcntl(fd, OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 1, 0))
        self.held.callback(self.unlock, fd)

    def unlock(self, fd: int) -> None:
        """Give all locks back."""
        for way in (fcntl.flock, fcntl.lockf):
            with suppress(OSError):
                way(fd, fcntl.LOCK_UN)

    def lease(self, fd: int) -> None:
        """Take a lease, which shows to whoever asks for another."""
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        self.held.callback(fcntl.fcntl, fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)

    def touch(self) -> None:
        """Read files that nobody else reads: a notice, and a time of reading."""
        for path in (RARE, "/usr/lib/os-release"):
            with open(path, "rb") as file:
                file.read(1)

    def keys(self) -> None:
        """Leave a key."""
        for ring in (USER_KEYRING, SESSION_KEYRING):
            number = call(248, 217, b"user", NAME.encode(), b"1", 1, ring)
            self.held.callback(call, 250, 219, 9, number, ring)  # KEYCTL_UNLINK

    def ipc(self) -> None:
        """Make shared memory, queues and semaphores by well-known keys and names."""
        for make, remove, arguments in (
            ((29, 194), (31, 195), (4096, 0o1666)),
            ((68, 186), (71, 187), (0o1666,)),
            ((64, 190), (66, 191), (1, 0o1666)),
        ):
            with suppress(OSError):
                number = call(*make, KEY, *arguments)
                self.held.callback(call, *remove, number, 0, 0)
        with suppress(OSError):
            os.close(call(240, 180, NAME.encode(), os.O_CREAT | os.O_RDWR, 0o666, None))
            self.held.callback(call, 241, 181, NAME.encode())

    def aio(self) -> None:
        """Take most of what there is of contexts for asynchronous reading, for the machine."""
        context = ctypes.c_ulong(0)
        call(206, 0, 60_000, ctypes.byref(context))
        self.held.callback(call, 207, 1, context)

    def sockets(self) -> None:
        """Open sockets: the kernel counts those of the internet for all sandboxes at once."""
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
            for _ in range(20):
                with suppress(OSError):
                    self.held.enter_context(socket.socket(family, socket.SOCK_STREAM))
        it = self.held.enter_context(socket.socket(socket.AF_UNIX))
        it.bind(f"\0{NAME}")
        it.listen()

    def packets(self) -> None:
        """Send datagrams to oneself: the kernel counts those for each processor."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
            it.bind(("127.0.0.1", 0))
            for _ in range(200):
                it.sendto(b"x", it.getsockname())

    def pipes(self) -> None:
        """Use up what a user may have of memory for pipes."""
        for _ in range(70):
            ends = os.pipe()
            for end in ends:
                self.held.callback(os.close, end)
            with suppress(OSError):
                fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 1 << 20)

    def terminals(self) -> None:
        """Open pseudo-terminals, which are numbered for all."""
        for path in ("/dev/ptmx", "/dev/pts/ptmx"):
            with suppress(OSError):
                self.held.callback(os.close, os.open(path, os.O_RDWR | os.O_NOCTTY))

    def notes(self) -> None:
        """Leave files, a name for a socket, and a FIFO."""
        for folder in ("/dev/shm", "/tmp", "/bot", "/usr/lib", "/run"):
            path = f"{folder}/{NAME}"
            with suppress(OSError):
                os.mkfifo(path)
                self.held.callback(os.unlink, path)

    def memory(self) -> None:
        """Take memory."""
        it = mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)
        self.held.callback(it.close)


class Reader:
    """Looks for a bit, in as many ways as there are of holding one."""

    def __init__(self) -> None:
        self.files = {path: opened(path) for path in FILES if os.path.exists(path)}
        self.last: dict[str, int] = {}
        self.told = list(all_of_proc())
        self.notices: dict[str, int] = {}
        for name, make, watch in (
            ("inotify", (294, 26, os.O_NONBLOCK), (254, 27)),
            ("fanotify", (300, 262, 2 | 0x200, 0), (301, 263)),
        ):
            with suppress(OSError):
                fd = call(*make)
                self.notices[name] = fd
                for path in (RARE, "/usr/lib/os-release", "/usr/bin"):
                    with suppress(OSError):
                        if name == "inotify":
                            call(*watch, fd, path.encode(), 0x21)
                        else:
                            call(*watch, fd, 1, ctypes.c_uint64(0x21), -100, path.encode())

    def read(self) -> dict[str, str]:
        """Return what each way shows now, counters also as the step since the last time."""
        found: dict[str, str] = {}
        for name, look in self.looks().items():
            try:
                seen = look()
            except OSError as exc:
                found[name] = errno.errorcode.get(exc.errno or 0, str(exc.errno))
                continue
            found[name] = str(seen)
            if isinstance(seen, int):
                found[f"{name}, step"] = str(seen - self.last.get(name, 0))
                self.last[name] = seen
        return found

    def looks(self) -> dict[str, Callable[[], Any]]:
        """Return every way to look, by name."""
        ways: dict[str, Callable[[], Any]] = {}
        for path, fd in self.files.items():
            ways |= {
                f"hint {path}": partial(fcntl.fcntl, fd, RW_HINT, bytes(8)),
                f"flock {path}": partial(self.locked, fcntl.flock, fd),
                f"lockf {path}": partial(self.locked, fcntl.lockf, fd),
                f"getlk {path}": partial(self.holder, fd, fcntl.F_GETLK),
                f"ofd getlk {path}": partial(self.holder, fd, OFD_GETLK),
                f"lease {path}": partial(self.leased, fd),
                f"times {path}": partial(self.times, fd),
            }
        ways |= {name: partial(self.noticed, fd) for name, fd in self.notices.items()}
        ways |= {f"/proc/{name}": partial(text, f"/proc/{name}") for name in PROC}
        ways |= {path: partial(content, path) for path in self.told}
        ways |= {
            "time of reading": lambda: os.stat(RARE).st_atime_ns,
            "key": lambda: call(250, 219, 10, USER_KEYRING, b"user", NAME.encode(), 0),
            "session key": lambda: call(250, 219, 10, SESSION_KEYRING, b"user", NAME.encode(), 0),
            "request key": lambda: call(249, 218, b"user", NAME.encode(), None, 0),
            "shared memory": lambda: call(29, 194, KEY, 4096, 0),
            "message queue": lambda: call(68, 186, KEY, 0),
            "semaphore": lambda: call(64, 190, KEY, 1, 0),
            "named queue": lambda: call(240, 180, NAME.encode(), os.O_RDWR, 0, None),
            "aio": self.aio,
            "tcp": lambda: int(text("/proc/net/sockstat").split("alloc ")[1].split()[0]),
            "sockets": lambda: int(text("/proc/net/sockstat").split()[2]),
            "packets": self.packets,
            "abstract name": self.connects,
            "pipe": self.pipe,
            "terminal": self.terminal,
            "sysinfo": self.sysinfo,
            "space": lambda: os.statvfs("/tmp").f_ffree,
            "disk": lambda: os.statvfs("/usr").f_bfree,
        }
        for folder in ("/dev/shm", "/tmp", "/bot", "/usr/lib", "/run"):
            ways[f"note {folder}"] = partial(os.path.lexists, f"{folder}/{NAME}")
        return ways

    def locked(self, way: Callable[[int, int], None], fd: int) -> str:
        """Whether a lock can be had; given back at once."""
        way(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        way(fd, fcntl.LOCK_UN)
        return "free"

    def holder(self, fd: int, command: int) -> bytes:
        """Who holds a lock."""
        return fcntl.fcntl(fd, command, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))

    def leased(self, fd: int) -> str:
        """Whether a lease for writing can be had."""
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return "free"

    def times(self, fd: int) -> tuple[int, int, int]:
        """Times of reading, of change, and of change of the file's own data."""
        info = os.fstat(fd)
        return info.st_atime_ns, info.st_mtime_ns, info.st_ctime_ns

    def noticed(self, fd: int) -> bool:
        """Whether anything was told since the last time."""
        try:
            return bool(os.read(fd, 65_536))
        except BlockingIOError:
            return False

    def aio(self) -> str:
        """Whether there are contexts left."""
        context = ctypes.c_ulong(0)
        call(206, 0, 30_000, ctypes.byref(context))
        call(207, 1, context)
        return "left"

    def packets(self) -> int:
        """Return how many packets all processors have handled."""
        return sum(int(line.split()[0], 16) for line in text("/proc/net/softnet_stat").splitlines())

    def connects(self) -> str:
        """Whether the partner's name can be reached."""
        with socket.socket(socket.AF_UNIX) as it:
            it.connect(f"\0{NAME}")
        return "reached"

    def pipe(self) -> int:
        """Return the size of a new pipe."""
        ends = os.pipe()
        try:
            return fcntl.fcntl(ends[0], fcntl.F_GETPIPE_SZ)
        finally:
            for end in ends:
                os.close(end)

    def terminal(self) -> int:
        """Return the number of a new pseudo-terminal."""
        fd = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
        try:
            return struct.unpack("I", fcntl.ioctl(fd, 0x80045430, bytes(4)))[0]  # type: ignore[no-any-return]
        finally:
            os.close(fd)

    def sysinfo(self) -> bytes:
        """Return free memory, load, and the number of processes."""
        room = ctypes.create_string_buffer(256)
        call(99, 179, room)
        return room.raw[8:96]


def all_of_proc() -> Iterator[str]:
    """Give every file of /proc that can be read and is nobody's own."""
    for top in ("/proc", "/proc/self/net"):
        for folder, folders, files in os.walk(top):
            if folder == "/proc":
                folders[:] = [name for name in folders if not name.isdigit()]
            for name in files:
                path = f"{folder}/{name}"
                with suppress(OSError):
                    if name not in LARGE:
                        content(path)
                        yield path


def content(path: str) -> int:
    """Return what a file says, as a number."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return zlib.crc32(os.read(fd, 65_536))
    finally:
        os.close(fd)


def text(path: str) -> str:
    """Return what a file of /proc says."""
    with open(path) as file:
        return file.read()


def main() -> None:
    """Do as told."""
    signal.alarm(LIFE_S)
    sender, reader = Sender(), Reader()
    write = sys.stdout
    write.write("up\n")
    write.flush()
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "send":
            sender.send(int(rest[0]))
            write.write("held\n")
        else:
            write.write(json.dumps(reader.read()) + "\n")
        write.flush()


if __name__ == "__main__":
    main()
