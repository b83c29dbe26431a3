"""Europe's win rates are those of SOURCE.md, and no mission is too easy or too hard."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from arena.rules.europe.board import load_board
from tests.benchmarks.europe_balance import MISSIONS, NAMES, round_robin, table

TEXT = (resources.files("arena.rules.europe") / "data" / "SOURCE.md").read_text("utf-8")
GAMES = 300
FAIR = (25.0, 60.0)  # what Mister X may win with `belief` on both sides, in per cent
SAME = 3.0  # points: another C library may round a power another way, and break a tie by it


def told() -> dict[tuple[str, str], list[float]]:
    """The table of SOURCE.md: pairing → Mister X's win rates by mission, in per cent."""
    head = f"| Mister X | detectives | {' | '.join(MISSIONS)} |"
    rows = TEXT.split(head, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows]
    return {(x, team): [float(rate) for rate in rates] for x, team, *rates in cells}


def test_table_has_every_pairing_and_says_how_many_games() -> None:
    assert list(told()) == [(x, team) for x in NAMES for team in NAMES]
    assert all(len(rates) == len(MISSIONS) for rates in told().values())
    assert f"{GAMES} games" in TEXT


def test_every_mission_is_fair_between_the_best_bots() -> None:
    low, high = FAIR
    assert all(low <= rate <= high for rate in told()["belief", "belief"])


@pytest.mark.slow
def test_some_games_agree_with_the_table() -> None:
    """60 games of the best pairing a mission, from other deals: within four standard errors."""
    cells = round_robin(60, mister_x=["belief"], detectives=["belief"], first=GAMES)
    for one, rate in zip(cells, told()["belief", "belief"], strict=True):
        share = rate / 100
        assert abs(one.wins - rate) < 400 * (share * (1 - share) * (1 / 60 + 1 / GAMES)) ** 0.5
        assert set(one.reasons) <= {"captured", "escaped", "cap"}
        assert one.a_game["doubles"] > 0
        assert one.a_game["specials"] > 0


@pytest.mark.long
def test_all_games_give_the_table() -> None:
    for (x, team), rates in told().items():
        cells = round_robin(GAMES, mister_x=[x], detectives=[team], processes=2)
        assert len(table(cells)) == 3
        for one, rate in zip(cells, rates, strict=True):
            assert one.wins == pytest.approx(rate, abs=SAME), (one.mission, x, team)


def test_links_that_were_added_for_balance_are_named() -> None:
    """SOURCE.md tells them by their ends; each is one of the board's."""
    board = load_board()
    ids = {city.name: city.id for city in board.cities}
    added = re.findall(r"^- (rail|air): (.+) to (.+)$", TEXT, re.MULTILINE)
    assert len(added) == 3
    for transport, one, other in added:
        pair = tuple(sorted((ids[one], ids[other])))
        assert pair in getattr(board.links, transport)
