"""One writer a run, and a lock that ends with its process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.errors import StoreError
from arena.store.locking import RunLocks


def test_runs_are_held_apart_from_each_other(tmp_path: Path) -> None:
    ours, theirs = RunLocks(tmp_path / "lock"), RunLocks(tmp_path / "lock")
    assert ours.take(1)
    assert not theirs.take(1)
    assert theirs.take(2)
    ours.give_up(1)
    assert theirs.take(1)
    theirs.close()
    assert ours.take(1)
    assert ours.take(2)
    ours.close()


def test_giving_up_what_was_never_held_is_nothing(tmp_path: Path) -> None:
    locks = RunLocks(tmp_path / "lock")
    locks.give_up(1)
    locks.close()
    assert not (tmp_path / "lock").exists()


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="can't be locked"):
        RunLocks(tmp_path / "gone" / "lock").take(1)


@pytest.mark.slow
def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from arena.store.locking import RunLocks\n"
        "locks = RunLocks(Path(sys.argv[1]))\n"
        "print(locks.take(7), flush=True)\n"
        "time.sleep(600)\n"
    )
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        ours = RunLocks(path)
        assert not ours.take(7)
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    assert ours.take(7)
    ours.close()
