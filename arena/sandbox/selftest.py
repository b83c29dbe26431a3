"""Does the sandbox hold here? A canary in the real profile tries to get out, once before a run.

The canary is a Python program, run by the arena's own interpreter: that one has to be seen by bots
anyway, and so it is tested too that it starts. About 60 ms.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from arena.sandbox.bubblewrap import BOT_FOLDER, Profile
from arena.sandbox.limits import default_limits
from arena.sandbox.patience import Patience
from arena.sandbox.processes import pids_in_namespace, see
from arena.sandbox.sandboxes import Box, Sandbox
from arena.sandbox.visible import Visible

__all__ = ["Check", "Outcome", "judge", "run_canary"]

ECHO_BYTES = 65_536
_LIMITS = msgspec.structs.replace(default_limits(), processes=16)  # few, and so quick to be tried
_KILL_WAIT_S = 2.0
_MOST_ANSWER = 65_536
_STDERR_BYTES = 8_192
_FAMILIES = (2, 10, 16, 17, 40)  # AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK
_NO_RIGHTS = "0" * 16
_PROC_SYS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/swappiness",
    "/proc/sysrq-trigger",
)
_FOLDERS = ("/", "/bot", "/dev", "/etc", "/proc", "/usr", "/usr/bin")
_HOST_PLACES = ("/etc/passwd", "/etc/shadow", "/etc/machine-id", "/home", "/run", "/sys", "/var")
_MOST_BESIDE = 100  # entries of a folder that is asked for


class Check(NamedTuple):
    """One question to the canary, answered.

    Attributes:
        promise: what must hold, for `arena doctor`.
        failure: what the canary could do if it does not.
        holds: whether it does.
    """

    promise: str
    failure: str
    holds: bool


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a self-test.

    Attributes:
        checks: what the canary was asked and tried; those up to the trouble, if there was one.
        trouble: why the canary could not be asked; empty if it answered.
        stderr: what bubblewrap or the canary wrote to standard error.
        took_ms: for all of it.
    """

    checks: tuple[Check, ...] = ()
    trouble: str = ""
    stderr: str = ""
    took_ms: float = 0.0

    @property
    def failed(self) -> tuple[str, ...]:
        """What the canary could do and must not, a phrase each."""
        return tuple(check.failure for check in self.checks if not check.holds)

    @property
    def passed(self) -> bool:
        """Whether the sandbox holds."""
        return not self.failed and not self.trouble


def run_canary(profile: Profile, python: str, *, limit_s: float) -> Outcome:
    """Run the canary once.

    Blocks; call it before trio starts, or in a thread of its own.

    Args:
        profile: what is to be tested.
        python: path of the interpreter that runs it.
        limit_s: for all of it, and what this machine keeps it from running.
    """
    began = time.monotonic()
    sandbox = Sandbox(profile)
    try:
        with _Outside() as outside:
            outcome = _run(sandbox, python, outside, Patience(limit_s))
    finally:
        sandbox.close()
    return msgspec.structs.replace(outcome, took_ms=(time.monotonic() - began) * 1000)


class _Outside:
    """What a bot must not reach: a file and a listener of ours, open for the test's duration."""

    def __init__(self) -> None:
        self.name = f"misterx-arena-selftest-{secrets.token_hex(8)}"
        # Such a name belongs to a network, as an address does; but a bot may make sockets for it.
        self._listener = socket.socket(socket.AF_UNIX)
        self._folder = tempfile.TemporaryDirectory(prefix="arena-selftest-")
        self.marker = Path(self._folder.name) / "marker"

    def __enter__(self) -> _Outside:
        self.marker.touch()
        self._listener.bind(f"\0{self.name}")
        self._listener.listen()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._folder.cleanup()


class _Gone(Exception):
    """The canary did not answer; the text says how."""


def _run(sandbox: Sandbox, python: str, outside: _Outside, patience: Patience) -> Outcome:
    command = (python, "-I", "-S", "-B", f"{BOT_FOLDER}/canary.py")
    folder = str(files("arena.sandbox") / "canary")
    try:
        process, box = sandbox.start(command, folder, limits=_LIMITS, cpu_s=10)
    except OSError as exc:
        return Outcome(trouble=f"can't be started: {os.strerror(exc.errno or 0)}")
    asked = _question(outside, sandbox.profile.visible)
    stderr = b""
    checks: list[Check] = []
    trouble = ""
    try:
        try:
            answer = _ask(process, json.dumps(asked).encode() + b"\n", patience)
            checks += judge(json.loads(answer), asked, sandbox.profile, os.getuid())
            checks.append(_check_pipes(process, patience))
            checks.append(_check_death(process, box, patience))
        except _Gone as exc:
            trouble = str(exc)
        except (ValueError, LookupError, TypeError, AttributeError):  # whatever it is, no answer
            trouble = "answered with something else"
    finally:
        _kill(process, box)
        stderr = _rest_of(process)
        _close(process)
        box.close()
    return Outcome(
        checks=tuple(checks), trouble=trouble, stderr=stderr.decode(errors="backslashreplace")
    )


