"""SPEC.md says what the code does: examples, tables, numbers."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any, get_args

import jsonschema
import msgspec
import pytest

from arena.rules import registry
from arena.rules.europe import state as europe
from arena.rules.europe import views as europe_views
from arena.rules.london import views
from arena.rules.london.state import Board, Figure, Numbers, Slot, Step
from arena.sandbox.limits import default_limits
from protocol.codec import AnyAnswer, AnyRequest, decode_answer, decode_request, encode
from protocol.errors import RemoteProtocolError
from protocol.messages import (
    Bye,
    Deal,
    End,
    Hello,
    HelloAnswer,
    Limits,
    Log,
    Play,
    Range,
    Ready,
    Turn,
)
from protocol.quoting import QUOTED_BYTES
from protocol.schema_text import envelope_schema
from protocol.session import agree, table_text
from protocol.strict import INTEGER
from tests.protocol.spec import filled
from tests.protocol.transcripts import GOLDEN, kept

SPEC = resources.files("protocol").joinpath("SPEC.md").read_text(encoding="utf-8")


def blocks(kind: str, text: str = SPEC) -> list[Any]:
    found = re.findall(r"^```(\w+) ?(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [
        json.loads(body) for language, word, body in found if (language, word) == ("json", kind)
    ]


def chapter(name: str) -> str:
    """The text of a chapter with all its sections."""
    return SPEC.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


LONDON, EUROPE = chapter("London"), chapter("Europe")


def as_json(value: Any) -> Any:
    """A value as it comes back from the wire: lists, not tuples."""
    return json.loads(msgspec.json.encode(value))


def section(heading: str) -> str:
    """The text from a heading to the next one, of any level."""
    found = re.search(
        rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", SPEC, re.DOTALL | re.MULTILINE
    )
    assert found, heading
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of a section's table lines, without heads and rulers."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def keys(heading: str) -> list[str]:
    """The names in the first cells of a section's table."""
    return [key for row in rows(section(heading)) for key in re.findall(r"`(\w+)`", row[0])]


def test_the_generated_parts_are_fresh() -> None:
    """Write them again with `python tests/protocol/generate.py`."""
    assert filled(SPEC) == SPEC


def test_the_session_table_stands_in_the_text() -> None:
    assert table_text() in section("Order")


def test_every_message_has_an_example_that_is_read_and_was_said() -> None:
    said = {bytes(entry.line) for golden in GOLDEN for entry in kept(golden)}
    seen: set[type] = set()
    for kind, decode in (("request", decode_request), ("answer", decode_answer)):
        for found in blocks(kind):
            line = msgspec.json.encode(found)
            assert line in said
            message = decode(line)
            assert encode(message) == line + b"\n"
            jsonschema.Draft202012Validator(envelope_schema()).validate(found)
            seen.add(type(message))
    assert seen == {*get_args(AnyRequest), *get_args(AnyAnswer)}


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("The referee's `hello`", Hello),
        ("A bot's `hello`", HelloAnswer),
        ("`deal`", Deal),
        ("`ready`", Ready),
        ("`turn`", Turn),
        ("`play`", Play),
        ("`log`", Log),
        ("`end`", End),
        ("Numbers", Numbers),
        ("Views", views.MisterXView),
        ("Numbers of Europe", europe.Numbers),
    ],
)
def test_every_key_is_explained_and_no_other(heading: str, kind: type[msgspec.Struct]) -> None:
    assert sorted(keys(heading)) == sorted(kind.__struct_fields__)


def test_bye_has_no_key_to_explain() -> None:
    assert Bye.__struct_fields__ == ()
    assert not rows(section("`bye`"))


def test_every_limit_stands_there_with_its_number() -> None:
    limits = msgspec.structs.asdict(default_limits())
    table = {row[0].strip("`"): row[1] for row in rows(section("Limits"))[2:]}
    assert table == {name: f"{value:,}" for name, value in limits.items()}
    assert set(limits) == set(Limits.__struct_fields__)


def test_numbers_in_the_running_text() -> None:
    assert f"at most {QUOTED_BYTES} bytes" in section("Strict reading")
    assert INTEGER == 2**53 - 1
    assert "±(2^53-1)" in section("Strict reading")
    assert "0 to 2^53-1" in section("`deal`")
    name = envelope_schema()["$defs"]["HelloAnswer"]["properties"]["name"]
    assert f"{name['minLength']} to {name['maxLength']} letters" in section("A bot's `hello`")


REFUSED = [
    row
    for row in rows(section("Strict reading"))
    if "`{" in row[0] or ")" in row[1] or "[" in row[0]
]


def test_the_table_of_refusals_was_found() -> None:
    assert len(REFUSED) == len(rows(section("Strict reading"))) - 2


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[0][:40])
def test_a_refused_line_gets_the_text_that_is_told(row: list[str]) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        decode_answer(row[0].strip("`").encode())
    assert caught.value.text.startswith(row[1])


def test_minus_zero_is_taken_as_the_text_says() -> None:
    assert decode_answer(b'{"type":"play","id":"a","plies":[],"note":-0}') == Play(
        id="a", plies=(), note=0
    )


