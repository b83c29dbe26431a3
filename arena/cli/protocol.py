"""`arena protocol`: the wire in words, or as JSON Schema."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import click

from arena.cli import answers
from arena.cli.options import talking
from arena.cli.talk import Talk
from arena.rules import registry
from protocol.messages import PROTOCOL
from protocol.schema_text import envelope_schema

__all__ = ["command", "joined_schema"]

PLACES = (  # message, key, what of the ruleset stands there, whether it is a list of them
    ("Deal", "numbers", "numbers", False),
    ("Deal", "board", "board", False),
    ("Deal", "view", "view", False),
    ("Turn", "view", "view", False),
    ("Turn", "events", "event", True),
    ("Turn", "legal", "ply", True),
    ("Play", "plies", "ply", True),
)


def joined_schema() -> dict[str, Any]:
    """Return the schema of every message, with what each ruleset puts into it.

    A ruleset's own parts stand in `$defs` behind its name, as `london.view`.
    """
    envelope: dict[str, Any] = json.loads(json.dumps(envelope_schema()))  # lists, no tuples
    defs = envelope["$defs"]
    words: dict[str, list[dict[str, str]]] = {}
    for name, own in registry.schemas().items():
        for word, part in own["$defs"].items():
            defs[f"{name}.{word}"] = under(name, part)
            words.setdefault(word, []).append({"$ref": f"#/$defs/{name}.{word}"})
    for message, key, word, is_list in PLACES:
        one = words[word][0] if len(words[word]) == 1 else {"anyOf": words[word]}
        defs[message]["properties"][key] = {"type": "array", "items": one} if is_list else one
    return envelope


def under(name: str, part: Any) -> Any:
    """Return a part of a schema with its references put behind a ruleset's name."""
    if isinstance(part, dict):
        return {
            key: value.replace("#/$defs/", f"#/$defs/{name}.")
            if key == "$ref"
            else under(name, value)
            for key, value in part.items()
        }
    return [under(name, item) for item in part] if isinstance(part, list | tuple) else part


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
    talk.next("arena limits", "what a bot is held to")
