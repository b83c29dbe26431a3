"""What a run came to: counted, rated, shown and told; for `run`, `resume` and `report`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import arena
from arena.cli import answers
from arena.cli.exits import Exit
from arena.cli.game_table import table_row, told_rows
from arena.cli.past_runs import past_runs
from arena.cli.played_shown import faults_table, left_out, times_table
from arena.cli.ratings_shown import matrix_table, ratings_table
from arena.cli.stored import Row
from arena.cli.talk import Talk, plural
from arena.cli.tally import duration, minute
from arena.errors import ConfigError
from arena.referee.record import FaultKind
from arena.rules import registry
from arena.rules.ruleset import NamesPlaces
from arena.sandbox.refusals import NO_SANDBOX_WARNING
from arena.store.database import Database
from arena.store.games import GameRef
from arena.store.runs import Run
from arena.tournament.plan import Section
from reports.choosing import CHOSEN, Wanted
from reports.frames import Games
from reports.report import FaultCount, Meta, Report, build
from reports.site import Written, folder_of, write, write_several

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "Ending",
    "Endings",
    "ending_of",
    "endings_of",
    "fault_alerts",
    "tell_ending",
    "tell_games",
    "tell_written",
    "write_report",
]


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """The games of a run in one ruleset, as they count now."""

    ruleset: str
    games: answers.GamesCount
    faults: dict[FaultKind, int]
    void: tuple[str, ...]  # ids of games that stay void
    table: Games
    report: Report
    after_secret: answers.AfterSecret | None = None


class Endings(msgspec.Struct, frozen=True, kw_only=True):
    """All games of a run as they count now; of each ruleset apart."""

    each: tuple[Ending, ...]

    @property
    def games(self) -> answers.GamesCount:
        """Games of all rulesets together."""
        return answers.GamesCount(
            planned=sum(ending.games.planned for ending in self.each),
            played=sum(ending.games.played for ending in self.each),
            void=sum(ending.games.void for ending in self.each),
        )

    @property
    def faults(self) -> dict[FaultKind, int]:
        """Faults of all rulesets together."""
        found: Counter[FaultKind] = Counter()
        for ending in self.each:
            found.update(ending.faults)
        return dict(found)

    @property
    def after_secret(self) -> answers.AfterSecret | None:
        """Games of all rulesets together."""
        found = [ending.after_secret for ending in self.each if ending.after_secret is not None]
        if not found:
            return None
        return msgspec.structs.replace(found[0], games=sum(each.games for each in found))

    @property
    def code(self) -> Exit:
        """The exit code of a run that is over."""
        if self.games.void:
            return Exit.OURS
        return Exit.FAULTS if self.faults else Exit.DONE


class Counting:
    """Counts games on their way into the table."""

    def __init__(self) -> None:
        self.played = 0
        self.unsandboxed = 0
        self.after_secret = 0
        self.void: list[str] = []
        self.faults: Counter[FaultKind] = Counter()

    def counted(self, found: Iterator[Row]) -> Iterator[Row]:
        """Count each game and pass it on."""
        for row in found:
            if row.reason == "void":
                self.void.append(row.game)
            else:
                self.played += 1
            if row.stored is not None and "unsandboxed" in row.stored.marks:
                self.unsandboxed += 1
            self.after_secret += row.stored is not None and row.stored.after_secret
            for fault in (row.mister_x_fault, row.detectives_fault):
                if fault is not None:
                    self.faults[fault] += 1
            yield row


def endings_of(database: Database, run: Run) -> Endings:
    """Read what a run came to; games in plan order, so equal games give equal numbers."""
    sections = run.plan.sections
    return Endings(each=tuple(ending_of(database, run, section) for section in sections))


def ending_of(database: Database, run: Run, section: Section) -> Ending:
    """Read what a run came to in one ruleset."""
    counting = Counting()
    row_of = partial(table_row, run)
    table = Games.collect(map(row_of, counting.counted(told_rows(database, run, section))))
    games = answers.GamesCount(
        planned=run.plan.count_of(section), played=counting.played, void=len(counting.void)
    )
    after_secret = after_secret_of(database, run, counting.after_secret)
    return Ending(
        ruleset=section.ruleset,
        games=games,
        after_secret=after_secret,
        faults=dict(counting.faults),
        void=tuple(counting.void),
        table=table,
        report=build(
            table,
            meta_of(run, section, games, counting.unsandboxed, after_secret),
            past=past_runs(database, run, section.ruleset),
            names=names_of(section.ruleset),
        ),
    )


def after_secret_of(database: Database, run: Run, games: int) -> answers.AfterSecret | None:
    """Return whose games were played after the secret was shown; None if there are none."""
    if not games or run.finished is None or run.plan.open_seed is not None:
        return None
    return answers.AfterSecret(
        since=run.finished, games=games, bots=database.changed_since_shown(run)
    )


def told_after_secret(found: answers.AfterSecret) -> str:
    """Return what a person must know of games whose deals were no secret any more."""
    were = "was" if found.games == 1 else "were"
    return (
        f"{plural(found.games, 'game')} {were} played after the run's secret had been shown "
        f"({minute(found.since)}): who has changed {', '.join(found.bots)} since could know the "
        "deals."
    )


def names_of(ruleset: str) -> Mapping[int, str]:
    """Return the names of the places of a ruleset's board, if they have any and it is there."""
    try:
        made = registry.make(ruleset)
    except ConfigError:  # a board that was typed in, and is gone
        return {}
    return made.place_names() if isinstance(made, NamesPlaces) else {}


