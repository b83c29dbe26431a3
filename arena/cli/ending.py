"""What a run came to: counted, rated, shown and told; for `run` and `resume`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from arena.cli import answers
from arena.cli.exits import Exit
from arena.cli.ratings_shown import matrix_table, ratings_table
from arena.cli.stored import Row, rows
from arena.cli.talk import Talk, plural
from arena.cli.tally import duration
from arena.referee.record import FaultKind, SideWord
from arena.store.database import Database
from arena.store.runs import Run

if TYPE_CHECKING:
    from reports.played import Played

__all__ = ["Ending", "ending_of", "fault_alerts", "tell_ending"]


class BotFaults(msgspec.Struct, frozen=True, kw_only=True):
    """Faults of one kind: how many by bot, and the first one."""

    by_bot: Counter[str]
    game: str
    text: str | None


class Ending(msgspec.Struct, kw_only=True):
    """The games of a run as they count now."""

    games: answers.GamesCount
    faults: dict[FaultKind, BotFaults]
    played: Any  # reports.played.Played: games that have a winner and count
    void: tuple[str, ...]  # ids of games that stay void

    @property
    def code(self) -> Exit:
        """The exit code of a run that is over."""
        if self.games.void:
            return Exit.OURS
        return Exit.FAULTS if self.faults else Exit.DONE


def ending_of(database: Database, run: Run) -> Ending:
    """Read what a run came to; games in plan order, so equal games give equal numbers."""
    from reports.played import gather

    counted: list[Row] = []
    played = 0
    void: list[str] = []
    faults: dict[FaultKind, BotFaults] = {}
    for row in rows(database, run):
        if row.reason == "void":
            void.append(row.game)
            continue
        played += 1
        note_faults(row, faults)
        if row.counts and row.winner is not None:
            counted.append(row)
    gathered: Played = gather(
        [row.mister_x for row in counted],
        [row.detectives for row in counted],
        [row.winner == "mister_x" for row in counted],
        [str(row.deal) for row in counted],
    )
    return Ending(
        games=answers.GamesCount(planned=run.plan.count, played=played, void=len(void)),
        faults=faults,
        played=gathered,
        void=tuple(void),
    )


def note_faults(row: Row, faults: dict[FaultKind, BotFaults]) -> None:
    """Count the faults of a game."""
    sides: tuple[tuple[SideWord, str, FaultKind | None], ...] = (
        ("mister_x", row.mister_x, row.mister_x_fault),
        ("detectives", row.detectives, row.detectives_fault),
    )
    for side, bot, kind in sides:
        if kind is None:
            continue
        if kind not in faults:
            seat = getattr(row.stored, side) if row.stored else None
            faults[kind] = BotFaults(
                by_bot=Counter(), game=row.game, text=seat.fault_text if seat else None
            )
        faults[kind].by_bot[bot] += 1


def fault_alerts(ending: Ending) -> list[str]:
    """Return a line for each kind of fault: how many, whose, and what the first one was."""
    lines = []
    for kind, faults in ending.faults.items():
        who = ", ".join(f"{bot} {count:,}" for bot, count in faults.by_bot.most_common())
        line = f"{plural(faults.by_bot.total(), 'fault')} of kind {kind}: {who}"
        if faults.text:
            line += f"; first in game {faults.game[:10]}: {faults.text}"
        lines.append(line)
    return lines


def tell_ending(
    talk: Talk, run: Run, ending: Ending, *, report: Path | None, took_s: float
) -> None:
    """Print ratings, win rates, alerts and where the report lies; with `--json` the object."""
    from reports.ratings import Settings
    from reports.standings import standings
    from reports.win_rates import matrix

    rated = None
    if len(ending.played.mister_x):
        rated = standings(ending.played, Settings())
        talk.result(ratings_table(rated))
        talk.result("")
        talk.result(matrix_table(matrix(ending.played, order=[bot.name for bot in rated.bots])))
        for line in rated.warnings:
            talk.warn(line)
    for line in fault_alerts(ending):
        talk.warn(line)
    if ending.void:
        shown = ", ".join(game[:10] for game in ending.void[:5])
        talk.warn(f"{plural(len(ending.void), 'game')} stayed void, by our own fault: {shown}")
    games = ending.games
    talk.say(
        f"Run {run.id}: {games.played:,} of {plural(games.planned, 'game')}, "
        f"{duration(took_s)} this time."
    )
    if run.state == "over":
        talk.say(f"Its secret was {run.plan.secret}.")
    if report is not None:
        talk.result(f"Report: {report}")
    talk.answer(
        answers.Run(
            run=run.id,
            games=games,
            faults={kind: found.by_bot.total() for kind, found in ending.faults.items()},
            ratings=None if rated is None else msgspec.to_builtins(rated),
            report=None if report is None else str(report),
            secret_sha256=run.plan.commitment,
            took_s=round(took_s, 3),
        )
    )
