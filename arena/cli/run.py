"""`arena run`: plays a tournament, stores it, writes its report."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from arena.cli import answers
from arena.cli.ctrl_c import ignore, is_ctrl_c, put_off
from arena.cli.executing import Where, scheduler_option, where_of
from arena.cli.exits import Exit
from arena.cli.options import data_option, talking
from arena.cli.planning import plan_of
from arena.cli.running import play_missing
from arena.cli.sandboxing import Sandboxing
from arena.cli.settings import join, tournament_options
from arena.cli.stored import open_data
from arena.cli.talk import Talk, plural
from arena.cli.tally import minute
from arena.errors import ConfigError, HostFault, Interrupted, StoreError
from arena.store.database import Database
from arena.store.runs import Run

__all__ = ["can_go_on", "carry_on", "command", "introduce"]


@click.command("run")
@tournament_options
@scheduler_option
@click.option("--afresh", is_flag=True, help="A new run even if one with the same plan is stored.")
@data_option
@talking
def command(
    talk: Talk,
    what: tuple[str, ...],
    data: Path,
    *,
    afresh: bool,
    scheduler: str | None,
    **options: Any,
) -> int:
    """Play a tournament, store it, write its report.

    Without arguments: the reference bots of London, small. Bots named take the place of those in
    FILE.toml, and options win over it. A run with the same plan goes on where it is: only missing
    games are played, and of a changed bot only its own.
    """
    settings = join(what, **options)
    where = where_of(settings.executor, scheduler)
    plan, kept = plan_of(settings, data, talk)
    with open_data(data, create=True) as database, ExitStack() as stack:
        with put_off():
            run = database.begin(plan, afresh=afresh)
            stack.enter_context(can_go_on(talk, database, run, where))
        introduce(talk, database, run)
        try:
            return carry_on(talk, database, run, data, kept, where)
        except ConfigError:  # it can't be played so: what was asked for before stays the last run
            if run.is_new:
                database.forget(run)
            raise


@contextmanager
def can_go_on(talk: Talk, database: Database, run: Run, where: Where) -> Iterator[None]:
    """Say how a stored run goes on, wherever in this context it is broken off.

    Behind it a Ctrl-C changes nothing: there the database is closed, and nothing else is done.

    Raises:
        Interrupted: instead of a Ctrl-C, with the next command.
    """
    try:
        yield
    except (HostFault, Interrupted):
        tell_stopped(talk, database, run, where)
        raise
    except (KeyboardInterrupt, BaseExceptionGroup) as error:
        if not is_ctrl_c(error):
            raise
        tell_stopped(talk, database, run, where)
        command = next_of(talk, database, run, where)
        if is_all_stored(database, run):
            raise Interrupted(
                f"Stopped. All games of run {run.id} are stored. Write its report with: {command}"
            ) from error
        raise Interrupted(f"Run {run.id} was stopped. Go on with: {command}") from error
    finally:
        ignore()


def tell_stopped(talk: Talk, database: Database, run: Run, where: Where) -> None:
    """Print the JSON object of a run that was broken off, unless that of its end is printed."""
    if not talk.json or talk.has_answered:
        return
    with suppress(StoreError):  # what the database refuses is told as the error that it is
        played = sum(not outcome.is_void for outcome in database.results(run))
        talk.answer(
            answers.Stopped(
                run=run.id,
                games=answers.GamesCount(
                    planned=run.plan.count, played=played, void=len(database.voids(run))
                ),
                next=next_of(talk, database, run, where),
            )
        )


def is_all_stored(database: Database, run: Run) -> bool:
    """Whether a run is over, and no game of it is to be played again."""
    return database.find_run(run.id).state == "over" and not database.again(run)


def next_of(talk: Talk, database: Database, run: Run, where: Where) -> str:
    """Return the command that goes on: with the games, or with the report where all are stored."""
    if is_all_stored(database, run):
        return talk.here(f"arena report {run.id}")
    return resume_of(talk, database, run, where)


def resume_of(talk: Talk, database: Database, run: Run, where: Where) -> str:
    """Return the command that plays what is missing now, or is still to be played again."""
    again = "".join(f" --again {game}" for game in database.again(run))
    return talk.here(f"arena resume {run.id}{again}{where.words}")


def introduce(talk: Talk, database: Database, run: Run) -> None:
    """Say what is going to be played, and what was promised about its secret."""
    plan = run.plan
    stored = sum(1 for _ in database.results(run))
    talk.say(
        f"Run {run.id}: {plural(len(plan.entrants), 'bot')}, {plural(plan.deals, 'deal')}, "
        f"{plural(plan.count, 'game')} of {plan.ruleset}."
        if not plan.also
        else f"Run {run.id}: {plural(len(plan.entrants), 'bot')}, {plural(plan.count, 'game')} of:"
    )
    for section in plan.sections if plan.also else ():
        bots = plural(len(plan.playing(section)), "bot")
        talk.say(f"  {section.ruleset}: {bots}, {plural(section.deals, 'deal')}")
    if stored:
        talk.say(f"Stored already: {plural(stored, 'game')}.")
    if plan.open_seed is not None:
        talk.say(f"Open seed {plan.open_seed!r}: anybody can know its deals.")
    else:
        talk.say(f"SHA-256 of its secret:\n  {plan.commitment}")
        changed = database.changed_since_shown(run)
        if changed and run.finished is not None and any(True for _ in database.missing(run)):
            talk.warn(
                f"this secret was shown when the run was first over, on {minute(run.finished)}: "
                f"its deals have been public since, so who has changed {', '.join(changed)} since "
                "could know them. `arena run … --afresh` plays all games on new, secret deals"
            )


def carry_on(
    talk: Talk, database: Database, run: Run, data: Path, kept: Sandboxing, where: Where
) -> int:
    """Play what is missing, then tell how the run ended; return the exit code.

    Raises:
        HostFault, Interrupted: with the command that goes on.
        KeyboardInterrupt: if it was stopped, and all games are stored; `can_go_on` takes it.
    """
    started = time.monotonic()
    try:
        summary, stopped = play_missing(talk, database, run, kept, where)
    except HostFault as error:  # the database's too
        resume = resume_of(talk, database, run, where)
        raise type(error)(f"{error}\nWhat was stored stays. Go on with: {resume}") from error
    except Interrupted as error:
        resume = resume_of(talk, database, run, where)
        raise Interrupted(f"{error}. Go on with: {resume}") from error
    took_s = time.monotonic() - started
    if not summary.is_over:
        resume = resume_of(talk, database, run, where)
        if stopped.at_once:
            tell_stopped(talk, database, run, where)
            talk.say(f"Stopped at once. Go on with: {resume}")
            return Exit.STOPPED
        raise Interrupted(
            f"Run {run.id} was stopped at {summary.judged:,} of {summary.planned:,} games. "
            f"Go on with: {resume}"
        )
    if stopped.count:
        raise KeyboardInterrupt  # `can_go_on` says what is left to do
    # pandas and its kin take a second to load: not before the games, and not for `--help`.
    from arena.cli.ending import endings_of, tell_ending, write_report

    run = database.find_run(run.id)
    endings = endings_of(database, run)
    written = write_report(database, run, endings, data / "reports" / run.id)
    tell_ending(talk, run, endings, written=written, took_s=took_s)
    ignore()  # the run is over and its report written, whatever comes behind the last word
    talk.next(f"arena verify {run.id}", "was everything played by the rules?", data=True)
    return endings.code
