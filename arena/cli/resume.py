"""`arena resume`: the missing games of a run."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.executing import executor_option, scheduler_option, where_of
from arena.cli.options import data_option, talking
from arena.cli.run import carry_on, introduce
from arena.cli.sandboxing import sandboxing_of
from arena.cli.stored import find_run, open_data, run_argument
from arena.cli.talk import Talk

__all__ = ["command"]


@click.command("resume")
@run_argument
@executor_option
@scheduler_option
@data_option
@talking
def command(
    talk: Talk, run: str | None, data: Path, executor: str | None, scheduler: str | None
) -> int:
    """Play the missing games of a run.

    With the bots as they were staged, whatever became of their folders, and wherever the run was
    begun. Of a run that is over it prints the result again. RUN is the beginning of a run's id;
    left out, it is the last one.
    """
    with open_data(data) as database:
        found = find_run(database, run)
        where = where_of(executor or "local", scheduler)
        database.touch(found)
        introduce(talk, database, found)
        return carry_on(talk, database, found, data, sandboxing_of(talk, found.plan, data), where)
