"""One bot's process: lines, deadlines, ends; with real processes."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from msgspec.structs import replace

from arena.errors import ArenaError, BotFault, BotRefused, HostFault
from arena.sandbox import lateness as lateness_module
from arena.sandbox.channel import BotExited, BotOverran, BotTooSlow, LineChannel
from arena.sandbox.hub import Hub
from arena.sandbox.limits import default_limits
from arena.sandbox.process import BotProcess
from arena.sandbox.starting import open_bot, start_bot
from arena.sandbox.starvation import Counts, Thread
from arena.sandbox.usage import CpuAccount
from tests.living import is_alive, wait_gone

pytestmark = pytest.mark.slow

LIMITS = default_limits()
LONG_S = 20.0  # every limit that is not the one under test
ECHO = "import sys\nfor line in sys.stdin: print(line.strip() * 1, flush=True)"


def with_bot(code: str, use: Callable[[BotProcess], Awaitable[Any]], **limits: int) -> Any:
    """Run a Python program as a bot and use it; nothing of it is left afterwards."""

    async def main() -> Any:
        before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names alone
        command = [sys.executable, "-c", f"import signal; signal.alarm(30)\n{code}"]
        found: list[Any] = []
        async with open_bot(command, "/", limits=replace(LIMITS, **limits)) as bot:
            group = bot.pid
            try:
                found.append(await use(bot))
            except BotFault as exc:  # not through the nursery, which would wrap it
                found.append(exc)
        wait_gone(partial(_living_group, group))
        assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
        return found[0]

    result = trio.run(main)
    if isinstance(result, BotFault):
        raise result
    return result


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds that nobody tells us of."""
    with trio.fail_after(LONG_S):
        while not holds():  # noqa: ASYNC110 - a process tells nobody
            await trio.sleep(0.01)


def test_process_is_a_line_channel() -> None:
    """The type checker says so too."""

    async def use(bot: BotProcess) -> bytes:
        channel: LineChannel = bot
        return await channel.ask(b"hello\n", limit_s=LONG_S)

    assert with_bot(ECHO, use) == b"hello"


def test_lines_that_came_together_are_taken_one_by_one() -> None:
    async def use(bot: BotProcess) -> list[bytes | None]:
        lines = [await bot.ask(b"go\n", limit_s=LONG_S), await bot.listen()]
        return [*lines, bot.take_line(), bot.take_line()]

    code = "import os; input(); os.write(1, b'one\\ntwo\\nthree\\nfo'); input()"
    assert with_bot(code, use) == [b"one", b"two", b"three", None]


@pytest.mark.parametrize("limit_s", [LONG_S, inf], ids=["clock", "no clock"])
def test_a_bot_is_idle_only_while_it_is_not_asked(limit_s: float) -> None:
    """What it uses while it is asked is not used off turn."""

    async def use(bot: BotProcess) -> None:
        assert bot.idle_since() is not None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(bot.ask, b"go\n", limit_s=limit_s))
            await trio.testing.wait_all_tasks_blocked()
            assert bot.idle_since() is None
            assert bot.tell(b"go on\n")
        assert bot.idle_since() == bot.answered_at > bot.sent_at
        await bot.end()
        assert bot.idle_since() is None

    with_bot("input(); input(); print('done', flush=True); input()", use)


def test_line_in_pieces_is_put_together() -> None:
    async def use(bot: BotProcess) -> bytes:
        return await bot.ask(b"go\n", limit_s=LONG_S)

    code = """
import os, time
input()
for piece in (b"a" * 5000, b"b" * 4096, b"c\\n"):
    os.write(1, piece); time.sleep(0.05)
input()
"""
    assert with_bot(code, use) == b"a" * 5000 + b"b" * 4096 + b"c"


def test_answer_of_exactly_one_read_is_read() -> None:
    """4,096 bytes at a time are read; an answer that ends there leaves nothing to wait for."""

    async def use(bot: BotProcess) -> list[int]:
        return [len(await bot.ask(b"go\n", limit_s=LONG_S)) for _ in range(3)]

    code = "import os, sys\nfor line in sys.stdin: os.write(1, b'x' * 4095 + b'\\n')"
    assert with_bot(code, use) == [4095] * 3


def test_large_request_passes_a_pipe_that_is_smaller() -> None:
    async def use(bot: BotProcess) -> bytes:
        return await bot.ask(b"z" * 500_000 + b"\n", limit_s=LONG_S)

    assert with_bot("print(len(input()), flush=True); input()", use) == b"500000"


