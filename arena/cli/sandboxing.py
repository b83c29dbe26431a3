"""How a command keeps its bots: the sandbox is looked for once, before any bot is started.

Where it can't be had, strangers' bots are refused with the reason and the cure. The arena's own
play without it, with a line of warning and marked records.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
import msgspec

from arena.cli.options import Word
from arena.errors import ConfigError
from arena.sandbox.bubblewrap import Profile

if TYPE_CHECKING:
    from arena.cli.talk import Talk
    from arena.sandbox.finding import Found
    from arena.sandbox.refusals import Refusal
    from arena.tournament.plan import Plan

__all__ = [
    "Sandboxing",
    "bwrap_option",
    "check_user_ids",
    "look",
    "sandbox_options",
    "sandboxing",
    "sandboxing_of",
]

F = TypeVar("F", bound=Callable[..., Any])
Mode = Literal["auto", "none"]

CACHE = "sandbox.json"  # in the data folder: which self-test was passed on this boot

log = logging.getLogger(__name__)


class Sandboxing(msgspec.Struct, frozen=True, kw_only=True):
    """How bots are kept.

    Attributes:
        mode: as it was asked for.
        profile: of this machine's sandbox; None if bots run without it.
    """

    mode: Mode
    profile: Profile | None = None

    @property
    def settings(self) -> bytes:
        """What a worker's table is opened with."""
        return b"" if self.profile is None else msgspec.json.encode(self.profile)


def bwrap_option(function: F) -> F:
    """Add `--bwrap`."""
    return click.option(
        "--bwrap",
        metavar="PATH",
        type=Word(),
        help="The bubblewrap to use; `path` also looks on the PATH.  "
        "[default: the system's, else that of the extra `sandbox`]",
    )(function)


def sandbox_options(function: F) -> F:
    """Add `--sandbox` and `--bwrap`."""
    return click.option(
        "--sandbox",
        type=click.Choice(["auto", "none"]),
        help="Whether bots are kept in the sandbox.  [default: auto]",
    )(bwrap_option(function))


def look(
    *,
    bwrap: str | None,
    show: Sequence[str] = (),
    user_ids: tuple[int, int] | None = None,
    data: Path | None,
    remember: bool = True,
) -> Found | Refusal:
    """Look for the sandbox of this machine; blocks for some 80 ms, less once it has passed.

    Args:
        bwrap: see `--bwrap`.
        show: folders that bots see besides the system's.
        user_ids: of root's bots, the first and how many; None for the usual ones.
        data: the data folder, of which no bot may see anything; None without one.
        remember: whether a self-test that was passed on this boot need not be passed again.

    Raises:
        ConfigError: if a folder that would be shown holds what no bot may see.
    """
    # Not before they are needed: a settings file is read on systems too that have no sandbox.
    from arena.sandbox.aftermath import watch
    from arena.sandbox.finding import IN_PATH, Found, find_sandbox
    from arena.sandbox.slots import UID_BASE, UID_COUNT
    from arena.sandbox.visible import look_around

    visible = look_around(
        interpreters=[sys.executable], more=show, secret=() if data is None else (data,)
    )
    if bwrap and bwrap != IN_PATH:
        bwrap = str(Path(bwrap).absolute())
    watch()
    found = find_sandbox(
        visible,
        python=sys.executable,
        setting=bwrap,
        user_ids=user_ids or (UID_BASE, UID_COUNT),
        cache=data / CACHE if data is not None and remember else None,
    )
    if isinstance(found, Found):
        log.info(
            "sandbox: bubblewrap %s at %s, route %s, self-test %s",
            found.version,
            found.profile.bwrap,
            found.profile.route,
            "passed before" if found.from_cache else f"{found.took_ms:.0f} ms",
        )
        for note in found.notes:
            log.info("sandbox: %s", note)
    return found


def sandboxing(
    talk: Talk,
    *,
    mode: Mode,
    bwrap: str | None,
    show: Sequence[str] = (),
    user_ids: tuple[int, int] | None = None,
    jobs: int | None = None,
    data: Path | None,
    has_strangers: bool,
    remember: bool = True,
) -> Sandboxing:
    """Decide how the bots of a command are kept; says so where it is without a sandbox.

    Args:
        talk: of the command.
        mode: as it was asked for.
        bwrap: as for `look`.
        show: as for `look`.
        user_ids: as for `look`.
        jobs: games in play at once on this machine; None for a few.
        data: as for `look`.
        has_strangers: whether there are bots that are not the arena's own.
        remember: as for `look`.

    Raises:
        ConfigError: if there is no sandbox for strangers' bots, with the reason and the cure; or
            if there are not enough user ids for so many games.
    """
    from arena.sandbox.finding import Found
    from arena.sandbox.refusals import NO_SANDBOX_WARNING

    if mode == "none":
        talk.alarm(NO_SANDBOX_WARNING)
        return Sandboxing(mode=mode)
    found = look(bwrap=bwrap, show=show, user_ids=user_ids, data=data, remember=remember)
    if isinstance(found, Found):
        check_user_ids(found.profile, jobs)
        return Sandboxing(mode=mode, profile=found.profile)
    if has_strangers:
        raise ConfigError(found.text())
    talk.warn(
        f"no sandbox: {found.cause}. The arena's own bots play without it, and records are marked "
        "`unsandboxed`; `arena doctor` says more"
    )
    return Sandboxing(mode=mode)


def check_user_ids(profile: Profile, jobs: int | None) -> None:
    """Check that root's bots have user ids for so many games at once on this machine.

    Raises:
        ConfigError: if they have not.
    """
    ids = profile.uid_count
    if profile.route == "R" and jobs is not None and 2 * jobs > ids:
        raise ConfigError(
            f"{jobs:,} games at once need {2 * jobs:,} user ids for bots, and there are "
            f"{ids:,}: play fewer at once, or write more of them into a tournament file "
            "(user_ids = [FIRST, COUNT])"
        )


def sandboxing_of(talk: Talk, plan: Plan, data: Path) -> Sandboxing:
    """Decide how the bots of a plan are kept; see `sandboxing`."""
    return sandboxing(
        talk,
        mode=plan.sandbox,
        bwrap=plan.bwrap,
        show=plan.show,
        user_ids=plan.user_ids,
        jobs=plan.jobs if plan.executor == "local" else None,
        data=data,
        has_strangers=not all(bot.trusted for bot in plan.entrants),
    )
