"""Where a command plays its games: in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
import msgspec

from arena.cli.options import Word
from arena.errors import ConfigError

if TYPE_CHECKING:
    from arena.cli.sandboxing import Sandboxing
    from arena.cli.talk import Talk
    from arena.tournament.executors.executor import Executor
    from arena.tournament.plan import Plan

__all__ = [
    "Where",
    "check_open_files",
    "executor_of",
    "executor_option",
    "scheduler_option",
    "where_of",
]

F = TypeVar("F", bound=Callable[..., Any])
Kind = Literal["local", "dask"]


class Where(msgspec.Struct, frozen=True):
    """Where games are played.

    Attributes:
        kind: the executor's name.
        scheduler: the address of a Dask cluster; None for one that is started here.
    """

    kind: Kind = "local"
    scheduler: str | None = None

    @property
    def words(self) -> str:
        """What a command line says for it, behind a space; nothing where it is what is usual."""
        if self.kind == "local":
            return ""
        on = f" --scheduler {shlex.quote(self.scheduler)}" if self.scheduler else ""
        return f" --executor dask{on}"


def executor_option(function: F) -> F:
    """Add `--executor`."""
    return click.option(
        "--executor",
        type=click.Choice(["local", "dask"]),
        help="Where games are played.  [default: local]",
    )(function)


def scheduler_option(function: F) -> F:
    """Add `--scheduler`."""
    return click.option(
        "--scheduler",
        metavar="ADDRESS",
        type=Word(),
        help="The Dask cluster to play on, e.g. tcp://10.0.0.1:8786.  "
        "[default: one on this machine, for this run]",
    )(function)


def where_of(executor: str, scheduler: str | None) -> Where:
    """Check where games are to be played, before anything else is done.

    Args:
        executor: its name.
        scheduler: as for `--scheduler`.

    Raises:
        ConfigError: if the two do not go together, or Dask is not installed.
    """
    if executor != "dask":
        if scheduler is not None:
            raise ConfigError("--scheduler goes with --executor dask: add that, or leave it out")
        return Where()
    if importlib.util.find_spec("distributed") is None:
        raise ConfigError(
            "--executor dask needs Dask, which is not installed here: "
            "pip install 'misterx-arena[dask]'"
        )
    return Where("dask", scheduler)


def check_open_files(jobs: int) -> None:
    """Check that the workers of this machine may open enough files for so many games at once.

    Raises:
        ConfigError: if they may not.
    """
    from arena.tournament.executors.cpus import usable_cores
    from arena.tournament.executors.descriptors import games_with, most_open_files

    most = games_with(min(jobs, usable_cores()))
    if jobs > most:
        raise ConfigError(
            f"{jobs:,} games at once need more open files than the {most_open_files():,} that a "
            f"worker may have here, enough for {most:,}: give --jobs {most} or less, or raise the "
            "hard limit (`ulimit -Hn`)"
        )


def executor_of(where: Where, plan: Plan, kept: Sandboxing, talk: Talk) -> Executor:
    """Return what plays the games of a plan.

    Raises:
        ConfigError: if a cluster that is started here is asked for more than this machine can.
    """
    # Not before they are needed: the options are read on systems too that play no games.
    if where.kind == "local":
        from arena.tournament.executors.cpus import usual_jobs
        from arena.tournament.executors.local import LocalExecutor

        jobs = plan.jobs
        if jobs is not None and plan.executor != "local":  # a whole cluster was asked for so many
            jobs = min(jobs, usual_jobs())
        executor = LocalExecutor(jobs, settings=kept.settings)
        check_open_files(executor.jobs)
        talk.say(f"{executor.words}.")
        return executor
    from arena.cli.sandboxing import check_user_ids
    from arena.tournament.executors.crossing import Keeping
    from arena.tournament.executors.dask import DaskExecutor

    if where.scheduler is None and kept.profile is not None:
        check_user_ids(kept.profile, plan.jobs)
    keeping = Keeping(
        bwrap=plan.bwrap,
        show=plan.show,
        user_ids=plan.user_ids,
        has_strangers=not all(bot.trusted for bot in plan.entrants),
    )
    return DaskExecutor(
        plan.jobs,
        scheduler=where.scheduler,
        settings=kept.settings,
        keeping=keeping if kept.mode == "auto" else None,
        boards=tuple((section.ruleset, section.board) for section in plan.sections),
        say=talk.say,
        folder=talk.data,
    )