def write_report(
    database: Database, run: Run, endings: Endings, folder: Path, *, replays: Wanted = CHOSEN
) -> Written:
    """Write the report's folder, with the replays that are wanted.

    Left out, they are at most so many that nobody waits for them at the end of a run. Of several
    rulesets each has a folder of its own in it, and the first page leads there.

    Raises:
        StoreError: if the disk is full.
        ConfigError: if the folder can't be written to, or a record is damaged.
    """
    reports = {folder_of(ending.ruleset): (ending.report, ending.table) for ending in endings.each}
    written = {
        name: write(
            report,
            table,
            folder / name if len(reports) > 1 else folder,
            record=lambda game: database.record(GameRef(run=run.id, game=game)),
            replays=replays,
            above=f"Run {run.id}" if len(reports) > 1 else "",
        )
        for name, (report, table) in reports.items()
    }
    if len(reports) == 1:
        return next(iter(written.values()))
    # The page of all of them says once that each stands alone.
    alone = {_alone(run, ending.ruleset) for ending in endings.each}
    first = {
        name: msgspec.structs.replace(
            report,
            meta=msgspec.structs.replace(
                report.meta, notes=[note for note in report.meta.notes if note not in alone]
            ),
        )
        for name, (report, _) in reports.items()
    }
    return write_several(f"Run {run.id}", first, written, folder)


def _alone(run: Run, ruleset: str) -> str:
    """What is said where a run's games of one ruleset stand without the others."""
    others = [other.ruleset for other in run.plan.sections if other.ruleset != ruleset]
    return (
        f"These are the games of {ruleset} alone; the run has {', '.join(others)} too, "
        "and nothing is pooled."
    )


def meta_of(
    run: Run,
    section: Section,
    games: answers.GamesCount,
    unsandboxed: int,
    after_secret: answers.AfterSecret | None,
) -> Meta:
    """Return what a report tells about the run itself.

    Args:
        run: which.
        section: of which ruleset.
        games: how many there are.
        unsandboxed: how many of them were played with a bot outside of the sandbox.
        after_secret: which of them were played when the secret had been shown.
    """
    plan = run.plan
    facts = [("clock", clock_in_words(run))]
    if plan.open_seed is not None:
        facts.append(("open seed", plan.open_seed))
    facts.append(("SHA-256 of the secret", plan.commitment))
    notes = []
    if run.state == "over":
        facts.append(("secret", plan.secret))
    else:
        notes.append(
            f"This run is not over: {games.played:,} of {games.planned:,} games are played."
        )
    if games.void:
        notes.append(f"{plural(games.void, 'game')} stayed void, by the arena's own fault.")
    if unsandboxed:
        notes.append(
            f"{plural(unsandboxed, 'game')} of {games.played:,} played without the sandbox."
        )
    if after_secret is not None:
        notes.append(told_after_secret(after_secret))
    if plan.also:
        notes.append(_alone(run, section.ruleset))
    return Meta(
        title=f"Run {run.id}" + (f", {section.ruleset}" if plan.also else ""),
        run=run.id,
        ruleset=section.ruleset,
        arena=arena.__version__,
        created=run.created,
        finished=run.finished,
        facts=facts,
        notes=notes,
    )


