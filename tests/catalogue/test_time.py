"""Rows D10 to D15 of the catalogue, and what people said of time and fairness: C1, C3 to C7.

With the CPU clock, save where the row is about the usual one.
"""

from __future__ import annotations

import json
import re
import time
from math import inf
from pathlib import Path
from typing import Any

import pytest
import trio

from arena.referee.pool import BotPool
from arena.referee.record import GameRecord
from arena.referee.referee import play_game
from arena.sandbox.limits import default_limits
from protocol.messages import ClockSettings, Limits
from tests.catalogue.checks import PLAYS, play_checked
from tests.catalogue.referees import Referees, Route
from tests.catalogue.rows import OK, Row, check_record
from tests.cli.calling import Caller
from tests.referee.burning import burners
from tests.referee.games import script, spec
from tests.sandboxed import need_sandbox

pytestmark = pytest.mark.slow

ROUTES: tuple[Route, ...] = ("R", "U")
LIMIT_MS = 300
CPU = ClockSettings(move_ms=LIMIT_MS, kind="cpu")
WALL = ClockSettings(move_ms=500)
SLOW = r"no answer within [\d,]+ ms|the answer came after [\d,]+ ms"
LONG = 1  # number of a game that has 22 rounds, if nobody fails
SPENT = r"CPU 0\.3\d s of 0\.30 s"  # a little more where the machine is too busy to look in time

ROWS = (
    Row("D10", "clocks", "spin", "timeout", SPENT),
    Row("D11", "clocks", "spin-many", "timeout", SPENT),
    Row("D12", "clocks", "sleeper", "timeout", r"idle: no answer within 3,\d+ ms; CPU 0\.0\d s of"),
    Row("D14", "clocks", "child-burn:0.1", OK),
    Row("D14", "clocks", "orphan-burn:0.1", OK),
    Row("D14", "clocks", "unreaped-burn:0.2", OK),
    Row("D14", "clocks", "child-burn:0.5", "timeout", SPENT),
    Row("D14", "clocks", "orphan-burn:0.5", "timeout", SPENT),
    Row("D14", "clocks", "unreaped-burn:0.5", "timeout", SPENT),
)
# What a turn of a row is charged at least, on average. Of a child that the kernel reaps, what it
# used since it was last looked at is lost: at most 50 ms where the machine lets us look in time.
LEAST_MS = {"child-burn:0.1": 100, "orphan-burn:0.1": 100, "unreaped-burn:0.2": 120}
TICKS_MS = 20  # the kernel tells of reaped children in ticks


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_cpu_time_of_all_processes_is_charged(row: Row, route: Route, referees: Referees) -> None:
    referee = referees.get(route)
    game = referee.game(row.program, row.row, clock=CPU)
    (record,) = play_checked(referee, game)
    check_record(row, record)
    charged = [turn.charged_ms for turn in record.aside.detectives.times]
    assert sum(charged) >= LEAST_MS.get(row.row, 0) * len(charged) - TICKS_MS
    assert max(turn.charged_ms for turn in record.aside.mister_x.times) < 100


@pytest.mark.parametrize("route", ROUTES)
def test_nobody_gains_time_by_children_that_nobody_counts(route: Route, referees: Referees) -> None:
    """D11, on the usual clock: it is ready to run and does not, because of its own children.

    Who is found to hide what they use gets nothing back, whatever else runs; it is found within
    some looks of the warden. That children who can be seen give nothing is arithmetic, and tested
    where that is done.
    """
    referee = referees.get(route)
    row = "hidden-crowd:4"
    (record,) = play_checked(referee, referee.game("clocks", row, clock=WALL))
    check_record(Row("D11", "clocks", row, "timeout", SLOW), record)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("kind", ["wall", "cpu"])
def test_nothing_is_burnt_off_turn_where_bots_are_stopped(
    kind: Any, route: Route, referees: Referees
) -> None:
    """D13: less than 20 ms, in a game whose other side takes more than a second."""
    record = ponder(referees, route, ClockSettings(kind=kind, pondering="freeze"))
    used_ms = record.aside.detectives.off_turn_cpu_ms
    assert used_ms is not None
    assert used_ms < 20
    assert not record.aside.detectives.caught_pondering


@pytest.mark.parametrize("route", ROUTES)
def test_who_ponders_is_seen_and_stopped(route: Route, referees: Referees) -> None:
    """D13, load 7: the usual setting; on the wall clock nothing of it is charged.

    Were it charged, it would be in every game; on a busy host a turn takes as long in one or two.
    """
    most_ms: list[float] = []
    while len(most_ms) < PLAYS and min(most_ms, default=inf) >= 200:
        record = ponder(referees, route, ClockSettings())
        aside = record.aside.detectives
        assert aside.off_turn_cpu_ms is not None
        assert aside.off_turn_cpu_ms > 200
        assert aside.caught_pondering
        assert not record.aside.mister_x.caught_pondering
        most_ms.append(max(turn.charged_ms for turn in aside.times))
    assert min(most_ms) < 200