def test_deaf_bot_is_too_slow_to_read() -> None:
    """A17: the writing has a deadline of its own."""

    async def use(bot: BotProcess) -> bytes:
        return await bot.ask(b"z" * 500_000 + b"\n", limit_s=0.5)

    start = time.monotonic()
    with pytest.raises(BotTooSlow, match=r"does not read: it took 65,536 of 500,001 bytes"):
        with_bot("import time; time.sleep(30)", use)
    assert time.monotonic() - start < 10


def test_deaf_bot_that_ends_is_gone() -> None:
    async def use(bot: BotProcess) -> bytes:
        return await bot.ask(b"z" * 500_000 + b"\n", limit_s=LONG_S)

    with pytest.raises(BotExited, match="status 4"):
        with_bot("import sys, time; time.sleep(0.3); sys.exit(4)", use)


@pytest.mark.parametrize("size", [65_535, 65_536])
def test_line_as_long_as_it_may_be_is_read(size: int) -> None:
    """The limit counts the newline: 65,535 bytes before it are the most."""

    async def use(bot: BotProcess) -> int:
        return len(await bot.ask(b"go\n", limit_s=LONG_S))

    code = f"import os; input(); os.write(1, b'x' * {size - 1} + b'\\n'); input()"
    assert with_bot(code, use) == size - 1


def test_line_that_is_too_long_is_noticed_at_once_and_not_held() -> None:
    """A1: as soon as the limit is passed, not at the deadline."""

    async def use(bot: BotProcess) -> bytes:
        return await bot.ask(b"go\n", limit_s=LONG_S)

    start = time.monotonic()
    with pytest.raises(BotOverran, match="line longer than 65,536 bytes: xxx"):
        with_bot("import os; input()\nwhile True: os.write(1, b'x' * 65536)", use)
    assert time.monotonic() - start < LONG_S / 2


@pytest.mark.parametrize("late", ["import time; time.sleep(30)", "while True: pass"])
def test_slow_bot_costs_its_limit_and_no_more(late: str) -> None:
    """Who was kept from running for most of many times its limit is nobody's loss: once more."""

    async def use(bot: BotProcess) -> tuple[float, ArenaError]:
        await bot.ask(b"go\n", limit_s=LONG_S)
        start = trio.current_time()
        with pytest.raises((BotTooSlow, HostFault)) as caught:
            await bot.ask(b"go\n", limit_s=0.3)
        return trio.current_time() - start - bot.lost_s, caught.value

    for _ in range(3):
        took_s, error = with_bot(f"print(input(), flush=True); input()\n{late}", use)
        if isinstance(error, BotTooSlow):
            break
        assert "this machine is overloaded" in str(error)
    assert isinstance(error, BotTooSlow)
    assert 0.3 <= took_s < 3  # the bound is wide, as hosts are busy
    assert "no answer within" in error.text
    assert "flush" in error.hint


def test_answer_is_not_late_because_the_worker_was_held_up() -> None:
    """Nobody can tell when it came: the time that we lost is not the bot's."""

    async def use(bot: BotProcess) -> tuple[bytes, float, bool]:
        said = []

        async def ask() -> None:
            said.append(await bot.ask(b"go\n", limit_s=0.2))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            nursery.start_soon(hold_the_loop, 0.8)
        return said[0], bot.spent_s(), bot.lost_s > 0

    async def hold_the_loop(seconds: float) -> None:
        await trio.sleep(0.1)
        time.sleep(seconds)  # noqa: ASYNC251 - the point of the test

    code = "import time; input(); time.sleep(0.15); print('here', flush=True); input()"
    answer, charged_s, overloaded = with_bot(code, use)
    assert answer == b"here"
    assert charged_s <= 0.2 + 1e-6
    assert overloaded


