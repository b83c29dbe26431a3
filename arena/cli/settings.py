"""What `run` and `plan` go by: a tournament file, bots and options, joined into one config."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from arena.cli import config
from arena.cli.config import MOST_DEALS, Tournament
from arena.cli.options import complete_bot, ruleset_option
from arena.errors import ConfigError

__all__ = ["join", "tournament_options"]

F = TypeVar("F", bound=Callable[..., Any])

SMALL_BOTS = ("random", "greedy", "belief")
SMALL_DEALS = 40  # `arena run` alone is done within half a minute on two cores


def tournament_options(function: F) -> F:
    """Add the arguments and options that decide a tournament, shared by `run` and `plan`."""
    for option in (
        click.option(
            "--sandbox",
            type=click.Choice(["auto", "none"]),
            help="Whether bots are kept in the sandbox.  [default: auto]",
        ),
        click.option(
            "--executor",
            type=click.Choice(["local"]),
            help="Where games are played.  [default: local]",
        ),
        click.option(
            "--restart",
            type=click.Choice(["game", "keep"]),
            help="A process a game, or one kept for many games.  [default: game]",
        ),
        click.option(
            "--seed", metavar="S", help="Play the games of this open seed, not of a secret one."
        ),
        click.option(
            "--jobs",
            metavar="N",
            type=click.IntRange(1, 1024),
            help="Games in play at once.  [default: the usable cores]",
        ),
        click.option(
            "--deals",
            metavar="N",
            type=click.IntRange(1, MOST_DEALS),
            help="Deals that every pairing plays.  [default: 20]",
        ),
        ruleset_option,
        click.argument("what", nargs=-1, metavar="[FILE.toml] [BOT]…", shell_complete=complete_bot),
    ):
        function = option(function)
    return function


def join(what: Sequence[str], **options: Any) -> Tournament:
    """Return the config that the command line asks for; options win over the file.

    Args:
        what: at most one tournament file, which comes first, and bots, which take the place of
            those in the file.
        options: keys of `Tournament`; None leaves the file's value.

    Raises:
        ConfigError: if the file is refused, or there is more than one.
    """
    files = [text for text in what if text.endswith(".toml")]
    if files and (what[0] != files[0] or len(files) > 1):
        raise ConfigError(
            f"{files[-1]}: one tournament file can be named, before the bots; "
            "a bot is named by its folder, not by its bot.toml."
        )
    made = Tournament() if what else Tournament(bots=SMALL_BOTS, deals=SMALL_DEALS)
    if files:
        made = beside(config.load(Path(files[0])), Path(files[0]).parent)
    said = {key: value for key, value in options.items() if value is not None}
    bots = tuple(what[len(files) :])
    if bots:
        said |= {"bots": bots, "mister_x": (), "detectives": ()}
    made = msgspec.structs.replace(made, **said)
    if not (made.bots or made.mister_x or made.detectives):
        raise ConfigError(f'{files[0]}: names no bots; write bots = ["random", "./mybot"].')
    return made


def beside(made: Tournament, folder: Path) -> Tournament:
    """Read paths in a tournament file as seen from the file's own folder."""
    return msgspec.structs.replace(
        made,
        bots=tuple(path_from(text, folder) for text in made.bots),
        mister_x=tuple(path_from(text, folder) for text in made.mister_x),
        detectives=tuple(path_from(text, folder) for text in made.detectives),
    )


def path_from(text: str, folder: Path) -> str:
    """Return a BOT with the paths in it moved into `folder`, if something stands there."""
    if "/" not in text and " " not in text and not (folder / text).is_file():
        return text  # the name of a reference bot, or of nothing
    if (folder / text).exists():
        return str(folder / text)
    try:
        words = shlex.split(text)
    except ValueError:
        return text  # whoever resolves it says what is wrong
    if len(words) < 2:
        return text
    return shlex.join(str(folder / word) if (folder / word).is_file() else word for word in words)
