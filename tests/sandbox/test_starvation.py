"""How long a bot was ready to run and was not let: pure arithmetic, and one look at ourselves."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.sandbox.starvation import Counts, Thread, look, own_wait_s, starved_s, waits_still
from arena.sandbox.usage import CpuAccount


@pytest.mark.parametrize(
    ("cores", "ran", "used", "waited", "lost"),
    [
        (2, 0.0, 0.0, 0.0, 0.0),  # asleep: its own fault
        (2, 1.0, 1.0, 0.0, 0.0),
        (2, 0.3, 0.3, 0.7, 0.7),
        (2, 0.3, 0.3, 30.0, 1.0),  # the kernel booked an old wait: no more than all of the time
        (2, 0.2, 2.0, 0.8, 0.0),  # five children of its own on both cores, and nobody else
        (2, 0.8, 1.2, 0.2, 0.0),  # the same, for a fifth of the time only
        (1, 0.5, 1.0, 0.5, 0.0),
        (1, 0.25, 0.5, 0.75, 0.5),  # one child beside it, two others: the child's share is its own
        (2, 0.3, 0.6, 0.7, 0.55),
    ],
    ids=[
        "asleep",
        "running",
        "waiting",
        "old wait",
        "own crowd",
        "own crowd for a while",
        "own crowd on one core",
        "own crowd and others on one core",
        "two threads and others",
    ],
)
def test_starved_is_what_others_took(
    cores: int, ran: float, used: float, waited: float, lost: float
) -> None:
    before = Counts(5.0, {7: Thread(3.0, 2.0)}, is_runnable=True, cores=cores)
    after = Counts(5.0 + used, {7: Thread(3.0 + ran, 2.0 + waited)}, is_runnable=True, cores=cores)
    assert starved_s(before, after, 1.0) == pytest.approx(lost)


@given(
    cores=st.integers(1, 8),
    children=st.integers(0, 60),
    share=st.floats(0.0, 1.0),
    elapsed_s=st.floats(0.01, 60.0),
)
def test_nobody_alone_on_a_machine_is_starved(
    cores: int, children: int, share: float, elapsed_s: float
) -> None:
    """Whatever it lets run beside itself, and for how long: every core goes round among its own."""
    crowd_s, threads = share * elapsed_s, 1 + children
    ran = crowd_s * min(1.0, cores / threads)
    waited = crowd_s - ran
    used = ran * threads + (elapsed_s - crowd_s)
    main = Thread(ran + (elapsed_s - crowd_s), waited)
    before = Counts(0.0, {1: Thread(0.0, 0.0)}, is_runnable=True, cores=cores)
    after = Counts(used, {1: main}, is_runnable=True, cores=cores)
    assert starved_s(before, after, elapsed_s) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("used", "is_runnable", "waits"),
    [(0.0, True, True), (0.003, True, True), (0.01, True, False), (0.0, False, False)],
    ids=["waiting", "ticks late", "running", "asleep"],
)
def test_bot_that_is_runnable_and_does_not_run_waits(
    used: float, is_runnable: bool, waits: bool
) -> None:
    before = Counts(5.0, {7: Thread(0.0, 2.0)}, is_runnable=True)
    after = Counts(5.0 + used, {7: Thread(0.0, 2.0)}, is_runnable=is_runnable)
    assert waits_still(before, after) is waits


@pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this kernel keeps no schedstat"
)
def test_look_counts_what_a_process_uses() -> None:
    account = CpuAccount()
    before = look(os.getpid(), account)
    while (after := look(os.getpid(), account)) and before and after.cpu_s < before.cpu_s + 0.01:
        pass
    assert before is not None
    assert after is not None
    assert after.cpu_s > before.cpu_s
    assert after.is_runnable  # it is we who look
    assert after.cores == len(os.sched_getaffinity(0))
    me = threading.get_native_id()
    assert after.threads[me].ran_s > before.threads[me].ran_s


def test_look_at_nobody_gives_nothing() -> None:
    assert look(2**22 + 1, CpuAccount()) is None


def test_our_own_wait_never_falls() -> None:
    before = own_wait_s()
    assert 0.0 <= before <= own_wait_s()


def test_thread_that_waited_longest_since_counts_and_not_the_one_that_ever_did() -> None:
    then = {1: Thread(0.0, 60.0), 2: Thread(0.0, 0.1)}
    now = {1: Thread(0.0, 60.1), 2: Thread(0.0, 0.6), 3: Thread(0.0, 0.3)}
    before, after = Counts(5.0, then, is_runnable=True), Counts(5.0, now, is_runnable=True)
    assert starved_s(before, after, 1.0) == pytest.approx(0.5)


@pytest.mark.slow
def test_child_that_nobody_collects_counts_once_it_was_seen() -> None:
    """What it used is in nobody's books by the second look."""
    code = (
        "import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "told, done = os.pipe()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        " while time.process_time() < 0.1: pass\n"
        " print('burnt', flush=True); input(); os._exit(0)\n"
        "os.close(done); os.read(told, 1)\n"
        "while os.path.exists(f'/proc/{child}'): pass\n"  # its pipes are closed before
        "print('gone', flush=True); time.sleep(20)"
    )
    command = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            account = CpuAccount()
            assert process.stdout.readline() == "burnt\n"
            before = look(process.pid, account)
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "gone\n"
            after = look(process.pid, account)
        finally:
            process.kill()
    assert before is not None
    assert after is not None
    assert len(before.threads) == 2
    assert len(after.threads) == 1
    assert after.cpu_s >= before.cpu_s > 0.1
