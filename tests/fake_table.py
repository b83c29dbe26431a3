"""What a worker opens in tests instead of a referee: games that cost a moment and no bots."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from arena.referee.record import GameRecord, GameSpec
from arena.tournament.executors.worker import PlayGame
from tests.fake_games import fake_record, fake_void

__all__ = ["FAKE_TABLE", "fake_table"]

FAKE_TABLE = "tests.fake_table:fake_table"


@asynccontextmanager
async def fake_table() -> AsyncIterator[PlayGame]:
    """Give a function that goes by the names of the bots.

    `faulty…` crashes in every game; `void…` makes the host fail; `killer…` kills the worker;
    `slow…` takes ten minutes. Other games take a moment that differs from game to game, so that
    they finish in another order than they begin.
    """
    yield _play


async def _play(spec: GameSpec) -> GameRecord:
    names = [spec.mister_x.name, spec.detectives.name]
    if any(name.startswith("killer") for name in names):
        os.kill(os.getpid(), signal.SIGKILL)
    if any(name.startswith("slow") for name in names):
        await trio.sleep(600)
    await trio.sleep(int(spec.game_key[:2], 16) / 256 * 0.01)
    if any(name.startswith("void") for name in names):
        return fake_void(spec)
    return fake_record(spec, faulty=[name for name in names if name.startswith("faulty")])
