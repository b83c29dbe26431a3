"""However a run ends, no process of a bot outlives it by two seconds (C8, C9, C11, C13).

The bots leave grandchildren in sessions of their own that are deaf to signals, hold the output
open, and come back when they are hit; a word on the command line is known to this test alone.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.cli.stored import open_data
from tests.living import carrying, children, is_alive, wait, wait_gone, workers_of
from tests.orphans import orphans_reaped
from tests.sandboxed import need_sandbox

pytestmark = pytest.mark.slow

LIMIT_S = 60.0  # generous: hosts are busy

BOT = """\
import json, os, signal, sys, time
signal.alarm(60)
AT = sys.argv[2]

def leave():
    if os.fork(): return
    os.setsid()
    if os.fork(): os._exit(0)
    signal.alarm(60)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    while True:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        time.sleep(0.5)

def say(**message):
    print(json.dumps(message), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == AT:
        leave()
        time.sleep(30)
    if kind == "hello":
        say(type="hello", id=message["id"], protocol=1, name="leaver", rulesets=["london-2013"])
    elif kind == "deal":
        say(type="ready", id=message["id"])
"""


class Living:
    """The processes of this machine that carry a word."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.word = f"leaver-{secrets.token_hex(8)}"
        self.started: list[subprocess.Popen[str]] = []

    def bot(self, at: str) -> Path:
        """Write a bot that leaves children at its first message of a kind, and is silent then."""
        bot = self.folder / "bots" / "leaver"
        bot.mkdir(parents=True)
        (bot / "bot.py").write_text(BOT)
        (bot / "bot.toml").write_text(
            f'command = ["{{python}}", "-S", "bot.py", "{self.word}", "{at}"]\n'
        )
        return bot

    def arena(self, *words: object) -> subprocess.Popen[str]:
        """Start the command line as a person's shell does, in a group of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "arena", *map(str, words)],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        self.started.append(process)
        return process

    def bots(self) -> set[int]:
        """Ids of the bots' processes, dead ones not counted."""
        return {pid for pid in carrying(self.word) if is_alive(pid)}

    def wait_up(self, process: subprocess.Popen[str], *, bots: int = 1) -> set[int]:
        """Wait until so many bots have left their grandchildren; return all processes."""

        def is_so() -> bool:
            assert process.poll() is None, process.communicate()
            # bubblewrap twice, the bot, the grandchild and its child; the one between is gone
            return len(self.bots()) >= 5 * bots

        wait(is_so, LIMIT_S)
        return self.bots()

    def wait_gone(self, pids: set[int] | None = None) -> None:
        """Wait until these bots, or all, are gone: two seconds at most."""
        wait_gone(lambda: self.bots() if pids is None else self.bots() & pids)


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Living]:
    need_sandbox()
    found = Living(tmp_path)
    with orphans_reaped():
        yield found
        for process in found.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdout, process.stderr):
                assert pipe is not None
                pipe.close()
        found.wait_gone()


def slow_clock(living: Living, bot: Path) -> Path:
    """A tournament in which a silent bot has a minute for its turn."""
    file = living.folder / "t.toml"
    file.write_text(
        f'mister_x = ["{bot}"]\ndetectives = ["random"]\ndeals = 4\n[clock]\nmove_ms = 60000\n'
    )
    return file


def test_nobody_stays_when_the_coordinator_is_killed(living: Living) -> None:
    file = slow_clock(living, living.bot("turn"))
    run = living.arena("run", file, "--jobs", 2)
    living.wait_up(run, bots=2)
    workers = workers_of(run.pid)
    assert workers
    run.kill()
    run.wait()
    living.wait_gone()
    wait_gone(lambda: [pid for pid in workers if is_alive(pid)])


def test_nobody_stays_when_a_worker_is_killed_and_the_run_goes_on(living: Living) -> None:
    file = slow_clock(living, living.bot("turn"))
    run = living.arena("run", file, "--jobs", 1)
    before = living.wait_up(run)
    (worker,) = workers_of(run.pid)
    os.kill(worker, signal.SIGKILL)
    living.wait_gone(before)
    assert not living.wait_up(run) & before
    assert workers_of(run.pid) != {worker}


@pytest.mark.parametrize("whole_group", [False, True], ids=["process", "terminal"])
def test_nobody_stays_after_ctrl_c_twice(living: Living, whole_group: bool) -> None:
    """A terminal sends it to the whole group: no bot is hit, and nobody loses by it."""
    file = slow_clock(living, living.bot("turn"))
    run = living.arena("run", file, "--jobs", 2)
    living.wait_up(run, bots=2)
    send = os.killpg if whole_group else os.kill
    send(run.pid, signal.SIGINT)
    assert run.stderr is not None
    while "Stopping" not in run.stderr.readline():
        assert run.poll() is None
    assert living.bots()
    send(run.pid, signal.SIGINT)
    wait_gone(lambda: run.poll() is None, run.pid)
    assert run.returncode == 130
    living.wait_gone()
    with open_data(living.folder / "arena-data") as database:
        found = database.find_run()
        assert list(database.stored_games(found)) == []


def test_nobody_stays_after_ctrl_c_at_once_twice(living: Living) -> None:
    file = slow_clock(living, living.bot("turn"))
    run = living.arena("run", file, "--jobs", 2)
    living.wait_up(run, bots=2)
    run.send_signal(signal.SIGINT)
    run.send_signal(signal.SIGINT)
    run.wait(LIMIT_S)
    assert run.returncode in (75, 130)  # the kernel may make one of two
    living.wait_gone()


@pytest.mark.parametrize("at", ["hello", "deal"])
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nobody_stays_when_the_start_of_a_bot_is_broken_off(
    living: Living, at: str, end: signal.Signals
) -> None:
    """While it is greeted before the run, and while it gets ready for its game."""
    play = living.arena("play", living.bot(at), "random")
    living.wait_up(play)
    play.send_signal(end)
    wait_gone(lambda: play.poll() is None, play.pid)
    living.wait_gone()


def test_nobody_stays_when_one_game_is_killed(living: Living) -> None:
    play = living.arena("play", living.bot("turn"), "random", "--no-clock")
    living.wait_up(play)
    play.kill()
    play.wait()
    living.wait_gone()


HALF_UP = """\
#!/bin/sh
if [ "$1" = --args ]; then setsid sleep {sleep} > /dev/null 2>&1 < /dev/null & fi
exec {bwrap} "$@"
"""


def test_nobody_stays_who_was_not_told_yet(living: Living) -> None:
    """Bubblewrap's inner process, for some milliseconds; here one that is never told."""
    sleep = f"45.{secrets.randbelow(10**9)}"
    bwrap = living.folder / "half-up"
    bwrap.write_text(HALF_UP.format(bwrap=need_sandbox().profile.bwrap, sleep=sleep))
    bwrap.chmod(0o755)
    play = living.arena("play", living.bot("hello"), "random", "--bwrap", bwrap)
    bots = living.wait_up(play)
    (watcher,) = children(play.pid) & carrying("aftermath")
    before = carrying(f"sleep\0{sleep}")
    assert any(map(is_alive, before))
    play.kill()
    play.wait()
    living.wait_gone(bots)
    wait_gone(lambda: [pid for pid in {watcher, *before} if is_alive(pid)])


def test_nobody_stays_after_a_loss_on_time(living: Living) -> None:
    play = living.arena("play", living.bot("turn"), "random")
    play.wait(LIMIT_S)
    assert play.returncode == 3
    living.wait_gone()
