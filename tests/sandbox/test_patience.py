"""A limit for whoever hangs, and none for what is only kept from running."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from arena.sandbox import patience as patience_module
from arena.sandbox.patience import Patience
from arena.sandbox.starvation import Counts, Thread
from arena.sandbox.usage import CpuAccount

LIMIT_S = 60.0  # generous: hosts are busy


@contextmanager
def silent() -> Iterator[int]:
    """The reading end of a pipe that nobody writes to."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


@contextmanager
def books(monkeypatch: pytest.MonkeyPatch, waited_s: float, own_s: float = 0.0) -> Iterator[None]:
    """What the kernel tells: of a program, and of us since the first look."""

    def look(pid: int, account: CpuAccount) -> Counts:
        del pid, account
        return Counts(0.0, {1: Thread(0.0, waited_s)}, is_runnable=False)

    own = count(0.0, own_s)
    with monkeypatch.context() as patch:
        patch.setattr(patience_module, "look", look)
        patch.setattr(patience_module, "own_wait_s", lambda: min(next(own), own_s))
        yield


def waited_s(patience: Patience, pid: int = 1) -> float:
    began = time.monotonic()
    with silent() as reading:
        assert not patience.wait(reading, pid)
    return time.monotonic() - began


def test_what_can_be_read_is_told_at_once_even_if_the_time_is_up() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    assert Patience(LIMIT_S).wait(reading, 1)
    assert Patience(0.0).wait(reading, 1)
    os.close(reading)


def test_who_was_kept_from_nothing_has_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with books(monkeypatch, waited_s=0.0):
        patience = Patience(0.2)
        assert waited_s(patience) >= 0.2
    assert patience.spent_s() == 0.2
    assert patience._given_s == patience._late_s  # by which this very test may have been held up


@pytest.mark.parametrize(("others_s", "own_s"), [(0.15, 0.0), (0.0, 0.15)], ids=["it", "we"])
def test_what_the_machine_held_back_is_given(
    monkeypatch: pytest.MonkeyPatch, others_s: float, own_s: float
) -> None:
    with books(monkeypatch, others_s, own_s):
        patience = Patience(0.2)
        assert waited_s(patience) >= 0.35
    assert patience.spent_s() == 0.2


def test_never_more_is_given_than_ten_times_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with books(monkeypatch, waited_s=0.0, own_s=1000.0):
        patience = Patience(0.02)
        assert waited_s(patience) >= 0.22
    assert patience._given_s == pytest.approx(0.2)


def test_without_the_kernels_books_there_is_a_limit_too() -> None:
    assert waited_s(Patience(0.05), pid=2**22 + 1) >= 0.05


@pytest.mark.slow
def test_a_program_that_hangs_is_given_next_to_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"]) as process:
        patience = Patience(0.5)
        waited_s(patience, process.pid)
        process.kill()
    assert patience._given_s <= max(patience._late_s, 0.25)


@pytest.mark.slow
def test_a_program_beside_others_on_its_processor_is_waited_for() -> None:
    """Five share one; it needs more of it than the limit would leave it."""
    cpu = min(os.sched_getaffinity(0))
    pinned = f"import os, time; os.sched_setaffinity(0, {{{cpu}}})\n"
    burns = pinned + "print(flush=True)\nwhile True: pass"
    works = pinned + "end = time.process_time() + 0.4\nwhile time.process_time() < end: pass"
    others = [
        subprocess.Popen([sys.executable, "-S", "-c", burns], stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    try:
        for other in others:
            assert other.stdout is not None
            assert other.stdout.readline()
        patience = Patience(0.6)
        with subprocess.Popen([sys.executable, "-S", "-c", works]) as process:
            ended = os.pidfd_open(process.pid)
            assert patience.wait(ended, process.pid)
            os.close(ended)
        assert patience._given_s > 0
    finally:
        for other in others:
            other.kill()
            other.communicate()
