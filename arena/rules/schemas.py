"""A ruleset's structs → its JSON Schema 2020-12, in the form that the envelope's schema joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

__all__ = ["schema_file", "schema_of"]


def schema_of(title: str, words: Mapping[str, Sequence[type[msgspec.Struct]]]) -> dict[str, Any]:
    """Return a schema: each struct under its name in `$defs`, and each word for its structs.

    Args:
        title: of the schema.
        words: `ply`, `view`, `event`, `numbers` and `board`, each with one struct or more. Of
            several any may fit: Mister X's view can have all that the team's has.
    """
    kinds = [kind for group in words.values() for kind in group]
    _, found = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    named: dict[str, Any] = {}
    for word, group in words.items():
        refs = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in group]
        named[word] = refs[0] if len(refs) == 1 else {"anyOf": refs}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "$defs": named | found,
    }


def schema_file(schema: Mapping[str, Any]) -> str:
    """Return a schema as the file of a ruleset has it."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"
