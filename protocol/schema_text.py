"""JSON Schema 2020-12 of the envelope, made from the structs.

The files beside this one in `schema/` are what `files` gives; a test keeps them so. Views, events,
plies, numbers and boards are `{}` here (anything): each ruleset has a schema of its own for them.
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from protocol.codec import AnyAnswer, AnyRequest
from protocol.messages import PROTOCOL

__all__ = ["DIALECT", "answers_schema", "envelope_schema", "files", "requests_schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def envelope_schema() -> dict[str, Any]:
    """Return one schema for every message of both directions.

    `$defs` holds each message under its struct's name (`Turn`, `Play`, …) and the two unions
    `request` and `answer`. A caller that knows the rulesets may replace the empty schemas of
    `Deal.view`, `Turn.view`, `Play.plies` and so on by references of its own.
    """
    parts = _union("request", AnyRequest) | _union("answer", AnyAnswer)
    return {
        "$schema": DIALECT,
        "title": f"Messages of protocol {PROTOCOL}",
        "anyOf": [{"$ref": "#/$defs/request"}, {"$ref": "#/$defs/answer"}],
        "$defs": parts,
    }


def requests_schema() -> dict[str, Any]:
    """Return the schema of what the referee says."""
    return _alone("request", AnyRequest, "What the referee says")


def answers_schema() -> dict[str, Any]:
    """Return the schema of what a bot says."""
    return _alone("answer", AnyAnswer, "What a bot says")


def files() -> dict[str, str]:
    """Return the text of each file in `schema/` by its name."""
    schemas = {
        "answers.json": answers_schema(),
        "envelope.json": envelope_schema(),
        "requests.json": requests_schema(),
    }
    return {
        name: msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"
        for name, schema in schemas.items()
    }


def _alone(name: str, union: Any, title: str) -> dict[str, Any]:
    return {
        "$schema": DIALECT,
        "title": f"{title}, protocol {PROTOCOL}",
        "$ref": f"#/$defs/{name}",
        "$defs": _union(name, union),
    }


def _union(name: str, union: Any) -> dict[str, Any]:
    """The definitions of a union's messages and of what they hold, and the union itself."""
    kinds = get_args(union)
    _, found = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    either = {"oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds]}
    return {name: either, **found}
