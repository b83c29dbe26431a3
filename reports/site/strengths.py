"""Sections on who is how strong: standings, win rates, superiority, history; pure."""

from __future__ import annotations

from reports import charts
from reports.report import Report
from reports.site.markup import (
    NA,
    Cell,
    Column,
    elo,
    linked,
    minus,
    na,
    name,
    percent,
    share,
    table,
    text,
)
from reports.site.page import notes_list
from reports.site.places import Places
from reports.standings import RoleAdvantage, Standing, Standings

__all__ = [
    "MAX_MATRIX",
    "advantages",
    "bot_interval",
    "history",
    "interval",
    "likelihood",
    "rank",
    "standings",
    "superiority",
    "win_rates",
]

MAX_MATRIX = 24  # bots of a matrix on the page; all of them are in the files
MAX_CELLS = 8  # bots up to which every cell of the matrix leads to its pairing
MAX_RUNS = 12  # runs of the table of history
_ALONE = na("it met no bot that it can be compared with")
_OPEN = na("results leave it open, upwards and downwards")
_NO_ERROR = na("errors are told from two deals on")
_ALL_FORFEITS = na("by games that were played out it can't be compared with anybody")
_ONE_SIDE = na("it takes three bots or more that met each other on both sides")


def standings(report: Report, places: Places) -> str:
    """Ratings with intervals and ranks, a line a bot; the advantage of a side; what to know."""
    made = report.ratings
    if not made.bots:
        return "<p>No game has a winner yet, so there is nothing to rate.</p>"
    shares = {row.bot: row for row in report.shares}
    without = report.without_faults
    clean = None if without is None else {bot.name: bot.elo for bot in without.bots}
    parts = [_role_sentence(made), notes_list(made.warnings)]
    parts.append(f'<figure class="scroll" tabindex="0">{charts.rating_plot(made)}</figure>')
    groups = sorted({(bot.part, bot.group) for bot in made.bots})
    for number, (part, group) in enumerate(groups, start=1):
        bots = [bot for bot in made.bots if (bot.part, bot.group) == (part, group)]
        caption = "Best first. Elo about the mean; below each share its 95 % interval and games"
        if len(groups) > 1:
            caption = f"List {number} of {len(groups)}: can't be compared with the others"
        columns = [
            Column("rank"),
            Column("bot", "name text"),
            Column("Elo"),
            Column("95&nbsp;%"),
            Column("as Mister X"),
            Column("as detectives"),
            Column("escaped"),
            Column("caught"),
            Column("games"),
        ]
        if clean is not None:
            columns.insert(4, Column("without forfeits"))
        rows = []
        for bot in bots:
            row: list[Cell | str] = [
                rank(bot),
                linked(name(bot.name), places.bot(bot.name)),
                elo(bot.elo, _ALONE),
                bot_interval(bot),
                elo(bot.mister_x, _ONE_SIDE),
                elo(bot.detectives, _ONE_SIDE),
                share(shares[bot.name].mister_x),
                share(shares[bot.name].detectives),
                f"{bot.games:,}",
            ]
            if clean is not None:
                row.insert(4, elo(clean.get(bot.name), _ALL_FORFEITS))
            rows.append(row)
        parts.append(table(caption, columns, rows, row_heading=1))
    return "\n".join(part for part in parts if part)


def rank(bot: Standing) -> Cell:
    """A bot's rank, or the ranks that the games leave open."""
    if bot.rank_low is None or bot.rank_high is None:
        return NA if bot.elo is None else _NO_ERROR
    if bot.rank_low == bot.rank_high:
        return Cell(str(bot.rank_low))
    return Cell(f"{bot.rank_low}–{bot.rank_high}")  # noqa: RUF001 - a range


def bot_interval(bot: Standing) -> Cell:
    """The 95 % interval of a bot's rating; why there is none."""
    missing = _ALONE if bot.elo is None else _NO_ERROR if bot.se is None else _OPEN
    return interval(bot.low, bot.high, missing)


