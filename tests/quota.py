"""A container's quota of CPU time, made with a real control group."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.tools import need_that

__all__ = ["quota_group", "under_quota"]

_TOP = Path("/sys/fs/cgroup/cpu")  # version 1: version 2 lets no group be made beside processes
_PERIOD_US = 100_000


@contextmanager
def quota_group(cpus: float) -> Iterator[Path]:
    """Make a group with the time of so many CPUs; skips the test where none can be made."""
    need_that(
        os.access(_TOP / "cgroup.procs", os.W_OK),
        "cgroups",
        "no control group for CPUs can be made on this machine",
    )
    group = _TOP / f"arena-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(round(cpus * _PERIOD_US)))
        yield group
    finally:
        group.rmdir()


@contextmanager
def under_quota(cpus: float) -> Iterator[None]:
    """Have this process, and all that it starts from here on, the time of so many CPUs."""
    with quota_group(cpus) as group:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        (place,) = (
            where
            for _, names, where in (line.split(":", 2) for line in lines)
            if "cpu" in names.split(",")
        )
        back = _TOP / place.lstrip("/") / "cgroup.procs"
        (group / "cgroup.procs").write_text(str(os.getpid()))
        try:
            yield
        finally:
            for pid in {str(os.getpid()), *(group / "cgroup.procs").read_text().split()}:
                with suppress(ProcessLookupError):  # it has ended since
                    back.write_text(pid)
