"""Play a run of fake games in a process of its own, to be killed: DATABASE JOBS."""

from __future__ import annotations

import sys
from pathlib import Path

import trio

from arena.store.database import Database
from arena.store.playing import play_run
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.plan import Plan
from tests.fake_games import fake_bot, fake_plan
from tests.fake_table import FAKE_TABLE

__all__ = ["the_plan"]


def the_plan() -> Plan:
    """Return a plan with a bot that is benched and games that stay void."""
    bots = [fake_bot(name) for name in ("a", "b", "faulty")]
    bots.append(fake_bot("void", sides=["detectives"]))
    return fake_plan(bots, deals=20)


def main(path: Path, jobs: int) -> None:
    """Begin the run, or go on with it, to its end."""
    with Database(path) as database:
        run = database.begin(the_plan())
        executor = LocalExecutor(jobs, table=FAKE_TABLE)
        summary = trio.run(lambda: play_run(database, run, executor))
        sys.stdout.write(f"{summary.judged} of {summary.planned}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
