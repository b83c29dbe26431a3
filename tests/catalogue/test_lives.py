"""Section C of the catalogue, what needs the sandbox: bots that will not die when told to.

C1 to C5 need none and are in `tests/referee/test_faulty_bots.py`; C13 is in `test_deaths.py` of the
command line, and with it C11 of a whole run.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from arena.sandbox.limits import END_GRACE_S
from protocol.messages import ClockSettings
from tests.catalogue.checks import marked_processes, play_checked
from tests.catalogue.referees import ROUTES, Referees, Route
from tests.catalogue.rows import LIVES, OK, Row, check_record
from tests.living import wait, wait_gone
from tests.ordinary_user import OrdinaryUser

pytestmark = pytest.mark.slow

TOGETHER = ("ignore-term", "self-stop", "grandchild-stays", "survivor-stays")  # C6 to C9
DONE_S = 2.0  # for all that a referee does between two answers, at most; hosts are busy


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("row", LIVES, ids=[row.name for row in LIVES])
def test_bot_gets_its_verdict_and_nothing_outlives_its_game(
    row: Row, route: Route, referees: Referees
) -> None:
    referee = referees.get(route)
    (record,) = play_checked(referee, referee.game(row.program, row.row))
    check_record(row, record)


@pytest.mark.parametrize("route", ROUTES)
def test_bot_that_ignores_goodbyes_is_not_waited_for(route: Route, referees: Referees) -> None:
    """C6: no grace over half a second, to a bot that played fairly."""
    assert END_GRACE_S <= 0.5
    referee = referees.get(route)
    (record,) = play_checked(referee, referee.game("lives", "ignore-bye"), after=False)
    both = (record.aside.mister_x, record.aside.detectives)
    asked_s = sum(time.charged_ms for seat in both for time in seat.times) / 1000
    start_s = max(seat.start_ms or 0.0 for seat in both) / 1000
    assert record.aside.took_s - start_s - asked_s < END_GRACE_S + DONE_S


@pytest.mark.parametrize("route", ROUTES)
def test_bot_that_stops_itself_gets_no_time_where_bots_are_stopped_and_continued(
    route: Route, referees: Referees
) -> None:
    """C7: it is continued for its move, and not once more in it."""
    referee = referees.get(route)
    clock = ClockSettings(move_ms=1_000, pondering="freeze")
    (record,) = play_checked(referee, referee.game("lives", "self-stop", clock=clock), after=False)
    check_record(Row("C7", "lives", "self-stop", "timeout", r"within [\d,]+ ms"), record)


@pytest.mark.parametrize("route", ROUTES)
def test_nobody_outlives_a_referee_that_is_killed(
    route: Route, ordinary_users: Callable[[], OrdinaryUser]
) -> None:
    """C11: with all of C6 to C9 playing at once."""
    clock = ClockSettings(move_ms=30_000)
    with Referees(ordinary_users) as apart:
        referee = apart.get(route)
        games = [referee.game("lives", row, clock=clock) for row in TOGETHER]
        referee.ask(*games)
        seen: set[str] = set()

        def have_all_been_up() -> bool:
            # On a busy host the first one's child may be over before the last one's is there.
            seen.update(_up(referee.mark))
            return len(seen) == len(TOGETHER)

        wait(have_all_been_up, 60.0)
        referee.kill()
        wait_gone(lambda: marked_processes(referee.mark))


def _up(mark: str) -> set[str]:
    """Those of C6 to C9 that have come to where they go wrong, and are there now."""
    inside = [line for line in marked_processes(mark) if "--args" not in line]
    least = {"grandchild-stays": 2, "survivor-stays": 2}  # itself and who left it
    return {row for row in TOGETHER if sum(row in line for line in inside) >= least.get(row, 1)}


def test_bot_lives_through_a_long_wait_for_its_opponent(referees: Referees) -> None:
    """C12: fifteen seconds; the signal at a parent's death goes by the thread that started it."""
    clock = ClockSettings(move_ms=25_000)
    asked = [referees.get(route) for route in ROUTES]
    for referee in asked:  # at once: they wait all the time
        pensive = referee.bot("lives", "pensive")
        referee.ask(referee.game("speaking", "", clock=clock, mister_x=pensive))
    for referee in asked:
        (record,) = referee.told().hostile
        check_record(Row("C12", "speaking", "speaking", OK), record)
        assert max(time.charged_ms for time in record.aside.mister_x.times) >= 15_000
