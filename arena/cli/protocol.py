"""`arena protocol`: the wire in words, or as JSON Schema."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import click

from arena.cli import answers
from arena.cli.options import talking
from arena.cli.talk import Talk
from protocol.messages import PROTOCOL
from protocol.schema_text import envelope_schema

__all__ = ["command", "joined_schema"]


def joined_schema() -> dict[str, Any]:
    """Return the schema of every message, with the views and plies of every ruleset beside it."""
    return envelope_schema()


@click.command("protocol")
@click.option("--schema", is_flag=True, help="The JSON Schema of every message instead.")
@talking
def command(talk: Talk, *, schema: bool) -> None:
    """Print the wire's text, protocol/SPEC.md, or its JSON Schema."""
    if talk.json:
        talk.answer(answers.Wire(protocol=PROTOCOL, json_schema=joined_schema()))
    elif schema:
        talk.result(json.dumps(joined_schema(), indent=2, ensure_ascii=False))
    else:
        talk.result((resources.files("protocol") / "SPEC.md").read_text(encoding="utf-8").rstrip())
    talk.next("arena limits   (what a bot is held to)")
