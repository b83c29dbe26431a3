"""Bots in real sandboxes, spoken to as in a game: how they end, and that nobody stays."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from arena.errors import BotFault, BotRefused, HostFault
from arena.sandbox.channel import BotExited, BotTookTooMuch, BotTooSlow
from arena.sandbox.limits import default_limits
from arena.sandbox.process import BotProcess
from arena.sandbox.processes import namespace_of, pids_in_namespace
from arena.sandbox.sandboxes import Sandbox
from arena.sandbox.starting import open_bot
from tests.living import descendants, is_alive, wait_gone
from tests.sandboxed import need_sandbox, staged

pytestmark = pytest.mark.slow

LIMITS = default_limits()
LONG_S = 20.0  # every limit that is not the one under test
SAYS = "import os, sys, time\ninput()\n"


@contextmanager
def a_sandbox(**changes: Any) -> Iterator[Sandbox]:
    """Give this machine's sandbox, some of its profile changed."""
    sandbox = Sandbox(replace(need_sandbox().profile, **changes))
    try:
        yield sandbox
    finally:
        sandbox.close()


def with_bot(
    code: str,
    use: Callable[[BotProcess], Awaitable[Any]],
    *,
    changes: Mapping[str, Any] = MappingProxyType({}),
    **limits: int,
) -> Any:
    """Run a Python program as a bot in the sandbox and use it; nothing of it is left afterwards."""
    command = [sys.executable, "-S", "-u", "bot.py"]

    async def main(own: Sandbox, folder: str) -> Any:
        found: list[Any] = []
        given = replace(LIMITS, **limits)
        async with open_bot(command, folder, limits=given, sandbox=own) as bot:
            try:
                found.append(await use(bot))
            except (BotFault, HostFault) as exc:  # not through the nursery, which would wrap it
                found.append(exc)
        return found[0]

    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names alone
    with a_sandbox(**changes) as sandbox, staged(code) as folder:
        result = trio.run(main, sandbox, str(folder))
    assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    if isinstance(result, BotFault | HostFault):
        raise result
    return result


async def ask(bot: BotProcess) -> bytes:
    """Ask once, with all the time in the world."""
    return await bot.ask(b"go\n", limit_s=LONG_S)


def test_bot_in_a_sandbox_answers_and_is_another_process_namespace() -> None:
    async def use(bot: BotProcess) -> tuple[bytes, bytes]:
        return await ask(bot), await bot.listen()

    code = SAYS + "print(os.getpid()); print(os.getcwd()); input()"
    pid, folder = with_bot(code, use)
    assert 1 < int(pid) < 10
    assert folder == b"/bot"


@pytest.mark.parametrize(
    ("end", "text"),
    [
        ("sys.exit(0)", r"ended with status 0 before"),
        ("sys.exit(1)", r"ended with status 1 before"),
        ("sys.exit(7)", r"ended with status 7 before"),
        ("os.kill(os.getpid(), 11)", r"ended with SIGSEGV \(status 139\) before"),
        ("os.abort()", r"ended with SIGABRT \(status 134\) before"),
        ("os.kill(os.getpid(), 9)", r"ended with SIGKILL \(status 137\) before"),
    ],
)
def test_end_of_a_bot_is_told_as_it_was(end: str, text: str) -> None:
    """C1 to C3: status 1 is no failure of the sandbox, and signals have their names."""
    with pytest.raises(BotExited, match=text):
        with_bot(SAYS + end, ask)


def test_line_before_the_end_is_judged_first() -> None:
    assert with_bot(SAYS + "print('last'); sys.exit(1)", ask) == b"last"


def test_sandbox_that_is_not_set_up_is_our_fault() -> None:
    """Status 1 before the bot has begun: the game is void, and the reason is bubblewrap's."""
    seen = need_sandbox().profile.visible
    nowhere = replace(seen, trees=(*seen.trees, "/no-such-folder"))
    with pytest.raises(HostFault, match=r"could not be set up for a bot: bwrap: .*no-such-folder"):
        with_bot(SAYS, ask, changes={"visible": nowhere})


