"""The page of a report: pure, from the report's data to one HTML text without any script."""

from __future__ import annotations

from datetime import datetime, timedelta
from importlib.resources import files
from string import Template

from reports import charts
from reports.report import Report
from reports.site.markup import (
    NA,
    Cell,
    Column,
    elo,
    minus,
    name,
    percent,
    section,
    share,
    table,
    text,
)
from reports.standings import RoleAdvantage, Standing, Standings

__all__ = ["page"]

MAX_MATRIX = 24  # bots of a matrix on the page; all of them are in the files
MAX_ROWS = 200  # rows of a list on the page
SIDES = {"mister_x": "Mister X", "detectives": "detectives"}


def page(report: Report, *, files_beside: tuple[str, ...] = ()) -> str:
    """The whole page.

    Args:
        report: what to show.
        files_beside: names of files in the same folder, to link to.
    """
    here = files("reports.site")
    made = [
        ("standings", "Standings", _standings(report)),
        ("win-rates", "Win rates", _win_rates(report)),
        ("superiority", "Who is stronger", _superiority(report.ratings)),
        ("ends", "How games ended", _ends(report)),
        ("faults", "Faults", _faults(report)),
        ("times", "Time use", _times(report)),
        ("excluded", "Games that count for nobody", _excluded(report)),
        ("reading", "How to read this", _reading()),
    ]
    links = "\n".join(f'<li><a href="#{anchor}">{head}</a></li>' for anchor, head, _ in made)
    beside = ", ".join(f'<a href="{text(file)}">{text(file)}</a>' for file in files_beside)
    return Template(here.joinpath("page.html").read_text("utf-8")).substitute(
        title=text(report.meta.title),
        style=here.joinpath("style.css").read_text("utf-8").strip(),
        facts=_facts(report),
        notes=_notes(report.meta.notes),
        links=links,
        sections="\n".join(section(anchor, head, body) for anchor, head, body in made),
        files=f"The same numbers as files: {beside}." if beside else "",
    )


def _facts(report: Report) -> str:
    meta, counts = report.meta, report.counts
    shown = [
        ("Games that count", f"{counts.counted:,}", "big"),
        ("Bots", f"{len(report.ratings.bots):,}", "big"),
        ("Deals", f"{counts.deals:,}", "big"),
    ]
    if counts.forfeits:
        shown.append(("Decided by faults", f"{counts.forfeits:,}", "big"))
    if counts.excluded:
        shown.append(("Count for nobody", f"{counts.excluded:,}", "big"))
    plain = [
        ("Ruleset", meta.ruleset),
        ("Run", meta.run),
        ("Begun", _time(meta.created)),
        ("Over", _time(meta.finished)),
        ("Arena", meta.arena),
        *meta.facts,
    ]
    shown += [(label, value, "") for label, value in plain if value]
    lines = []
    for label, value, kind in shown:
        wide = ' class="wide"' if len(value) > 24 else ""
        big = f' class="{kind}"' if kind else ""
        head = label[:1].upper() + label[1:]
        lines.append(f"<div{wide}><dt>{text(head)}</dt><dd{big}>{text(value)}</dd></div>")
    return f'<dl class="facts">\n{"".join(lines)}\n</dl>'


def _time(stamp: str | None) -> str | None:
    """A UTC time to the minute; what is no ISO 8601 stays as it is."""
    if stamp is None:
        return None
    try:
        told = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    return (
        told.strftime("%Y-%m-%d %H:%M UTC") if told.utcoffset() in (None, timedelta(0)) else stamp
    )


def _notes(sentences: list[str]) -> str:
    if not sentences:
        return ""
    items = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
    return f'<ul class="notes">{items}</ul>'


def _standings(report: Report) -> str:
    made = report.ratings
    if not made.bots:
        return "<p>No game has a winner yet, so there is nothing to rate.</p>"
    shares = {row.bot: row for row in report.shares}
    without = report.without_faults
    clean = None if without is None else {bot.name: bot.elo for bot in without.bots}
    parts = [_role_sentence(made), _notes(made.warnings)]
    parts.append(f'<figure class="scroll" tabindex="0">{charts.rating_plot(made)}</figure>')
    groups = sorted({(bot.part, bot.group) for bot in made.bots})
    for number, (part, group) in enumerate(groups, start=1):
        bots = [bot for bot in made.bots if (bot.part, bot.group) == (part, group)]
        caption = "Best first. Elo about the mean, with 95 % intervals"
        if len(groups) > 1:
            caption = f"List {number} of {len(groups)}: can't be compared with the others"
        columns = [
            Column("rank"),
            Column("bot", "name text"),
            Column("Elo"),
            Column("95 %"),
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
                _rank(bot),
                name(bot.name),
                elo(bot.elo),
                _range(bot.low, bot.high),
                elo(bot.mister_x),
                elo(bot.detectives),
                share(shares[bot.name].mister_x),
                share(shares[bot.name].detectives),
                f"{bot.games:,}",
            ]
            if clean is not None:
                row.insert(4, elo(clean.get(bot.name)))
            rows.append(row)
        parts.append(table(caption, columns, rows, row_heading=1))
    return "\n".join(part for part in parts if part)