def clock_in_words(run: Run) -> str:
    """Return a run's time control."""
    plan = run.plan
    if plan.nodes is not None:
        return f"{plan.nodes:,} nodes a turn"
    if plan.clock is None:
        return "none"
    unit = "ms of CPU time" if plan.clock.kind == "cpu" else "ms"
    words = [f"{plan.clock.move_ms:,} {unit} a turn"]
    if plan.clock.bank_ms:
        words.append(f"{plan.clock.bank_ms:,} ms for the game")
    if plan.clock.increment_ms:
        words.append(f"{plan.clock.increment_ms:,} ms added after each")
    if plan.clock.pondering != "watch":
        words.append(f"pondering: {plan.clock.pondering}")
    return ", ".join(words)


def fault_alerts(faults: list[FaultCount]) -> list[str]:
    """Return a line for each kind of fault: how many, whose, and what the first one was."""
    by_kind: dict[str, list[FaultCount]] = {}
    for fault in faults:
        by_kind.setdefault(fault.kind, []).append(fault)
    lines = []
    for kind, found in by_kind.items():
        by_bot: Counter[str] = Counter()
        for fault in found:
            by_bot[fault.bot] += fault.games
        who = ", ".join(f"{bot} {count:,}" for bot, count in by_bot.most_common())
        line = f"{plural(by_bot.total(), 'fault')} of kind {kind}: {who}"
        told = next((fault for fault in found if fault.text), None)
        if told is not None:
            line += f"; the first: {told.text}"
        lines.append(line)
    return lines


def tell_table(talk: Talk, made: Table, lines: int) -> None:
    """Print a table below another one, and how many of its lines are left out."""
    talk.result("")
    talk.result(made)
    more = left_out(lines)
    if more is not None:
        talk.result(more)


def tell_games(talk: Talk, endings: Endings) -> None:
    """Print what the games of each ruleset came to."""
    for number, ending in enumerate(endings.each):
        if len(endings.each) > 1:
            talk.result(f"{'' if number == 0 else chr(10)}{ending.ruleset}\n")
        tell_ruleset(talk, ending)


def tell_ruleset(talk: Talk, ending: Ending) -> None:
    """Print ratings, win rates, faults, time use, and a line for all that must not be missed."""
    report = ending.report
    if report.counts.counted:
        talk.result(ratings_table(report.ratings, report.without_faults))
        talk.result("")
        talk.result(matrix_table(report.matrix, talk.width))
    if report.faults:
        tell_table(talk, faults_table(report.faults), len(report.faults))
    if report.times:
        tell_table(talk, times_table(report.times), len(report.times))
    for line in (*report.ratings.warnings, *fault_alerts(report.faults)):
        talk.warn(line)
    if ending.after_secret is not None:
        talk.warn(told_after_secret(ending.after_secret))
    if ending.void:
        shown = ", ".join(game[:10] for game in ending.void[:5])
        talk.warn(f"{plural(len(ending.void), 'game')} stayed void, by our own fault: {shown}")


def tell_written(talk: Talk, written: Written) -> None:
    """Print where a report lies, and what is missing from it."""
    for note in written.notes:
        talk.warn(note)
    talk.result(f"\nReport: {written.page}")


def tell_ending(talk: Talk, run: Run, endings: Endings, *, written: Written, took_s: float) -> None:
    """Print how a run ended and where its report lies; with `--json` the object."""
    tell_games(talk, endings)
    games = endings.games
    talk.say(
        f"Run {run.id}: {games.played:,} of {plural(games.planned, 'game')}, "
        f"{duration(took_s)} this time."
    )
    if run.plan.sandbox == "none":
        talk.alarm(NO_SANDBOX_WARNING)
    if run.plan.open_seed is None:
        talk.say(f"Its secret was:\n  {run.plan.secret}")
    tell_written(talk, written)
    each = tuple(
        answers.RulesetRatings(
            ruleset=ending.ruleset,
            games=ending.games,
            ratings=msgspec.to_builtins(ending.report.ratings)
            if ending.report.counts.counted
            else None,
        )
        for ending in endings.each
    )
    talk.answer(
        answers.Run(
            run=run.id,
            games=games,
            faults={str(kind): count for kind, count in endings.faults.items()},
            ratings=each[0].ratings if len(each) == 1 else None,
            rulesets=each,
            report=str(written.page.parent),
            secret_sha256=run.plan.commitment,
            took_s=round(took_s, 3),
            after_secret=endings.after_secret,
        )
    )
