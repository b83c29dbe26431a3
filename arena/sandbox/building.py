"""A bot's own build, run once in its copy before that is made read-only.

In the sandbox it may do a little more than a bot: write to the copy, lock files, use more memory
and more processes. It has no network, and its folder is all that it leaves behind.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from arena.errors import BotRefused, HostFault
from arena.sandbox.aftermath import environment
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.built import check_built, overweight
from arena.sandbox.copying import shown
from arena.sandbox.holding import bounds_of
from arena.sandbox.limits import BUILD_S, build_limits
from arena.sandbox.sandboxes import Box, Sandbox
from arena.sandbox.startable import check_startable
from arena.sandbox.warden import Proc, Ward

__all__ = ["build"]

_TAIL_BYTES = 2_000
_KEPT = ("HOME", "LANG", "PATH")  # compilers need them; nothing else of ours is anybody's business
_LOOK_S = 0.1
_WEIGH_SHARE = 10.0  # times what the last weighing took pass before the next
_EMPTY_WAIT_S = 2.0


def build(
    commands: Sequence[Sequence[str]],
    folder: Path,
    *,
    profile: Profile | None = None,
    limit_s: float = BUILD_S,
) -> None:
    """Run a bot's build commands in its copy, one after the other; blocks.

    Args:
        commands: programs with their arguments; never given to a shell.
        folder: the copy, in which they run; an absolute path.
        profile: of this machine's sandbox; None to run them with our own rights.
        limit_s: for all of them together.

    Raises:
        BotRefused: if one can't be started, fails, takes too long or uses too much, with the end of
            its output; or if they leave what no copy may hold.
        HostFault: if this machine is out of user ids.
    """
    ends = time.monotonic() + limit_s
    for command in commands:
        said = shown(" ".join(command))
        with tempfile.TemporaryFile() as output:
            try:
                if profile is None:
                    status = _run(command, folder, output, ends)
                else:
                    status = _run_locked(command, folder, output, ends, profile)
            except OSError as exc:
                raise BotRefused(f"build: '{said}' can't be started ({exc.strerror})") from exc
            except subprocess.TimeoutExpired as exc:
                raise BotRefused(
                    f"build: '{said}' was stopped: a build may take {limit_s:.0f} s in all"
                ) from exc
            except BotRefused as exc:
                raise BotRefused(f"build: '{said}' can't be started: {exc}") from exc
            except _TooMuch as exc:
                raise BotRefused(f"build: '{said}' was stopped: {exc}") from exc
            if status:
                raise BotRefused(f"build: '{said}' ended with status {status}:\n{_tail(output)}")
    check_built(folder)


class _TooMuch(Exception):
    """The build uses or leaves more than it may; the text says of what."""


def _run(command: Sequence[str], folder: Path, output: IO[bytes], ends: float) -> int:
    """Run a command with our own rights; return its status."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    try:
        return process.wait(timeout=max(0.0, ends - time.monotonic()))
    finally:
        with suppress(ProcessLookupError):  # what it left running, or it itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _run_locked(
    command: Sequence[str], folder: Path, output: IO[bytes], ends: float, profile: Profile
) -> int:
    """Run a command in the sandbox; return its status."""
    check_startable(command, folder, visible=profile.visible.trees)
    limits = build_limits()
    sandbox = Sandbox(profile)
    try:
        with sandbox.wrap(command, str(folder), limits=limits, building=True) as wrapped:
            box = wrapped.box
            _give(folder, box.uid)
            process = subprocess.Popen(
                wrapped.words,
                cwd="/",
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=wrapped.pass_fds,
                start_new_session=True,
            )
            box.settle(process.pid)
        with _ended(process, box):
            status = _watch(process, Ward(box, bounds_of(limits), Proc()), folder, ends)
            if status == 1 and not box.was_set_up():
                raise HostFault(f"the sandbox could not be set up for a build: {_tail(output)}")
            return status
    finally:
        sandbox.close()
        _give(folder, os.geteuid() if profile.route == "R" else None)


@contextmanager
def _ended(process: subprocess.Popen[bytes], box: Box) -> Iterator[None]:
    """See that nothing of a build runs any more when the block is left."""
    try:
        yield
    finally:
        box.kill(0 if process.returncode is not None else process.pid)
        until = time.monotonic() + _EMPTY_WAIT_S
        with suppress(subprocess.TimeoutExpired):
            process.wait(_EMPTY_WAIT_S)
        process.kill()  # bubblewrap itself, if it waits for what no kill ends
        process.wait()
        while not box.is_over() and time.monotonic() < until:
            time.sleep(0.001)
        box.close()


def _watch(process: subprocess.Popen[bytes], ward: Ward, folder: Path, ends: float) -> int:
    """Wait for a command and look after it meanwhile; return its status."""
    weigh_at = 0.0
    while True:
        try:
            status = process.wait(timeout=min(_LOOK_S, max(0.0, ends - time.monotonic())))
        except subprocess.TimeoutExpired:
            if time.monotonic() >= ends:
                raise
        else:
            if ward.breach is not None:
                raise _TooMuch(ward.breach)
            return status
        if ward.look() > 1.0:
            ward.confirm()
        began = time.monotonic()
        if began >= weigh_at:
            much = overweight(folder)
            if much is not None:
                raise _TooMuch(f"leaves {much}")
            now = time.monotonic()
            weigh_at = now + _WEIGH_SHARE * (now - began)


def _give(folder: Path, uid: int | None) -> None:
    """Make all of a folder a user's; None leaves it as it is. No process may run in it."""
    if uid is None:
        return
    os.chown(folder, uid, uid)
    folder.chmod(0o755)  # bubblewrap goes in with no more rights than anybody
    left = [folder]
    while left:
        # What lies so deep that its path is too long is refused when all is looked through.
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                os.chown(entry.path, uid, uid, follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    left.append(Path(entry.path))


def _tail(output: IO[bytes]) -> str:
    """Return the end of what a build printed, with what could disturb a terminal taken out."""
    output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL_BYTES))
    text = output.read().decode("utf-8", "replace")
    lines = ("".join(c if c.isprintable() else "?" for c in line) for line in text.splitlines())
    return "\n".join(lines)