def _rank(bot: Standing) -> Cell:
    if bot.rank_low is None or bot.rank_high is None:
        return NA
    if bot.rank_low == bot.rank_high:
        return Cell(str(bot.rank_low))
    return Cell(f"{bot.rank_low}–{bot.rank_high}")  # noqa: RUF001 - a range


def _range(low: float | None, high: float | None) -> Cell:
    if low is None and high is None:
        return NA
    if low is None:
        return Cell(minus(f"up to {high:.0f}"))
    if high is None:
        return Cell(minus(f"from {low:.0f}"))
    return Cell(minus(f"{low:.0f} to {high:.0f}"))


def _role_sentence(made: Standings) -> str:
    advantages: list[tuple[int | None, RoleAdvantage]] = [(None, made.role_advantage)]
    if made.parts > 1:
        advantages = [(part.part, part.role_advantage) for part in made.part_list]
    told = []
    for number, advantage in advantages:
        where = f"Part {number}: among" if number else "Among"
        told.append(f"{where} equal bots, {_advantage(advantage)}.")
    test = made.role_test
    if test is not None:
        verdict = "do" if test.p < 0.05 else "can't be shown to"
        told.append(
            f"Bots {verdict} differ in which side they play better "
            f"(likelihood ratio {test.chi2:.1f} on {test.df} df, p = {test.p:.2g})."
        )
    return f"<p>{' '.join(told)}</p>"


def _advantage(advantage: RoleAdvantage) -> str:
    if advantage.elo is None:
        return "the advantage of a side can't be told"
    side = "Mister X has" if advantage.elo >= 0 else "the detectives have"
    text_of = f"{side} an advantage of {abs(advantage.elo):.0f} Elo points"
    if advantage.bounded:
        return f"{text_of}, which only the prior keeps finite"
    low, high = advantage.low, advantage.high
    if low is None or high is None:
        return f"{text_of}, its error can't be told"
    ends = (low, high) if advantage.elo >= 0 else (-high, -low)
    return minus(f"{text_of} (95 %: {ends[0]:.0f} to {ends[1]:.0f})")


def _win_rates(report: Report) -> str:
    made = report.matrix
    if not made.cells:
        return "<p>No game has a winner.</p>"
    rows, columns = made.mister_x[:MAX_MATRIX], made.detectives[:MAX_MATRIX]
    lead = (
        "<p>How often the bot in the row, as Mister X, escaped from the bot in the column, with "
        "Wilson's 95 % interval and games. Averages take each opponent alike.</p>"
    )
    figure = f'<figure class="heat scroll" tabindex="0">{charts.heat_map(made)}</figure>'
    heads = [
        Column("Mister X \\ detectives", "text"),
        *(Column(name(bot)) for bot in columns),
        Column("escapes on average"),
    ]
    body: list[list[Cell | str]] = []
    for place, bot in enumerate(rows):
        cells = [share(cell) for cell in made.cells[place][: len(columns)]]
        body.append([name(bot), *cells, percent(made.mister_x_average[place])])
    last = [percent(value) for value in made.detectives_average[: len(columns)]]
    body.append(["catches on average", *last, ""])
    cut = ""
    if len(made.mister_x) > len(rows) or len(made.detectives) > len(columns):
        cut = f"<p>The first {MAX_MATRIX} bots of each side; all are in matrix.csv.</p>"
    return lead + figure + table("Escapes, row against column", heads, body, kind="matrix") + cut


def _superiority(made: Standings) -> str:
    bots = made.bots[:MAX_MATRIX]
    if len(bots) < 2:
        return "<p>It takes two bots to compare.</p>"
    lead = (
        "<p>Likelihood that the bot in the row is stronger than the one in the column. Between "
        "2.5 % and 97.5 % the games leave it open.</p>"
    )
    heads = [Column("stronger \\ than", "text"), *(Column(name(bot.name)) for bot in bots)]
    body: list[list[Cell | str]] = []
    for place, bot in enumerate(bots):
        cells: list[Cell | str] = []
        for other, value in enumerate(made.los[place][: len(bots)]):
            if other == place:
                cells.append(Cell("·", "na cells"))
            else:
                cells.append(NA if value is None else Cell(_likelihood(value), "cells"))
        body.append([name(bot.name), *cells])
    return lead + table("Likelihood of superiority", heads, body, kind="matrix")


def _likelihood(value: float) -> str:
    """In per cent; never 0 or 100, which no number of games gives."""
    return percent(min(max(value, 1e-6), 1 - 1e-6), 1)


def _ends(report: Report) -> str:
    counted = report.counts.counted
    if not counted:
        return "<p>No game has a winner.</p>"
    rows: list[list[Cell | str]] = []
    for end in report.ends:
        reason = f"{end.reason}: {end.fault}" if end.fault else end.reason
        rounds = NA if end.rounds is None else f"{end.rounds:.1f}"
        side = SIDES.get(end.winner, end.winner)
        rows.append(
            [text(reason), text(side), f"{end.games:,}", percent(end.games / counted), rounds]
        )
    heads = [
        Column("reason", "text"),
        Column("won by", "text"),
        Column("games"),
        Column("share"),
        Column("rounds, mean"),
    ]
    return table("Games that count, by how they ended", heads, rows) + _rounds(report)


