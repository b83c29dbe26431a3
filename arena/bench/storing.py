"""How fast finished games are stored, a transaction each, against SQLite alone on the same disk."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

import msgspec
import trio

from arena.bench.specs import stub_plan
from arena.referee.pool import BotPool
from arena.referee.record import GameRecord, GameSpec
from arena.referee.referee import play_game
from arena.store.database import Database
from arena.tournament.packed import PackedGame, pack

__all__ = ["measure_storing", "sqlite_alone"]

BLOCK = 50  # games, ours and bare in turn: so both meet the same disk
BLOCKS = 24
_UNCOUNTED = 12  # until a write-ahead log has its size each commit makes a file longer, too


def measure_storing(stub: Path) -> dict[str, float]:
    """Store games in a database of their own, and as much text with SQLite alone.

    Both with a write-ahead log and `synchronous=FULL`: each game is on the disk before the next.

    Args:
        stub: the C stub, which plays the game that is stored.

    Returns:
        `games_per_s` and `sqlite_per_s`, and `share` of the first in the second.
    """
    plan = stub_plan(stub, deals=BLOCK * BLOCKS // 2)
    game = pack(trio.run(_play, plan.spec(0)))
    text = game.core + game.remainder
    ours: list[float] = []
    bare: list[float] = []
    with (
        tempfile.TemporaryDirectory(prefix="arena-bench-") as folder,
        Database(Path(folder) / "arena.sqlite3") as database,
        sqlite_alone(Path(folder) / "alone.sqlite3") as alone,
    ):
        run = database.begin(plan)

        def store_ours(number: int) -> None:
            database.add_packed(run, _as(game, plan.spec(number)))

        for block in range(BLOCKS):
            numbers = range(block * BLOCK, (block + 1) * BLOCK)
            bare.append(_rate(lambda _number: alone(text), numbers))
            ours.append(_rate(store_ours, numbers))
    del ours[:_UNCOUNTED], bare[:_UNCOUNTED]
    return {
        "games_per_s": round(median(ours), 1),
        "sqlite_per_s": round(median(bare), 1),
        "share": round(median(a / b for a, b in zip(ours, bare, strict=True)), 3),
    }


@contextmanager
def sqlite_alone(file: Path) -> Iterator[Callable[[bytes], None]]:
    """Open a database of one table; gives what stores a text there, in a transaction of its own."""
    with closing(sqlite3.connect(file, isolation_level=None)) as alone:
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            alone.execute(f"PRAGMA {pragma}")
        alone.execute("CREATE TABLE game (key INTEGER PRIMARY KEY, text BLOB)")

        def store(text: bytes) -> None:
            alone.execute("BEGIN IMMEDIATE")
            alone.execute("INSERT INTO game (text) VALUES (?)", (text,))
            alone.execute("COMMIT")

        yield store


def _rate(store: Callable[[int], None], numbers: range) -> float:
    began = time.perf_counter()
    for number in numbers:
        store(number)
    return len(numbers) / (time.perf_counter() - began)


async def _play(spec: GameSpec) -> GameRecord:
    async with BotPool() as pool:
        return await play_game(spec, pool)


def _as(game: PackedGame, spec: GameSpec) -> PackedGame:
    """Return a game as if it were another of its plan: as many bytes for the store."""
    return msgspec.structs.replace(
        game,
        game=spec.game,
        index=spec.index,
        deal=spec.deal,
        bots=tuple(
            msgspec.structs.replace(name, name=bot.name, hash=bot.hash)
            for name, bot in zip(game.bots, (spec.mister_x, spec.detectives), strict=True)
        ),
    )
