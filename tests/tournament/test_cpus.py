"""How many CPUs there are for games, under a container's quota too, and how they are named."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from arena.tournament.executors import cpus as cpus_module
from arena.tournament.executors.cpus import cpu_quota, listed, usable_cores, usual_jobs
from arena.tournament.executors.local import LocalExecutor
from tests.quota import quota_group


@pytest.mark.parametrize(
    ("cpus", "written"),
    [
        ([0], "0"),
        ([0, 1], "0-1"),
        ([0, 1, 2, 3, 8, 10, 11], "0-3,8,10-11"),
        (range(0, 128, 2), "0,2,4,6,8,10,12,…,126"),  # no line is filled with them
        ([0, 2, 4, 6, 8, 10, 12, 14, 15], "0,2,4,6,8,10,12,14-15"),
    ],
)
def test_cpus_are_written_as_the_kernel_does(cpus: Sequence[int], written: str) -> None:
    assert listed(cpus) == written


@pytest.mark.parametrize(
    ("own", "files", "quota"),
    [
        # a container of its own, version 2
        ("0::/", {"cpu.max": "250000 100000"}, 2.5),
        ("0::/", {"cpu.max": "max 100000"}, None),
        ("0::/", {}, None),
        # a unit of systemd, in a slice that has less
        (
            "0::/a.slice/b.service",
            {
                "a.slice/cpu.max": "150000 100000",
                "a.slice/b.service/cpu.max": "400000 100000",
            },
            1.5,
        ),
        # a container that sees the place of its group outside
        ("0::/docker/123", {"cpu.max": "50000 100000"}, 0.5),
        # version 1, alone and beside version 2
        (
            "5:memory:/\n4:cpu,cpuacct:/docker/1\n0::/",
            {
                "cpu,cpuacct/docker/1/cpu.cfs_quota_us": "300000",
                "cpu,cpuacct/docker/1/cpu.cfs_period_us": "100000",
                "memory/cpu.max": "1000 100000",
            },
            3.0,
        ),
        (
            "1:cpu:/\n0::/",
            {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"},
            None,
        ),
        ("0::/x", {"unified/x/cpu.max": "700000 100000"}, 7.0),
        # what nobody can read stands in nobody's way
        ("0::/", {"cpu.max": "many"}, None),
        ("0::/", {"cpu.max": "100000 0"}, None),
        ("1:cpu:/", {"cpu/cpu.cfs_quota_us": "300000"}, None),
    ],
)
def test_the_smallest_quota_of_our_groups_holds(
    own: str,
    files: Mapping[str, str],
    quota: float | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    (tmp_path / "own").write_text(own + "\n")
    monkeypatch.setattr(cpus_module, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(cpus_module, "_GROUPS", tmp_path)
    assert cpu_quota() == quota


def test_without_groups_there_is_no_quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpus_module, "_OWN_GROUPS", tmp_path / "none")
    assert cpu_quota() is None


@pytest.mark.parametrize(
    ("quota", "cores", "jobs"),
    [(None, 64, 63), (0.5, 1, 1), (1.9, 1, 1), (2.0, 2, 2), (4.5, 4, 3), (200.0, 64, 63)],
)
def test_games_at_once_go_by_what_a_quota_leaves(
    quota: float | None, cores: int, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(64)))
    monkeypatch.setattr(cpus_module, "cpu_quota", lambda: quota)
    assert (usable_cores(), usual_jobs()) == (cores, jobs)
    executor = LocalExecutor()
    assert (executor.jobs, executor.workers) == (jobs, jobs)


@pytest.mark.slow
def test_quota_of_a_real_group_is_seen_by_those_in_it() -> None:
    code = (
        "import sys; from pathlib import Path; Path(sys.argv[1], 'tasks').write_text('0')\n"
        "from arena.tournament.executors.local import LocalExecutor as L; print(L().words)"
    )
    with quota_group(0.5) as group:
        done = subprocess.run(
            [sys.executable, "-c", code, str(group)], capture_output=True, text=True, check=True
        )
    assert done.stdout.startswith("1 game at once in 1 worker on ")
    assert done.stdout.endswith(", held to 0.5 of them by a quota, unpinned\n")
