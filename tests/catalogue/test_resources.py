"""Section D of the catalogue but for the clock: bots that take too much of what a machine has."""

from __future__ import annotations

import pytest

from tests.catalogue.checks import play_checked
from tests.catalogue.referees import ROUTES, Referees, Route
from tests.catalogue.rows import RESOURCES, Row, check_record

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("row", RESOURCES, ids=[row.name for row in RESOURCES])
def test_bot_is_held_to_its_limits_and_nobody_else_feels_it(
    row: Row, route: Route, referees: Referees
) -> None:
    referee = referees.get(route)
    (record,) = play_checked(referee, referee.game(row.program, row.row))
    check_record(row, record)
