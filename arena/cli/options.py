"""Options that several commands share, so that each is spelt and explained in one way."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import click.shell_completion

from arena.cli.talk import DATA, Settings, Talk
from arena.errors import ConfigError, HostFault

__all__ = [
    "NumberRange",
    "PathName",
    "SideChoice",
    "Word",
    "complete_bot",
    "complete_ruleset",
    "data_option",
    "json_option",
    "ruleset_option",
    "settings_options",
    "talking",
]

SHORT_SIDES = {"x": "mister_x", "mr_x": "mister_x", "d": "detectives", "team": "detectives"}

NOTHING = "nothing stands there; write a value, or leave it out."

F = TypeVar("F", bound=Callable[..., Any])


def set_quiet(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    """Take `-q` from wherever it stands."""
    if value:
        ctx.ensure_object(Settings).quiet = True


def set_verbose(ctx: click.Context, _param: click.Parameter, value: int) -> None:
    """Take `-v` from wherever it stands."""
    settings = ctx.ensure_object(Settings)
    settings.verbose = max(settings.verbose, value)


def set_no_color(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    """Take `--no-color` from wherever it stands."""
    if value:
        ctx.ensure_object(Settings).color = False


def settings_options(function: F) -> F:
    """Add `-q`, `-v` and `--no-color`; they work before and behind the command's name."""
    for option in (
        click.option(
            "--no-color",
            is_flag=True,
            expose_value=False,
            callback=set_no_color,
            help="No colours; the variable NO_COLOR does the same.",
        ),
        click.option(
            "-v",
            "--verbose",
            count=True,
            expose_value=False,
            callback=set_verbose,
            help="Say what happens; twice: everything. Errors come with a traceback.",
        ),
        click.option(
            "-q",
            "--quiet",
            is_flag=True,
            expose_value=False,
            callback=set_quiet,
            help="Only results, warnings and errors.",
        ),
    ):
        function = option(function)
    return function


def talking(function: F) -> F:
    """Add `--json` and the settings; the function gets a `Talk` as its first argument.

    Commands that its errors name work on its data folder.
    """

    @functools.wraps(function)
    def wrapped(*args: Any, json_: bool, **kwargs: Any) -> Any:
        settings = click.get_current_context().ensure_object(Settings)
        settings.set_up_logging()
        talk = Talk(settings, json=json_, data=kwargs.get("data", DATA))
        try:
            return function(talk, *args, **kwargs)
        except (ConfigError, HostFault) as error:
            error.args = (talk.with_data(str(error)),)
            raise

    return json_option(settings_options(wrapped))  # type: ignore[return-value]


def json_option(function: F) -> F:
    """Add `--json`."""
    return click.option(
        "--json",
        "json_",
        is_flag=True,
        help="One JSON object on stdout, all talk on stderr.",
    )(function)


class SideChoice(click.Choice[str]):
    """A side, its short names included."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the side's word."""
        word = str(value).lower().replace("-", "_")
        return super().convert(SHORT_SIDES.get(word, word), param, ctx)


class NumberRange(click.FloatRange):
    """A number between two others; click's own takes `nan` for one."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or refuse it."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


class Word(click.types.StringParamType):
    """Any text but the empty one, which an unset variable of a script gives."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text, or refuse it."""
        if value == "":
            self.fail(NOTHING, param, ctx)
        return super().convert(value, param, ctx)


class PathName(click.Path):
    """A file or a folder; the empty text, which an unset variable of a script gives, is none."""

    empty = NOTHING

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the path, or refuse it."""
        if value == "":
            self.fail(self.empty, param, ctx)
        return super().convert(value, param, ctx)


class DataFolder(PathName):
    """The folder of `--data`."""

    empty = "an empty name is no folder; write `.` for this one."


def data_option(function: F) -> F:
    """Add `--data DIR`: where everything that a run makes is kept."""
    return click.option(
        "--data",
        metavar="DIR",
        type=DataFolder(file_okay=False, path_type=Path),
        default=DATA,
        show_default=True,
        help="Where games, staged bots and reports are kept.",
    )(function)


def complete_ruleset(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Offer the names of the rulesets to the shell."""
    from arena.rules import registry

    return [name for name in registry.names() if name.startswith(incomplete)]


def complete_bot(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """Offer reference bots by name and, by the shell itself, files and folders."""
    from arena.tournament import entrants

    names = [name for name in entrants.reference_names() if name.startswith(incomplete)]
    items = [click.shell_completion.CompletionItem(name) for name in names]
    return [*items, click.shell_completion.CompletionItem(incomplete, type="file")]


def ruleset_option(function: F) -> F:
    """Add `--ruleset R`."""
    return click.option(
        "--ruleset",
        metavar="R",
        type=Word(),
        shell_complete=complete_ruleset,
        help="The rules, as name[:key=value,…], e.g. london-2013:players=2.",
    )(function)
