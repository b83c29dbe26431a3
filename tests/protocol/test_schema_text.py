"""The JSON Schema: fresh in its files, and true to what the codec takes and gives."""

from __future__ import annotations

import json
from importlib.resources import files as package_files
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given, settings

from protocol.codec import AnyAnswer, AnyRequest, encode
from protocol.schema_text import answers_schema, envelope_schema, files, requests_schema
from tests.protocol.messages import answers, requests

ENVELOPE = jsonschema.Draft202012Validator(envelope_schema())
ANSWERS = jsonschema.Draft202012Validator(answers_schema())
REQUESTS = jsonschema.Draft202012Validator(requests_schema())


@pytest.mark.parametrize("name", sorted(files()))
def test_the_file_is_what_the_structs_give(name: str) -> None:
    """Write them again with `python tests/protocol/generate.py`."""
    kept = package_files("protocol").joinpath("schema", name).read_text(encoding="utf-8")
    assert kept == files()[name]


def test_there_are_no_other_files() -> None:
    kept = {entry.name for entry in package_files("protocol").joinpath("schema").iterdir()}
    assert kept == set(files())


@pytest.mark.parametrize("schema", [envelope_schema(), answers_schema(), requests_schema()])
def test_the_schema_is_valid_in_its_dialect(schema: dict[str, Any]) -> None:
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_message_has_a_definition() -> None:
    found = envelope_schema()["$defs"]
    for kind in get_args(AnyRequest) + get_args(AnyAnswer):
        assert kind.__name__ in found
        assert found[kind.__name__]["description"]


@given(requests)
@settings(max_examples=50)
def test_every_request_fits(message: AnyRequest) -> None:
    found = json.loads(encode(message))
    REQUESTS.validate(found)
    ENVELOPE.validate(found)


@given(answers)
@settings(max_examples=50)
def test_every_answer_fits(message: AnyAnswer) -> None:
    found = json.loads(encode(message))
    ANSWERS.validate(found)
    ENVELOPE.validate(found)


@pytest.mark.parametrize(
    "found",
    [
        {"type": "ready"},
        {"type": "ready", "id": ""},
        {"type": "reddy", "id": "a"},
        {"type": "play", "id": "a", "plies": {}},
        {"type": "hello", "id": "a", "protocol": 1, "name": "x\n", "rulesets": ["r"]},
        {"type": "hello", "id": "a", "protocol": 1, "name": "-x", "rulesets": ["r"]},
        {"type": "hello", "id": "a", "protocol": 1, "name": "x", "rulesets": []},
        {"type": "turn", "id": "a", "view": {}},
    ],
)
def test_what_the_codec_refuses_does_not_fit(found: dict[str, Any]) -> None:
    assert not ANSWERS.is_valid(found)
    assert not ENVELOPE.is_valid(found)
