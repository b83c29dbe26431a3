"""How fast finished games are stored, against SQLite alone in the same run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.bench.storing import sqlite_alone
from arena.store.database import Database
from arena.tournament.packed import pack
from tests.at_scale.simulated import as_played, simulated_plan, won_by_either

BLOCK = 50  # games, ours and bare in turn: so both meet the same disk
BLOCKS = 60
LEAST_SHARE = 2_000 / 5_800  # games a second that are promised, of what SQLite does alone


@pytest.mark.long
def test_a_game_is_stored_nearly_as_fast_as_sqlite_stores_anything(tmp_path: Path) -> None:
    plan = simulated_plan(20, 10)
    games = list(won_by_either(plan.spec(0)).values())
    texts = [game.core + game.remainder for game in map(pack, games)]
    with (
        Database(tmp_path / "arena.sqlite3") as database,
        sqlite_alone(tmp_path / "bare.sqlite3") as alone,
    ):
        run = database.begin(plan)

        def store_bare(number: int) -> None:
            alone(texts[number % 2])

        def store_ours(number: int) -> None:
            database.add_record(run, as_played(plan.spec(number), games[number % 2]))

        took_s = {store_bare: 0.0, store_ours: 0.0}
        for block in range(BLOCKS):
            for store in took_s:
                took_s[store] += timed(store, range(block * BLOCK, (block + 1) * BLOCK))
    rates = [BLOCK * BLOCKS / spent for spent in took_s.values()]
    sys.stdout.write(f"a second: {rates[0]:.0f} of SQLite alone, {rates[1]:.0f} games stored\n")
    assert rates[1] >= rates[0] * LEAST_SHARE


def timed(store: Callable[[int], None], numbers: range) -> float:
    began = time.perf_counter()
    for number in numbers:
        store(number)
    return time.perf_counter() - began
