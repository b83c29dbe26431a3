"""What every LineChannel must do: to a process, to one in a sandbox, and the one made for tests."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
import trio

from arena.sandbox.channel import BotExited, BotTooSlow, LineChannel
from arena.sandbox.limits import default_limits
from arena.sandbox.sandboxes import Sandbox
from arena.sandbox.starting import open_bot
from tests.referee.games import FakeChannel, Request
from tests.sandboxed import need_sandbox, staged

LONG_S = 20.0

# Does what the request's `do` says: says one line or two, keeps silent, or goes away.
PROGRAM = """
import json, os, signal, sys, time
signal.alarm(30)
for line in sys.stdin:
    do = json.loads(line)["do"]
    if do == "go": os._exit(1)
    if do == "silence": time.sleep(30)
    print("one\\ntwo" if do == "two" else "one", flush=True)
"""


def brain(request: Request) -> bytes | Exception | None:
    """The same for a fake."""
    answers: dict[str, bytes | Exception | None] = {
        "go": BotExited("the bot ended with status 1 before the game was over"),
        "silence": None,
        "two": b"one\ntwo\n",
    }
    return answers.get(request["do"], b"one\n")


@asynccontextmanager
async def open_fake() -> AsyncIterator[LineChannel]:
    """A fake, ended on the way out."""
    channel = FakeChannel(brain)
    yield channel
    await channel.end()


def open_process() -> AbstractAsyncContextManager[LineChannel]:
    """A real process."""
    return open_bot([sys.executable, "-c", PROGRAM], "/", limits=default_limits())


@asynccontextmanager
async def open_sandboxed() -> AsyncIterator[LineChannel]:
    """A real process in this machine's sandbox."""
    sandbox = Sandbox(need_sandbox().profile)
    try:
        with staged(PROGRAM) as folder:
            command = [sys.executable, "-S", "bot.py"]
            async with open_bot(
                command, str(folder), limits=default_limits(), sandbox=sandbox
            ) as bot:
                yield bot
    finally:
        sandbox.close()


Opener = Callable[[], AbstractAsyncContextManager[LineChannel]]
CHANNELS = [
    pytest.param(open_fake, id="fake"),
    pytest.param(open_process, id="process", marks=pytest.mark.slow),
    pytest.param(open_sandboxed, id="sandbox", marks=pytest.mark.slow),
]


def request(do: str) -> bytes:
    return json.dumps({"do": do}).encode() + b"\n"


def use(opener: Opener, work: Callable[[LineChannel], Awaitable[None]]) -> None:
    """Run the work on a channel."""

    async def main() -> None:
        async with opener() as channel:
            await work(channel)

    trio.run(main)


@pytest.mark.parametrize("opener", CHANNELS)
def test_answer_comes_without_its_newline_and_in_its_time(opener: Opener) -> None:
    async def work(channel: LineChannel) -> None:
        for _ in range(3):
            assert await channel.ask(request("one"), limit_s=LONG_S) == b"one"
            assert 0 <= channel.spent_s() < LONG_S
            assert channel.take_line() is None
        assert not channel.has_unread()
        assert not channel.has_ended()

    use(opener, work)


@pytest.mark.parametrize("opener", CHANNELS)
def test_second_line_waits_to_be_taken(opener: Opener) -> None:
    async def work(channel: LineChannel) -> None:
        assert await channel.ask(request("two"), limit_s=LONG_S) == b"one"
        assert await channel.listen() == b"two"
        assert await channel.ask(request("two"), limit_s=LONG_S) == b"one"
        assert channel.has_unread()
        assert channel.take_line() == b"two"
        assert channel.take_line() is None

    use(opener, work)


@pytest.mark.parametrize("opener", CHANNELS)
def test_silence_is_too_slow_and_no_end(opener: Opener) -> None:
    async def work(channel: LineChannel) -> None:
        with pytest.raises(BotTooSlow):
            await channel.ask(request("silence"), limit_s=0.2)
        assert not channel.has_ended()

    use(opener, work)


@pytest.mark.parametrize("opener", CHANNELS)
def test_bot_that_went_is_seen_to_be_gone(opener: Opener) -> None:
    async def work(channel: LineChannel) -> None:
        with pytest.raises(BotExited, match="status 1"):
            await channel.ask(request("go"), limit_s=LONG_S)
        assert channel.has_ended()
        assert channel.evidence()["exit_status"] == "status 1"
        assert not channel.tell(request("one"))

    use(opener, work)


@pytest.mark.parametrize("opener", CHANNELS)
def test_channel_may_be_ended_twice_and_then_tells_nothing(opener: Opener) -> None:
    async def work(channel: LineChannel) -> None:
        assert channel.tell(request("one"))
        await channel.end()
        await channel.end()
        assert not channel.tell(request("one"))

    use(opener, work)
