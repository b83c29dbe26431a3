"""The data of a replay page: put together again, it is the game; texts are cut, and only text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
import pytest

from arena.errors import ConfigError, RecordError
from arena.referee.record import GameRecord
from arena.referee.replay import replay
from arena.rules.london import London
from arena.rules.ruleset import Side
from reports import replays
from reports.replays import MAX_TEXT, Moment, changes, cut, page_json, replay_data, written
from reports.site.replay import MAX_BYTES, drawings, replay_page, write_replay
from tests.reports.games_of_london import HOSTILE, crashing, dressed, played, showing_off

SIDES = ("mister_x", "detectives")


def plain(value: Any) -> Any:
    """A struct as the page reads it."""
    return msgspec.json.decode(msgspec.json.encode(value))


@cache
def honest_game() -> GameRecord:
    return played()


def changed(old: Any, changes: dict[str, Any]) -> Any:
    """What `viewer/data.js` makes of changes by key."""
    new: Any = list(old) if isinstance(old, list) else dict(old)
    for key, change in changes.items():
        place: Any = int(key) if isinstance(old, list) else key
        new[place] = applied(old[place] if change.keys() != {"set"} else None, change)
    return new


def applied(old: Any, change: dict[str, Any]) -> Any:
    ((how, value),) = change.items()
    if how == "set":
        return value
    if how == "in":
        return changed(old, value)
    new = list(old)
    if how == "add":
        new += value
    elif how == "cut":
        place, gone, come = value
        new[place : place + gone] = come
    else:
        for key, item in value.items():
            was = new[int(key)]
            new[int(key)] = {**was, **item} if isinstance(was, dict) else item
    return new


def rebuilt(moments: tuple[Moment, ...]) -> list[dict[str, Any]]:
    """What `viewer/data.js` makes of the moments."""
    views: dict[str, dict[str, Any]] = {side: {} for side in SIDES}
    belief: set[int] = set()
    found = []
    for step in json.loads(msgspec.json.encode(moments)):
        for side in SIDES:
            views[side] = changed(views[side], {**step["both"], **step.get(side, {})})
        belief = belief.difference(step.get("gone", ())) | set(step.get("come", ()))
        found.append({"views": dict(views), "belief": belief, "plies": step["plies"]})
    return found


def test_moments_are_the_views_and_belief_sets_after_every_ply() -> None:
    record = honest_game()
    data = replay_data(record)
    replayed = replay(record.core)
    rules: London = replayed.ruleset
    states = [replayed.moments[0].state]
    for place, moment in enumerate(replayed.moments):
        later = replayed.moments[place + 1 :]
        assert moment.plies is not None
        states += rules.between(moment.state, moment.plies)
        states.append(later[0].state if later else replayed.state)
    moments = rebuilt(data.moments)
    assert len(moments) == len(states)
    for shown, state, belief in zip(moments, states, rules.beliefs(states), strict=True):
        assert shown["views"] == {side: plain(rules.view(state, Side(side))) for side in SIDES}
        assert shown["belief"] == belief
    recorded = [plain(ply) for play in record.core.plays for ply in play.plies]
    assert [ply for moment in moments for ply in moment["plies"]] == recorded
    assert any("at" in change for moment in data.moments for change in moment.both.values())


def test_turns_have_their_notes_and_times() -> None:
    record = honest_game()
    data = replay_data(record)
    assert [turn.side for turn in data.turns] == [play.side for play in record.core.plays]
    assert all(turn.counted for turn in data.turns)
    for place, turn in enumerate(data.turns):
        assert turn.note is not None
        assert json.loads(turn.note) == record.notes[place]
    times = {one.play: one for side in SIDES for one in getattr(record.aside, side).times}
    assert times.keys() == set(range(len(data.turns)))
    for place, one in times.items():
        assert data.turns[place].charged_ms == round(one.charged_ms, 3)
        assert data.turns[place].bank_ms == one.bank_ms


def test_answer_that_did_not_count_is_the_last_moment() -> None:
    record = played(showing_off, crashing)
    assert record.core.reason == "fault"
    data = replay_data(record)
    assert [turn.counted for turn in data.turns] == [True] * len(record.core.plays) + [False]
    assert data.turns[-1].charged_ms == record.aside.detectives.fault_ms is not None
    assert data.moments[-1].turn == len(record.core.plays)
    assert data.moments[-1].plies == ()
    assert [(fault.side, fault.kind) for fault in data.faults] == [("detectives", "protocol")]
    assert data.faults[0].text


def test_game_that_ended_at_the_start_has_one_moment() -> None:
    record = played(showing_off, lambda _: b"nonsense\n")
    assert record.core.faults[0].phase == "start-up"
    data = replay_data(record)
    assert (len(data.moments), data.turns) == (1, ())
    assert "Mister X" in replay_page(data)


def test_record_that_breaks_the_rules_is_refused() -> None:
    record = honest_game()
    core = msgspec.structs.replace(record.core, rounds=99)
    with pytest.raises(RecordError, match="rounds"):
        replay_data(msgspec.structs.replace(record, core=core))


class Plain:
    """A ruleset that tells nothing to those who look on."""

    def __init__(self, rules: London) -> None:
        self._rules = rules

    def __getattr__(self, name: str) -> Any:
        if name in ("between", "beliefs"):
            raise AttributeError(name)
        return getattr(self._rules, name)


def test_ruleset_without_the_hooks_is_shown_turn_by_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    record = honest_game()
    whole = rebuilt(replay_data(record).moments)

    def bare(*args: Any) -> Any:
        found = replay(*args)
        return msgspec.structs.replace(found, ruleset=Plain(found.ruleset))

    monkeypatch.setattr(replays, "replay", bare)
    data = replay_data(record)
    assert not data.believed
    assert len(data.moments) == len(record.core.plays) + 1
    moments = rebuilt(data.moments)
    assert moments[-1]["views"] == whole[-1]["views"]
    assert [moment["plies"] for moment in moments[1:]] == [
        plain(play.plies) for play in record.core.plays
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({}, {"a": None}, {"a": {"set": None}}),
        ({"a": [1]}, {"a": [1, 2]}, {"a": {"add": [2]}}),
        ({"a": [1, 2]}, {"a": [1, 3]}, {"a": {"at": {"1": 3}}}),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1, "c": 3}]}, {"a": {"at": {"0": {"c": 3}}}}),
        ({"a": [1, 2]}, {"a": [2]}, {"a": {"cut": [0, 1, []]}}),
        ({"a": [1, 2, 3, 4]}, {"a": [1, 5, 4]}, {"a": {"cut": [1, 2, [5]]}}),
        ({"a": [1, 1]}, {"a": [1, 1, 1]}, {"a": {"add": [1]}}),
        ({"a": [1, 1, 1]}, {"a": [1, 1]}, {"a": {"cut": [2, 1, []]}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": {"set": [3]}}),
        ({"a": [1]}, {"a": []}, {"a": {"set": []}}),
        ({"a": []}, {"a": [3]}, {"a": {"add": [3]}}),
        ({"a": [[1], [2, 3]]}, {"a": [[1], [3]]}, {"a": {"in": {"1": {"cut": [0, 1, []]}}}}),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, {"a": {"in": {"b": {"set": 2}}}}),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, {"a": {"set": {"c": 1}}}),
    ],
)
def test_changes_of_a_view(old: Any, new: Any, expected: Any) -> None:
    assert changes(old, new) == expected
    assert changed(old, expected) == new


@pytest.mark.parametrize("char", ["a", "<", "é", "\n"])
def test_long_text_loses_its_middle(char: str) -> None:
    text = f"begin{char * 30_000}end"
    short, left_out = cut(text, MAX_TEXT)
    assert short.startswith("begin")
    assert short.endswith("end")
    assert written(short) <= MAX_TEXT + 16
    assert left_out > 10_000
    assert len(short) - len("\n…\n") + left_out == len(text)
    assert written(short) == len(page_json(short).encode()) - 2


def test_short_text_is_whole_and_no_room_leaves_nothing() -> None:
    assert cut("abc", 3) == ("abc", 0)
    assert cut("abc", 0) == ("", 3)


@pytest.mark.parametrize("text", HOSTILE)
def test_page_holds_hostile_text_as_data_alone(text: str) -> None:
    page = replay_page(replay_data(dressed(honest_game(), text)))
    assert len(re.findall(r"<script", page)) == 2
    assert len(re.findall(r"</script", page)) == 2
    assert len(re.findall(r"</title", page)) == 1
    assert "<svg" not in page
    assert "onmouseover=" not in page.replace("onmouseover=&quot;", "").replace(
        'onmouseover=\\"', ""
    )
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", page)


@pytest.mark.parametrize("text", ["<", "é", "x", "line\n", *HOSTILE])
def test_page_stays_within_its_size_whatever_is_written(text: str) -> None:
    page = replay_page(replay_data(dressed(honest_game(), text, much=True)))
    assert len(page.encode()) <= MAX_BYTES


def test_ruleset_without_a_drawing_is_refused() -> None:
    assert drawings() == ("europe", "london")
    data = msgspec.structs.replace(replay_data(honest_game()), drawing="main")
    with pytest.raises(ConfigError, match="has a drawing for europe, london only"):
        replay_page(data)


def test_page_that_can_not_be_written_is_an_error(tmp_path: Any) -> None:
    data = replay_data(honest_game())
    with pytest.raises(ConfigError, match="can't be written"):
        write_replay(data, tmp_path)
    file = tmp_path / "new" / "game.html"
    assert write_replay(data, file) == file.stat().st_size


def test_same_game_gives_the_same_page() -> None:
    make: Callable[[], str] = lambda: replay_page(replay_data(honest_game()))  # noqa: E731
    assert make() == make()
