"""Section D of the catalogue but for the clock: bots that take too much of what a machine has."""

from __future__ import annotations

import statistics
import subprocess
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from arena.referee.record import GameRecord
from protocol.messages import ClockSettings
from tests.catalogue.checks import play_checked
from tests.catalogue.referees import CLOCK, ROUTES, Referee, Referees, Route
from tests.catalogue.rows import RESOURCES, Row, check_record

pytestmark = pytest.mark.slow

ROWS = {row.row: row for row in RESOURCES}
UNHURRIED_MS = 10_000  # on a busy machine it takes its time to use too much
ANSWER_S = 0.1  # in which a machine starts a small program, most of the time


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("row", RESOURCES, ids=[row.name for row in RESOURCES])
def test_bot_is_held_to_its_limits_and_nobody_else_feels_it(
    row: Row, route: Route, referees: Referees
) -> None:
    referee = referees.get(route)
    clock = ClockSettings(move_ms=UNHURRIED_MS) if row.kind == "resource" else CLOCK
    (record,) = play_checked(referee, referee.game(row.program, row.row, clock=clock))
    check_record(row, record)


@pytest.mark.parametrize("route", ROUTES)
def test_two_bombs_at_once_bound_each_other_in_nothing(route: Route, referees: Referees) -> None:
    """D3, and D1: limits are a bot's own, and the machine goes on to start programs."""
    referee = referees.get(route)
    row = ROWS["fork-bomb-stays"]
    with ThreadPoolExecutor(1) as pool:
        played = pool.submit(_play_two, referee, row)
        took = _times_of_small_programs(played)
    for record in played.result():
        check_record(row, record)
    assert statistics.median(took) < ANSWER_S


def _play_two(referee: Referee, row: Row) -> tuple[GameRecord, ...]:
    games = [referee.game(row.program, row.row, number=number) for number in (1, 18)]
    return play_checked(referee, *games)


def _times_of_small_programs(played: Future[tuple[GameRecord, ...]]) -> list[float]:
    took = []
    while not played.done():
        began = time.monotonic()
        subprocess.run(["/bin/true"], check=True)
        took.append(time.monotonic() - began)
        time.sleep(0.01)
    return took
