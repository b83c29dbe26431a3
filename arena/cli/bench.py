"""`arena bench`: how fast this machine plays."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from arena import __version__
from arena.bench.promises import changes, judge, unmeasured
from arena.cli import answers
from arena.cli.config import Tournament
from arena.cli.exits import Exit
from arena.cli.options import NumberRange, PathName, talking
from arena.cli.planning import enlist
from arena.cli.sandboxing import sandbox_options, sandboxing
from arena.cli.talk import Talk, table
from arena.cli.writable import make_writable
from arena.errors import ConfigError
from arena.rules import registry

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["command"]

_MOST = 1e12  # no measure is larger


@click.command("bench")
@click.option(
    "--seconds",
    metavar="S",
    type=NumberRange(0.1, 600.0),
    help="How long each throughput is measured; by default 3, with --stubs 2.",
)
@click.option(
    "--games",
    metavar="N",
    type=click.IntRange(10, 1_000_000),
    default=2_000,
    show_default=True,
    help="Games over which a worker's memory is measured.",
)
@click.option(
    "--stubs", is_flag=True, help="Throughput of all CPUs alone, in some 20 seconds; no promises."
)
@click.option(
    "--check",
    is_flag=True,
    help="End with 1 if a ratio passes its promise by a quarter, with 5 if one was not measured, "
    "or not in the sandbox.",
)
@click.option(
    "--compare",
    metavar="OLD.json",
    type=PathName(dir_okay=False, path_type=Path),
    help="Show each measure beside that of an earlier `arena bench --json`; end with 1 if a ratio "
    "got worse by a quarter, with 5 if the two have none in common.",
)
@sandbox_options
@talking
def command(
    talk: Talk,
    seconds: float | None,
    games: int,
    sandbox: Literal["auto", "none"] | None,
    bwrap: str | None,
    compare: Path | None,
    *,
    stubs: bool,
    check: bool,
) -> Exit:
    """Measure how fast this machine plays.

    The referee's cost a request against a bare round trip, requests and games a second, start-up
    times and memory. Needs a C compiler; takes a minute or two, on an idle machine.
    """
    from arena.bench.machine import BUSY, describe
    from arena.bench.measure import WORKERS, measure, measure_stubs, stub_workers

    if stubs and check:
        raise ConfigError("--stubs leaves most promises unmeasured: leave out --check or --stubs.")
    old = None if compare is None else read_measured(compare)
    kept = sandboxing(talk, mode=sandbox or "auto", bwrap=bwrap, data=None, has_strangers=False)
    held = kept.profile and kept.profile.words
    if old is not None and "sandbox" in old and bool(old["sandbox"]) != bool(held):
        raise ConfigError(
            f"{compare}: measured {'in' if old['sandbox'] else 'without'} the sandbox, unlike this "
            "run would be: measure both alike, by --sandbox."
        )
    machine = describe()
    if (machine["load"] or 0.0) > BUSY * machine["cpus"]:
        talk.warn(
            f"this machine is busy (load {machine['load']:g} on {cpus_of(machine['cpus'])}): what "
            "is measured now is less than it can do"
        )
    workers = stub_workers() if stubs else WORKERS
    if old is not None and old.get("workers", workers) != workers:
        raise ConfigError(
            f"{compare}: measured with {old['workers']} workers, this run would have {workers}: "
            "measure both with --stubs, or both without."
        )
    with tempfile.TemporaryDirectory(prefix="arena-bots-") as folder:
        try:
            settings = Tournament(bots=("random",))
            ruleset = registry.make(settings.rulesets[0][0])
            (random,) = enlist(settings, [ruleset], Path(folder), talk, kept)
            options: dict[str, Any] = {
                "random": random,
                "seconds": seconds or (2.0 if stubs else 3.0),
                "profile": kept.profile,
                "tell": lambda what: talk.say(f"Measuring {what} …"),
            }
            found = measure_stubs(**options) if stubs else measure(memory_games=games, **options)
            made_with = {"arena": __version__, **machine, "workers": workers, "sandbox": held}
            found = {**made_with, **found}
        finally:
            make_writable(Path(folder))
    talk.result(table(("measure", "#value"), flat(found)))
    if not stubs:
        talk.result("")
        talk.result(promises_table(found))
    talk.answer(msgspec.convert(found, answers.Measured))
    bad: list[str] = []
    missing: list[str] = []
    if check:
        bad += [kept.promise.what for kept in judge(found) if kept.is_broken]
        missing += [f"not measured: {promise.what}" for promise in unmeasured(found)]
        if not held:
            missing.append("measured without the sandbox, and promised with it: see arena doctor")
    if old is not None:
        talk.result("")
        talk.result(f"Before: {origin(old)}. Now: {origin(found)}.")
        talk.result(changes_table(old, found))
        compared = list(changes(old, found))
        bad += [change.promise.what for change in compared if change.is_worse]
        if not any(change.promise.is_ratio for change in compared):
            missing.append(f"{compare} has no ratio that was measured now: nothing to compare")
    for what in dict.fromkeys(bad):
        talk.warn(f"worse by a quarter or more: {what}")
    for why in missing:
        talk.warn(why)
    if bad:
        return Exit.NO
    if missing:
        return Exit.NOT_KNOWN
    if old is None:
        talk.next("arena bench --json > OLD.json", "for `arena bench --compare OLD.json` later on")
    return Exit.DONE


def origin(found: dict[str, Any]) -> str:
    """Return what a run was measured with; what it does not tell is left out."""
    arena, cpus, load, at = (found.get(key) for key in ("arena", "cpus", "load", "at"))
    parts = [f"arena {arena}"] if arena else []
    parts += [cpus_of(cpus, found.get("processor"))] if cpus else []
    parts += [f"load {load:g}"] if load is not None else []
    parts += [at] if at else []
    return ", ".join(parts) or "not told"


def cpus_of(cpus: int, processor: str | None = None) -> str:
    """Return so many CPUs in words, with what they are."""
    words = "1 CPU" if cpus == 1 else f"{cpus} CPUs"
    return f"{words} ({processor})" if processor else words


def read_measured(file: Path) -> dict[str, Any]:
    """Return what an earlier `arena bench --json` printed.

    Raises:
        ConfigError: if the file can't be read, or holds something else.
    """
    try:
        text = file.read_bytes()
        found: dict[str, Any] = msgspec.json.decode(text, type=dict[str, Any])
        if "schema" not in found:
            raise msgspec.ValidationError("it has no `schema`")
        msgspec.convert(found, answers.Measured)
        if next(judge(found), None) is None:
            raise msgspec.ValidationError("it has no measure")
        for kept in judge(found):
            if not 0 <= kept.value <= _MOST:
                raise msgspec.ValidationError(f"`{kept.promise.path}` is {kept.value:g}")
    except OSError as error:
        raise ConfigError(
            f"{file}: can't be read ({error.strerror}); make one with "
            "`arena bench --json > OLD.json`."
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(
            f"{file}: not what `arena bench --json` prints ({error}); make one with "
            "`arena bench --json > OLD.json`."
        ) from error
    return found


def promises_table(found: dict[str, Any]) -> Table:
    """Return the promises of README.md beside what was measured here."""
    return table(
        ("promised", "#limit", "#here", ""),
        (
            (
                kept.promise.what,
                f"{'≥' if kept.promise.at_least else '≤'} {number(kept.promise.limit)}",
                number(kept.value),
                "" if kept.holds else "missed",
            )
            for kept in judge(found)
        ),
    )


def changes_table(old: dict[str, Any], new: dict[str, Any]) -> Table:
    """Return the measures of two runs beside each other."""
    return table(
        ("measure", "#before", "#now", "#change"),
        (
            (
                change.promise.what,
                number(change.old),
                number(change.new),
                f"{100 * (change.new / change.old - 1):+.0f} %" if change.old else "·",
            )
            for change in changes(old, new)
        ),
    )


def number(value: float) -> str:
    """Return a measure with three digits or more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def flat(found: dict[str, Any], name: str = "") -> list[tuple[str, str]]:
    """Return the measures as lines of a table."""
    lines = []
    for key, value in found.items():
        path = f"{name}.{key}" if name else key
        if isinstance(value, dict):
            lines += flat(value, path)
        elif isinstance(value, float):
            lines.append((path, f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"))
        elif isinstance(value, int):
            lines.append((path, f"{value:,}"))
        else:
            lines.append((path, value or "-"))
    return lines
