"""`arena config`: check a tournament file, or print the JSON Schema of one."""

from __future__ import annotations

import json
import platform
import shlex
from pathlib import Path

import click
import msgspec

from arena.cli import answers, config
from arena.cli.config import Tournament
from arena.cli.limits import limits_of
from arena.cli.options import PathName, data_option, settings_options, talking
from arena.cli.settings import beside, check_names, load_file
from arena.cli.talk import Talk
from arena.errors import ConfigError

__all__ = ["command"]


class Config(click.Group):
    """The group; what it is given instead of a command is most often the file."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; anything else is answered with what there is."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            file = shlex.quote(args[0]) if args[0].endswith(".toml") else "FILE.toml"
            ctx.fail(
                f"There is no command '{args[0]}': `arena config check {file}` checks a "
                "tournament file, `arena config schema` prints the JSON Schema of one."
            )
        return super().resolve_command(ctx, args)


@click.group("config", cls=Config)
@settings_options
def command() -> None:
    """Check a tournament file, or print its JSON Schema."""


@command.command("check")
@click.argument("file", metavar="FILE.toml", type=PathName(dir_okay=False, path_type=Path))
@data_option
@talking
def check(talk: Talk, file: Path, data: Path) -> None:
    """Read FILE.toml as `arena run` would.

    Prints it with every default filled in, or says what is wrong, with line and key. Left out are
    keys whose absence means something: seed, jobs, nodes, bwrap, user_ids. Bots are looked for,
    copied and their settings read, and the sandbox is tried; no bot is built or started, and
    nothing is kept.
    """
    settings = load_file(file)
    check_bots(talk, settings, file, data)
    settings = filled(settings)
    talk.result(config.to_toml(settings).rstrip())
    talk.answer(answers.ConfigCheck(file=str(file), settings=msgspec.to_builtins(settings)))
    talk.next(f"arena plan {shlex.quote(str(file))}", data=True)


def filled(settings: Tournament) -> Tournament:
    """Return the same settings with the defaults that stand elsewhere: limits, and deals."""
    limits = msgspec.structs.asdict(limits_of(settings.limits))
    ruleset = settings.ruleset
    if not isinstance(ruleset, str):
        ruleset = tuple(
            config.RulesetDeals(name=name, deals=deals) for name, deals in settings.rulesets
        )
    return msgspec.structs.replace(
        settings,
        ruleset=ruleset,
        limits=config.Limits(**{key: limits[key] for key in config.Limits.__struct_fields__}),
    )


def check_bots(talk: Talk, settings: Tournament, file: Path, data: Path) -> None:
    """Look for every bot of a tournament file, and whether they can play it.

    Raises:
        ConfigError: for all that `arena run` would refuse before it starts a bot; a line for each.
    """
    if platform.system() != "Linux":
        check_names(settings, str(file))
        talk.warn("bots are started on Linux alone: here none is looked at")
        return
    from arena.cli.planning import look_over

    seen = beside(settings, file.parent)
    check_names(seen, str(file))
    wrong = look_over(seen, data, talk)
    if wrong:
        lines = [line.replace("\n", "\n    ") for line in wrong]
        raise ConfigError("\n  ".join([f"{file}: it can't be played:", *lines]))


@command.command("schema")
@settings_options
def schema() -> None:
    """Print the JSON Schema of a tournament file, for editors."""
    click.echo(json.dumps(config.schema(), indent=2, ensure_ascii=False))
