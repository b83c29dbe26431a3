"""Every command's help, and its row in README.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from arena.cli.main import COMMANDS, cli
from tests.cli.calling import Caller
from tests.cli.snapshots import FOLDER, same

README = Path(__file__).parent.parent.parent / "README.md"


def every_command() -> Iterator[tuple[str, ...]]:
    """The words that call each command, commands of groups included."""
    yield ()
    context = click.Context(cli)
    for name in COMMANDS:
        yield (name,)
        command = cli.get_command(context, name)
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                yield (name, inner)


@pytest.mark.parametrize("words", [*every_command()], ids=" ".join)
def test_help_is_as_it_was(arena: Caller, words: tuple[str, ...]) -> None:
    called = arena(*words, "--help", env={"COLUMNS": "80"})
    assert called.code == 0
    assert called.stderr == ""
    assert max(map(len, called.stdout.splitlines())) <= 80
    same(f"help/{'-'.join(words) or 'arena'}.txt", called.stdout)


def test_there_is_no_help_of_a_command_that_is_gone() -> None:
    names = {"-".join(words) or "arena" for words in every_command()}
    assert {file.stem for file in (FOLDER / "help").iterdir()} == names


def test_every_command_has_its_row_in_the_readme() -> None:
    text = README.read_text(encoding="utf-8").partition("## Commands")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `arena")]
    named = [name for row in rows for name in re.findall(r"`arena ([a-z]+)", row)]
    assert sorted(set(named)) == sorted(COMMANDS)
    assert len(named) == len(set(named)), "a command has two rows"


@pytest.mark.parametrize("words", [*every_command()], ids=" ".join)
def test_every_option_is_explained(words: tuple[str, ...]) -> None:
    command: click.Command = cli
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    for param in command.params:
        if isinstance(param, click.Option):
            assert param.help, f"{param.opts} has no help"
