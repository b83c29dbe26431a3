"""Ratings, likelihoods of superiority and win rates as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from arena.cli.talk import table

if TYPE_CHECKING:
    from rich.table import Table

    from reports.standings import Standing, Standings
    from reports.win_rates import Matrix, Share

__all__ = ["elo", "los_table", "matrix_table", "ratings_table", "remarks"]

WIDEST_MATRIX = 12  # bots; wider ones are in the report


def ratings_table(made: Standings) -> Table:
    """Return the ratings, best first: rank range, Elo with interval, both sides, games, shares."""
    return table(
        ("#rank", "bot", "#elo", "#± 95 %", "#as X", "#as det.", "#games", "#won X", "#won det."),
        (
            (
                rank(bot),
                bot.name,
                elo(bot.elo),
                half(bot),
                elo(bot.mister_x),
                elo(bot.detectives),
                f"{bot.games:,}",
                share(bot.mister_x_wins, bot.mister_x_games),
                share(bot.detectives_wins, bot.detectives_games),
            )
            for bot in made.bots
        ),
    )


def los_table(made: Standings) -> Table:
    """Return the likelihood, in per cent, that the row's bot is stronger than the column's."""
    shown = made.bots[:WIDEST_MATRIX]
    rows = []
    for bot, likelihoods in zip(shown, made.los, strict=False):
        cells = (percent(value) for value in likelihoods[: len(shown)])
        rows.append((bot.name, *cells))
    return table(("stronger than", *(f"#{bot.name}" for bot in shown)), rows)


def matrix_table(made: Matrix) -> Table:
    """Return how often Mister X escaped, rows by Mister X, columns by detectives, with averages.

    The last row is how often the detectives of that column caught him.
    """
    columns = made.detectives[:WIDEST_MATRIX]
    rows = []
    for name, cells, average in zip(
        made.mister_x[:WIDEST_MATRIX], made.cells, made.mister_x_average, strict=False
    ):
        shown = (interval(cell) for cell in cells[: len(columns)])
        rows.append((name, *shown, in_per_cent(average)))
    caught = (in_per_cent(rate) for rate in made.detectives_average[: len(columns)])
    rows.append(("they caught him", *caught, ""))
    heads = (f"#{name}" for name in columns)
    return table(("Mister X escaped from", *heads, "#average"), rows)


def interval(cell: Share) -> str:
    """Return a share in per cent with its 95 % interval."""
    if cell.rate is None or cell.low is None or cell.high is None:
        return "·"
    return f"{100 * cell.rate:.0f} % ({100 * cell.low:.0f}-{100 * cell.high:.0f})"


def in_per_cent(rate: float | None) -> str:
    """Return a share in per cent."""
    return "·" if rate is None else f"{100 * rate:.1f} %"


def remarks(made: Standings) -> Iterator[str]:
    """Yield what must be known beside the numbers."""
    yield from made.warnings
    if len(made.bots) > WIDEST_MATRIX:
        yield f"only the first {WIDEST_MATRIX} bots are in the matrix; --json has them all"


def rank(bot: Standing) -> str:
    """Return the ranks that the games leave open."""
    if bot.rank_low is None or bot.rank_high is None:
        return "·"
    return str(bot.rank_low) if bot.rank_low == bot.rank_high else f"{bot.rank_low}-{bot.rank_high}"


def elo(value: float | None) -> str:
    """Return a rating in whole points."""
    return "·" if value is None else f"{value:+.0f}"


def half(bot: Standing) -> str:
    """Return half of the 95 % interval, or which of its ends is open."""
    if bot.elo is None:
        return "·"
    if bot.low is not None and bot.high is not None:
        return f"{(bot.high - bot.low) / 2:.0f}"
    if bot.low is not None:
        return f"≥ {bot.low:+.0f}"
    return "·" if bot.high is None else f"≤ {bot.high:+.0f}"


def percent(value: float | None) -> str:
    """Return a likelihood in per cent; never 100 for what is not sure."""
    if value is None:
        return "·"
    if value > 0.999:
        return "> 99.9"
    return "< 0.1" if value < 0.001 else f"{100 * value:.1f}"


def share(won: int, games: int) -> str:
    """Return a share in per cent."""
    return f"{100 * won / games:.0f} %" if games else "·"
