"""`arena resume`: the missing games of a run."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from arena.cli.executing import executor_option, scheduler_option, where_of
from arena.cli.human import is_human
from arena.cli.options import Word, data_option, talking
from arena.cli.run import can_go_on, carry_on, introduce
from arena.cli.sandboxing import sandboxing_of
from arena.cli.stored import find_game, find_run, open_data, run_argument
from arena.cli.talk import Talk
from arena.cli.verify import check_stored
from arena.errors import ConfigError
from arena.store.database import Database
from arena.store.runs import Run

__all__ = ["command"]


@click.command("resume")
@run_argument
@click.option(
    "--again",
    metavar="GAME",
    multiple=True,
    type=Word(),
    help="Play anew this game, which `arena verify` fails; its record stands until then. "
    "May be repeated.",
)
@executor_option
@scheduler_option
@data_option
@talking
def command(
    talk: Talk,
    run: str | None,
    again: tuple[str, ...],
    data: Path,
    executor: str | None,
    scheduler: str | None,
) -> int:
    """Play the missing games of a run.

    With the bots as they were staged, whatever became of their folders, and wherever the run was
    begun. Of a run that is over it prints the result again. RUN is the beginning of a run's id;
    left out, it is the last one, or that of the game of --again.
    """
    with open_data(data) as database:
        if again and run is None:
            run = find_game(database, again[0]).run
        found = find_run(database, run)
        database.play_again(found, games_of(database, found, again))
        check_bots_alone(database, found)
        where = where_of(executor or "local", scheduler)
        with can_go_on(talk, database, found, where):
            database.touch(found)
            introduce(talk, database, found)
            kept = sandboxing_of(talk, found.plan, data)
            return carry_on(talk, database, found, data, kept, where)


def games_of(database: Database, run: Run, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ids of the games that are named, each once.

    Raises:
        ConfigError: if there is no such game, it is of another run, or `arena verify` passes it.
    """
    refs = dict.fromkeys(database.find_game(word, run=run) for word in words)
    for ref in refs:
        if ref.run != run.id:
            raise ConfigError(f"game {ref.game} is of run {ref.run}: name that run, or none")
        if not check_stored(database, run, ref):
            raise ConfigError(
                f"game {ref.game} of run {run.id} passes `arena verify`: what is stored stands"
            )
    return tuple(ref.game for ref in refs)


def check_bots_alone(database: Database, run: Run) -> None:
    """Refuse to go on with a game that a person was to play: no program has that name.

    Raises:
        ConfigError: if a person sits at the table of a game that is missing, or to be played again.
    """
    plan = run.plan
    if any(map(is_human, plan.entrants)) and any(True for _ in database.missing(run)):
        first = plan.spec(0)
        x, d = (bot.name if bot.trusted else "BOT" for bot in (first.mister_x, first.detectives))
        play = f"arena play {x} {d} --ruleset {first.ruleset}"
        if database.again(run):  # with its seed it would be compared with what is stored
            raise ConfigError(
                f"run {run.id} is a game that a person played, and no bot can play it for a "
                f"person: put back a copy of the data folder, or play another with `{play}`"
            )
        seed = "" if plan.open_seed is None else f" --seed {shlex.quote(plan.open_seed)}"
        raise ConfigError(
            f"run {run.id} is a game that a person left, and no bot can go on for a person: play "
            f"it anew with `{play}{seed}`"
        )
