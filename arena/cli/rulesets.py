"""`arena rulesets`: what can be played, by which options."""

from __future__ import annotations

import click
import msgspec

from arena.cli import answers
from arena.cli.options import complete_ruleset, talking
from arena.cli.talk import Talk, table
from arena.rules import registry

__all__ = ["command"]


@click.command("rulesets")
@click.argument("rulesets", nargs=-1, metavar="[R]…", shell_complete=complete_ruleset)
@talking
def command(talk: Talk, rulesets: tuple[str, ...]) -> None:
    """List the rulesets and their options, or those named.

    R is name[:key=value,…], e.g. london-2013:players=2.
    """
    made = [registry.make(text) for text in rulesets or registry.names()]
    rules = tuple(
        answers.Rules(
            name=one.name,
            text=one.text,
            behaviour=one.behaviour,
            options=dict(one.options),
            numbers=msgspec.to_builtins(one.numbers),
            board=one.board_hash,
            max_turns=one.max_turns,
        )
        for one in made
    )
    presets = [registry.preset(name) for name in dict.fromkeys(one.name for one in rules)]
    talk.result(
        table(
            ("ruleset", "#turns at most", "about"),
            ((one.text, one.max_turns, registry.preset(one.name).summary) for one in rules),
        )
    )
    talk.result("")
    talk.result(
        table(
            ("option", "values, the default first", "what"),
            (
                (
                    f"{preset.name}:{option.name}",
                    ", ".join(map(str, option.values)),
                    option.meaning,
                )
                for preset in presets
                for option in preset.options
            ),
        )
    )
    talk.answer(answers.Rulesets(rulesets=rules))
    talk.next(f"arena run --ruleset {rules[0].text}")
