"""The report in short as Markdown: standings, win rates, faults; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reports.names import shortened, shown
from reports.report import Report
from reports.site.strengths import advantages
from reports.standings import Standing

__all__ = ["markdown"]

MAX_MATRIX = 24


def markdown(report: Report) -> str:
    """The report as one Markdown text; names are shown as text, whatever is in them."""
    counts, made = report.counts, report.ratings
    lines = [f"# {_plain(report.meta.title)}", ""]
    if report.meta.ruleset:
        lines += [f"Ruleset: {_plain(report.meta.ruleset)}", ""]
    verb = "counts" if counts.counted == 1 else "count"
    lines.append(f"{_games(counts.counted)} {verb}, {counts.forfeits:,} of them forfeits.")
    verb = "counts" if counts.excluded == 1 else "count"
    deals = f"{counts.deals:,} {'deal' if counts.deals == 1 else 'deals'}"
    lines += [f"{_games(counts.excluded)} {verb} for nobody. {deals}.", ""]
    lines += [f"- {_plain(text)}" for text in (*report.meta.notes, *made.warnings)]
    lines += ["", "## Standings", ""]
    if made.bots:
        lines += [*advantages(made), ""]
    lines += _table(
        ("rank", "bot", "Elo", "95 %", "as Mister X", "as detectives", "games"),
        (
            (
                _rank(bot),
                _plain(shortened(bot.name, 60)),
                _elo(bot.elo),
                _range(bot),
                _elo(bot.mister_x),
                _elo(bot.detectives),
                f"{bot.games:,}",
            )
            for bot in made.bots
        ),
    )
    matrix = report.matrix
    columns = matrix.detectives[:MAX_MATRIX]
    lines += ["", "## Win rates of Mister X (row) against detectives (column)", ""]
    lines += _table(
        ("", *(_plain(shortened(bot, 24)) for bot in columns)),
        (
            (
                _plain(shortened(bot, 24)),
                *(
                    "·" if cell.rate is None else f"{100 * cell.rate:.0f} % of {cell.games:,}"
                    for cell in row[: len(columns)]
                ),
            )
            for bot, row in zip(
                matrix.mister_x[:MAX_MATRIX], matrix.cells[:MAX_MATRIX], strict=True
            )
        ),
    )
    lines += ["", "## How games ended", ""]
    lines += _table(
        ("reason", "won by", "games", "rounds, mean"),
        (
            (
                _plain(f"{end.reason}: {end.fault}" if end.fault else end.reason),
                "Mister X" if end.winner == "mister_x" else "detectives",
                f"{end.games:,}",
                "n/a" if end.rounds is None else f"{end.rounds:.1f}",
            )
            for end in report.ends
        ),
    )
    lines += ["", "## Faults", ""]
    if report.faults:
        lines += _table(
            ("bot", "kind", "phase", "games", "first game"),
            (
                (
                    _plain(shortened(fault.bot, 60)),
                    fault.kind,
                    fault.phase or "·",
                    f"{fault.games:,}",
                    fault.first_game[:10],
                )
                for fault in report.faults
            ),
        )
    else:
        lines.append("None.")
    return "\n".join(lines) + "\n"


def _games(count: int) -> str:
    return f"{count:,} {'game' if count == 1 else 'games'}"


def _plain(text: str) -> str:
    """Text with every character escaped that Markdown or HTML could take for markup."""
    safe = shown(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]()#+!|~-])", r"\\\1", safe)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def _elo(value: float | None) -> str:
    return "n/a" if value is None else f"{value:+.0f}"


def _rank(bot: Standing) -> str:
    if bot.rank_low is None or bot.rank_high is None:
        return "n/a"
    return str(bot.rank_low) if bot.rank_low == bot.rank_high else f"{bot.rank_low}-{bot.rank_high}"


def _range(bot: Standing) -> str:
    if bot.low is None and bot.high is None:
        return "n/a"
    if bot.low is None:
        return f"up to {bot.high:+.0f}"
    return f"from {bot.low:+.0f}" if bot.high is None else f"{bot.low:+.0f} to {bot.high:+.0f}"
