"""Section C of the catalogue, what needs the sandbox: bots that will not die when told to."""

from __future__ import annotations

import pytest

from tests.catalogue.checks import play_checked
from tests.catalogue.referees import ROUTES, Referees, Route
from tests.catalogue.rows import LIVES, Row, check_record

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("row", LIVES, ids=[row.name for row in LIVES])
def test_bot_gets_its_verdict_and_nothing_outlives_its_game(
    row: Row, route: Route, referees: Referees
) -> None:
    referee = referees.get(route)
    (record,) = play_checked(referee, referee.game(row.program, row.row))
    check_record(row, record)
