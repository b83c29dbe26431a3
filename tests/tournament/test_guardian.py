"""What a worker leaves behind ends with it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena.tournament.executors.guardian import GONE, Silence
from tests.living import is_alive, wait

pytestmark = pytest.mark.slow

LIMIT_S = 20.0  # generous: hosts are busy

# A worker that is deaf to SIGTERM, and its child's child in a session of its own.
WORKER = """
import os, signal, subprocess, sys
from arena.tournament.executors.guardian import fork_from_guardian

fork_from_guardian()
signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"told\\n"))
script = 'import os; os.setsid(); os.fork() and os._exit(0); print(os.getpid(), flush=True); '
script += 'import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); signal.alarm(60); '
script += 'signal.pause()'
child = subprocess.Popen([sys.executable, '-c', script], stdout=subprocess.PIPE)
orphan = int(child.stdout.readline())
child.wait()
print(os.getpid(), orphan, flush=True)
while True:
    signal.pause()
"""


# Looked at a hundred times as often; it shows life after each line of its input.
SHOWS_LIFE = """
import os, sys
from arena.tournament.executors import guardian

guardian.BEAT_S = 0.05
beats = guardian.fork_from_guardian()
print(os.getpid(), flush=True)
for line in sys.stdin:
    os.write(beats, line.encode())
    print("shown", flush=True)
"""


class Guarded:
    """A guardian with a worker, and what that left behind."""

    def __init__(self, guardian: subprocess.Popen[str]) -> None:
        assert guardian.stdout is not None
        self.guardian = guardian
        self.said = guardian.stdout
        self.worker, self.orphan = map(int, self.said.readline().split())

    def wait_gone(self) -> None:
        """Nobody is left."""
        self.guardian.wait(LIMIT_S)
        assert not is_alive(self.worker)
        assert not is_alive(self.orphan)


@contextmanager
def guarded() -> Iterator[Guarded]:
    with subprocess.Popen(
        [sys.executable, "-c", WORKER], stdout=subprocess.PIPE, text=True
    ) as guardian:
        found = Guarded(guardian)
        try:
            assert found.worker != guardian.pid
            assert is_alive(found.worker)
            assert is_alive(found.orphan)
            yield found
        finally:
            guardian.kill()
            for pid in (found.worker, found.orphan):
                if is_alive(pid):
                    os.kill(pid, signal.SIGKILL)


def test_what_a_killed_worker_leaves_behind_is_ended() -> None:
    with guarded() as found:
        os.kill(found.worker, signal.SIGKILL)
        found.wait_gone()


def test_a_worker_is_told_to_end_once_and_then_killed() -> None:
    with guarded() as found:
        found.guardian.terminate()
        assert found.said.readline() == "told\n"
        assert is_alive(found.orphan)
        found.guardian.terminate()
        found.wait_gone()


def test_a_worker_whose_coordinator_is_gone_is_killed_at_once() -> None:
    with guarded() as found:
        found.guardian.send_signal(GONE)
        found.wait_gone()
        assert found.said.read() == ""


def test_a_worker_dies_with_its_guardian() -> None:
    with guarded() as found:
        found.guardian.kill()
        found.guardian.wait()
        wait(lambda: not is_alive(found.worker), LIMIT_S)


@contextmanager
def showing_life() -> Iterator[tuple[subprocess.Popen[str], int]]:
    with subprocess.Popen(
        [sys.executable, "-c", SHOWS_LIFE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as guardian:
        try:
            assert guardian.stdout is not None
            yield guardian, int(guardian.stdout.readline())
        finally:
            guardian.kill()


@pytest.mark.parametrize("stopped", [True, False], ids=["stopped", "hanging"])
def test_a_worker_without_a_sign_of_life_is_killed(stopped: bool) -> None:
    with showing_life() as (guardian, worker):
        assert guardian.stdin is not None
        guardian.stdin.write(".\n")
        guardian.stdin.flush()
        assert guardian.stdout is not None
        assert guardian.stdout.readline() == "shown\n"
        if stopped:
            os.kill(worker, signal.SIGSTOP)
        guardian.wait(LIMIT_S)
        assert not is_alive(worker)
        assert guardian.stderr is not None
        assert "gave no sign of life" in guardian.stderr.read()


def test_silence_is_too_long_after_twelve_looks_in_a_row_and_never_before_the_first_sign() -> None:
    silence = Silence()
    assert not any(silence.is_too_long(False) for _ in range(100))
    for _ in range(3):
        assert not silence.is_too_long(True)
        assert not any(silence.is_too_long(False) for _ in range(11))
    assert silence.is_too_long(False)