def test_who_ponders_with_a_cpu_clock_pays_for_it(referees: Referees) -> None:
    """D13: what was used before it was caught is charged to the next turn."""
    aside = ponder(referees, "R", ClockSettings(kind="cpu")).aside.detectives
    assert aside.caught_pondering
    assert aside.off_turn_cpu_ms is not None
    assert sum(turn.charged_ms for turn in aside.times) >= 0.9 * aside.off_turn_cpu_ms > 180


def test_who_may_ponder_does_not_pay(referees: Referees) -> None:
    aside = ponder(referees, "R", ClockSettings(kind="cpu", pondering="allow")).aside.detectives
    assert not aside.caught_pondering
    assert aside.off_turn_cpu_ms is not None
    assert aside.off_turn_cpu_ms > 500
    assert max(turn.charged_ms for turn in aside.times) < 100


def ponder(referees: Referees, route: Route, clock: ClockSettings) -> GameRecord:
    """A game against an opponent that takes a quarter of a second a turn."""
    referee = referees.get(route)
    game = spec(
        referee.bot("clocks", "sleeps:0.25"),
        referee.bot("clocks", "ponderer"),
        number=LONG,
        clock=clock,
        sandbox="auto",
    )
    (record,) = play_checked(referee, game)
    check_record(Row("D13", "clocks", "ponderer", OK), record)
    return record


@pytest.mark.parametrize("route", ROUTES)
def test_most_of_the_time_can_be_used_beside_four_burners(route: Route, referees: Referees) -> None:
    """D15: 90 % of the limit, of which the others take nothing."""
    referee = referees.get(route)
    clock = ClockSettings(move_ms=200, kind="cpu")
    game = referee.game("clocks", "edge:0.18", clock=clock)
    with burners(4):
        (record,) = play_checked(referee, game)
    check_record(Row("D15", "clocks", "edge:0.18", OK), record)
    assert max(turn.charged_ms for turn in record.aside.detectives.times) >= 180


@pytest.mark.parametrize(
    ("row", "text"), [("spin", SPENT), ("sleeper", "idle: ")], ids=["D10", "D12"]
)
def test_cpu_clock_without_a_sandbox(row: str, text: str) -> None:
    """Own bots alone: of the processes below the first one and of its session."""
    record = trio.run(play_game, spec(script("speaking"), script("clocks", row), clock=CPU))
    assert re.search(text, record.aside.detectives.fault_text or "")


# --- what people said ---------------------------------------------------------------------------


def play(mister_x: str, detectives: str, *, number: int = 0, **settings: Any) -> GameRecord:
    """A game of two bots of `clocks.py` in the sandbox; without a row it is the honest one."""

    async def main() -> GameRecord:
        async with BotPool(profile=need_sandbox().profile) as pool:
            bots = [script("clocks", row) if row else script("speaking") for row in rows]
            return await play_game(spec(*bots, number=number, sandbox="auto", **settings), pool)

    rows = mister_x, detectives
    return trio.run(main)


def limits(**changed: int) -> Limits:
    fields = {name: getattr(default_limits(), name) for name in Limits.__struct_fields__}
    return Limits(**{**fields, **changed})


def test_limits_come_from_one_source() -> None:
    """C3: what is printed, what is sent to bots and what stands in the document is the same."""
    found = Caller()("limits", "--json").json
    record = play("", "", clock=ClockSettings(), limits=default_limits())
    assert record.core.clock is not None
    for name in Limits.__struct_fields__:
        assert found["limits"][name] == getattr(default_limits(), name)
    assert found["clock"] == {
        name: getattr(record.core.clock, name) for name in ClockSettings.__struct_fields__
    }
    text = (Path(__file__).parents[2] / "protocol" / "SPEC.md").read_text()
    for name, value in found["limits"].items():
        assert f"| `{name}` | {value:,} |" in text
    for name, value in found["clock"].items():
        assert json.dumps({name: value})[1:-1] in text


