"""Tables of ratings and win rates on terminals of any width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.table import Table

from arena.cli.ratings_shown import los_table, matrix_table, ratings_table, remarks
from reports.played import Played, gather
from reports.ratings import Settings
from reports.standings import standings
from reports.win_rates import matrix
from tests.cli.snapshots import same


def league(bots: int, deals: int = 12) -> Played:
    """Games in which a bot with a higher number wins more often on both sides."""
    names = [f"bot{number}" for number in range(bots)]
    games = [(x, d, deal) for deal in range(deals) for x in names for d in names if x != d]
    return gather(
        [x for x, _, _ in games],
        [d for _, d, _ in games],
        [(names.index(x) * 5 + deal * 7) % 12 > names.index(d) * 2 + 3 for x, d, deal in games],
        [str(deal) for _, _, deal in games],
    )


def drawn(made: Table, width: int) -> list[str]:
    """The table's lines, as they stand on a terminal of that width."""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(made)
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("bots", [2, 3, 5, 30])
def test_no_line_of_a_table_is_broken(bots: int, width: int) -> None:
    played = league(bots)
    made = standings(played, Settings())
    for table, rows in (
        (los_table(made, width), min(bots, len(drawn(los_table(made, width), width)) - 2)),
        (matrix_table(matrix(played), width), bots + 1),
        (ratings_table(made), bots),
    ):
        lines = drawn(table, width)
        assert len(lines) == rows + 2  # the heads and the rule below them
        assert max(map(len, lines)) <= width


def test_narrow_terminal_leaves_out_intervals_before_bots() -> None:
    made = matrix(league(4))
    wide, narrow = drawn(matrix_table(made, 120), 120), drawn(matrix_table(made, 72), 72)
    assert "(" in wide[2]
    assert "(" not in "".join(narrow)
    assert narrow[0].split()[-5:] == ["bot0", "bot1", "bot2", "bot3", "average"]


def test_remarks_say_how_many_bots_the_matrix_leaves_out() -> None:
    made = standings(league(30), Settings())
    assert [*remarks(made, 80)][-1].startswith("the matrix has room for 7 of 30 bots here")
    assert not [line for line in remarks(made, 1000) if "room" in line]


def test_tables_are_as_they_were() -> None:
    played = league(3)
    made = standings(played, Settings())
    text = "\n\n".join(
        "\n".join(drawn(table, 80))
        for table in (
            ratings_table(made),
            los_table(made, 80),
            matrix_table(matrix(played, [bot.name for bot in made.bots]), 80),
        )
    )
    same("ratings.txt", text + "\n")
