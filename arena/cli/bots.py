"""`arena bots`: the reference bots, or any bots, as they say of themselves."""

from __future__ import annotations

import ast
import tempfile
from pathlib import Path
from typing import Literal

import click
import trio

from arena.cli import answers
from arena.cli.config import Limits
from arena.cli.limits import limits_of
from arena.cli.options import complete_bot, talking
from arena.cli.planning import greet_all
from arena.cli.sandboxing import sandbox_options, sandboxing
from arena.cli.talk import Talk, table
from arena.cli.writable import make_writable
from arena.errors import BotRefused
from arena.referee.record import SideWord
from arena.rules import registry
from arena.tournament.entrants import Entrant, find_bot, reference_names

__all__ = ["command"]

SHORT: dict[SideWord, str] = {"mister_x": "Mister X", "detectives": "detectives"}


@click.command("bots")
@click.argument("bots", nargs=-1, metavar="[BOT]…", shell_complete=complete_bot)
@sandbox_options
@talking
def command(
    talk: Talk,
    bots: tuple[str, ...],
    sandbox: Literal["auto", "none"] | None,
    bwrap: str | None,
) -> None:
    """List the reference bots, or look at the bots named.

    Each is started and greeted once, as before a run.
    """
    limits = limits_of(Limits())
    kept = sandboxing(
        talk,
        mode=sandbox or "auto",
        bwrap=bwrap,
        data=None,
        has_strangers=not set(bots) <= set(reference_names()),
    )
    refused: list[str] = []
    found: dict[str, Entrant] = {}
    with tempfile.TemporaryDirectory(prefix="arena-bots-") as folder:
        try:
            for text in bots or reference_names():
                try:
                    found[text] = find_bot(text, Path(folder), limits=limits, profile=kept.profile)
                except BotRefused as error:
                    refused.append(str(error))
            hellos = trio.run(greet_all, found, registry.names(), limits, False, kept)
            listed = []
            for text, hello in hellos.items():
                if isinstance(hello, BotRefused):
                    refused.append(str(hello))
                    continue
                spec = found[text].greeted(hello)
                listed.append(
                    answers.Bot(
                        name=spec.name,
                        version=spec.version,
                        about=about(spec.folder) if spec.trusted else found[text].source,
                        sides=spec.sides,
                        rulesets=spec.rulesets,
                    )
                )
        finally:
            make_writable(Path(folder))
    if listed:
        talk.result(
            table(
                ("bot", "version", "sides", "about"),
                ((bot.name, bot.version, sides(bot), bot.about) for bot in listed),
            )
        )
        for rulesets in dict.fromkeys(bot.rulesets for bot in listed):
            names = [bot.name for bot in listed if bot.rulesets == rulesets]
            talk.result(f"{', '.join(names)}: {', '.join(rulesets)}")
    if refused:
        raise BotRefused("\n  ".join(["can't be played with:", *refused]))
    talk.answer(answers.Bots(bots=tuple(listed)))
    names = [bot.name for bot in listed]
    talk.next(f"arena play {names[0]} {names[-1]}" if names else "arena run")


def sides(bot: answers.Bot) -> str:
    """Return the sides that a bot plays."""
    return "both" if len(bot.sides) > 1 else SHORT[bot.sides[0]]


def about(folder: str) -> str:
    """Return the first line of what a reference bot says of itself."""
    source = (Path(folder) / "bot.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