def _question(outside: _Outside, visible: Visible) -> dict[str, Any]:
    shown = {Path(path) for path in (*visible.trees, *(place for _, place in visible.links))}
    places = [Path(place) for place in _HOST_PLACES if Path(place).exists()]
    hidden = [str(outside.marker), *(path for place in places for path in beside(place, shown))]
    pids = [pid for pid in (os.getpid(), os.getppid()) if pid > 4 * _LIMITS.processes]
    return {
        "hidden": hidden,
        "name": outside.name,
        "pids": pids,  # low numbers are its own: in a container ours may be one of them
        "proc_sys": _PROC_SYS,
        "folders": _FOLDERS,
        "families": _FAMILIES,
        "processes": _LIMITS.processes,
        "tmp_bytes": _LIMITS.tmp_mib * 1024 * 1024,
        "echo_bytes": ECHO_BYTES,
    }


def beside(place: Path, shown: Set[Path]) -> Iterator[str]:
    """Yield what must not be seen of a place of the host: all of it, or what lies beside.

    Where something in it is shown, such as a virtual environment below `/home`, the folders that
    lead there are in the sandbox too, and empty but for that.

    Args:
        place: of the host.
        shown: what bots are to see.
    """
    if place in shown or not any(place in path.parents for path in shown):
        yield str(place)
        return
    with suppress(OSError):  # a folder that we may pass and not list
        for entry in sorted(place.iterdir())[:_MOST_BESIDE]:
            if entry not in shown:
                yield from beside(entry, shown)


def judge(
    answer: Mapping[str, Any], asked: Mapping[str, Any], profile: Profile, our_uid: int
) -> list[Check]:
    """Return what a canary could do and what it could not.

    Args:
        answer: its own words.
        asked: what it was asked.
        profile: how it was held.
        our_uid: the user id of whoever asked, as the canary would have it without a sandbox.
    """
    status = answer["status"]
    wanted = dict(profile.environment)
    found = {name: value for name, value in answer["environment"].items() if name != "PWD"}
    most = asked["processes"]
    checks = [
        Check("sees no file outside", "saw files outside", not answer["seen"]),
        Check(
            "reaches nobody on this machine",
            "reached a listener on this machine",
            not answer["connected"],
        ),
        Check("sees no process outside", "saw processes outside", not answer["processes"]),
        Check(
            "writes to nothing but its own folders",
            f"could write to {', '.join(answer['written'])}",
            not answer["written"],
        ),
        Check(
            "has no socket to the kernel",
            "could make sockets that reach the kernel",
            not answer["families"],
        ),
        Check(
            "can't lock what others see",
            "could lock a file that other sandboxes see",
            not answer["locked"],
        ),
        Check(
            "is stopped at its number of processes",
            f"was not stopped at {most} processes",
            answer["forked"] < most,
        ),
        Check(
            "has processes of its own",
            "was not left any process of its own",
            answer["forked"] > 0,
        ),
        Check(
            "is another user",
            "ran as you",
            answer["uid"] not in ((our_uid, 0) if profile.route == "R" else (0,)),
        ),
        Check("inherits no open file", "inherited open files", answer["descriptors"] == [0, 1, 2]),
        Check("inherits no variable", "inherited variables", found == wanted),
        Check(
            "has a /tmp of its own size",
            "had no /tmp of its own size",
            answer["tmp_bytes"] == asked["tmp_bytes"],
        ),
    ]
    if profile.proc:  # else nobody tells
        checks += [
            Check(
                "has no rights of root",
                "had rights of root",
                status["CapEff"] == status["CapBnd"] == _NO_RIGHTS,
            ),
            Check("can't gain rights", "could gain rights", status["NoNewPrivs"] == "1"),
            Check(
                "has its system calls filtered",
                "ran without a filter of system calls",
                status["Seccomp"] == "2",
            ),
        ]
    return checks