def test_the_refusal_of_a_version_reads_as_quoted() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        agree(Range(low=1, high=1), 2)
    assert caught.value.text in " ".join(section("Versions").split())


def test_links_within_the_text_lead_somewhere() -> None:
    heads = re.findall(r"^#+ (.+)$", SPEC, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
    assert set(re.findall(r"\]\(#([^)]+)\)", SPEC)) <= anchors


# --- London ------------------------------------------------------------------------------------


def test_the_ply_of_london_is_one() -> None:
    (found,) = blocks("ply", LONDON)
    assert as_json(msgspec.convert(found, Step)) == found


def test_the_view_of_london_is_one() -> None:
    (found,) = blocks("view", LONDON)
    assert as_json(msgspec.convert(found, views.MisterXView)) == found
    assert all(key in section("Views") for key in Figure.__struct_fields__ + Slot.__struct_fields__)


def test_the_numbers_in_the_deal_are_those_of_its_ruleset() -> None:
    (found,) = [found for found in blocks("request") if found["type"] == "deal"]
    assert found["numbers"] == as_json(registry.make(found["ruleset"]).numbers)
    assert msgspec.convert(found["numbers"], Numbers)


def test_every_event_of_london_has_an_example_that_could_be() -> None:
    kinds = {
        kind.__struct_config__.tag: kind
        for kind in vars(views).values()
        if isinstance(kind, type)
        and issubclass(kind, msgspec.Struct)
        and kind.__struct_config__.tag_field == "event"
    }
    shown = [json.loads(row[0].strip("`")) for row in rows(section("Events"))[2:]]
    for event in shown:
        assert as_json(msgspec.convert(event, kinds[event["event"]])) == event
    assert {event["event"] for event in shown} == set(kinds)


def test_the_events_that_golden_games_have_are_taken_from_them() -> None:
    sent = [
        event
        for golden in GOLDEN
        if golden.ruleset.startswith("london")
        for entry in kept(golden)
        for event in json.loads(bytes(entry.line)).get("events", ())
    ]
    never_sent = {"sit_out", "capture"}  # rare; and at the end nobody is asked any more
    for row in rows(section("Events"))[2:]:
        event = json.loads(row[0].strip("`"))
        assert (event in sent) == (event["event"] not in never_sent)


def test_the_board_of_london_begins_so() -> None:
    (found,) = blocks("board")
    whole = as_json(registry.make("london-2013").board)
    assert set(found) == set(Board.__struct_fields__)
    assert (found["name"], found["aspect"]) == (whole["name"], whole["aspect"])
    assert found["stations"] == list(whole["stations"][:1])
    assert found["links"] == {name: [list(links[0])] for name, links in whole["links"].items()}


def test_every_end_of_london_is_told() -> None:
    """`captured` and the others are the words that the rules use."""
    rules = resources.files("arena.rules.london").joinpath("RULES.md").read_text(encoding="utf-8")
    for word, winner, _ in rows(section("How it ends"))[2:]:
        assert word in rules
        assert winner in {"`mister_x`", "`detectives`"}
    assert len(keys("How it ends")) == 5  # four, and the word `reason` of the head


# --- Europe ------------------------------------------------------------------------------------


def test_each_ply_of_europe_has_one_example() -> None:
    kinds = registry.make("europe-2009").ply_type
    found = blocks("ply", EUROPE)
    for example in found:
        assert as_json(msgspec.convert(example, kinds)) == example
    assert len(found) == len({example["do"] for example in found}) == len(get_args(kinds))


def test_the_views_of_europe_are_some_and_every_key_is_explained() -> None:
    own, team = blocks("view", EUROPE)
    assert as_json(msgspec.convert(own, europe_views.MisterXView)) == own
    assert as_json(msgspec.convert(team, europe_views.DetectivesView)) == team
    told = set(keys("Views of Europe"))
    assert told == set(own) | set(team)
    parts = (europe.Figure, europe.Slot, europe.Tally)
    for part in parts:
        assert all(f"`{key}`" in section("Views of Europe") for key in part.__struct_fields__)


def test_every_event_of_europe_has_an_example_that_could_be() -> None:
    kinds = {str(kind.__struct_config__.tag): kind for kind in europe_views.EVENTS}
    shown = [json.loads(row[0].strip("`")) for row in rows(section("Events of Europe"))[2:]]
    for event in shown:
        assert as_json(msgspec.convert(event, kinds[event["event"]])) == event
    assert [event["event"] for event in shown] == list(kinds)


def test_the_board_of_europe_has_what_is_told() -> None:
    board = as_json(registry.make("europe-2009").board)
    text = section("Board of Europe")
    assert all(f"`{key}`" in text for key in board["cities"][0])
    assert all(
        f"`{key}`" in text for key in set(board) - {"name", "format", "projection", "transports"}
    )


def test_every_end_of_europe_is_told() -> None:
    rules = resources.files("arena.rules.europe").joinpath("RULES.md").read_text(encoding="utf-8")
    ends = {row[0].strip("`"): row[1].strip("`") for row in rows(section("How Europe ends"))[2:]}
    assert ends == {
        "escaped": "mister_x",
        "captured": "detectives",
        "encircled": "detectives",
        "cap": "detectives",
    }
    assert all(f"`{word}`" in rules for word in ends)
