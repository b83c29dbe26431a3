"""All processes of a bot: on a made-up kernel, and one real group without a sandbox."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena.sandbox.processes import Seen
from arena.sandbox.tree import Tree, session_tree

LONG_S = 20.0


class FakeKernel:
    """Processes that a test sets, some of which are not found from above."""

    def __init__(self) -> None:
        self.processes: dict[int, Seen] = {}
        self.hidden: set[int] = set()
        self.signals: list[tuple[int, int]] = []

    def put(self, pid: int, *, state: str = "S", cpu_s: float = 0.0, started: int = 0) -> None:
        self.processes[pid] = Seen(pid, started, state, 1, 0, 0, cpu_s, 0.0)

    def pids(self, whole: bool) -> list[int]:
        return [pid for pid in self.processes if whole or pid not in self.hidden]

    def see(self, pid: int) -> Seen | None:
        return self.processes.get(pid)

    def is_stopping(self, pid: int) -> bool:
        del pid
        return False

    def signal(self, pid: int, number: int) -> None:
        self.signals.append((pid, number))
        if number == signal.SIGSTOP:
            self.processes[pid] = self.processes[pid]._replace(state="T")


def tree(kernel: FakeKernel) -> Tree:
    return Tree(kernel.pids, kernel, lambda pid: pid == 1)


def test_who_is_not_found_for_a_moment_counts_once() -> None:
    """It changes its parent just now: its time is neither lost nor counted twice."""
    kernel = FakeKernel()
    kernel.put(1)
    kernel.put(2, cpu_s=1.0)
    it = tree(kernel)
    assert it.sample() == 1.0
    kernel.hidden = {2}
    kernel.put(2, cpu_s=1.5)
    assert it.sample() == 1.5
    kernel.hidden = set()
    assert it.sample() == 1.5


def test_number_that_another_process_has_got_is_not_taken_for_it() -> None:
    kernel = FakeKernel()
    kernel.put(1)
    kernel.put(2, cpu_s=1.0)
    it = tree(kernel)
    it.sample()
    kernel.hidden = {2}
    kernel.put(2, cpu_s=50.0, started=9)  # somebody's, outside
    assert it.sample() == 1.0


def test_one_sample_in_ten_goes_through_all_of_the_machine() -> None:
    kernel = FakeKernel()
    kernel.put(1)
    kernel.put(2, cpu_s=1.0)
    kernel.hidden = {2}
    it = tree(kernel)
    assert [it.sample() for _ in range(11)] == [0.0] * 9 + [1.0] * 2


def test_stop_and_go_on_spare_our_own() -> None:
    kernel = FakeKernel()
    for pid in (1, 2, 3):
        kernel.put(pid)
    it = tree(kernel)
    assert it.stop()
    assert kernel.signals == [(2, signal.SIGSTOP), (3, signal.SIGSTOP)]
    kernel.signals.clear()
    it.go_on()
    assert kernel.signals == [(2, signal.SIGCONT), (3, signal.SIGCONT)]


# --- without a sandbox --------------------------------------------------------------------------

ORPHAN = """
import os, signal, time
signal.alarm(30)
if not os.fork():
    if os.fork(): os._exit(0)
    signal.alarm(30)
    os.write(1, b'up\\n')
    while True: pass
os.wait()
time.sleep(30)
"""


@contextmanager
def group(code: str) -> Iterator[subprocess.Popen[bytes]]:
    """A bot without a sandbox, which leads a session of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"up\n"
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@pytest.mark.slow
def test_orphan_of_a_session_counts_and_is_stopped() -> None:
    with group(ORPHAN) as process:
        it = session_tree(process.pid)
        until = time.monotonic() + LONG_S
        before = it.sample()
        while it.sample() < before + 0.05:
            assert time.monotonic() < until
        assert it.stop()
        while {seen.state for seen in it.look()} - {"T"}:
            assert time.monotonic() < until  # on a busy machine stopping takes its time
        stopped = it.sample()
        time.sleep(0.1)  # nothing to wait for: what is tested is that nothing happens
        assert it.sample() - stopped < 0.005
        it.go_on()
        while it.sample() < stopped + 0.05:
            assert time.monotonic() < until
