"""`arena bench`: how fast this machine plays."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from arena.bench.promises import Promise, changes, judge
from arena.cli import answers
from arena.cli.config import Tournament
from arena.cli.exits import Exit
from arena.cli.options import talking
from arena.cli.planning import enlist
from arena.cli.sandboxing import sandbox_options, sandboxing
from arena.cli.talk import Talk, table
from arena.cli.writable import make_writable
from arena.errors import ConfigError
from arena.rules import registry

if TYPE_CHECKING:
    from rich.table import Table

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
@click.option("--stubs", is_flag=True, help="Throughput alone, within 20 seconds.")
@click.option(
    "--check",
    is_flag=True,
    help="End with 1 if a ratio passes its promise by a quarter, with 5 if none was measured.",
)
@click.option(
    "--compare",
    metavar="OLD.json",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Show each measure beside that of an earlier `arena bench --json`; end with 1 if a ratio "
    "got worse by a quarter, with 5 if the two have none in common.",
)
@sandbox_options
@talking
def command(
    talk: Talk,
    seconds: float,
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
    from arena.bench.measure import measure, measure_stubs

    old = None if compare is None else read_measured(compare)

    kept = sandboxing(talk, mode=sandbox or "auto", bwrap=bwrap, data=None, has_strangers=False)
    held = kept.profile and kept.profile.words
    if old is not None and "sandbox" in old and bool(old["sandbox"]) != bool(held):
        raise ConfigError(
            f"{compare}: measured {'in' if old['sandbox'] else 'without'} the sandbox, unlike this "
            "run would be: measure both alike, by --sandbox."
        )
    with tempfile.TemporaryDirectory(prefix="arena-bots-") as folder:
        try:
            settings = Tournament(bots=("random",))
            ruleset = registry.make(settings.rulesets[0][0])
            (random,) = enlist(settings, [ruleset], Path(folder), talk, kept)
            options: dict[str, Any] = {
                "random": random,
                "seconds": seconds,
                "profile": kept.profile,
                "tell": lambda what: talk.say(f"Measuring {what} …"),
            }
            found = measure_stubs(**options) if stubs else measure(memory_games=games, **options)
            found = {"sandbox": held, **found}
        finally:
            make_writable(Path(folder))
    talk.result(table(("measure", "#value"), flat(found)))
    talk.result("")
    talk.result(promises_table(found))
    talk.answer(msgspec.convert(found, answers.Measured))
    bad: list[str] = []
    missing: list[str] = []
    if check:
        bad += [kept.promise.what for kept in judge(found) if kept.is_broken]
        if not has_ratio(kept.promise for kept in judge(found)):
            missing.append("no ratio was measured: nothing to hold to its promise")
    if old is not None:
        talk.result("")
        talk.result(changes_table(old, found))
        bad += [change.promise.what for change in changes(old, found) if change.is_worse]
        if not has_ratio(change.promise for change in changes(old, found)):
            missing.append(f"{compare} has no ratio that was measured now: nothing to compare")
    for what in dict.fromkeys(bad):
        talk.warn(f"worse by a quarter or more: {what}")
    for why in missing:
        talk.warn(why)
    if bad:
        return Exit.NO
    if missing:
        return Exit.NOT_KNOWN
    talk.next("arena bench --json > OLD.json", "for `arena bench --compare OLD.json` later on")
    return Exit.DONE


def has_ratio(promises: Iterable[Promise]) -> bool:
    """Return whether a ratio is among what is promised: only these are judged."""
    return any(promise.is_ratio for promise in promises)


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
    except OSError as error:
        raise ConfigError(f"{file}: can't be read ({error.strerror}).") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
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
                "" if kept.holds else "passed",
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
