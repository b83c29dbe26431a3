"""Open files of worker processes: raised to what the system lets them have, and counted."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.executing import executor_of, where_of
from arena.cli.sandboxing import Sandboxing
from arena.errors import ConfigError
from arena.tournament.executors.descriptors import games_with
from tests.fake_games import fake_plan
from tests.tournament.test_dask_cli import QUIET

SAYS = """
import resource
from arena.tournament.executors.descriptors import games_with, most_open_files, raise_open_files
raise_open_files()
print(*resource.getrlimit(resource.RLIMIT_NOFILE), most_open_files(), games_with(2))
"""


def limited(soft: int, hard: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with so many open files."""
    shell = f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$0" "$@"'
    return subprocess.run(
        ["/bin/bash", "-c", shell, sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_worker_may_open_what_the_hard_limit_allows() -> None:
    assert limited(128, 512, "-c", SAYS).stdout == "512 512 512 56\n"
    assert limited(60, 70, "-c", SAYS).stdout == "70 70 70 2\n"


def test_more_games_at_once_than_there_are_open_files_for_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    local, kept = where_of("local", None), Sandboxing(mode="none")
    for limit in (65_536, 1 << 30, resource.RLIM_INFINITY):
        monkeypatch.setattr(resource, "getrlimit", lambda _kind, most=limit: (1_024, most))
        assert games_with(1) == (65_536 - 64) // 16
    executor_of(local, fake_plan(2, jobs=1_000), kept, QUIET)
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (256, 256))
    assert games_with(3) == 36
    with pytest.raises(ConfigError, match=r"1,000 games at once need more open files than the 256"):
        executor_of(local, fake_plan(2, jobs=1_000), kept, QUIET)


@pytest.mark.slow
def test_many_games_at_once_run_out_of_no_files_of_a_usual_shell(tmp_path: Path) -> None:
    words = ("run", "random", "greedy", "--deals", "12", "--seed", "s", "--sandbox", "none")
    data = ("--jobs", "24", "--data", str(tmp_path / "data"))
    ended = limited(96, 4_096, "-m", "arena", *words, *data)
    assert ended.returncode == 0, ended.stderr
    assert "Too many open files" not in ended.stderr
