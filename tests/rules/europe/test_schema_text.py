"""The schema is fresh, and everything that goes on the wire fits it."""

from __future__ import annotations

from importlib import resources
from typing import Any

import jsonschema
import msgspec
import pytest

from arena.rules import registry
from arena.rules.europe.schema_text import schema, text
from arena.rules.ruleset import Side
from tests.strategies import play_out


def validator(word: str) -> Any:
    whole = schema()
    return jsonschema.Draft202012Validator({**whole, "$ref": f"#/$defs/{word}"})


def plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def test_the_file_is_what_the_code_gives() -> None:
    file = resources.files("arena.rules.europe") / "schema" / "europe.json"
    assert file.read_text() == text(), "write arena.rules.europe.schema_text.text() into it"


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    "name",
    [
        "europe-2009",
        "europe-2009:players=2,mission=green",
        "europe-2009:setup_order=mister-x-first",
    ],
)
def test_views_plies_events_numbers_and_board_of_whole_games_fit(name: str) -> None:
    ruleset = registry.make(name)
    assert registry.preset(ruleset.name).schema() == schema()
    validator("numbers").validate(plain(ruleset.numbers))
    validator("board").validate(plain(ruleset.board))
    ply, view, event = validator("ply"), validator("view"), validator("event")
    for number in range(1):
        trace = play_out(ruleset, number, number)
        for state in (*trace.states[::5], trace.states[-1]):
            for side in Side:
                view.validate(plain(ruleset.view(state, side)))
        for step in (step for turn in trace.turns for step in turn):
            ply.validate(plain(step))
        for happened in (one for played in trace.played for one in played.events):
            event.validate(plain(happened.what))


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("ply", {"do": "move", "figure": "d6", "ticket": "car-double", "to": 1}),
        ("ply", {"do": "move", "figure": "d1", "ticket": "car-double"}),
        ("ply", {"do": "jump"}),
        ("event", {"event": "move", "figure": "x", "ticket": "car-double"}),
        ("event", {"event": "jump"}),
        ("view", {"round": 1}),
    ],
)
def test_other_things_do_not_fit(word: str, value: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validator(word).validate(value)