def _check_pipes(process: subprocess.Popen[bytes], patience: Patience) -> Check:
    sent = os.urandom(ECHO_BYTES // 2) + bytes(range(256)) * (ECHO_BYTES // 512)
    got = _exchange(process, sent, len(sent), patience)
    return Check(
        f"gets {ECHO_BYTES // 1024} KiB through its pipes unchanged",
        "did not get bytes through its pipes unchanged",
        got == sent,
    )


def _check_death(process: subprocess.Popen[bytes], box: Box, patience: Patience) -> Check:
    """Kill it, and see that nobody holds its output any more."""
    if _exchange(process, b"", len(b"grandchild\n"), patience) != b"grandchild\n":
        raise _Gone("left no grandchild")
    promise = "is gone with all that it started once it is killed"
    if not box.learn():
        return Check(promise, "has no namespace of processes that could be watched", False)
    os.kill(process.pid, signal.SIGKILL)  # the outermost alone: all others must follow
    until_gone = Patience(_KILL_WAIT_S)
    while _wait(process, until_gone, box.init):
        if not _read_some(process):
            break
    over = until_gone.wait(box.init_fd, box.init) and not _living(box)
    return Check(promise, "outlived its kill", over)


def _living(box: Box) -> list[int]:
    """Return what still runs inside; dead ones that nobody has reaped yet do not count."""
    seen = map(see, pids_in_namespace(box.pid_namespace))
    return [process.pid for process in seen if process and process.state not in "ZX"]


def _ask(process: subprocess.Popen[bytes], question: bytes, patience: Patience) -> bytes:
    """Send the question, return the first line."""
    _write(process, question)
    answer = b""
    while b"\n" not in answer:
        if not _wait(process, patience):
            raise _Gone("did not answer in time; is the machine very busy?")
        chunk = _read_some(process)
        if not chunk:
            raise _Gone("ended without an answer")
        answer += chunk
        if len(answer) > _MOST_ANSWER:
            raise _Gone("wrote without end")
    line, _, rest = answer.partition(b"\n")
    if rest:
        raise _Gone("wrote more than it was asked for")
    return line


def _exchange(
    process: subprocess.Popen[bytes], sent: bytes, expected: int, patience: Patience
) -> bytes:
    """Send bytes and read back as many as expected and no more, both at once."""
    got = b""
    left = memoryview(sent)
    while len(got) < expected:
        if left:
            left = left[_write(process, left[:4096]) :]
        if not left or _has_some(process):
            if not _wait(process, patience):
                raise _Gone("did not answer in time; is the machine very busy?")
            chunk = _read_some(process, expected - len(got))
            if not chunk:
                raise _Gone("ended in the middle")
            got += chunk
    return got


def _write(process: subprocess.Popen[bytes], data: bytes | memoryview) -> int:
    if process.stdin is None:
        raise _Gone("has no input")  # pragma: no cover
    try:
        return os.write(process.stdin.fileno(), data)
    except BrokenPipeError as exc:
        raise _Gone("ended without an answer") from exc


def _wait(process: subprocess.Popen[bytes], patience: Patience, pid: int | None = None) -> bool:
    """Wait until the output has something, its end included; False if the time is up.

    Args:
        process: whose output.
        patience: how long.
        pid: of whoever is waited for, if not of `process`.
    """
    if process.stdout is None:
        return False  # pragma: no cover
    return patience.wait(process.stdout.fileno(), process.pid if pid is None else pid)


def _has_some(process: subprocess.Popen[bytes]) -> bool:
    return process.stdout is not None and bool(select.select([process.stdout], [], [], 0.0)[0])


def _read_some(process: subprocess.Popen[bytes], most: int = 65_536) -> bytes:
    if process.stdout is None:
        return b""  # pragma: no cover
    return os.read(process.stdout.fileno(), most)


def _kill(process: subprocess.Popen[bytes], box: Box) -> None:
    if process.returncode is None:
        box.kill(process.pid)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_KILL_WAIT_S)
        process.kill()  # what says that it is bubblewrap, and waits for what no kill ends


def _rest_of(process: subprocess.Popen[bytes]) -> bytes:
    """Return what is in the pipe of the standard error, without waiting for more."""
    if process.stderr is None:
        return b""  # pragma: no cover
    os.set_blocking(process.stderr.fileno(), False)
    with suppress(BlockingIOError):
        return os.read(process.stderr.fileno(), _STDERR_BYTES)
    return b""


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
