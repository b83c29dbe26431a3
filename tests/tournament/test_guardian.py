"""What a worker leaves behind ends with it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena.tournament.executors.guardian import GONE
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