def test_answer_behind_the_deadline_of_a_bot_that_ran_is_too_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It looked as if it waited for a CPU; the books say that it did not."""
    looks: list[Counts] = []

    def look_fake(_pid: int, _account: CpuAccount) -> Counts:
        looks.append(Counts(len(looks) * 0.001, {1: Thread(0.0, 0.0)}, is_runnable=True))
        return looks[-1]

    monkeypatch.setattr(lateness_module, "look", look_fake)

    async def use(bot: BotProcess) -> str:
        await bot.ask(b"go\n", limit_s=LONG_S)
        with pytest.raises(BotTooSlow) as caught:
            await bot.ask(b"go\n", limit_s=0.2)
        assert len(looks) > 2
        return caught.value.text

    code = (
        "import time\nprint(input(), flush=True); input(); time.sleep(0.4)\n"
        "print('here', flush=True); input()"
    )
    assert re.fullmatch(r"the answer came after \d+ ms; the limit is \d+ ms", with_bot(code, use))


def test_silence_while_the_worker_was_held_up_is_still_too_slow() -> None:
    async def use(bot: BotProcess) -> str:
        said = []

        async def ask() -> None:
            with pytest.raises(BotTooSlow) as caught:
                await bot.ask(b"go\n", limit_s=0.2)
            said.append(caught.value.text)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            nursery.start_soon(hold_the_loop, 0.4)
        return said[0]

    async def hold_the_loop(seconds: float) -> None:
        await trio.sleep(0.1)
        time.sleep(seconds)  # noqa: ASYNC251 - the point of the test

    assert "no answer within" in with_bot("import time; input(); time.sleep(25)", use)


def test_end_of_the_process_is_noticed_though_a_child_holds_the_pipe() -> None:
    """C8: no end of file comes, and nobody waits for it."""

    async def use(bot: BotProcess) -> bytes:
        return await bot.ask(b"go\n", limit_s=LONG_S)

    start = time.monotonic()
    code = "import os, time; input()\nif os.fork() == 0: time.sleep(20)\nelse: os._exit(3)"
    with pytest.raises(BotExited, match="status 3"):
        with_bot(code, use)
    assert time.monotonic() - start < LONG_S / 2


def test_line_before_the_end_counts() -> None:
    """A bot's bytes are judged in the order written: the answer, and then the end."""

    async def use(bot: BotProcess) -> tuple[bytes, str]:
        answer = await bot.ask(b"go\n", limit_s=LONG_S)
        with pytest.raises(BotExited) as caught:
            await bot.ask(b"go\n", limit_s=LONG_S)
        return answer, caught.value.text

    code = "import os; input(); os.write(1, b'one\\n'); os._exit(0)"
    answer, text = with_bot(code, use)
    assert answer == b"one"
    assert "ended with status 0 before the game was over" in text


def test_end_of_the_output_that_came_with_an_answer_is_noticed() -> None:
    """One change may be both: the kernel tells of it once, and one read does not take both."""

    async def use(bot: BotProcess) -> bytes:
        looker = select.poll()
        looker.register(bot._stdout, 0)  # the end alone, which is told in any case
        os.write(bot._stdin, b"go\n")
        assert looker.poll(LONG_S * 1000)  # nobody reads meanwhile: the loop stands still
        line = await bot.ask(b"go\n", limit_s=LONG_S)
        began = time.monotonic()
        with pytest.raises(BotExited, match="closed its standard output"):
            await bot.ask(b"go\n", limit_s=LONG_S)
        assert time.monotonic() - began < LONG_S / 2
        return line

    code = "import os, sys, time\ninput(); print('yes', flush=True); os.close(1); time.sleep(20)"
    assert with_bot(code, use) == b"yes"


def test_look_at_a_bot_tells_whether_it_ended() -> None:
    async def use(bot: BotProcess) -> tuple[bool, bool]:
        living = bot.has_ended()
        os.kill(bot.pid, signal.SIGKILL)
        await until(bot.has_ended)
        return living, bot.has_ended()

    assert with_bot("input()", use) == (False, True)


def test_unread_bytes_are_seen_in_the_pipe() -> None:
    async def use(bot: BotProcess) -> tuple[bool, bool]:
        await bot.ask(b"go\n", limit_s=LONG_S)
        before = bot.has_unread()
        bot.tell(b"more\n")
        await until(bot.has_unread)
        return before, bot.has_unread()

    assert with_bot(ECHO, use) == (False, True)


def test_told_line_is_not_written_to_a_dead_bot() -> None:
    async def use(bot: BotProcess) -> tuple[bool, bool]:
        alive = bot.tell(b"bye\n")
        os.kill(bot.pid, signal.SIGKILL)
        await until(bot.has_ended)
        return alive, bot.tell(b"bye\n")

    assert with_bot("import time; time.sleep(20)", use) == (True, False)


def test_end_takes_the_whole_group_whatever_it_ignores() -> None:
    """C6, C18: TERM, INT and HUP are ignored, and a child is there too."""

    async def use(bot: BotProcess) -> list[int]:
        child = int(await bot.ask(b"go\n", limit_s=LONG_S))
        await bot.end()
        return [bot.pid, child]

    code = """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
input()
child = os.fork()
if child: print(child, flush=True)
while True: time.sleep(1)
"""
    for pid in with_bot(code, use):
        assert not is_alive(pid)


def test_end_gives_an_honest_bot_its_moment() -> None:
    """What it says at the very end is kept, and it exits by itself."""

    async def use(bot: BotProcess) -> tuple[str, str | None]:
        await bot.ask(b"go\n", limit_s=LONG_S)
        await bot.end(grace_s=LONG_S)
        return bot.take_stderr()[0], bot.exit_status()

    code = f"{ECHO}\nprint('bye', file=sys.stderr)"
    assert with_bot(code, use) == ("bye\n", "status 0")


