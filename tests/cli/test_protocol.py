"""The wire, printed."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema
import pytest

from arena.cli.protocol import joined_schema
from tests.cli.calling import Caller

TRANSCRIPTS = resources.files("protocol") / "transcripts"


def messages(name: str) -> list[dict[str, Any]]:
    """Every message of a golden transcript."""
    lines = (TRANSCRIPTS / name).read_text(encoding="utf-8").splitlines()
    said = [json.loads(line) for line in lines if line.strip()]
    return [one for line in said for one in find_messages(line)]


def find_messages(value: Any) -> list[dict[str, Any]]:
    """The wire's messages in a line of a transcript, whatever stands around them."""
    if isinstance(value, str) and value.startswith("{"):
        value = json.loads(value)
    if not isinstance(value, dict):
        return []
    if value.get("type") in {"hello", "deal", "turn", "end", "bye", "ready", "play", "log"}:
        return [value]
    return [one for item in value.values() for one in find_messages(item)]


@pytest.mark.parametrize("name", sorted(path.name for path in TRANSCRIPTS.iterdir()))
def test_joined_schema_fits_every_message_of_the_golden_transcripts(name: str) -> None:
    if not name.endswith(".jsonl"):
        return
    found = messages(name)
    assert {one["type"] for one in found} >= {"deal", "turn", "play"}
    validator = jsonschema.Draft202012Validator(joined_schema())
    for one in found:
        validator.validate(one)


def test_joined_schema_refuses_a_view_that_is_none() -> None:
    deal = next(one for one in messages("capture.jsonl") if one["type"] == "deal")
    jsonschema.validate(deal, joined_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**deal, "view": {"figures": 3}}, joined_schema())


def test_protocol_prints_the_text_and_the_schema(arena: Caller) -> None:
    spec = (resources.files("protocol") / "SPEC.md").read_text(encoding="utf-8")
    assert arena("protocol").stdout.strip() == spec.strip()
    assert json.loads(arena("protocol", "--schema").stdout) == joined_schema()
    answer = arena("protocol", "--json").json
    assert answer["json_schema"] == joined_schema()
    assert answer["protocol"] == 1
