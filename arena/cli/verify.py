"""`arena verify`: records replayed against the rules and searched for leaks; vectors checked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import click

from arena.cli import answers
from arena.cli.exits import Exit
from arena.cli.options import PathName, data_option, talking
from arena.cli.record_files import read_records
from arena.cli.stored import find_run, open_data
from arena.cli.talk import Talk, plural
from arena.errors import ArenaError, ConfigError, RecordError
from arena.referee.audit import find_leaks
from arena.referee.record import BotName, BotSpec, GameRecord
from arena.referee.replay import replay
from arena.rules import vectors
from arena.store.database import Database
from arena.store.games import GameRef
from arena.store.runs import Run
from arena.tournament.paths import is_file, why_not

__all__ = ["check_record", "check_stored", "command"]

ID = re.compile("[0-9a-f]+(/[0-9a-f]+)?")  # the beginning of a run's or a game's, or RUN/GAME
SHOWN = 20  # failures on the terminal, and games in a command; --json has them all


@click.command("verify")
@click.argument("records", nargs=-1, metavar="[RUN | RECORD]…")
@click.option(
    "--vectors",
    "vector_files",
    metavar="FILE",
    multiple=True,
    type=PathName(dir_okay=False, path_type=Path),
    help="Check the position vectors of FILE against the rules instead.",
)
@data_option
@talking
def command(
    talk: Talk, records: tuple[str, ...], vector_files: tuple[Path, ...], data: Path
) -> int:
    """Replay records against the rules and search them for leaks.

    RUN is the beginning of a run's id; left out, it is the last one. RECORD is the beginning of a
    game's id, or a file with a record a line, as `arena export --format jsonl` writes it.
    """
    failed: list[answers.Failed] = []
    again: list[GameRef] = []  # stored games that failed
    checked = passed = 0
    what = "record"
    if vector_files:
        if records:
            raise click.UsageError("--vectors checks vectors alone: name no records with it.")
        what = "vector"
        for file in vector_files:
            found = vectors.check(file)
            if not found.checked:
                raise ConfigError(f"{file}: holds no vector; each is a JSON object on a line.")
            checked += found.checked
            failed += [answers.Failed(id=one.id, what=one.what) for one in found.differences]
            passed += found.passed
    else:
        for name, ref, trouble in checks(records, data):
            checked += 1
            passed += not trouble
            failed += [answers.Failed(id=name, what=talk.with_data(text)) for text in trouble]
            again += [ref] if ref is not None and trouble else []
    for one in failed[:SHOWN]:
        talk.result(f"{one.id}: {one.what}")
    if len(failed) > SHOWN:
        talk.result(f"… and {len(failed) - SHOWN:,} more")
    talk.result(f"{passed:,} of {plural(checked, what)} passed")
    talk.answer(answers.Verify(checked=checked, passed=passed, failed=tuple(failed)))
    if again:
        games = [f"--again {ref.run}/{ref.game}" for ref in again if ref.run == again[0].run]
        why = "plays it anew" if len(games) == 1 else "plays them anew"
        talk.next(f"arena resume {' '.join(games[:SHOWN])}", why, data=True)
        return Exit.NO
    if failed:
        about = "do they mean these rules?" if vector_files else "were they played by these rules?"
        talk.next("arena rulesets", about)
        return Exit.NO
    if vector_files:
        talk.next("arena run", "a small tournament by these rules")
    else:
        talk.next("arena report", "what the games came to", data=True)
    return Exit.DONE


def checks(records: tuple[str, ...], data: Path) -> Iterator[tuple[str, GameRef | None, list[str]]]:
    """Yield each record's id, where it is stored, and what is wrong with it; each one once."""
    files = [text for text in records if is_file(text)]
    by_place: dict[str, str] = {}
    for text in files:
        by_place.setdefault(os.path.realpath(text), text)
    for text in by_place.values():
        for name, record in read_records(Path(text)):
            yield name, None, check_record(record)
    others: list[str] = [text for text in records if text not in files]
    for text in others:
        if not ID.fullmatch(text):
            why = f" ({why_not(text)})" if why_not(text) else ""
            raise ConfigError(
                f"{text!r} is no file{why}, and no beginning of a run's or a game's id."
            )
    if not files or others:
        seen: set[GameRef] = set()
        with open_data(data) as database:
            for prefix in others or (None,):
                for run, ref in stored_games(database, prefix):
                    if ref in seen:
                        continue
                    if len(others) > 1:  # of one run alone nothing needs to be kept in mind
                        seen.add(ref)
                    yield ref.game, ref, check_stored(database, run, ref)


def stored_games(database: Database, prefix: str | None) -> Iterator[tuple[Run, GameRef]]:
    """Yield the games of a run, or one game, whichever the prefix begins."""
    try:
        run = find_run(database, prefix)
    except ConfigError as no_run:
        if prefix is None:
            raise
        try:
            ref = database.find_game(prefix)
        except ConfigError as no_game:
            raise ConfigError(
                f"{prefix!r} is no file, no run ({no_run}) and no game ({no_game})"
            ) from no_game
        yield database.find_run(ref.run), ref
        return
    none = True
    for game in database.stored_games(run):
        none = False
        yield run, GameRef(run=run.id, game=game.game)
    if none:
        cure = f"`arena resume {run.id}` plays some" if run.plan.rated else "it was broken off"
        raise ConfigError(f"run {run.id} has no played games; {cure}.")


def check_stored(database: Database, run: Run, ref: GameRef) -> list[str]:
    """Return what is wrong with a stored game, its place in the plan included."""
    try:
        record = database.record(ref)
    except ArenaError as error:
        return [str(error)]
    return [*against_plan(record, run), *check_record(record)]


def check_record(record: GameRecord) -> list[str]:
    """Return everything that is wrong with a record; nothing if it is as it should be."""
    try:
        replayed = replay(record.core, record.notes, aside=record.aside)
    except (RecordError, ConfigError) as error:
        return [str(error)]
    return find_leaks(record.core, replayed)


def against_plan(record: GameRecord, run: Run) -> Iterator[str]:
    """Yield how a record differs from the game that the plan has at its place."""
    core = record.core
    if not 0 <= core.index < run.plan.count:
        yield f"the plan has no game {core.index}"
        return
    spec = run.plan.spec(core.index)
    for field in ("game", "deal", "deal_seed", "game_key", "ruleset", "clock", "nodes"):
        if getattr(core, field) != getattr(spec, field):
            yield f"`{field}` differs from the plan's game {core.index}"
    for side in ("mister_x", "detectives"):
        played: BotName = getattr(core, side)
        planned: BotSpec = getattr(spec, side)
        if played != BotName(name=planned.name, version=planned.version, hash=planned.hash):
            yield f"another bot played {side} than the plan's game {core.index} has"
