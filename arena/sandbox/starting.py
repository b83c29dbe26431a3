"""Start a bot: as a plain process group, or in a sandbox under a warden's eyes."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import NoReturn

import trio

from arena.errors import BotRefused, HostFault
from arena.sandbox.holding import Group, Guard, Hold, Locked, bounds_of
from arena.sandbox.hub import Hub
from arena.sandbox.limits import BOT_ENVIRONMENT, BOT_NICE, limit_command
from arena.sandbox.process import BotProcess
from arena.sandbox.sandboxes import Sandbox
from arena.sandbox.startable import check_startable
from arena.sandbox.warden import Warden
from protocol.messages import Limits

__all__ = ["open_bot", "start_bot"]

_OUR_SHORTAGE = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}


def start_bot(
    hub: Hub,
    command: Sequence[str],
    folder: str,
    *,
    limits: Limits,
    cpu_s: int | None = None,
    guard: Guard | None = None,
) -> BotProcess:
    """Start a bot in its folder, in a session and process group of its own; its limits are set.

    The caller ends the bot with `end` in any case, while the hub still runs. Must be called on the
    thread that runs trio and lives as long as the bot: the parent-death signal follows the thread
    that started the child, and trio's worker threads come and go.

    Args:
        hub: the worker's.
        command: the bot's command.
        folder: its working folder, an absolute path.
        limits: what it is held to.
        cpu_s: CPU seconds of one process, a backstop; None for a kept process.
        guard: the worker's, to keep the bot in a sandbox; None to run it with our own rights.

    Raises:
        BotRefused: if the command can't be started as it is.
        HostFault: if this machine is out of processes, descriptors, user ids or memory.
    """
    visible = guard.sandbox.profile.visible.trees if guard is not None else None
    check_startable(command, Path(folder), visible=visible)
    spawned_at = monotonic()
    if guard is None:
        process, hold = _start_plain(command, folder, limits, cpu_s)
    else:
        process, hold = _start_locked(guard, command, folder, limits, cpu_s)
    bot = BotProcess(process, hub, hold, line_bytes=limits.line_bytes)
    bot.spawned_at = spawned_at
    return bot


def _start_plain(
    command: Sequence[str], folder: str, limits: Limits, cpu_s: int | None
) -> tuple[subprocess.Popen[bytes], Hold]:
    try:
        process = subprocess.Popen(
            (*limit_command(limits, cpu_s=cpu_s), *command),
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=BOT_ENVIRONMENT,
            start_new_session=True,
        )
    except OSError as exc:
        _fail(exc)
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process.pid, BOT_NICE)
    return process, Group(process.pid)


def _start_locked(
    guard: Guard, command: Sequence[str], folder: str, limits: Limits, cpu_s: int | None
) -> tuple[subprocess.Popen[bytes], Hold]:
    try:
        process, box = guard.sandbox.start(command, folder, limits=limits, cpu_s=cpu_s)
    except OSError as exc:
        if exc.errno not in _OUR_SHORTAGE:  # bubblewrap itself: no fault of the bot's
            raise HostFault(f"bubblewrap can't be started: {os.strerror(exc.errno or 0)}") from exc
        _fail(exc)
    return process, Locked(process.pid, box, bounds_of(limits), guard.warden)


def _fail(exc: OSError) -> NoReturn:
    if exc.errno in _OUR_SHORTAGE:
        raise HostFault(f"cannot start a bot: {os.strerror(exc.errno or 0)}") from exc
    raise BotRefused(f"the bot can't be started: {os.strerror(exc.errno or 0)}") from exc


@asynccontextmanager
async def open_bot(
    command: Sequence[str],
    folder: str,
    *,
    limits: Limits,
    cpu_s: int | None = None,
    sandbox: Sandbox | None = None,
) -> AsyncIterator[BotProcess]:
    """Run one bot by itself; end all that it started on the way out. Raises as `start_bot` does.

    Args:
        command: as for `start_bot`.
        folder: as for `start_bot`.
        limits: as for `start_bot`.
        cpu_s: as for `start_bot`.
        sandbox: to keep it in; it is watched as in a worker.
    """
    hub = Hub()
    guard = None if sandbox is None else Guard(sandbox, Warden())
    try:
        bot = start_bot(hub, command, folder, limits=limits, cpu_s=cpu_s, guard=guard)
    except BaseException:
        hub.stop()
        raise
    async with trio.open_nursery() as nursery:
        hub.start(nursery)
        watching = trio.CancelScope()
        if guard is not None:
            nursery.start_soon(_watch, guard.warden, watching)
        try:
            yield bot
        finally:
            try:
                await bot.end()
            finally:
                hub.stop()
                watching.cancel()


async def _watch(warden: Warden, scope: trio.CancelScope) -> None:
    with scope:
        await warden.run()
