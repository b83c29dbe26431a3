"""What a worker opens in tests instead of a referee: games that cost a moment and no bots."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import trio

from arena.referee.record import GameRecord, GameSpec
from arena.tournament.executors.worker import PlayGame
from tests.fake_games import fake_record, fake_void

__all__ = ["FAKE_TABLE", "fake_table", "let_workers_import_tests", "stumbling_table"]

FAKE_TABLE = "tests.fake_table:fake_table"
FAKE_SETTINGS = bytes(range(256)) * 1_000  # more than a pipe holds


def let_workers_import_tests(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Put these tests, and nothing else of the checkout, on the path of new processes."""
    (folder / "tests").symlink_to(Path(__file__).parent)
    monkeypatch.setenv("PYTHONPATH", str(folder))


@asynccontextmanager
async def fake_table(settings: bytes) -> AsyncIterator[PlayGame]:
    """Give a function that goes by the beginning of the bots' names.

    `faulty` crashes in every game; `void` makes the host fail; `killer` kills the worker; `slow`
    takes ten minutes; `wedged` takes a minute in which the worker's loop stands still (both say
    `begun` on standard error); `loud` prints. Other games take a moment that differs from game to
    game, so that they finish in another order than they begin. The record's host tells the
    worker's process id and its CPUs, or the settings if there are any.
    """
    assert settings in (b"", FAKE_SETTINGS)
    yield _play


@asynccontextmanager
async def stumbling_table(settings: bytes) -> AsyncIterator[PlayGame]:
    """Kill the first two workers that open it; `settings` names a file that they grow."""
    opened = os.open(settings, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(opened, b".")
    if os.fstat(opened).st_size <= 2:
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(opened)
    yield _play


async def _play(spec: GameSpec) -> GameRecord:
    names = [spec.mister_x.name, spec.detectives.name]
    for name in names:
        if name.startswith("killer"):
            os.kill(os.getpid(), signal.SIGKILL)
        if name.startswith("slow"):
            os.write(2, b"begun\n")
            await trio.sleep(600)
        if name.startswith("wedged"):
            os.write(2, b"begun\n")
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            time.sleep(60)  # noqa: ASYNC251 - the loop must stand still, that is what is tested
        if name.startswith("loud"):
            os.write(1, b"a stray line\n")
            sys.stdout.write("another\n")
            sys.stdout.flush()
    await trio.sleep(int(spec.game_key[:2], 16) / 256 * 0.01)
    if any(name.startswith("void") for name in names):
        return fake_void(spec)
    record = fake_record(spec, faulty=[name for name in names if name.startswith("faulty")])
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    aside = msgspec.structs.replace(record.aside, host=f"{os.getpid()} {cpus}")
    return msgspec.structs.replace(record, aside=aside)