def test_what_nobody_has_read_of_standard_error_yet_is_taken_too() -> None:
    async def use(bot: BotProcess) -> tuple[tuple[str, int], tuple[str, int]]:
        await bot.ask(b"go\n", limit_s=LONG_S)
        silent = bot.take_stderr()
        assert bot.tell(b"say\n")
        # No task of ours runs meanwhile: it stays in the pipe.
        assert select.select([bot._stderr.fd], [], [], LONG_S)[0]
        return silent, bot.take_stderr()

    code = """
import sys
for line in sys.stdin:
    where = sys.stderr if line == 'say\\n' else sys.stdout
    print(line, end='', file=where, flush=True)
"""
    assert with_bot(code, use) == (("", 0), ("say\n", 0))


def test_end_does_not_wait_longer_than_the_grace() -> None:
    async def use(bot: BotProcess) -> float:
        await bot.ask(b"go\n", limit_s=LONG_S)
        start = trio.current_time()
        await bot.end(grace_s=0.25)
        return trio.current_time() - start

    assert 0.25 <= with_bot("import time\nprint(input(), flush=True); time.sleep(30)", use) < 3


def test_stopped_bot_can_be_ended() -> None:
    """C7."""

    async def use(bot: BotProcess) -> None:
        await bot.ask(b"go\n", limit_s=LONG_S)
        os.kill(bot.pid, signal.SIGSTOP)
        await bot.end()

    with_bot(ECHO, use)


def test_bot_is_ended_when_its_user_is_cancelled() -> None:
    async def main() -> int:
        pids = []
        with trio.move_on_after(0.5):
            async with open_bot([sys.executable, "-c", ECHO], "/", limits=LIMITS) as bot:
                pids.append(bot.pid)
                await trio.sleep_forever()
        return pids[0]

    assert not is_alive(trio.run(main))


def test_limits_are_set_before_the_bot_runs() -> None:
    async def use(bot: BotProcess) -> bytes:
        return await bot.ask(b"go\n", limit_s=LONG_S)

    code = """
import resource as r, os
input()
names = ("NOFILE", "FSIZE", "AS", "CORE", "MEMLOCK")
print([r.getrlimit(getattr(r, f"RLIMIT_{n}")) for n in names], os.getpgid(0) == os.getpid(),
      os.getsid(0) == os.getpid(), os.nice(0), flush=True)
"""
    mib = 1024 * 1024
    expected = [(99, 99), (3 * mib, 3 * mib), (4096 * mib, 4096 * mib), (0, 0), (65_536, 65_536)]
    found = with_bot(code, use, open_files=99, file_mib=3)
    assert found.decode() == f"{expected} True True 5"


def test_limit_on_a_file_holds() -> None:
    """D9: a file over the limit is refused, and the bot goes on."""

    async def use(bot: BotProcess) -> bytes:
        return await bot.ask(b"go\n", limit_s=LONG_S)

    code = """
import os, signal, tempfile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
input()
with tempfile.TemporaryFile() as file:
    try: file.truncate(2 << 20)
    except OSError as error: print(error.errno, flush=True)
input()
"""
    assert with_bot(code, use, file_mib=1) == b"27"


def test_bot_dies_with_its_referee() -> None:
    """C11: the referee is killed in mid-game; a bot that ignores all it can is gone too."""
    code = f"""
import sys, trio
from arena.sandbox.limits import default_limits
from arena.sandbox.starting import open_bot
BOT = '''
import signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
print(input(), flush=True)
signal.alarm(30)
while True: time.sleep(1)
'''
async def main():
    async with open_bot([sys.executable, "-c", BOT], "/", limits=default_limits()) as bot:
        await bot.ask(b"go\\n", limit_s={LONG_S})
        print(bot.pid, flush=True)
        await trio.sleep_forever()
trio.run(main)
"""
    referee = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert referee.stdout is not None
    pid = int(referee.stdout.readline())
    assert is_alive(pid)
    referee.kill()
    referee.wait()
    referee.stdout.close()
    wait_gone(lambda: is_alive(pid))


def test_command_that_cannot_be_started_opens_nothing() -> None:
    async def main() -> None:
        before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
        with pytest.raises(BotRefused, match="missing"):
            async with open_bot(["./no-such-program"], "/", limits=LIMITS):
                pass
        assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208

    trio.run(main)


def test_host_without_room_is_no_fault_of_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", no_room)
    hub = Hub()
    with pytest.raises(HostFault, match="Resource temporarily unavailable"):
        start_bot(hub, [sys.executable], "/", limits=LIMITS)
    hub.stop()


def _living_group(group: int) -> list[int]:
    """Processes of a group that still run; zombies are nobody's fault."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if _group(pid) == group and is_alive(pid)]


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None
