"""Hypothesis strategies for every message of the wire, and for any strict JSON."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from protocol.messages import (
    Budget,
    Bye,
    ClockSettings,
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
from protocol.strict import INTEGER

integers = st.integers(-INTEGER, INTEGER)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
leaves = (
    st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts
)
json_values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(texts, json_values, max_size=5)
raws = json_values.map(lambda value: Raw(msgspec.json.encode(value)))
ids = st.text("0123456789abcdef", min_size=1, max_size=32)
counts = st.integers(0, INTEGER)
sides = st.sampled_from(["mister_x", "detectives"])
maybe_raw = st.just(UNSET) | raws
names = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._+-]{0,39}\Z")
small_notes = st.just(UNSET) | json_values.filter(
    lambda value: len(msgspec.json.encode(value)) <= 1024
)

limits = st.builds(Limits, **dict.fromkeys(Limits.__struct_fields__, counts))
requests = st.one_of(
    st.builds(
        Hello,
        id=ids,
        protocol=st.builds(Range, low=counts, high=counts),
        arena=texts,
        rulesets=st.lists(texts, max_size=3).map(tuple),
        limits=limits,
    ),
    st.builds(
        Deal,
        id=ids,
        ruleset=texts,
        behaviour=counts,
        numbers=raws,
        board=maybe_raw,
        side=sides,
        clock=st.none()
        | st.builds(ClockSettings, move_ms=counts, bank_ms=counts, increment_ms=counts),
        budget=st.none() | st.builds(Budget, nodes=counts),
        seed=counts,
        view=raws,
    ),
    st.builds(
        Turn,
        id=ids,
        part=st.integers(1, 9),
        view=raws,
        events=maybe_raw,
        legal=maybe_raw,
        bank_ms=st.none() | counts,
        charged_ms=st.none() | st.floats(0, 1e6),
    ),
    st.builds(
        End,
        winner=st.none() | sides,
        reason=texts,
        fault=st.none() | texts,
        record=maybe_raw,
    ),
    st.just(Bye()),
)
parts = st.tuples(st.lists(json_objects, max_size=3).map(tuple), st.booleans()).filter(
    lambda part: bool(part[0]) or not part[1]
)
plays = st.builds(
    lambda name, part, note: Play(id=name, plies=part[0], more=part[1], note=note),
    ids,
    parts,
    small_notes,
)
answers = st.one_of(
    st.builds(
        HelloAnswer,
        id=ids,
        protocol=st.integers(0, 1_000_000),
        name=names,
        version=st.just("") | names,
        sides=st.lists(sides, min_size=1, max_size=3).map(tuple),
        rulesets=st.lists(names, min_size=1, max_size=3).map(tuple),
        wants=st.lists(st.sampled_from(["legal", "board", "events"]), max_size=4).map(tuple),
        features=st.lists(st.sampled_from(["nodes", "reuse"]), max_size=3).map(tuple),
    ),
    st.builds(Ready, id=ids),
    plays,
    st.builds(Log, text=texts),
)