def interval(low: float | None, high: float | None, missing: Cell = NA) -> Cell:
    """A 95 % interval, which may be open on one side."""
    if low is None and high is None:
        return missing
    if low is None:
        return Cell(minus(f"up to {high:.0f}"))
    if high is None:
        return Cell(minus(f"from {low:.0f}"))
    return Cell(minus(f"{low:.0f} to {high:.0f}"))


def advantages(made: Standings) -> list[str]:
    """Which side has an advantage among equal bots: a sentence a part, plain text."""
    parts: list[tuple[int | None, RoleAdvantage]] = [(None, made.role_advantage)]
    if made.parts > 1:
        parts = [(part.part, part.role_advantage) for part in made.part_list]
    told = []
    for number, advantage in parts:
        sentence = _advantage(advantage)
        where = f"Part {number}: {sentence[0]}" if number else sentence[0].upper()
        told.append(f"{where}{sentence[1:]}.")
    return told


def _role_sentence(made: Standings) -> str:
    told = advantages(made)  # nothing of strangers in it
    test = made.role_test
    if test is None:
        told.append(
            "Whether bots differ in which side they play better can't be tested (n/a): it takes 3 "
            "to 200 bots that met on both sides, each of which both won and lost on each side."
        )
    else:
        verdict = "do" if test.p < 0.05 else "can't be shown to"
        told.append(
            f"Bots {verdict} differ in which side they play better "
            f"(likelihood ratio {test.chi2:.1f} on {test.df} df, p&nbsp;=&nbsp;{test.p:.2g}, as if "
            "games on one deal were independent)."
        )
    return f"<p>{' '.join(told)}</p>"


def _advantage(advantage: RoleAdvantage) -> str:
    if advantage.elo is None:
        return "among equal bots, the advantage of a side can't be told"
    side = "Mister X has" if advantage.elo >= 0 else "the detectives have"
    points = f"{abs(advantage.elo):.0f} Elo points"
    if advantage.bounded:
        guess = f" (by the prior alone, {side} {points})" if round(advantage.elo) else ""
        return (
            "which side has an advantage among equal bots can't be told: results do not bound "
            f"it{guess}"
        )
    text_of = f"among equal bots, {side} an advantage of {points}"
    if not round(advantage.elo):
        text_of = "among equal bots, no side has an advantage"
    low, high = advantage.low, advantage.high
    if low is None or high is None:
        return f"{text_of}, its error can't be told"
    ends = (low, high) if advantage.elo >= 0 else (-high, -low)
    return minus(f"{text_of} (95 %: {ends[0]:.0f} to {ends[1]:.0f})")


def win_rates(report: Report, places: Places) -> str:
    """Every Mister X bot against every detectives bot, as a heat map and as a table."""
    made = report.matrix
    if not made.cells:
        return "<p>No game has a winner.</p>"
    rows, columns = made.mister_x[:MAX_MATRIX], made.detectives[:MAX_MATRIX]
    forfeits = "A game lost by a fault counts as an escape, or as caught."
    lead = (
        "<p>How often the bot in the row, as Mister X, escaped from the bot in the column, with "
        "Wilson's 95&nbsp;% interval and games. Averages take each opponent alike."
        f"{f' {forfeits}' if report.counts.forfeits else ''}</p>"
    )
    figure = f'<figure class="heat scroll" tabindex="0">{charts.heat_map(made)}</figure>'
    heads = [
        Column("Mister X \\ detectives", "text"),
        *(Column(linked(name(bot), places.bot(bot))) for bot in columns),
        Column("escapes on average"),
    ]
    few = len(rows) <= MAX_CELLS and len(columns) <= MAX_CELLS
    body: list[list[Cell | str]] = []
    for place, bot in enumerate(rows):
        cells = [
            _leading(share(cell), places.pairing(bot, other) if few and bot != other else None)
            for other, cell in zip(columns, made.cells[place], strict=False)
        ]
        body.append(
            [linked(name(bot), places.bot(bot)), *cells, percent(made.mister_x_average[place])]
        )
    last = [percent(value) for value in made.detectives_average[: len(columns)]]
    body.append(["catches on average", *last, ""])
    cut = ""
    if len(made.mister_x) > len(rows) or len(made.detectives) > len(columns):
        cut = f"<p>The first {MAX_MATRIX} bots of each side; all are in matrix.csv.</p>"
    return lead + figure + table("Escapes, row against column", heads, body, kind="matrix") + cut


