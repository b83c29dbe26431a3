"""The golden transcripts: every line is in order, in form, and what the rules say."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema
import msgspec
import pytest
from msgspec import UNSET

from arena.errors import IllegalMove
from arena.rules import registry
from arena.rules.ruleset import Side
from protocol.codec import decode_answer, decode_request, encode
from protocol.messages import Bye, Deal, End, Hello, Log, Play, Turn
from protocol.schema_text import answers_schema, requests_schema
from protocol.session import Session, State
from tests.protocol.transcripts import GOLDEN, Entry, Golden, Model, kept, text

each = pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
ANSWERS = jsonschema.Draft202012Validator(answers_schema())
REQUESTS = jsonschema.Draft202012Validator(requests_schema())


def said(entry: Entry) -> Any:
    """The message in a line."""
    decode = decode_request if entry.speaker == "referee" else decode_answer
    return decode(bytes(entry.line))


@each
def test_the_file_is_what_the_model_says(golden: Golden) -> None:
    """Write it again with `python tests/protocol/generate.py`."""
    file = resources.files("protocol").joinpath("transcripts", golden.file)
    assert file.read_text(encoding="utf-8") == text(Model(golden).play())


def test_there_are_no_other_files() -> None:
    files = resources.files("protocol").joinpath("transcripts").iterdir()
    assert {file.name for file in files} == {golden.file for golden in GOLDEN}


@each
def test_every_line_fits_the_schema(golden: Golden) -> None:
    for entry in kept(golden):
        schema = REQUESTS if entry.speaker == "referee" else ANSWERS
        schema.validate(json.loads(bytes(entry.line)))


@each
def test_every_line_is_read_and_written_again_byte_for_byte(golden: Golden) -> None:
    for entry in kept(golden):
        assert encode(said(entry)) == bytes(entry.line) + b"\n"


@each
def test_the_session_takes_every_line_in_order(golden: Golden) -> None:
    sessions = {side.value: Session() for side in Side}
    for entry in kept(golden):
        message = said(entry)
        if entry.speaker == "referee":
            sessions[entry.to].request(message)
        else:
            assert entry.to == "referee"
            answered = sessions[entry.speaker].answer(message)
            assert answered != isinstance(message, Log)
    assert {session.state for session in sessions.values()} == {State.OVER}


@each
def test_the_rules_replay_it_to_the_same_verdict(golden: Golden) -> None:
    """Every view that was sent, every ply that was played, and how it ended."""
    ruleset = registry.make(golden.ruleset)
    state = ruleset.deal(golden.deal_seed, 0)
    fault: Side | None = None
    ends: list[End] = []
    for entry in kept(golden):
        message = said(entry)
        if isinstance(message, (Deal, Turn)):
            side = Side(entry.to)
            assert bytes(message.view) == msgspec.json.encode(ruleset.view(state, side))
        if isinstance(message, Turn):
            assert ruleset.to_move(state) is Side(entry.to)
            if "legal" in golden.wants:
                assert message.legal is not UNSET
                assert bytes(message.legal) == msgspec.json.encode(ruleset.legal(state))
        elif isinstance(message, Play):
            plies = [msgspec.convert(ply, ruleset.ply_type) for ply in message.plies]
            try:
                state = ruleset.play(state, plies, more=message.more).state
            except IllegalMove:
                fault = Side(entry.speaker)
        elif isinstance(message, End):
            ends.append(message)
    verdict = ruleset.verdict(state)
    assert [(end.winner, end.reason) for end in ends] == [(golden.winner, golden.reason)] * 2
    if golden.reason == "fault":
        assert verdict is None
        assert fault is golden.winner.other
        told = {end.fault is not None for end in ends}
        assert told == {False, True}
    else:
        assert verdict is not None
        assert (verdict.winner, verdict.reason) == (golden.winner, golden.reason)
        assert fault is None
        assert all(end.fault is None for end in ends)


@each
def test_the_record_at_the_end_holds_the_plays_of_both_sides(golden: Golden) -> None:
    entries = list(kept(golden))
    plays = [
        {"side": entry.speaker, "plies": list(message.plies), "more": message.more}
        for entry in entries
        if isinstance(message := said(entry), Play)
    ]
    if golden.reason == "fault":
        plays.pop()  # the illegal one was not played
    for entry in entries:
        if isinstance(message := said(entry), End):
            assert json.loads(bytes(message.record))["plays"] == plays  # type: ignore[arg-type]


@each
def test_no_id_comes_twice_and_no_secret_is_told(golden: Golden) -> None:
    entries = list(kept(golden))
    asked = [
        m
        for entry in entries
        if isinstance(m := said(entry), (Hello, Deal, Turn)) and entry.speaker == "referee"
    ]
    ids = [message.id for message in asked]
    assert len(ids) == len(set(ids))
    whole = text(entries)
    assert golden.deal_seed.hex() not in whole
    assert golden.game_key.hex() not in whole


def test_the_transcripts_show_an_x_win_a_capture_in_parts_and_a_forfeit() -> None:
    assert [(golden.winner, golden.reason) for golden in GOLDEN] == [
        (Side.MISTER_X, "escaped"),
        (Side.DETECTIVES, "captured"),
        (Side.MISTER_X, "fault"),
        (Side.MISTER_X, "escaped"),
        (Side.DETECTIVES, "captured"),
    ]
    capture = [said(entry) for entry in kept(GOLDEN[1])]
    assert any(isinstance(message, Play) and message.more for message in capture)
    assert any(isinstance(message, Turn) and message.part > 1 for message in capture)
    assert any(isinstance(message, Log) for message in capture)
    assert any(isinstance(message, Play) and len(message.plies) == 2 for message in capture)
    assert isinstance(capture[-1], Bye)


def test_the_transcripts_of_europe_show_actions_of_both_sides() -> None:
    """A double and a hidden move of the winner; an investigation whose answer comes in a part."""
    plays = [one for entry in kept(GOLDEN[3]) if isinstance(one := said(entry), Play)]
    turns = [[ply["do"] for ply in play.plies] for play in plays]
    assert ["pay", "pay", "pay", "move", "move"] in turns
    assert ["pay", "pay", "pay", "lay"] in [turn[:4] for turn in turns]
    capture = [said(entry) for entry in kept(GOLDEN[4])]
    parts = [one for one in capture if isinstance(one, Turn) and one.part > 1]
    events = [
        event
        for one in parts
        if one.events is not UNSET
        for event in msgspec.json.decode(bytes(one.events))
    ]
    assert "investigate" in {event["event"] for event in events}
    assert isinstance(capture[-1], Bye)
