"""A scheduler and workers of Dask as real processes on loopback, ports chosen by the system."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import trio

from arena.tournament.executors.executor import Executor, Finished, Job, encode_spec
from arena.tournament.plan import Plan
from tests.living import LIMIT_S

__all__ = [
    "LIMIT_S",
    "DaskProcesses",
    "play_on",
    "wait_until",
]

_NAP_S = 0.02


class DaskProcesses:
    """A scheduler, and workers that are started when they are asked for; all end with this.

    Args:
        folder: for what they write.
        env: variables that they get besides ours.
        first: a script that the scheduler runs before all else.
    """

    def __init__(self, folder: Path, env: dict[str, str] | None = None, *, first: str = "") -> None:
        self.folder = folder
        ours = {
            "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error",
            "DASK_TEMPORARY_DIRECTORY": str(folder),  # the scheduler's, left where it is killed
        }
        self._env = {**os.environ, **(env or {}), **ours}
        self._file = folder / "scheduler.json"
        self._processes: list[subprocess.Popen[bytes]] = []
        preload = folder / "scheduler_first.py"
        preload.write_text(first)
        self.scheduler = self._start(
            *("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
            *("--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(self._file)),
            *("--preload", str(preload)),
        )

    def _is_told(self) -> bool:
        return self._file.exists() and self._file.read_text().rstrip().endswith("}")

    def worker(self, name: str, *, threads: int = 1, first: str = "") -> subprocess.Popen[bytes]:
        """Start a worker without a nanny; whoever needs it waits for it.

        Args:
            name: of the worker and its folder.
            threads: of it.
            first: a script that it runs before all else.
        """
        preload = self.folder / f"{name}_first.py"
        preload.write_text(first)
        return self._start(
            *("worker", self.address, "--no-nanny", "--name", name, "--nthreads", str(threads)),
            *("--preload", str(preload)),
            *("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"),
            *("--memory-limit", "0", "--local-directory", str(self.folder / name)),
        )

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words], env=self._env, cwd=self.folder
        )
        self._processes.append(process)
        return process

    def __enter__(self) -> Self:
        try:
            wait_until(self._is_told, self.scheduler)
            self.address: str = json.loads(self._file.read_text())["address"]
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait for what other processes do."""
    until = time.monotonic() + LIMIT_S
    while not is_so():
        assert process is None or process.poll() is None
        assert time.monotonic() < until
        time.sleep(_NAP_S)


async def _nothing(_finished: Finished) -> None:
    """Do nothing about a result."""


def play_on(
    executor: Executor,
    plan: Plan,
    *,
    on_result: Callable[[Finished], Awaitable[None]] = _nothing,
    on_taken: Callable[[Job], None] = lambda _job: None,
) -> dict[int, bytes | None]:
    """Play all games of a plan; return the records by their place in it."""
    results: dict[int, bytes | None] = {}

    async def main() -> None:
        jobs_in, jobs_out = trio.open_memory_channel[Job](0)
        results_in, results_out = trio.open_memory_channel[Finished](0)

        async def feed() -> None:
            with jobs_in:
                for spec in plan.specs():
                    job = Job(spec.index, encode_spec(spec))
                    await jobs_in.send(job)
                    on_taken(job)

        async def execute() -> None:
            with results_in:
                await executor.run(jobs_out, results_in)

        with trio.fail_after(LIMIT_S):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(feed)
                nursery.start_soon(execute)
                async for finished in results_out:
                    assert finished.number not in results
                    results[finished.number] = finished.record
                    await on_result(finished)

    trio.run(main)
    return results
