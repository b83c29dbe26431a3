"""`arena bench`: how fast this machine plays."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from arena.cli import answers
from arena.cli.config import Tournament
from arena.cli.options import talking
from arena.cli.planning import enlist
from arena.cli.sandboxing import sandbox_options, sandboxing
from arena.cli.talk import Talk, table
from arena.cli.writable import make_writable
from arena.rules import registry

__all__ = ["command"]


@click.command("bench")
@click.option(
    "--seconds",
    metavar="S",
    type=click.FloatRange(0.1, 600.0),
    default=3.0,
    show_default=True,
    help="How long each throughput is measured.",
)
@click.option(
    "--games",
    metavar="N",
    type=click.IntRange(10, 1_000_000),
    default=2_000,
    show_default=True,
    help="Games over which a worker's memory is measured.",
)
@sandbox_options
@talking
def command(
    talk: Talk,
    seconds: float,
    games: int,
    sandbox: Literal["auto", "none"] | None,
    bwrap: str | None,
) -> None:
    """Measure how fast this machine plays.

    The referee's cost a request against a bare round trip, requests and games a second, start-up
    times and memory. Needs a C compiler; takes a minute or two, on an idle machine.
    """
    from arena.bench.measure import measure

    kept = sandboxing(talk, mode=sandbox or "auto", bwrap=bwrap, data=None, has_strangers=False)
    with tempfile.TemporaryDirectory(prefix="arena-bots-") as folder:
        try:
            settings = Tournament(bots=("random",))
            ruleset = registry.make(settings.ruleset)
            (random,) = enlist(settings, ruleset, Path(folder), talk, kept)
            found = measure(
                random=random,
                seconds=seconds,
                memory_games=games,
                profile=kept.profile,
                tell=lambda what: talk.say(f"Measuring {what} …"),
            )
        finally:
            make_writable(Path(folder))
    talk.result(table(("measure", "#value"), flat(found)))
    talk.answer(msgspec.convert(found, answers.Measured))
    talk.next("arena bench --json", "for a script that compares two of them")


def flat(found: dict[str, Any], name: str = "") -> list[tuple[str, str]]:
    """Return the measures as lines of a table."""
    lines = []
    for key, value in found.items():
        path = f"{name}.{key}" if name else key
        if isinstance(value, dict):
            lines += flat(value, path)
        elif isinstance(value, float):
            lines.append((path, f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"))
        else:
            lines.append((path, "-" if value is None else f"{value:,}"))
    return lines