def _leading(cell: Cell, to: str | None) -> Cell:
    """A cell whose rate leads somewhere."""
    rate, space, rest = cell.markup.partition(" ")
    return Cell(linked(rate, to) + space + rest, cell.kind)


def superiority(made: Standings, places: Places) -> str:
    """The matrix of likelihoods that one bot is stronger than another."""
    bots = made.bots[:MAX_MATRIX]
    if len(bots) < 2:
        return "<p>It takes two bots to compare.</p>"
    if all(bot.se is None for bot in made.bots):
        return "<p>n/a: likelihoods come from errors, and errors are told from two deals on.</p>"
    lead = (
        "<p>Likelihood that the bot in the row is stronger than the one in the column. Between "
        "2.5&nbsp;% and 97.5&nbsp;% the games leave it open.</p>"
    )
    heads = [
        Column("stronger \\ than", "text"),
        *(Column(linked(name(bot.name), places.bot(bot.name))) for bot in bots),
    ]
    body: list[list[Cell | str]] = []
    for place, bot in enumerate(bots):
        cells: list[Cell | str] = []
        for other, value in enumerate(made.los[place][: len(bots)]):
            if other == place:
                cells.append(Cell("·", "na cells"))
            else:
                cells.append(NA if value is None else Cell(likelihood(value), "cells"))
        body.append([linked(name(bot.name), places.bot(bot.name)), *cells])
    cut = ""
    if len(made.bots) > len(bots):
        cut = f"<p>The first {MAX_MATRIX} of {len(made.bots):,} bots; all are in report.json.</p>"
    return lead + table("Likelihood of superiority", heads, body, kind="matrix") + cut


def likelihood(value: float) -> str:
    """In per cent; never 0 or 100, which no number of games gives."""
    return percent(min(max(value, 1e-6), 1 - 1e-6), 1)


def history(report: Report, places: Places) -> str:
    """Ratings of this run and earlier ones of the same ruleset, as a plot and a table."""
    runs = [run for run in report.history if run.ratings]
    if len(runs) < 2:
        return (
            "<p>This is the only run of its ruleset in this data folder with ratings: the next one "
            "stands beside it.</p>"
        )
    order = [bot.name for bot in report.ratings.bots]
    shown = runs[-MAX_RUNS:]
    lead = (
        "<p>Runs of the same ruleset in this data folder. Each run's ratings are about the mean "
        "of its own bots, so a line moves with the field too: compare gaps. Where an interval has "
        "an open end, or can't be told, none is drawn.</p>"
    )
    cut = ""
    if len(order) > charts.MAX_LINES:
        cut += f"<p>The first {charts.MAX_LINES} bots of this run are drawn.</p>"
    if len(runs) > len(shown):
        cut += f"<p>The last {len(shown)} of {len(runs)} runs; all are in report.json.</p>"
    figure = f'<figure class="scroll" tabindex="0">{charts.history_plot(runs, order)}</figure>'
    elos = [{rating.bot: rating.elo for rating in run.ratings} for run in shown]
    heads = [Column("bot", "name text"), *(Column(_run(run.run, run.created)) for run in shown)]
    rows: list[list[Cell | str]] = [
        [
            linked(name(bot), places.bot(bot)),
            *(elo(run[bot]) if bot in run else Cell("·", "na") for run in elos),
        ]
        for bot in order[:MAX_MATRIX]
    ]
    return lead + figure + table("Elo in each run, a dot where it did not play", heads, rows) + cut


def _run(run: str, created: str) -> str:
    return f"{text(run[:10])} <small>{text(created[:10])}</small>"