def _rounds(report: Report) -> str:
    if not report.rounds:
        return ""
    most = max(row.mister_x + row.detectives for row in report.rounds) or 1
    rows: list[list[Cell | str]] = []
    for row in report.rounds:
        bars = "".join(
            f'<span class="{kind}" style="width:{100 * value / most:.1f}%"></span>'
            for kind, value in (("x", row.mister_x), ("d", row.detectives))
            if value
        )
        rows.append([str(row.round), f"{row.mister_x:,}", f"{row.detectives:,}", Cell(bars, "bar")])
    key = (
        '<p class="soft"><span class="key x">won by Mister X</span>'
        '<span class="key d">won by the detectives</span></p>'
    )
    heads = [
        Column("round", "text"),
        Column("Mister X"),
        Column("detectives"),
        Column("games", "text"),
    ]
    caption = "Round in which games ended, forfeits left out"
    return key + table(caption, heads, rows, kind="bars")


def _faults(report: Report) -> str:
    if not report.faults:
        return "<p>No bot did anything wrong.</p>"
    heads = [
        Column("bot", "name text"),
        Column("kind", "text"),
        Column("phase", "text"),
        Column("games"),
        Column("of its games"),
        Column("first game", "text"),
        Column("what happened there", "text wrap"),
    ]
    rows: list[list[Cell | str]] = [
        [
            name(fault.bot),
            text(fault.kind),
            text(fault.phase or "·"),
            f"{fault.games:,}",
            percent(fault.share),
            f"<code>{text(fault.first_game[:10])}</code>",
            text(fault.text) if fault.text else "·",
        ]
        for fault in report.faults[:MAX_ROWS]
    ]
    return table("Faults by bot, kind and phase", heads, rows) + _cut(len(report.faults))


def _cut(count: int) -> str:
    if count <= MAX_ROWS:
        return ""
    return f"<p>The first {MAX_ROWS} of {count:,}; all are in games.csv.</p>"


def _times(report: Report) -> str:
    if not report.times:
        return "<p>No times were kept.</p>"
    lead = (
        "<p>Charged time of an answer in milliseconds: half of them took at most the median, 95 % "
        "at most the next number. An answer that did not come in time is none of them: it is a "
        "time loss. Start-up is not charged. Off turn is the CPU time that a bot used in a game "
        "while the other side was to move.</p>"
    )
    heads = [
        Column("bot", "name text"),
        Column("side", "text"),
        Column("median"),
        Column("95 %"),
        Column("longest"),
        Column("answers"),
        Column("time losses"),
        Column("start-up, median"),
        Column("off turn, mean"),
    ]
    rows: list[list[Cell | str]] = [
        [
            name(row.bot),
            SIDES.get(row.side, text(row.side)),
            _ms(row.p50_ms),
            _ms(row.p95_ms),
            _ms(row.max_ms),
            f"{row.answers:,}",
            f"{row.time_losses:,}",
            _ms(row.start_p50_ms),
            _ms(row.off_turn_mean_ms),
        ]
        for row in report.times[: 2 * MAX_ROWS]
    ]
    return lead + table("Time use by bot and side, in ms", heads, rows)


def _ms(value: float | None) -> Cell:
    if value is None:
        return NA
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return Cell(f"{value:,.{digits}f}")


def _excluded(report: Report) -> str:
    if not report.excluded:
        return "<p>None: every game of this report counts.</p>"
    heads = [
        Column("game", "text"),
        Column("no."),
        Column("deal"),
        Column("Mister X", "name text"),
        Column("detectives", "name text"),
        Column("rule", "text"),
    ]
    rows: list[list[Cell | str]] = [
        [
            f"<code>{text(row.game[:10])}</code>",
            f"{row.index:,}",
            text(row.deal),
            name(row.mister_x),
            name(row.detectives),
            text(row.rule),
        ]
        for row in report.excluded[:MAX_ROWS]
    ]
    return table("Each with the rule that leaves it out", heads, rows) + _cut(len(report.excluded))


def _reading() -> str:
    return (
        "<p>Ratings are in Elo points: 100 points more give 64 % of the games between equal sides, "
        "400 points more 91 %. They come from one logistic fit over all games with a term for the "
        "advantage of a side, and with a weak prior that keeps perfect scores finite. Games on one "
        "deal share its luck, so errors are clustered on deals; two ratings differ for sure only "
        "where <a href='#superiority'>the likelihood of superiority</a> says so, not where their "
        "intervals happen to part.</p>"
        "<p>A rank range holds every place that the games leave open. A number that can't be told "
        "is written n/a, never as a guess. Games lost by a fault count, and are shown; where there "
        "are any, ratings without them stand beside.</p>"
    )
