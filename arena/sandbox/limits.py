"""Memory, CPU, processes, files: what is set, what this host cannot set.

The one source of every limit that a bot is held to: `arena limits` prints it, `hello` sends it, the
record carries it, and `process.py` sets what a process can be given.
"""

from __future__ import annotations

import os
import shutil
from functools import lru_cache
from pathlib import Path

import msgspec

from protocol import codec
from protocol.messages import Limits

__all__ = [
    "ADDRESS_SPACE_MIB",
    "BOT_ENVIRONMENT",
    "BOT_NICE",
    "BUILD_BYTES",
    "BUILD_FILES",
    "BUILD_S",
    "END_GRACE_S",
    "MEMLOCK_BYTES",
    "NOTES_BYTES",
    "SIGNALS",
    "STDERR_HEAD_BYTES",
    "STDERR_TAIL_BYTES",
    "build_limits",
    "default_limits",
    "limit_command",
    "not_set_here",
    "rlimits",
]

ADDRESS_SPACE_MIB = 4096  # a backstop alone: some runtimes reserve far more than they use
STDERR_HEAD_BYTES = 8 * 1024
STDERR_TAIL_BYTES = 56 * 1024
NOTES_BYTES = 16 * 1024  # of all notes of a side in a game; what is over is dropped and counted
END_GRACE_S = 0.25  # for an honest bot to exit by itself after `bye`; no grace is over 0.5 s
BOT_NICE = 5  # bots yield to their referee, which keeps the time for both sides
MEMLOCK_BYTES = 64 * 1024
SIGNALS = 1_024  # queued, and timers

_MIB = 1024 * 1024

BOT_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/tmp",  # noqa: S108 - in the sandbox this is the bot's own, empty folder
    "PYTHONDONTWRITEBYTECODE": "1",  # a bot's folder is read-only: do not even try
    # glibc reserves 64 MiB of addresses for every few threads. A Java machine takes what it is
    # allowed by itself, and with that on top it had, by chance, no room for its last threads.
    "MALLOC_ARENA_MAX": "2",
}

BUILD_S = 600.0  # all build commands of a bot together
BUILD_FILES = 20_000  # files and folders that a build may leave
BUILD_BYTES = 512 * 1024 * 1024  # on disk, likewise


def build_limits() -> Limits:
    """Return what the build of a bot is held to: compilers need more than bots."""
    return msgspec.structs.replace(
        default_limits(),
        memory_mib=2048,
        processes=256,
        open_files=1024,
        file_mib=256,
        tmp_mib=256,
    )


def default_limits() -> Limits:
    """Return the limits of a game unless a tournament's file asks for others."""
    return Limits(
        line_bytes=codec.LINE_BYTES,
        note_bytes=codec.NOTE_BYTES,
        log_line_bytes=codec.LOG_LINE_BYTES,
        log_game_bytes=codec.LOG_GAME_BYTES,
        blank_lines=codec.BLANK_LINES,
        depth=codec.DEPTH,
        unknown_keys=codec.UNKNOWN_KEYS,
        first_ready_ms=10_000,
        ready_ms=5_000,
        memory_mib=512,
        processes=64,
        open_files=256,
        file_mib=16,
        tmp_mib=16,
        shm_mib=1,
        tmp_files=10_000,  # an empty one takes a kilobyte of the kernel's memory
        sockets=512,  # a full one holds 200 KiB of the kernel's memory
        nodes_turn_ms=60_000,
    )


@lru_cache(maxsize=64)
def limit_command(limits: Limits, *, cpu_s: int | None = None) -> tuple[str, ...]:
    """Return the words to put before a bot's command, so that it starts with its limits set.

    `setpriv` asks the kernel to kill the bot when the thread that started it dies; `prlimit` sets
    the rest. Both only change their own process and then become the bot, so no code of ours runs
    between fork and exec, which is not safe in a program with threads; together they cost about
    1 ms, of which the caller waits for none.

    Args:
        limits: what to set.
        cpu_s: CPU seconds of one process, a backstop; None for a process without a known end.
    """
    words: list[str] = []
    setpriv = shutil.which("setpriv")
    if setpriv:
        words += [setpriv, "--pdeathsig", "KILL"]
    prlimit = shutil.which("prlimit")
    if prlimit:
        words.append(prlimit)
        words += [f"--{name}={value}" for name, value in rlimits(limits, cpu_s=cpu_s).items()]
        words.append("--")
    return tuple(words)


def not_set_here(*, sandboxed: bool = False) -> tuple[str, ...]:
    """Return what this host, or a start without a sandbox, does not hold a bot to: a line each."""
    lines = []
    if not shutil.which("setpriv"):
        lines.append("parent-death signal: setpriv is missing (it comes with util-linux)")
    if not shutil.which("prlimit"):
        lines.append("open files, file size, address space: prlimit is missing (util-linux)")
    if not sandboxed:
        lines.append("memory and processes of a whole bot: only in the sandbox")
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            lines.append("processes: the limit does not count for root")
    if not Path("/proc/self/schedstat").exists():
        lines.append("starvation check at the deadline: the kernel keeps no schedstat")
    return tuple(lines)


def rlimits(limits: Limits, *, cpu_s: int | None = None, sandboxed: bool = False) -> dict[str, int]:
    """Return what `prlimit` sets for each process, by its option names.

    Never above what this process may still set: raising a hard limit would fail.

    Args:
        limits: what the bot is held to.
        cpu_s: CPU seconds of one process; None for none.
        sandboxed: whether it is set inside of the sandbox. Only there the processes are counted
            for the bot alone; outside they would be all of its user's, the desktop included.
    """
    import resource  # Windows has none, and no bots

    wanted = [
        ("nofile", resource.RLIMIT_NOFILE, limits.open_files),
        ("fsize", resource.RLIMIT_FSIZE, limits.file_mib * _MIB),
        ("as", resource.RLIMIT_AS, max(ADDRESS_SPACE_MIB, limits.memory_mib) * _MIB),
        ("memlock", resource.RLIMIT_MEMLOCK, MEMLOCK_BYTES),
    ]
    if sandboxed:  # for core files see `sandboxes.py`
        wanted += [
            ("nproc", resource.RLIMIT_NPROC, limits.processes),
            ("sigpending", resource.RLIMIT_SIGPENDING, SIGNALS),
            ("msgqueue", resource.RLIMIT_MSGQUEUE, 0),
            ("rtprio", resource.RLIMIT_RTPRIO, 0),
            ("nice", resource.RLIMIT_NICE, 0),
        ]
    else:
        wanted.append(("core", resource.RLIMIT_CORE, 0))
    if cpu_s is not None:
        wanted.append(("cpu", resource.RLIMIT_CPU, cpu_s))
    found = {}
    for name, kind, value in wanted:
        hard = resource.getrlimit(kind)[1]
        found[name] = value if hard == resource.RLIM_INFINITY else min(value, hard)
    return found
