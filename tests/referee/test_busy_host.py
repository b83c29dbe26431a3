"""Nobody loses on time because of what others do: many games on a machine that is overloaded."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from arena.referee.record import GameRecord
from tests.quota import under_quota
from tests.referee.burning import burners, on_one_processor, play_many, stubs, time_losses
from tests.sandboxed import need_sandbox

pytestmark = pytest.mark.slow

LIMIT_MS = 50


def tell(what: str, records: list[GameRecord]) -> None:
    """Say how often the machine had to be forgiven for."""
    marks = Counter(mark for record in records for mark in record.aside.marks)
    sys.stdout.write(f"{what}: {len(records):,} games, {marks['overloaded']:,} overloaded\n")


def test_two_hundred_games_beside_a_burner_on_each_core() -> None:
    """C1: bots that answer in 5 ms; what was forgiven stands in the records."""
    with stubs() as bots, burners(2):
        records = play_many(bots.asleep(0.005), 200, at_once=8, move_ms=LIMIT_MS)
    tell("C1", records)
    assert time_losses(records) == []


@pytest.mark.parametrize("share", [0.5, 0.8])
@pytest.mark.parametrize("at_once", [16, 64, 128, 256])
def test_one_worker_with_many_games_loses_none_on_time(at_once: int, share: float) -> None:
    """Load 1: every game is one of as many at once; each bot takes half or most of its time."""
    with stubs() as bots:
        bot = bots.asleep(share * 0.1)
        records = play_many(bot, at_once, at_once=at_once, move_ms=100, keep=False)
    tell(f"load 1, {at_once} at {share:.0%}", records)
    assert time_losses(records) == []


@pytest.mark.parametrize("sandboxed", [False, True], ids=["none", "sandbox"])
def test_bots_at_most_of_their_time_beside_four_burners(sandboxed: bool) -> None:
    profile = need_sandbox().profile if sandboxed else None
    with stubs() as bots, burners(4):
        bot = bots.asleep(0.8 * LIMIT_MS / 1000)
        records = play_many(bot, 120, at_once=16, move_ms=LIMIT_MS, profile=profile)
    tell("asleep", records)
    assert time_losses(records) == []


@pytest.mark.parametrize("sandboxed", [False, True], ids=["none", "sandbox"])
def test_bots_that_need_a_processor_get_their_time_beside_four_burners(sandboxed: bool) -> None:
    """They are runnable and do not run: without the look at that they would lose."""
    profile = need_sandbox().profile if sandboxed else None
    with stubs() as bots, on_one_processor(), burners(4):
        bot = bots.busy(0.8 * LIMIT_MS / 1000)
        records = play_many(bot, 4, at_once=2, move_ms=LIMIT_MS, profile=profile)
    tell("busy", records)
    assert time_losses(records) == []
    assert any("overloaded" in record.aside.marks for record in records)


def test_bots_lose_no_game_to_a_quota() -> None:
    """Twelve games at once on half a CPU: all are stopped together, the referee with them.

    Each bot needs a quarter of its limit, and has a twentieth of it in every period of the quota.
    """
    with stubs() as bots, under_quota(0.5):
        records = play_many(bots.working(0.025), 12, at_once=12, move_ms=100)
    tell("quota", records)
    assert time_losses(records) == []
    assert any("overloaded" in record.aside.marks for record in records)


@pytest.mark.long
def test_ten_thousand_games_beside_four_burners() -> None:
    """The promise of zero false time losses on a busy host."""
    with stubs() as bots, burners(4):
        bot = bots.asleep(0.8 * LIMIT_MS / 1000)
        records = play_many(bot, 10_000, at_once=96, move_ms=LIMIT_MS)
    tell("long", records)
    assert time_losses(records) == []
