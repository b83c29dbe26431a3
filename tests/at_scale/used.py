"""Runs a command to its end and tells what it used: a program of its own, and a small one.

A process's peak of memory begins with what its parent held when it was started. So a test, which
may hold much, lets this program start what it measures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Used", "used"]

HANGS_S = 600.0


class Used(NamedTuple):
    """What a command and the processes that it waited for took."""

    wall_s: float
    cpu_s: float  # user and system
    peak_mib: float  # of the largest of them
    code: int
    errors: str  # what it wrote to standard error


def used(command: Sequence[str]) -> Used:
    """Run a command; its answer is dropped."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", __file__, *command],
        capture_output=True,
        text=True,
        check=True,
    )
    return Used(**json.loads(done.stdout), errors=done.stderr)


def main(command: Sequence[str]) -> None:
    """Run the command, and write what it used as JSON."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    hangs = threading.Timer(HANGS_S, process.kill)
    hangs.start()
    _, status, usage = os.wait4(process.pid, 0)
    hangs.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    told = {
        "wall_s": time.monotonic() - began,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_mib": usage.ru_maxrss / 1024,
        "code": process.returncode,
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1:])
