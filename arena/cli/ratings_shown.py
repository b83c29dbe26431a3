"""Ratings, likelihoods of superiority and win rates as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from arena.cli.talk import table

if TYPE_CHECKING:
    from rich.table import Table

    from reports.results import Bootstrapped, Results
    from reports.standings import Standing, Standings
    from reports.win_rates import Matrix, Share

__all__ = [
    "advantage_line",
    "bootstrap_table",
    "elo",
    "ends",
    "los_table",
    "matrix_table",
    "pair_ratings_table",
    "pairings_table",
    "percent",
    "ratings_table",
    "remarks",
    "share",
    "small",
    "test_line",
]

GAP = 3  # blanks between two columns
ESCAPED = "Mister X escaped from"


def ratings_table(made: Standings, without: Standings | None = None) -> Table:
    """Return the ratings, best first: rank range, Elo with interval, both sides, games, shares.

    Args:
        made: the standings.
        without: the same without games that a fault decided; they have the column `clean`.
    """
    heads = [
        "#rank",
        "bot",
        "#elo",
        "#± 95 %",
        "#as X",
        "#as det.",
        "#games",
        "#won X",
        "#won det.",
    ]
    rows = [
        [
            rank(bot),
            bot.name,
            elo(bot.elo),
            half(bot),
            elo(bot.mister_x),
            elo(bot.detectives),
            f"{bot.games:,}",
            share(bot.mister_x_wins, bot.mister_x_games),
            share(bot.detectives_wins, bot.detectives_games),
        ]
        for bot in made.bots
    ]
    if without is not None:
        clean = {bot.name: elo(bot.elo) for bot in without.bots}
        heads.insert(4, "#clean")
        for row in rows:
            row.insert(4, clean.get(row[1], "·"))
    return table(heads, rows)


def advantage_line(made: Standings) -> str | None:
    """Return Mister X's advantage among equals in one line; None where it can't be told."""
    role = made.role_advantage
    if role.elo is None:
        return None
    line = f"Mister X's advantage among equals: {elo(role.elo)}"
    if role.low is not None and role.high is not None:
        line += f" ± {max((role.high - role.low) / 2, 1):.0f}"
    return line + " Elo" + (", bounded by prior" if role.bounded else "")


def test_line(made: Standings) -> str | None:
    """Return the test of strengths by side against one strength a bot; None where there is none."""
    test = made.role_test
    if test is None:
        return None
    return (
        f"Do bots differ in which side suits them (model b against a)? p = {small(test.p)}, "
        f"χ² {test.chi2:.2f}, {test.df} df"
    )


def pairings_table(made: Results) -> Table:
    """Return every two bots with their game pairs, and the gap by those that were decided."""
    rows = (
        (
            f"{line.one} - {line.other}",
            f"{line.lost:,}",
            f"{line.split:,}",
            f"{line.both_escaped:,}",
            f"{line.both_caught:,}",
            f"{line.won:,}",
            f"{100 * line.score:.0f} %",
            in_per_cent(line.expected),
            elo(line.elo_conditional),
            ends(line.low, line.high),
            percent(line.los),
            small(line.p),
        )
        for line in made.pairings or ()
    )
    return table(
        (
            "game pairs",
            "#LL",
            "#split",
            "#XX",
            "#DD",
            "#WW",
            "#score",
            "#expected",
            "#gap",
            "#95 %",
            "#LOS",
            "#p",
        ),
        rows,
    )


def pair_ratings_table(made: Results) -> Table:
    """Return ratings by decided pairs alone, a little larger in size than those of all games."""
    rows = (
        (line.name, elo(line.elo), ends(line.low, line.high)) for line in made.pair_ratings or ()
    )
    return table(("by decided pairs", "#elo", "#95 %"), rows)


def bootstrap_table(made: Bootstrapped) -> Table:
    """Return errors by drawing deals anew."""
    lines = [("Mister X's advantage", made.role_advantage)]
    lines += [(bot.name, bot.error) for bot in made.bots]
    rows = (
        (
            name,
            "·" if error is None or error.se is None else f"{error.se:.1f}",
            "·" if error is None else ends(error.low, error.high),
        )
        for name, error in lines
    )
    return table((f"{made.draws:,} draws of deals", "#error", "#95 %"), rows)


def los_table(made: Standings, width: int) -> Table:
    """Return the likelihood, in per cent, that the row's bot is stronger than the column's.

    Args:
        made: the standings.
        width: columns of the terminal; bots that have no room are left out.
    """
    names = [bot.name for bot in made.bots]
    count = room(names, len("stronger than"), len("> 99.9"), width)
    rows = [
        (name, *(percent(value) for value in likelihoods[:count]))
        for name, likelihoods in zip(names[:count], made.los, strict=False)
    ]
    return table(("stronger than", *(f"#{name}" for name in names[:count])), rows)


def matrix_table(made: Matrix, width: int) -> Table:
    """Return how often Mister X escaped, rows by Mister X, columns by detectives, with averages.

    The last row is how often the detectives of that column caught him. Where the terminal is
    narrow the intervals are left out, and then the last bots.

    Args:
        made: the win rates.
        width: columns of the terminal.
    """
    names = made.detectives
    width -= max(map(len, (ESCAPED, *made.mister_x))) + GAP + len("average")
    cells = [[interval(cell) for cell in row] for row in made.cells]
    needed = [
        max(len(name), *(len(row[column]) for row in cells)) + GAP
        for column, name in enumerate(names)
    ]
    count = len(names)
    if sum(needed) > width:
        cells = [[in_per_cent(cell.rate) for cell in row] for row in made.cells]
        count = room(names, 0, len("100.0 %"), width)
    rows = [
        (name, *row[:count], in_per_cent(average))
        for name, row, average in zip(made.mister_x, cells, made.mister_x_average, strict=True)
    ]
    caught = (in_per_cent(rate) for rate in made.detectives_average[:count])
    rows.append(("they caught him", *caught, ""))
    return table((ESCAPED, *(f"#{name}" for name in names[:count]), "#average"), rows)


def room(names: Sequence[str], first: int, cell: int, width: int) -> int:
    """Return how many columns with these heads fit behind a first one, all in characters.

    The first one holds the names as well; 0 if it is paid for already.
    """
    left = width - (max(first, *map(len, names)) if first else 0)
    count = 0
    for name in names:
        left -= max(len(name), cell) + GAP
        if left < 0:
            break
        count += 1
    return count


def interval(cell: Share) -> str:
    """Return a share in per cent with its 95 % interval."""
    if cell.rate is None or cell.low is None or cell.high is None:
        return "·"
    return f"{100 * cell.rate:.0f} % ({100 * cell.low:.0f}-{100 * cell.high:.0f})"


def in_per_cent(rate: float | None) -> str:
    """Return a share in per cent."""
    return "·" if rate is None else f"{100 * rate:.1f} %"


def remarks(made: Standings, width: int) -> Iterator[str]:
    """Yield what must be known beside the numbers."""
    yield from made.warnings
    names = [bot.name for bot in made.bots]
    count = room(names, len("stronger than"), len("> 99.9"), width)
    if count < len(names):
        yield f"the matrix has room for {count} of {len(names)} bots here; --json has them all"


def rank(bot: Standing) -> str:
    """Return the ranks that the games leave open."""
    if bot.rank_low is None or bot.rank_high is None:
        return "·"
    return str(bot.rank_low) if bot.rank_low == bot.rank_high else f"{bot.rank_low}-{bot.rank_high}"


def elo(value: float | None) -> str:
    """Return a rating in whole points."""
    return "·" if value is None else f"{round(value) + 0:+d}"


def half(bot: Standing) -> str:
    """Return half of the 95 % interval, or which of its ends is open."""
    if bot.elo is None:
        return "·"
    if bot.low is not None and bot.high is not None:
        return f"{(bot.high - bot.low) / 2:.0f}"
    if bot.low is not None:
        return f"≥ {bot.low:+.0f}"
    return "·" if bot.high is None else f"≤ {bot.high:+.0f}"


def ends(low: float | None, high: float | None) -> str:
    """Return an interval by its ends, of which one may be open."""
    if low is not None and high is not None:
        return f"{elo(low)} to {elo(high)}"
    if low is not None:
        return f"≥ {elo(low)}"
    return "·" if high is None else f"≤ {elo(high)}"


def small(value: float | None) -> str:
    """Return a probability to two digits; never nothing at all."""
    if value is None:
        return "·"
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}"


def percent(value: float | None) -> str:
    """Return a likelihood in per cent; never 100 for what is not sure."""
    if value is None:
        return "·"
    if value > 0.999:
        return "> 99.9"
    return "< 0.1" if value < 0.001 else f"{100 * value:.1f}"


def share(won: int, games: int) -> str:
    """Return a share in per cent; a dot where there was no game."""
    return f"{100 * won / games:.0f} %" if games else "·"
