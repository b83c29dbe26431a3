"""`arena config`: check a tournament file, or print the JSON Schema of one."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click
import msgspec

from arena.cli import answers, config
from arena.cli.config import Tournament
from arena.cli.limits import limits_of
from arena.cli.options import PathName, settings_options, talking
from arena.cli.settings import beside, check_names
from arena.cli.talk import Talk
from arena.errors import BotRefused, ConfigError

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
@talking
def check(talk: Talk, file: Path) -> None:
    """Read FILE.toml as `arena run` would.

    Prints it with every default filled in, or says what is wrong, with line and key. Left out are
    keys whose absence means something: seed, jobs, nodes, bwrap, user_ids. Bots are looked for and
    their settings read; none is started.
    """
    settings = filled(config.load(file))
    check_names(settings, str(file))
    check_bots(settings, file)
    talk.result(config.to_toml(settings).rstrip())
    talk.answer(answers.ConfigCheck(file=str(file), settings=msgspec.to_builtins(settings)))
    talk.next(f"arena plan {shlex.quote(str(file))}")


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


def check_bots(settings: Tournament, file: Path) -> None:
    """Look for every bot of a tournament file, and for challengers among their names.

    Raises:
        ConfigError: for a BOT that names none, two bots of one name, or a challenger that is none
            of them; a line for each.
    """
    from arena.tournament.entrants import name_of  # what starts bots is on Linux alone

    seen = beside(settings, file.parent)
    limits = limits_of(settings.limits)
    texts = dict.fromkeys((*seen.bots, *seen.mister_x, *seen.detectives))
    wrong: list[str] = []
    names: dict[str, str] = {}
    for text in texts:
        try:
            name = name_of(text, limits)
        except BotRefused as error:
            wrong.append(str(error))
            continue
        other = names.setdefault(name, text)
        if other != text:
            wrong.append(f"{other} and {text} have one name, '{name}'; give one another `name`")
    if not wrong:
        wrong = [
            f"the challenger {name!r} is none of the bots: {', '.join(sorted(names))}"
            for name in settings.challengers
            if name not in names
        ]
    if wrong:
        raise ConfigError("\n  ".join([f"{file}: it can't be played:", *wrong]))


@command.command("schema")
@settings_options
def schema() -> None:
    """Print the JSON Schema of a tournament file, for editors."""
    click.echo(json.dumps(config.schema(), indent=2, ensure_ascii=False))
