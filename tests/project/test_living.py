"""What tests of living processes, and of what ours holds, go by: it sees what is left."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import trio

from tests import living
from tests.living import (
    Since,
    busy_threads,
    carrying,
    descendants,
    is_alive,
    memory_kib,
    seconds_until,
    start_new_peak,
    wait_gone,
    working_in,
)

MIB = 1024 * 1024
LIMIT_S = 60.0  # generous: hosts are busy


@contextmanager
def program(code: str, *words: str, cwd: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python program that says a line when it is up."""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", code, *words],
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        try:
            yield process
        finally:
            process.kill()


UP = "import os, time; print('up', flush=True)\n"


def test_whoever_stays_is_told_when_the_time_is_up_and_no_sooner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert living.GONE_S == 2.0
    monkeypatch.setattr(living, "GONE_S", 0.3)
    began = time.monotonic()
    with pytest.raises(AssertionError, match="left: somebody"):
        wait_gone(lambda: "somebody")
    assert time.monotonic() - began >= 0.3


def test_our_own_stops_do_not_count() -> None:
    """As if the machine had kept us from running for a quarter of a second at each look."""
    looks = iter((False, False, True))

    def look() -> bool:
        time.sleep(0.25)
        return next(looks)

    began = time.monotonic()
    assert seconds_until(look) < 0.25
    assert time.monotonic() - began >= 0.75


@pytest.mark.slow
def test_another_that_sleeps_has_no_time_taken_off() -> None:
    with program(UP + "time.sleep(60)") as process:
        since = Since(process.pid)
        while since.passed_s() < 0.5:
            since.nap()
        assert since._waited_s[process.pid] < 0.1


@pytest.mark.slow
def test_time_in_which_others_had_to_wait_for_a_cpu_is_taken_off() -> None:
    """Four that burn on one CPU: each had to wait for most of the time."""
    cpu = min(os.sched_getaffinity(0))
    burn = f"import os; os.sched_setaffinity(0, {{{cpu}}})\n{UP}\nwhile True: pass"
    with ExitStack() as stack:
        first, *_ = (stack.enter_context(program(burn)) for _ in range(4))
        since = Since(first.pid)
        began = time.monotonic()
        while time.monotonic() - began < 1.0:
            since.nap()
            since.passed_s()
        assert since.passed_s() < 0.7 * (time.monotonic() - began)


def test_what_never_comes_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(living, "LIMIT_S", 0.1)
    with pytest.raises(AssertionError):
        seconds_until(lambda: False)


@pytest.mark.slow
def test_processes_are_found_by_word_folder_and_parent_until_they_are_dead(tmp_path: Path) -> None:
    word = tmp_path.name + "-marked"
    with program(UP + "input()", word, cwd=tmp_path) as process:
        assert carrying(word) == working_in(tmp_path) == {process.pid}
        assert process.pid in descendants(os.getpid())
        assert is_alive(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(process.pid)  # dead, though not yet reaped
        assert carrying(word) == working_in(tmp_path) == set()


def test_threads_at_work_count_and_idle_ones_of_trio_do_not() -> None:
    before = busy_threads()
    trio.run(lambda: trio.to_thread.run_sync(int))
    assert any(thread.name.startswith("Trio thread ") for thread in threading.enumerate())
    assert busy_threads() == before
    over = threading.Event()
    thread = threading.Thread(target=over.wait, args=(LIMIT_S,), name="ours")
    thread.start()
    assert busy_threads() == sorted([*before, "ours"])
    over.set()
    thread.join()
    assert busy_threads() == before


def test_threads_of_trio_at_work_count() -> None:
    before = busy_threads()
    over = threading.Event()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, over.wait, LIMIT_S)
            with trio.fail_after(LIMIT_S):
                while len(busy_threads()) == len(before):  # noqa: ASYNC110 - nobody tells
                    await trio.sleep(0.01)
            over.set()

    trio.run(main)
    assert busy_threads() == before


def test_the_most_of_our_memory_is_that_of_now() -> None:
    """A peak of the whole process would hide whatever comes after it."""
    held = bytearray(os.urandom(1) * (200 * MIB))
    del held
    for _ in range(2):
        start_new_peak()
        before = memory_kib("VmRSS")
        assert memory_kib("VmHWM") - before < 32 * 1024
        held = bytearray(os.urandom(1) * (64 * MIB))
        del held
        assert memory_kib("VmHWM") - before >= 60 * 1024
    with pytest.raises(LookupError):
        memory_kib("VmNothing")