def test_bubblewrap_that_went_away_is_our_fault() -> None:
    with pytest.raises(HostFault, match="bubblewrap can't be started: No such file"):
        with_bot(SAYS, ask, changes={"bwrap": "/no-such-bwrap"})


def test_bot_that_uses_too_much_memory_is_told_the_number() -> None:
    code = SAYS + "held = b'x' * (200 << 20); time.sleep(20)"
    with pytest.raises(BotTookTooMuch, match=r"^memory \d+ MiB, the limit is 100 MiB$"):
        with_bot(code, ask, memory_mib=100)


def test_breach_is_in_the_evidence_of_a_bot_that_was_not_asked() -> None:
    async def use(bot: BotProcess) -> dict[str, Any]:
        await ask(bot)
        with trio.fail_after(LONG_S):
            while not bot.has_ended():  # noqa: ASYNC110 - the warden tells nobody
                await trio.sleep(0.01)
        return dict(bot.evidence())

    code = SAYS + "print('ok'); held = b'x' * (200 << 20); time.sleep(20)"
    found = with_bot(code, use, memory_mib=100)
    assert found["breach"].startswith("memory ")
    assert found["exit_status"] == "SIGKILL (status 137)"


def test_honest_bots_start_is_no_breach() -> None:
    """The host's own files are not counted for a sandbox that is still being set up."""

    async def use(bot: BotProcess) -> bytes:
        await trio.sleep(0.3)  # a few looks of the warden
        return await ask(bot)

    for _ in range(5):
        assert with_bot(SAYS + "print('ok'); input()", use) == b"ok"


def test_program_outside_of_what_is_shown_is_named_before_the_start() -> None:
    with tempfile.TemporaryDirectory() as name, a_sandbox() as sandbox, staged("") as folder:
        program = Path(name, "program")
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)

        async def main() -> None:
            async with open_bot([str(program)], str(folder), limits=LIMITS, sandbox=sandbox):
                pytest.fail("it was started")  # pragma: no cover

        with pytest.raises(BotRefused, match="'program' lies where bots in the sandbox can't see"):
            trio.run(main)


def test_silent_bot_is_too_slow() -> None:
    async def use(bot: BotProcess) -> bytes:
        return await bot.ask(b"go\n", limit_s=0.5)

    with pytest.raises(BotTooSlow, match="no answer within"):
        with_bot(SAYS + "time.sleep(20)", use)


LEAVERS = """
import os, signal, time
def leave():
    # A grandchild in a session of its own, deaf to what it can be, that comes back once it is hit.
    if os.fork(): return
    os.setsid()
    if os.fork(): os._exit(0)
    for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)
    while True:
        if os.fork() == 0: time.sleep(20); os._exit(0)
        time.sleep(0.1)
"""


@pytest.mark.parametrize("end", ["time.sleep(20)", "sys.exit(0)"], ids=["lives", "ends"])
def test_nobody_stays_behind_a_bot_that_leaves_children(end: str) -> None:
    """C8, C9: they hold its output open, and go with it all the same."""
    namespaces: list[int] = []

    async def use(bot: BotProcess) -> None:
        assert await ask(bot) == b"left"
        namespaces.extend(map(namespace_of, {bot.pid, *descendants(bot.pid)}))
        if end == "sys.exit(0)":
            with pytest.raises(BotExited, match="status 0"):
                await ask(bot)

    code = LEAVERS + SAYS + "leave(); time.sleep(0.3); print('left'); input()\n" + end
    with_bot(code, use)
    inside = set(namespaces) - {namespace_of(os.getpid())}
    assert len(inside) == 1
    _wait_empty(inside.pop())


def _wait_empty(namespace: int) -> None:
    wait_gone(lambda: [pid for pid in pids_in_namespace(namespace) if is_alive(pid)])
