"""A Ctrl-C that falls between a bot and whoever waits for it; with real processes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio

from arena.errors import leaves
from arena.sandbox import asking
from arena.sandbox.channel import BotExited
from arena.sandbox.hub import Hub
from arena.sandbox.life import Life
from arena.sandbox.limits import default_limits
from arena.sandbox.process import BotProcess
from arena.sandbox.starting import start_bot
from tests.living import is_alive, wait_gone

pytestmark = pytest.mark.slow

LONG_S = 20.0  # every limit that is not the one under test
SAYS = """
import signal, sys
signal.alarm(30)
for line in sys.stdin:
    if line == "end\\n": break
    if line != "nothing\\n":
        print(line, end="", flush=True, file=sys.stderr if line == "stderr\\n" else sys.stdout)
"""


def with_bot(use: Callable[[BotProcess], Awaitable[object]]) -> None:
    """Use a bot in the main task, where a Ctrl-C comes out; nothing of the bot is left afterwards.

    Raises:
        BaseException: the run's error, out of its groups if there is but one.
    """
    pids: list[int] = []
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names alone

    async def main() -> None:
        hub = Hub()
        async with trio.open_nursery() as nursery:
            hub.start(nursery)
            try:
                bot = start_bot(hub, [sys.executable, "-c", SAYS], "/", limits=default_limits())
                pids.append(bot.pid)
                try:
                    await use(bot)
                finally:
                    await bot.end()
            finally:
                hub.stop()  # it is shielded: else a failure would be waited for without end

    try:
        trio.run(main)
    except BaseExceptionGroup as group:
        if len(leaves(group)) > 1:
            raise
        raise leaves(group)[0] from None
    finally:
        wait_gone(partial(is_alive, pids[0]))
        assert set(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208


def interrupt(*_: object) -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("call", "says"),
    [("_on_stdout", b"stdout\n"), ("_on_stderr", b"stderr\n"), ("_on_end", b"end\n")],
)
def test_ctrl_c_that_falls_into_the_hub_does_not_end_it(
    monkeypatch: pytest.MonkeyPatch, call: str, says: bytes
) -> None:
    """The main task gets it; the hub still tells of the bot's end, which is waited for."""
    original = getattr(BotProcess, call)
    interrupts = iter([interrupt])  # once

    def interrupted(self: BotProcess, *args: Any) -> None:
        for each in interrupts:
            each()
        original(self, *args)

    monkeypatch.setattr(BotProcess, call, interrupted)

    async def use(bot: BotProcess) -> None:
        await bot.ask(says, limit_s=LONG_S)
        await trio.sleep_forever()

    with pytest.raises(KeyboardInterrupt):
        with_bot(use)


@pytest.mark.parametrize("is_first", [True, False], ids=["at the first wait", "at a later one"])
@pytest.mark.parametrize("ends", [False, True], ids=["it answers", "it ends"])
def test_ctrl_c_just_before_a_wait_leaves_nobody_to_wake(
    monkeypatch: pytest.MonkeyPatch, is_first: bool, ends: bool
) -> None:
    """What the bot does next must not wake the task, which waits for something else by then."""

    async def use(bot: BotProcess) -> None:
        if not is_first:
            assert await bot.ask(b"one\n", limit_s=LONG_S) == b"one"
        with monkeypatch.context() as patch:
            patch.setattr(asking, "_wait_task_rescheduled", interrupt)
            with pytest.raises(KeyboardInterrupt):
                await (bot.ask(b"nothing\n", limit_s=LONG_S) if is_first else bot.listen())
        assert bot.tell(b"end\n" if ends else b"two\n")
        with trio.fail_after(LONG_S):
            while not bot._ready:  # noqa: ASYNC110 - what comes is told to nobody
                await trio.sleep(0.01)
        if ends:
            with pytest.raises(BotExited):
                await bot.listen()
        else:
            assert await bot.listen() == b"two"

    with_bot(use)


@pytest.mark.parametrize("where", [(BotProcess, "_close_stdin"), (Life, "close")])
def test_ctrl_c_while_a_bot_is_ended_leaves_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch, where: tuple[type, str]
) -> None:
    original = getattr(*where)

    def interrupted(*args: Any) -> None:
        interrupt()
        original(*args)

    async def use(bot: BotProcess) -> None:
        monkeypatch.setattr(*where, interrupted)
        await bot.end()
        await trio.lowlevel.checkpoint()  # at the latest

    with pytest.raises(KeyboardInterrupt):
        with_bot(use)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_while_the_end_of_a_bot_is_waited_for_leaves_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """It ends the wait, of which there are two: for its own end, and for that of the killed one."""
    waited: list[float] = []
    original = Life.wait_over

    async def wait_over(self: Life, limit_s: float) -> bool:
        waited.append(limit_s)
        if len(waited) <= times:
            interrupt()
        return await original(self, limit_s)

    async def use(bot: BotProcess) -> None:
        monkeypatch.setattr(Life, "wait_over", wait_over)
        await bot.end(grace_s=LONG_S)

    with pytest.raises(KeyboardInterrupt):
        with_bot(use)
    assert len(waited) == 2
