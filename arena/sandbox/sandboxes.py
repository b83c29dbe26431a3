"""Start bots in sandboxes: what the rest of the arena needs to know of it.

A sandboxed start is words to put before a command, three descriptors and an environment that tells
nothing. All policy is in `bubblewrap.py` and `system_calls.py`; whether it holds on this machine is
found out by `selftest.py` before a `Sandbox` is made.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import msgspec

from arena.sandbox.aftermath import environment
from arena.sandbox.bubblewrap import Profile, inner_command, options, outer_command
from arena.sandbox.limits import BOT_NICE, rlimits
from arena.sandbox.processes import children_of, namespace_of
from arena.sandbox.seccomp import filter_program, this_machine
from arena.sandbox.slots import UserIds
from protocol.messages import Limits

__all__ = ["Box", "Sandbox", "Wrapped", "settle"]

_STATUS_BYTES = 4_096
_SET_CHILD_SUBREAPER = 36  # for prctl
_KILL_FIRST = 1_000  # oom_score_adj: a bot goes before anybody else


class Box:
    """One running sandbox, as far as it concerns others than the bot's pipes.

    Attributes:
        uid: the bot's user id in route R; None in route U.
        init: process id, outside, of the first process inside; 0 until `learn` knows it.
        pid_namespace: inode of its namespace of process ids; 0 until known.
        init_fd: descriptor of that first process, which can be read from once it has ended: the
            kernel lets it end last of all in the sandbox. -1 until known.
    """

    def __init__(self, uid: int | None, status_fd: int, ids: UserIds | None) -> None:
        self.uid = uid
        self.init = 0
        self.pid_namespace = 0
        self.init_fd = -1
        self._ids = ids
        self._status_fd = status_fd
        self._status = b""

    def learn(self) -> bool:
        """Read what bubblewrap has told so far, without waiting; True once the processes are known.

        It tells within a few milliseconds of the start, or never if it fails.
        """
        if not self.init:
            self._read()
            for said in self._said():
                if "child-pid" in said:
                    self._meet(said["child-pid"], said.get("pid-namespace", 0))
        return bool(self.init)

    def _meet(self, init: int, namespace: int) -> None:
        try:
            fd = os.pidfd_open(init)
        except OSError:
            return  # over already
        found = namespace_of(
            init
        )  # that it is the same one, now that its number can't change hands
        if not found or found != (namespace or found):
            os.close(fd)
            return
        self.init, self.pid_namespace, self.init_fd = init, found, fd

    def was_set_up(self) -> bool:
        """Whether a sandbox that has ended by itself had begun to run its command.

        False means that bubblewrap failed, with status 1 and its reason on the standard error: that
        is our fault and not the bot's. Says nothing of one that was killed.
        """
        self._read()
        return any("exit-code" in said for said in self._said())

    def settle(self, pid: int) -> None:
        """Give way to the others, right after the start: `pid` is that of bubblewrap.

        What it starts later inherits it. A bot that is quicker than we are is found by the warden.
        """
        settle(pid)

    def kill(self, pid: int = 0) -> None:
        """Kill all inside with its first process; bubblewrap then ends by itself.

        Args:
            pid: of bubblewrap, if it is not reaped yet: it and its group are killed while the
                first process is not known, and with them a sandbox that is still being set up.
        """
        if self.learn():
            with suppress(OSError):
                signal.pidfd_send_signal(self.init_fd, signal.SIGKILL)
        elif pid:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)

    def is_over(self) -> bool:
        """Whether no process is left inside, or none ever was known."""
        return self.init_fd < 0 or bool(select.select([self.init_fd], [], [], 0)[0])

    def close(self) -> None:
        """Give back descriptors and, if no process is left, the user id; may be called twice.

        To be called when bubblewrap has been reaped. The user id of a sandbox that no kill empties
        is not given to another bot.
        """
        if not self.is_over():
            self._ids = None
        for fd in (self._status_fd, self.init_fd):
            if fd >= 0:
                os.close(fd)
        self._status_fd = self.init_fd = -1
        if self._ids is not None and self.uid is not None:
            self._ids.give_back(self.uid)
            self._ids = None
        _reap_orphans()

    def _read(self) -> None:
        if self._status_fd >= 0:
            with suppress(BlockingIOError):
                while chunk := os.read(self._status_fd, _STATUS_BYTES):
                    self._status += chunk

    def _said(self) -> Iterator[dict[str, int]]:
        for line in self._status.split(b"\n")[:-1]:
            with suppress(ValueError):
                yield json.loads(line)


class Wrapped(msgspec.Struct, frozen=True):
    """A command as it is started in a sandbox.

    Attributes:
        words: what to start, with the environment that `aftermath` gives and no other.
        pass_fds: descriptors that it needs.
        box: what to watch and to close afterwards.
    """

    words: tuple[str, ...]
    pass_fds: tuple[int, ...]
    box: Box


class Sandbox:
    """Makes sandboxes of one profile; one a process of ours, on one thread.

    Args:
        profile: one that passed the self-test here.
        ids: the user ids in route R; None for those of the profile.
    """

    def __init__(self, profile: Profile, ids: UserIds | None = None) -> None:
        self.profile = profile
        self._ids: UserIds | None = None
        if profile.route == "R":
            self._ids = ids or UserIds(profile.uid_base, profile.uid_count)
        self._machine = this_machine()
        _adopt_orphans()
        _let_no_crash_be_handled()

    @contextmanager
    def wrap(
        self,
        command: Sequence[str],
        folder: str,
        *,
        limits: Limits,
        cpu_s: int | None = None,
        building: bool = False,
    ) -> Iterator[Wrapped]:
        """Give the words for one start; its descriptors are open until the block is left.

        The caller starts them inside the block, on a thread that lives as long as the bot, and
        closes the box whatever becomes of it. If the block raises, the box is closed.

        Args:
            command: the bot's own; a first word with a slash is relative to its folder.
            folder: the bot's staged copy, an absolute path.
            limits: what it is held to.
            cpu_s: CPU seconds of one process, a backstop; None for a kept process.
            building: whether it may write to the folder, lock files and set their times. In route
                R the folder must belong to the box's user.

        Raises:
            HostFault: if no user id is left.
        """
        uid = self._ids.take() if self._ids is not None else None
        status, told = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        box = Box(uid, status, self._ids)
        opened = [told]
        try:
            program = filter_program(self._machine, building=building)
            opened.append(seccomp := _filled("filter", program))
            words = options(
                self.profile,
                folder,
                limits=limits,
                seccomp_fd=seccomp,
                status_fd=told,
                writable=building,
            )
            args = _filled("args", b"".join(os.fsencode(word) + b"\0" for word in words))
            opened.append(args)
            yield Wrapped(
                (
                    *outer_command(self.profile, args_fd=args),
                    *inner_command(
                        self.profile,
                        command,
                        rlimits=rlimits(limits, cpu_s=cpu_s, sandboxed=True),
                        uid=uid,
                    ),
                ),
                tuple(opened),
                box,
            )
        except BaseException:
            box.close()
            raise
        finally:
            for fd in opened:
                os.close(fd)

    def start(
        self, command: Sequence[str], folder: str, *, limits: Limits, cpu_s: int | None = None
    ) -> tuple[subprocess.Popen[bytes], Box]:
        """Start a command in a sandbox with three pipes; see `wrap`.

        Raises:
            HostFault: if no user id is left.
            OSError: if bubblewrap itself can't be started.
        """
        with self.wrap(command, folder, limits=limits, cpu_s=cpu_s) as wrapped:
            process = subprocess.Popen(
                wrapped.words,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd="/",
                env=environment(),
                pass_fds=wrapped.pass_fds,
                start_new_session=True,
            )
            wrapped.box.settle(process.pid)
            return process, wrapped.box

    def close(self) -> None:
        """Leave the user ids to others."""
        if self._ids is not None:
            self._ids.close()


def settle(pid: int) -> None:
    """Have a bot's process give way to others: for a processor, and where memory runs out."""
    with suppress(OSError):
        if os.getpriority(os.PRIO_PROCESS, pid) < BOT_NICE:
            os.setpriority(os.PRIO_PROCESS, pid, BOT_NICE)
    with suppress(OSError), open(f"/proc/{pid}/oom_score_adj", "w") as file:  # noqa: PTH123 - half the time of a Path
        file.write(str(_KILL_FIRST))


