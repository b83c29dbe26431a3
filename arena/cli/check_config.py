"""`arena config`: check a tournament file, or print the JSON Schema of one."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click
import msgspec

from arena.cli import answers, config
from arena.cli.options import settings_options, talking
from arena.cli.settings import check_names
from arena.cli.talk import Talk
from arena.rules import registry

__all__ = ["command"]


@click.group("config")
@settings_options
def command() -> None:
    """Check a tournament file, or print its JSON Schema."""


@command.command("check")
@click.argument("file", metavar="FILE.toml", type=click.Path(dir_okay=False, path_type=Path))
@talking
def check(talk: Talk, file: Path) -> None:
    """Read FILE.toml as `arena run` would.

    Prints it with every default filled in, or says what is wrong, with line and key.
    """
    settings = config.load(file)
    check_names(settings, str(file))
    registry.make(settings.ruleset)
    talk.result(config.to_toml(settings).rstrip())
    talk.answer(answers.ConfigCheck(file=str(file), settings=msgspec.to_builtins(settings)))
    talk.next(f"arena plan {shlex.quote(str(file))}")


@command.command("schema")
@settings_options
def schema() -> None:
    """Print the JSON Schema of a tournament file, for editors."""
    click.echo(json.dumps(config.schema(), indent=2, ensure_ascii=False))
