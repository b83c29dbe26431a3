"""What outlives a program that is killed while it starts bots, and who ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.sandbox import aftermath
from tests.living import is_alive, wait, wait_gone
from tests.orphans import orphans_reaped

LIMIT_S = 20.0

LEAVER = """
import os, subprocess, sys
from arena.sandbox.aftermath import environment, may_be_killed, watch
may_be_killed()
watch()
watch()
(watcher,) = open(f'/proc/self/task/{os.getpid()}/children').read().split()
left = subprocess.Popen(['sleep', '30'], env=environment(), start_new_session=True)
other = subprocess.Popen(['sleep', '30'], env={'A': '1', **environment()}, start_new_session=True)
print(watcher, left.pid, other.pid, flush=True)
sys.stdin.read()
left.returncode = other.returncode = 0
"""


@contextmanager
def leaver() -> Iterator[tuple[subprocess.Popen[bytes], int, int, int]]:
    """Run a program that has a watcher, a process that is to go with it, and one that is not."""
    with (
        orphans_reaped(),
        subprocess.Popen(
            [sys.executable, "-c", LEAVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process,
    ):
        assert process.stdout is not None
        watcher, left, other = map(int, process.stdout.readline().split())
        try:
            yield process, watcher, left, other
        finally:
            process.kill()
            for pid in (left, other):
                if is_alive(pid):
                    os.kill(pid, signal.SIGKILL)


def ignores(pid: int, number: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    (mask,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigIgn:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


@pytest.mark.slow
def test_who_is_killed_leaves_nothing_that_it_started_in_a_sandbox() -> None:
    with leaver() as (process, watcher, left, other):
        process.kill()
        process.wait()
        wait_gone(lambda: is_alive(left))
        assert is_alive(other)
        wait(lambda: not is_alive(watcher), LIMIT_S)


@pytest.mark.slow
def test_the_watcher_is_deaf_to_what_ends_the_others() -> None:
    with leaver() as (process, watcher, left, _):
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        wait(lambda: all(ignores(watcher, number) for number in numbers), LIMIT_S)
        for number in numbers:
            os.kill(watcher, number)
        process.kill()
        process.wait()
        wait_gone(lambda: is_alive(left))


@pytest.mark.slow
def test_who_ends_by_itself_leaves_nothing_either_and_no_watcher() -> None:
    """A second Ctrl-C may have broken off the tidying up."""
    with leaver() as (process, watcher, left, other):
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(LIMIT_S) == 0
        assert not is_alive(watcher)
        wait_gone(lambda: is_alive(left))
        assert is_alive(other)


def test_nobody_is_watched_who_is_no_program_of_its_own() -> None:
    aftermath.watch()
    assert aftermath.environment() == {}


def test_workers_have_the_word_of_who_started_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_STARTED_BY", "a-word")
    assert aftermath.environment() == {"ARENA_STARTED_BY": "a-word"}