def _adopt_orphans() -> None:
    """Become the one who reaps the first process of a sandbox, which bubblewrap does not wait for.

    Else it is left to the first process of the machine: in a container that often reaps nobody's,
    and a long run would fill its limit of processes with dead ones.
    """
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _let_no_crash_be_handled() -> None:
    """Keep whoever we start from having the machine look at its crashes.

    Ubuntu, Fedora and others have a program of root's read what is left of a process that crashed,
    whatever its limit of core files; a limit of 1 alone means none (`fs/coredump.c`). Bots inherit
    it from us, and may not change it.
    """
    import resource  # Windows has none, and no sandbox

    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if hard != 0:
        resource.setrlimit(resource.RLIMIT_CORE, (1, hard))


def _reap_orphans() -> None:
    """Reap the first processes of sandboxes whose bubblewrap has ended.

    They are told from all other children of ours by their namespace. One that is still ending is
    left for the next time.
    """
    ours = namespace_of(os.getpid())
    with suppress(OSError):  # where the kernel keeps no lists of children
        for pid in children_of(os.getpid()):
            if namespace_of(pid) not in {0, ours}:
                with suppress(ChildProcessError):
                    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)


def _filled(name: str, content: bytes) -> int:
    """Return a descriptor of a file in memory, to be read from its start."""
    fd = os.memfd_create(name)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
