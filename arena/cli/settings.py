"""What `run` and `plan` go by: a tournament file, bots and options, joined into one config."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from arena.cli import config
from arena.cli.config import MOST_DEALS, Tournament
from arena.cli.executing import executor_option
from arena.cli.options import Word, complete_bot, ruleset_option
from arena.cli.sandboxing import sandbox_options
from arena.errors import ConfigError
from arena.tournament.paths import is_file, kind_of

__all__ = ["beside", "check_names", "join", "load_file", "tournament_options"]

F = TypeVar("F", bound=Callable[..., Any])

BOT_FILE = "bot.toml"
SMALL_BOTS = ("random", "greedy", "belief")
SMALL_DEALS = 40  # `arena run` alone is done within half a minute on two cores


def tournament_options(function: F) -> F:
    """Add the arguments and options that decide a tournament, shared by `run` and `plan`."""
    for option in (
        sandbox_options,
        executor_option,
        click.option(
            "--restart",
            type=click.Choice(["game", "keep"]),
            help="A process a game, or one kept for many games.  [default: game]",
        ),
        click.option(
            "--seed",
            metavar="S",
            type=Word(),
            help="Play the games of this open seed, not of a secret one.",
        ),
        click.option(
            "--jobs",
            metavar="N",
            type=click.IntRange(1, 1024),
            help="Games in play at once.  [default: the usable cores, less one from four up; on "
            "Dask, its threads]",
        ),
        click.option(
            "--deals",
            metavar="N",
            type=click.IntRange(1, MOST_DEALS),
            help=f"Deals that every pairing plays.  [default: {Tournament().deals}, "
            f"{SMALL_DEALS} without FILE.toml and BOT]",
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
        made = beside(load_file(Path(files[0])), Path(files[0]).parent)
    said = {key: value for key, value in options.items() if value is not None}
    bots = tuple(what[len(files) :])
    if bots:
        said |= {"bots": bots, "mister_x": (), "detectives": ()}
    made = msgspec.structs.replace(made, **said)
    check_names(made, files[0] if files else "")
    return made


def load_file(file: Path) -> Tournament:
    """Read a tournament file, which is known by its name's end.

    Raises:
        ConfigError: if it is refused, is a bot's own, or has another end.
    """
    if file.name == BOT_FILE:
        raise ConfigError(
            f"{file}: this is a bot's own file, no tournament's; name its folder, {file.parent}."
        )
    if not file.name.endswith(".toml"):
        raise ConfigError(f"{file}: `arena run` knows a tournament file by its end, .toml: add it.")
    return config.load(file)


def check_names(made: Tournament, file: str) -> None:
    """Check what can be known of a tournament before any bot is looked at.

    Args:
        made: the settings.
        file: whose they are, for errors; empty for those of the command line.

    Raises:
        ConfigError: if there are no bots, one is named twice, a side has nobody, or challengers
            and gauntlet do not go together.
    """
    place = f"{file}: " if file else ""
    both, x, team = made.bots, made.mister_x, made.detectives
    if not (both or x or team):
        raise ConfigError(f'{place}names no bots; write bots = ["random", "./mybot"].')
    for names in (both, x, team):
        for text, count in Counter(names).items():
            if count > 1:
                raise ConfigError(
                    f"{place}{text} is named {count} times; to have it meet itself, set "
                    "self_play = true in a tournament file."
                )
    for side, missing in (("Mister X", not (both or x)), ("the detectives", not (both or team))):
        if missing:
            raise ConfigError(f"{place}no bot here plays {side}: name one that does.")
    if file and len({*both, *x, *team}) == 1 and not made.self_play:  # a typing error else
        raise ConfigError(
            f"{place}one bot alone has nobody to meet: name a second bot, or set self_play = true."
        )
    if made.challengers and made.kind != "gauntlet":
        raise ConfigError(f'{place}challengers go with a gauntlet only: set kind = "gauntlet".')
    if made.kind == "gauntlet" and not made.challengers:
        raise ConfigError(
            f'{place}a gauntlet needs challengers: write challengers = ["mybot"], by name.'
        )


def beside(made: Tournament, folder: Path) -> Tournament:
    """Read paths in a tournament file as seen from the file's own folder."""
    return msgspec.structs.replace(
        made,
        bots=tuple(path_from(text, folder) for text in made.bots),
        mister_x=tuple(path_from(text, folder) for text in made.mister_x),
        detectives=tuple(path_from(text, folder) for text in made.detectives),
        bwrap=str(folder / made.bwrap) if made.bwrap and "/" in made.bwrap else made.bwrap,
        show=tuple(str((folder / text).absolute()) for text in made.show),
    )


def path_from(text: str, folder: Path) -> str:
    """Return a BOT with the paths in it moved into `folder`, where a tournament file lies.

    What stands in the working directory alone is moved too: it is not what the file names. A text
    that is found in neither stays, for an error in its own words.
    """
    from arena.tournament.entrants import reference_names  # what starts bots is on Linux alone

    if not text or text in reference_names():
        return text
    if kind_of(folder / text) is not None or kind_of(text) is not None:
        return str(folder / text)
    try:
        words = shlex.split(text)
    except ValueError:
        return text  # whoever resolves it says what is wrong
    if len(words) < 2:
        return text
    return shlex.join(
        str(folder / word) if is_file(folder / word) or is_file(word) else word for word in words
    )
