"""Bots that take too much of what a machine has: section D of the catalogue, a row a name.

Each bounds itself, so that a sandbox that fails can't hurt the machine: 400 processes, 1 GiB of
memory, 64 MiB of disk, 3 s of burning, 10 s of life.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

from speaking import Message, Talk, silence

SHORT_LIFE_S = 10
BURN_S = 3.0
MOST_PROCESSES = 400
MOST_MEMORY = 1 << 30
MOST_DISK = 64 << 20
MOST_FILES = 12_000
MIB = 1 << 20
MARK = sys.argv[2] if len(sys.argv) > 2 else "mark"
PLACES = "/tmp /dev/shm /bot / /dev /etc /home /proc /run /sys /usr /var"  # noqa: S108 - tried for writing


def say(text: str) -> None:
    """Write a line on standard error."""
    os.write(2, text.encode() + b"\n")


def counter() -> mmap.mmap:
    """Return a number that this process and all that come of it share."""
    place = f"/tmp/count-{os.getpid()}"  # noqa: S108
    fd = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.unlink(place)  # noqa: PTH108
        os.ftruncate(fd, 8)
        return mmap.mmap(fd, 8)
    finally:
        os.close(fd)


def forks(count: mmap.mmap) -> Iterator[int]:
    """Fork as fast as can be, in this process and in all that come of it; yields each answer."""
    until = time.monotonic() + BURN_S
    while time.monotonic() < until:
        made = int.from_bytes(count[:8], "little")
        if made >= MOST_PROCESSES:
            os._exit(9)  # not held by anybody: stop
        pid = os.fork()
        if pid:
            count[:8] = (made + 1).to_bytes(8, "little")
        yield pid
        signal.alarm(SHORT_LIFE_S)  # a child has none of its parent's


class Resources(Talk):
    """Goes wrong at its third turn, in the way of the row that it is started with."""

    def __init__(self) -> None:
        super().__init__()
        signal.alarm(SHORT_LIFE_S)

    def turn(self, message: Message) -> None:
        """Take a turn, or go wrong."""
        if self.turns == 3:
            getattr(self, self.row.replace("-", "_"))(message)
        else:
            super().turn(message)

    def linger(self, message: Message) -> None:
        """Take this turn and all that follow late, until somebody has counted."""
        time.sleep(0.2)
        super().turn(message)
        self.turn = self.linger  # type: ignore[method-assign]

    def fork_bomb(self, message: Message) -> None:  # D1
        del message
        for _ in forks(counter()):
            pass

    def fork_bomb_stays(self, message: Message) -> None:
        del message
        count = counter()
        more = forks(count)
        until = time.monotonic() + BURN_S
        while time.monotonic() < until:
            try:
                next(more)
            except BlockingIOError:
                more = forks(count)
            except StopIteration:
                break
        silence()

    def thread_bomb(self, message: Message) -> None:  # D2
        del message
        try:
            self.threads()
        finally:
            time.sleep(0.7)  # not gone before anybody has looked

    def thread_bomb_stays(self, message: Message) -> None:
        del message
        try:
            self.threads()
        except RuntimeError as exc:
            say(str(exc))
        silence()

    def threads(self) -> None:
        """Start threads until that is refused."""
        never = threading.Event()
        for _ in range(MOST_PROCESSES):
            threading.Thread(target=never.wait, daemon=True).start()

    def mem_bomb(self, message: Message) -> None:  # D4
        self.held: list[bytearray] = []
        while len(self.held) * 16 * MIB < MOST_MEMORY:
            self.held.append(bytearray(16 * MIB))
            time.sleep(0.005)
        self.linger(message)

    def mem_error(self, message: Message) -> None:
        del message
        # Never touched: nothing is used where it is allowed.
        mmap.mmap(-1, 6 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        silence()

    def mem_many(self, message: Message) -> None:  # D5
        for _ in range(8):
            if os.fork() == 0:
                signal.alarm(SHORT_LIFE_S)
                self.held = [bytearray(100 * MIB)]
                silence()
        self.linger(message)

    def mem_fast(self, message: Message) -> None:  # D6
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)
        self.mapped = mmap.mmap(-1, MOST_MEMORY, flags=flags)
        self.linger(message)

    def fd_bomb(self, message: Message) -> None:  # D7
        self.files: list[int] = []
        try:
            while len(self.files) < 5_000:
                self.files.append(os.open("/dev/null", os.O_RDONLY))
        except OSError as exc:
            say(f"{len(self.files)} files, then {errno.errorcode[exc.errno or 0]}")
        super().turn(message)

    def disk_fill(self, message: Message) -> None:  # D8
        left = MOST_DISK
        found = []
        for place in PLACES.split():
            written = fill(place, left)
            left -= written
            if written:
                found.append(f"{place} {written / MIB:.1f} MiB")
        say(", ".join(sorted(found)))
        super().turn(message)

    def many_files(self, message: Message) -> None:
        for number in range(MOST_FILES):
            os.close(os.open(f"/tmp/{MARK}-{number}", os.O_CREAT | os.O_WRONLY))  # noqa: S108
        self.linger(message)

    def big_file(self, message: Message) -> None:  # D9
        file = os.open(f"/tmp/{MARK}-big", os.O_CREAT | os.O_WRONLY)  # noqa: S108
        try:
            for _ in range(32):
                os.write(file, bytes(MIB))
        except OSError as exc:
            say(errno.errorcode[exc.errno or 0])
        super().turn(message)

    def sparse_file(self, message: Message) -> None:
        file = os.open(f"/tmp/{MARK}-sparse", os.O_CREAT | os.O_WRONLY)  # noqa: S108
        try:
            os.ftruncate(file, 1 << 40)
        except OSError as exc:
            say(errno.errorcode[exc.errno or 0])
        super().turn(message)

    def rlimit_raise(self, message: Message) -> None:  # D16
        raised = []
        for name in sorted(name for name in vars(resource) if name.startswith("RLIMIT_")):
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            if hard == resource.RLIM_INFINITY:
                continue
            for wanted in (hard + 1, resource.RLIM_INFINITY):
                raised += gains(name, resource.setrlimit, kind, (wanted, wanted))
                raised += gains(name, resource.prlimit, os.getpid(), kind, (wanted, wanted))
        say(f"raised: {raised}")
        super().turn(message)

    def nice(self, message: Message) -> None:  # D17
        real_time = os.sched_param(1)
        gained = [
            *gains("nice", os.nice, -1),
            *gains("priority", os.setpriority, os.PRIO_PROCESS, 0, -20),
            *gains("priority of the group", os.setpriority, os.PRIO_PGRP, 0, -20),
            *gains("priority of the user", os.setpriority, os.PRIO_USER, 0, -20),
            *gains("first in, first out", os.sched_setscheduler, 0, os.SCHED_FIFO, real_time),
            *gains("round robin", os.sched_setscheduler, 0, os.SCHED_RR, real_time),
            *gains("parameters", os.sched_setparam, 0, real_time),
            *gains("processor", os.sched_setaffinity, 0, {0}),
        ]
        say(f"gained: {gained}")
        super().turn(message)

    def signal_bomb(self, message: Message) -> None:  # D18
        libc = ctypes.CDLL(None)
        libc.timer_create.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
        libc.timer_settime.argtypes = [
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN + 1])
        queued = 0
        while queued < 5_000 and not libc.sigqueue(os.getpid(), signal.SIGRTMIN + 1, 0):
            queued += 1
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGRTMIN + 2, lambda *_: None)
        event = (ctypes.c_int * 16)(0, 0, signal.SIGRTMIN + 2, 0)  # value, signal, SIGEV_SIGNAL
        every = (ctypes.c_long * 4)(0, 1_000_000, 0, 1_000_000)  # a millisecond
        timers = 0
        while timers < 5_000:
            timer = ctypes.c_void_p()
            if libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer)):
                break
            if timers < 50:
                libc.timer_settime(timer, 0, ctypes.byref(every), None)
            timers += 1
        for kind in (signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            number = signal.SIGVTALRM if kind == signal.ITIMER_VIRTUAL else signal.SIGPROF
            signal.signal(number, lambda *_: None)
            signal.setitimer(kind, 0.0001, 0.0001)
        say(f"queued {queued:,} signals, {timers} timers")
        super().turn(message)


def fill(place: str, most: int) -> int:
    """Write files of a folder until that is refused; returns how many bytes it took."""
    written = 0
    for number in range(64):
        try:
            file = os.open(f"{place}/{MARK}-{number}", os.O_CREAT | os.O_WRONLY, 0o600)
        except OSError:
            return written
        try:
            for _ in range(64):
                if written >= most:
                    return written
                written += os.write(file, bytes(MIB // 8))
        except OSError:
            return written
        finally:
            os.close(file)
    return written


def gains(name: str, action: Callable[..., object], *args: object) -> list[str]:
    """Try something that must be refused; returns its name if it was not."""
    try:
        action(*args)
    except (OSError, ValueError):
        return []
    return [name]


if __name__ == "__main__":
    Resources().run()
