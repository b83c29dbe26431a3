"""What is read of processes from outside, for real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena.sandbox import processes
from arena.sandbox.processes import (
    count_files,
    count_sockets,
    descend,
    is_stopping,
    namespace_of,
    pids_by_namespace,
    pids_in_namespace,
    pss_bytes,
    see,
)
from tests.sandboxed import sandboxed

pytestmark = pytest.mark.slow

NO_PID = 2**22 + 1  # above the most that a kernel has


@contextmanager
def child(code: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python program that prints a line when it is ready."""
    with subprocess.Popen(
        [sys.executable, "-c", f"import os, signal, time; signal.alarm(30)\n{code}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            yield process
        finally:
            process.kill()


def test_a_process_is_seen_with_its_memory_threads_and_time() -> None:
    code = """
import threading
held = bytearray(50 << 20)
for at in range(0, len(held), 4096): held[at] = 1
for _ in range(3): threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
end = time.thread_time() + 0.1
while time.thread_time() < end: pass
print(flush=True); time.sleep(20)
"""
    with child(code) as process:
        seen = see(process.pid)
        assert seen is not None
        assert seen.pid == process.pid
        assert seen.threads == 4
        assert 50 << 20 < seen.resident_bytes < 200 << 20
        assert 0.1 <= seen.cpu_s < 5
        assert seen.reaped_s == 0
        share = pss_bytes(process.pid)
        assert share is not None
        assert 50 << 20 < share <= seen.resident_bytes


def test_time_of_a_reaped_child_shows_at_its_parent() -> None:
    code = """
if not os.fork():
    end = time.thread_time() + 0.2
    while time.thread_time() < end: pass
    os._exit(0)
os.wait()
print(flush=True); time.sleep(20)
"""
    with child(code) as process:
        seen = see(process.pid)
        assert seen is not None
        assert 0.18 <= seen.reaped_s < 1


def test_a_dead_one_that_nobody_reaped_is_seen_as_dead() -> None:
    with child("print(flush=True); time.sleep(20)") as process:
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        seen = see(process.pid)
        assert seen is not None
        assert (seen.state, seen.threads) == ("Z", 0)


FIRST_THREAD_ENDS = """
import ctypes, threading
held = bytearray(50 << 20)
for at in range(0, len(held), 4096): held[at] = 1
def rest():
    while open(f'/proc/self/task/{os.getpid()}/stat').read().split()[2] != 'Z': time.sleep(0.001)
    os.write(1, b'\\n'); time.sleep(20)
for _ in range(2): threading.Thread(target=rest).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_one_whose_first_thread_has_ended_is_seen_with_all_that_goes_on() -> None:
    """The kernel shows it as dead and without memory."""
    with child(FIRST_THREAD_ENDS) as process:
        seen = see(process.pid)
        assert seen is not None
        assert seen.state in "SRD"
        assert seen.threads == 2
        assert 50 << 20 < seen.resident_bytes < 200 << 20
        process.send_signal(signal.SIGSTOP)
        end = time.monotonic() + 20
        while (seen := see(process.pid)) is not None and seen.state != "T":
            assert time.monotonic() < end


def test_a_name_that_looks_like_fields_does_not_confuse() -> None:
    code = """
open('/proc/self/comm', 'w').write(') R 1 (')
print(flush=True); time.sleep(20)
"""
    with child(code) as process:
        seen = see(process.pid)
        assert seen is not None
        assert seen.state in "SR"
        assert seen.threads == 1


def test_who_is_gone_is_nobody() -> None:
    assert see(NO_PID) is None
    assert pss_bytes(NO_PID) is None
    assert namespace_of(NO_PID) == 0
    assert descend(NO_PID) == []
    assert count_files(NO_PID, ["/tmp"]) is None  # noqa: S108
    assert count_sockets(NO_PID) is None
    assert pids_in_namespace(0) == []
    assert 0 not in pids_by_namespace()


def test_one_look_through_the_machine_tells_of_every_namespace() -> None:
    own = namespace_of(os.getpid())
    found = pids_by_namespace()
    assert os.getpid() in found[own]
    assert found[own] == sorted(found[own])


def test_all_below_a_process_are_found_orphans_left_out() -> None:
    code = """
if not os.fork():
    if not os.fork(): time.sleep(20)
    os.write(1, b'\\n'); time.sleep(20)
time.sleep(20)
"""
    with child(code) as process:
        end = time.monotonic() + 20
        while len(found := descend(process.pid)) < 3:
            assert time.monotonic() < end
        assert found[0] == process.pid
        assert len(set(found)) == 3
        for pid in found[1:]:
            os.kill(pid, 9)


def test_children_of_every_thread_are_found() -> None:
    code = """
import subprocess, threading
def start():
    subprocess.Popen(['sleep', '20'])
    print(flush=True); time.sleep(20)
threading.Thread(target=start, daemon=True).start(); time.sleep(20)
"""
    with child(code) as process:
        found = descend(process.pid)
        assert len(found) == 2
        os.kill(found[1], 9)


def test_a_sandboxs_processes_are_those_of_its_namespace() -> None:
    code = """
import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        os.write(1, b'up\\n'); time.sleep(20)
    os._exit(0)
os.wait(); time.sleep(20)
"""
    with sandboxed(code) as inside:
        assert inside.line() == b"up\n"
        end = time.monotonic() + 20
        while len(found := pids_in_namespace(inside.box.pid_namespace)) != 3:
            assert time.monotonic() < end
        assert sorted(descend(inside.box.init)) == found
        assert inside.box.init in found
        assert os.getpid() not in found
        assert namespace_of(inside.box.init) == inside.box.pid_namespace


def test_files_and_sockets_of_a_sandbox_are_counted() -> None:
    code = """
import socket, time
for n in range(40): open(f'/tmp/{n}', 'w').close()
for n in range(5): open(f'/dev/shm/{n}', 'w').close()
held = [socket.socketpair() for _ in range(10)]
print('up', flush=True); time.sleep(20)
"""
    with sandboxed(code) as inside:
        assert inside.line() == b"up\n"
        files = count_files(inside.box.init, ["/tmp", "/dev/shm"])  # noqa: S108
        assert files is not None
        assert 45 <= files <= 60  # with the folders themselves, and those of an interpreter there
        # Bubblewrap's own, with which it made the network, may be a moment in going.
        assert count_sockets(inside.box.init) in {20, 21}


def test_a_stop_that_was_not_taken_yet_is_seen() -> None:
    code = """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
print(flush=True); time.sleep(20)
"""
    with child(code) as process:
        assert not is_stopping(process.pid)
        process.send_signal(signal.SIGUSR1)  # blocked: it waits, but it is no stop
        assert not is_stopping(process.pid)
    assert not is_stopping(NO_PID)
    assert not is_stopping(os.getpid())


@pytest.mark.parametrize(
    ("own", "shared", "stops"),
    [("0", "40000", True), ("40000", "0", True), ("200", "4100", False), ("0", "0", False)],
)
def test_a_waiting_stop_is_read_from_both_lists(
    monkeypatch: pytest.MonkeyPatch, own: str, shared: str, *, stops: bool
) -> None:
    status = f"Name:\tx\nSigPnd:\t{own:>016}\nShdPnd:\t{shared:>016}\nSigBlk:\t{'f' * 16}\n"
    monkeypatch.setattr(processes, "_read", lambda _path: status.encode())
    assert is_stopping(os.getpid()) is stops


def test_swap_is_read_from_status(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes._swapped(b"Name:\tx\nVmSwap:\t     120 kB\nThreads:\t1\n") == 120 * 1024
    assert processes._swapped(b"Name:\tkthread\n") == 0
    monkeypatch.setattr(processes, "_SWAP", True)
    seen = see(os.getpid())
    assert seen is not None
    assert seen.swapped_bytes >= 0
