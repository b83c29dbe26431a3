"""What the data folder holds: the database, the run that is meant, its games as rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

import click
import msgspec

from arena.cli.options import Word
from arena.errors import ConfigError
from arena.referee.record import FaultKind, SideWord
from arena.rules import registry
from arena.store.database import Database
from arena.store.games import GameRef, StoredGame
from arena.store.runs import Run
from arena.tournament.benching import Judged
from arena.tournament.pairings import Pairing
from arena.tournament.paths import kind_of, why_not
from arena.tournament.plan import Plan, Section

__all__ = [
    "DATABASE",
    "Row",
    "check_no_database",
    "check_open_to_all",
    "chosen",
    "find_game",
    "find_run",
    "judged_in",
    "open_data",
    "rows",
    "ruleset_of_run",
    "run_argument",
    "spoil_option",
]

DATABASE = "arena.sqlite3"
DATABASES = frozenset(f"{DATABASE}{end}" for end in ("", "-wal", "-shm", "-journal", ".lock"))

run_argument = click.argument("run", required=False, metavar="[RUN]", type=Word())
spoil_option = click.option(
    "--spoil", is_flag=True, help="Show games of a run that is not over, and so its secret deals."
)

ruleset_of_run = click.option(
    "--ruleset",
    metavar="R",
    type=Word(),
    help="Of a run with several rulesets only the games of this one.",
)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A game of a run as it counts; `stored` is None for a forfeit that was not played."""

    game: str
    index: int
    deal: int
    mister_x: str
    detectives: str
    winner: SideWord | None
    reason: str
    mister_x_fault: FaultKind | None
    detectives_fault: FaultKind | None
    counts: bool
    stored: StoredGame | None


def open_data(data: Path, *, create: bool = False) -> Database:
    """Open the data folder's database.

    Raises:
        ConfigError: if there is none and none may be made.
    """
    file = data / DATABASE
    if not create and kind_of(file) is None:
        why = why_not(file)
        if why:
            raise ConfigError(f"{file} can't be looked at ({why}); name another --data.")
        raise ConfigError(
            f"{data} holds no runs; `arena run` makes some, or name another folder with --data."
        )
    return Database(file, create=create)


def check_no_database(output: Path | None, data: Path) -> None:
    """Refuse to write over a database, or over what SQLite keeps beside it.

    Args:
        output: as `-o` names it; None is always right.
        data: the data folder, whose files are known by whatever name leads to them.

    Raises:
        ConfigError: if games would be lost.
    """
    if output is None:
        return
    wrong = not DATABASES.isdisjoint((output.name, Path(os.path.realpath(output)).name))
    for name in DATABASES:
        with suppress(OSError):
            wrong = wrong or output.samefile(data / name)
    if wrong:
        raise ConfigError(f"{output}: games are stored in this file; name another one with -o.")


def find_run(database: Database, prefix: str | None) -> Run:
    """Return the run whose id begins like this; without a prefix the last tournament.

    A game played by `arena play` is a run of its own too; it is meant only if it is named, or if
    there is nothing else.
    """
    if prefix is None:
        for run in database.runs():
            if run.plan.rated:
                return run
    return database.find_run(prefix)


def find_game(database: Database, word: str | None) -> GameRef:
    """Return the game that `GAME` or `RUN/GAME` names; without a word the one stored last.

    Raises:
        ConfigError: if there is none, or more than one.
    """
    run, slash, game = (word or "").partition("/")
    if slash and not (run and game):
        raise ConfigError(f"{word!r} names no game: write the beginning of its id, or RUN/GAME.")
    return database.find_game(word)


def check_open_to_all(run: Run, *, spoil: bool) -> None:
    """Refuse to show games of a run whose deals are still a secret.

    Raises:
        ConfigError: unless the run is over, has an open seed, or `spoil` says to show them.
    """
    if run.state == "over" or run.plan.open_seed is not None or spoil:
        return
    raise ConfigError(
        f"run {run.id} is not over, and its games would tell its secret deals: finish it with "
        f"`arena resume {run.id}`, or add --spoil."
    )


def judged_in(database: Database, run: Run, section: Section | None = None) -> Iterator[Judged]:
    """Yield the games of a run, or of one of its rulesets, as they were judged, in plan order."""
    plan = run.plan
    if section is None or not plan.also:
        return database.judged(run)
    return (game for game in database.judged(run) if plan.section(game.index) == section)


def rows(
    database: Database,
    run: Run,
    section: Section | None = None,
    *,
    halves: Literal[0, 1, 2] = 0,
) -> Iterator[Row]:
    """Yield the games of a run as they count, in plan order; benching and void games included.

    Args:
        database: where it is stored.
        run: whose games.
        section: only those of this ruleset.
        halves: of each record, as of `Database.stored_games`.
    """
    plan = run.plan
    stored = database.stored_games(run, halves=halves)
    head = next(stored, None)
    for judged in judged_in(database, run, section):
        while head is not None and head.index < judged.index:
            head = next(stored, None)
        own = head if head is not None and head.index == judged.index else None
        yield row(plan, judged, own)


def row(plan: Plan, judged: Judged, stored: StoredGame | None) -> Row:
    """Return a judged game with names for places."""
    pairing = Pairing(judged.deal, judged.mister_x, judged.detectives)
    return Row(
        game=stored.game if stored else plan.game_id(judged.index, pairing),
        index=judged.index,
        deal=judged.deal,
        mister_x=plan.entrants[judged.mister_x].name,
        detectives=plan.entrants[judged.detectives].name,
        winner=judged.winner,
        reason=judged.reason,
        mister_x_fault=judged.mister_x_fault,
        detectives_fault=judged.detectives_fault,
        counts=judged.counts,
        stored=stored,
    )


def chosen(run: Run, ruleset: str | None) -> tuple[Section, ...]:
    """Return the sections of a run that are to be told of.

    Raises:
        ConfigError: if the run has no such ruleset.
    """
    sections = run.plan.sections
    if ruleset is None:
        return sections
    found = tuple(each for each in sections if each.ruleset == registry.make(ruleset).text)
    if not found:
        raise ConfigError(
            f"run {run.id} has no games of {ruleset}; it has "
            f"{', '.join(section.ruleset for section in sections)}."
        )
    return found