def test_bot_is_told_what_it_was_charged_and_what_is_left() -> None:
    """C4: each turn says so, beginning with null; they are the numbers of the record."""
    clock = ClockSettings(move_ms=0, bank_ms=2_000, increment_ms=20)
    aside = play("tells:0.05", "", clock=clock).aside.mister_x
    told = [line.split() for line in aside.stderr.splitlines()]
    assert told[0] == ["2000", "None"]
    assert [(int(bank), float(charged)) for bank, charged in told[1:]] == [
        (turn.bank_ms, turn.charged_ms) for turn in aside.times[: len(told) - 1]
    ]
    assert all(turn.charged_ms > 0 for turn in aside.times)


def test_time_loss_is_shown_with_its_limit_and_is_no_answer_of_0_ms() -> None:
    """C4; that the report counts it apart is tested with the report's tables."""
    aside = play("", "sleeper", clock=ClockSettings(move_ms=LIMIT_MS)).aside.detectives
    assert re.search(r"no answer within 3\d\d ms", aside.fault_text or "")
    assert all(turn.charged_ms > 0 for turn in aside.times)


def test_who_is_late_is_not_asked_again() -> None:
    """C5: sleeping to the limit and beyond gains nothing: no second try, no longer game."""
    began = time.monotonic()
    record = play("slow-once:20", "", number=LONG, clock=ClockSettings(move_ms=LIMIT_MS))
    assert time.monotonic() - began < 10
    assert [fault.kind for fault in record.core.faults] == ["timeout"]
    assert sum(play.side == "mister_x" for play in record.core.plays) == 6
    assert record.core.winner == "detectives"


@pytest.mark.parametrize(
    ("clock", "asleep_s", "turns"),
    [
        (ClockSettings(move_ms=200), 0.1, 22),
        (ClockSettings(move_ms=100), 0.3, 0),
        (ClockSettings(move_ms=0, bank_ms=1_000), 0.11, 9),
        (ClockSettings(move_ms=50, bank_ms=400), 0.115, 6),
        (ClockSettings(move_ms=0, bank_ms=500, increment_ms=150), 0.1, 22),
    ],
    ids=["in time", "too slow", "bank runs out", "bank after the free time", "increment"],
)
def test_every_kind_of_budget_is_kept(clock: ClockSettings, asleep_s: float, turns: int) -> None:
    """C6: the same bot with each; the game has 22 rounds if Mister X plays to its end.

    On a busy host each sleep takes longer, and a bank is empty some turns earlier; or the bot is
    given what it was kept from running, which the record says, and plays some more.
    """
    record = play(f"sleeps:{asleep_s}", "", number=LONG, clock=clock)
    times = record.aside.mister_x.times
    left_ms = float(clock.bank_ms)
    for turn in times:
        assert turn.charged_ms < clock.move_ms + left_ms + 1
        left_ms += clock.increment_ms - max(0.0, turn.charged_ms - clock.move_ms)
        assert turn.bank_ms == pytest.approx(left_ms, abs=1)
    if turns == 22:
        assert record.core.faults == ()
        assert len(times) == 22
    if record.core.faults:
        assert clock.move_ms + left_ms < 2 * asleep_s * 1000
    if "overloaded" not in record.aside.marks:
        assert (record.core.faults == ()) is (turns == 22)
        assert len(times) <= turns


@pytest.mark.parametrize(("first_ready_ms", "is_in_time"), [(5_000, True), (400, False)])
def test_start_up_has_a_time_of_its_own(first_ready_ms: int, is_in_time: bool) -> None:
    """C6, C7."""
    record = play("loads:0.8", "", limits=limits(first_ready_ms=first_ready_ms))
    assert (record.core.faults == ()) is is_in_time
    if not is_in_time:
        assert record.core.faults[0].phase == "start-up"
        assert "not ready within 400 ms" in (record.aside.mister_x.fault_text or "")


@pytest.mark.parametrize("kind", ["wall", "cpu"])
def test_loading_is_not_charged_to_the_first_turn(kind: Any) -> None:
    """C7: three seconds of libraries before `ready` are shown apart."""
    clock = ClockSettings(move_ms=LIMIT_MS, kind=kind)
    aside = play("loads:3", "", clock=clock).aside.mister_x
    assert aside.start_ms is not None
    assert aside.start_ms >= 3_000
    assert aside.fault_text is None
    assert aside.times[0].charged_ms < LIMIT_MS


def test_limit_is_enforced_at_each_turn_and_begins_anew_with_each() -> None:
    """Load 3: the seventh turn is slow and forfeits; 22 at 90 % of the limit do not."""
    clock = ClockSettings(move_ms=LIMIT_MS)
    record = play("slow-once:0.6", "", number=LONG, clock=clock)
    assert [fault.kind for fault in record.core.faults] == ["timeout"]
    record = play("sleeps:0.27", "", number=LONG, clock=clock)
    assert record.core.faults == ()
    assert len(record.aside.mister_x.times) == 22
