"""What every ruleset must do, for every preset with any options, over random whole games."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import IllegalMove
from arena.rules import registry
from arena.rules.ruleset import Played, Ruleset, Side
from tests.strategies import (
    HOOKS,
    Hooks,
    Trace,
    all_texts,
    complete,
    deal_seed,
    hooks,
    play_out,
    random_turn,
    traces,
)

PRESETS = pytest.mark.parametrize("name", registry.names())
GAMES = settings(max_examples=25)
DICE = st.builds(Random, st.integers(0, 2**32))  # a number to draw, not every throw


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)


def seen(played: Played, side: Side) -> bytes:
    """The events that a side is told, as they go on the wire."""
    return encoded([event.what for event in played.events if event.seen_by in (None, side)])


def untold(hook: Hooks, played: Played, side: Side) -> bytes:
    """What a side is told, without what chance or an answer of the rules tells it."""
    told = [event.what for event in played.events if event.seen_by in (None, side)]
    return encoded([what for what in told if not hook.tells(what)])


def moments(trace: Trace, dice: Random, count: int) -> list[tuple[int, Any]]:
    """Some states of a game at which a side is asked, with their place."""
    asked = list(enumerate(trace.states[:-1]))
    return dice.sample(asked, min(count, len(asked)))


def open_states(trace: Trace, place: int) -> list[Any]:
    """The states between the plies of a turn, its start included, where it can be sent in parts."""
    ruleset, state = trace.ruleset, trace.states[place]
    found = [state]
    for ply in trace.turns[place][:-1]:
        try:
            played = ruleset.play(state, (ply,), more=True)
        except IllegalMove:
            break  # this side's turn is sent whole
        if not played.goes_on:
            break
        state = played.state
        found.append(state)
    return found


def attempt(ruleset: Ruleset[Any, Any], state: Any, plies: Any, *, more: bool) -> Played | str:
    """What came of it, or what the refusal said."""
    try:
        return ruleset.play(state, plies, more=more)
    except IllegalMove as exc:
        return str(exc)


@PRESETS
def test_every_ruleset_has_hooks(name: str) -> None:
    assert type(registry.make(name)) in HOOKS


@PRESETS
@given(data=st.data(), dice=DICE)
@GAMES
def test_states_that_differ_in_hidden_things_look_alike(
    name: str, data: st.DataObject, dice: Random
) -> None:
    """Byte-equal views, legal plies, events and refusals, whatever is hidden."""
    trace = data.draw(traces(name))
    ruleset, hook = trace.ruleset, hooks(trace.ruleset)
    universe = list(hook.universe(ruleset))
    for place, _ in moments(trace, dice, 6):
        for state in open_states(trace, place):
            for side in Side:
                twin = hook.twin(ruleset, state, side, dice)
                assert encoded(ruleset.view(state, side)) == encoded(ruleset.view(twin, side))
                if ruleset.to_move(state) is not side:
                    continue
                assert encoded(ruleset.legal(state)) == encoded(ruleset.legal(twin))
                tries: list[tuple[Any, ...]] = [
                    (ply,) for ply in dice.sample(universe, min(40, len(universe)))
                ]
                tries += [(ply,) for ply in ruleset.legal(state)]
                tries += [trace.turns[place], (*trace.turns[place], dice.choice(universe)), ()]
                for plies in tries:
                    for more in (False, True):
                        one = attempt(ruleset, state, plies, more=more)
                        two = attempt(ruleset, twin, plies, more=more)
                        if isinstance(one, Played) and isinstance(two, Played):
                            if seen(one, side) == seen(two, side):
                                assert encoded(ruleset.view(one.state, side)) == encoded(
                                    ruleset.view(two.state, side)
                                )
                            elif None not in {
                                ruleset.to_move(one.state),
                                ruleset.to_move(two.state),
                            }:  # a deciding ply in one of them tells, and may; so may answers
                                assert untold(hook, one, side) == untold(hook, two, side)
                        elif isinstance(one, str) and isinstance(two, str):
                            assert one == two
                        else:  # plies behind a deciding one are not looked at
                            ended = one if isinstance(one, Played) else two
                            assert isinstance(ended, Played)
                            assert ruleset.to_move(ended.state) is None


@PRESETS
@given(data=st.data(), dice=DICE)
@GAMES
def test_turns_that_differ_in_hidden_things_are_told_alike(
    name: str, data: st.DataObject, dice: Random
) -> None:
    check_turns_are_told_alike(data.draw(traces(name)), dice)


def test_put_backs_are_in_the_bag_that_mister_x_draws_from_when_all_are_stuck() -> None:
    check_turns_are_told_alike(
        play_out(registry.make("europe-2009"), 517, 1_088_518_807), Random(1)
    )


def check_turns_are_told_alike(trace: Trace, dice: Random) -> None:
    """Whatever the side to move does in secret, the other sees byte-equal events and views."""
    ruleset, hook = trace.ruleset, hooks(trace.ruleset)
    for place, state in moments(trace, dice, 12):
        side = ruleset.to_move(state)
        assert side is not None
        one = trace.played[place]
        other_turn = hook.alike(ruleset, state, trace.turns[place], dice)
        two = ruleset.play(state, other_turn, more=False)
        assert seen(one, side.other) == seen(two, side.other)
        assert encoded(ruleset.view(one.state, side.other)) == encoded(
            ruleset.view(two.state, side.other)
        )


@PRESETS
@given(data=st.data(), dice=DICE)
@GAMES
def test_a_side_knows_no_more_than_it_was_told(
    name: str, data: st.DataObject, dice: Random
) -> None:
    """Turns after which a side was told the same events leave it with the same view."""
    trace = data.draw(traces(name))
    ruleset = trace.ruleset
    for _, state in moments(trace, dice, 6):
        views: dict[tuple[Side, bytes], set[bytes]] = defaultdict(set)
        for _ in range(40):
            played = ruleset.play(state, random_turn(ruleset, state, dice), more=False)
            for side in Side:
                views[side, seen(played, side)].add(encoded(ruleset.view(played.state, side)))
        assert all(len(alike) == 1 for alike in views.values())


@PRESETS
@given(data=st.data())
@GAMES
def test_nothing_is_lost(name: str, data: st.DataObject) -> None:
    trace = data.draw(traces(name))
    stock = hooks(trace.ruleset).stock
    first = stock(trace.ruleset, trace.states[0])
    for place in range(len(trace.turns)):
        for state in open_states(trace, place):
            assert stock(trace.ruleset, state) == first
    assert stock(trace.ruleset, trace.states[-1]) == first


@PRESETS
@given(data=st.data())
@GAMES
def test_replay_equals_play(name: str, data: st.DataObject) -> None:
    """Seed and plies, through JSON and a ruleset made anew, give every state and event again."""
    trace = data.draw(traces(name))
    preset, options = registry.preset(name), trace.ruleset.options
    again = preset.make(
        {o.name: options[o.name] for o in preset.options if options[o.name] != o.values[0]}
    )
    assert again is not trace.ruleset
    assert again.text == trace.ruleset.text
    state = again.deal(trace.seed, trace.number)
    assert state == trace.states[0]
    for plies, played in zip(trace.turns, trace.played, strict=True):
        plain = msgspec.json.decode(encoded(plies))
        made = [msgspec.convert(ply, again.ply_type) for ply in plain]
        found = again.play(state, made, more=False)
        assert found == played
        state = found.state
        assert hash(state) == hash(played.state)


@PRESETS
@given(data=st.data(), dice=DICE)
@GAMES
def test_legal_plies_have_a_fixed_order_and_stand_once(
    name: str, data: st.DataObject, dice: Random
) -> None:
    """The order goes by the ply alone: what stands before another does so in every state."""
    trace = data.draw(traces(name))
    before: set[tuple[bytes, bytes]] = set()
    for place, _ in moments(trace, dice, 10):
        for state in open_states(trace, place):
            legal = [encoded(ply) for ply in trace.ruleset.legal(state)]
            assert len(set(legal)) == len(legal) > 0
            assert encoded(trace.ruleset.legal(state)) == b"[" + b",".join(legal) + b"]"
            pairs = {(one, two) for i, one in enumerate(legal) for two in legal[i + 1 :]}
            assert not any((two, one) in before for one, two in pairs)
            before |= pairs
    assert trace.ruleset.legal(trace.states[-1]) == ()


@PRESETS
@given(data=st.data(), dice=DICE)
@GAMES
def test_each_legal_ply_can_be_carried_to_a_complete_turn(
    name: str, data: st.DataObject, dice: Random
) -> None:
    trace = data.draw(traces(name))
    for place, _ in moments(trace, dice, 5):
        for state in open_states(trace, place):
            for ply in trace.ruleset.legal(state):
                after = complete(trace.ruleset, state, ply, dice)
                assert after != state


@PRESETS
@given(data=st.data(), dice=DICE)
@settings(max_examples=15)
def test_legal_and_play_agree_in_both_directions(
    name: str, data: st.DataObject, dice: Random
) -> None:
    """Of all plies there are, `play` takes as the next one exactly those that `legal` lists."""
    trace = data.draw(traces(name))
    ruleset = trace.ruleset
    universe = list(hooks(ruleset).universe(ruleset))
    for place, _ in moments(trace, dice, 3):
        for state in open_states(trace, place):
            taken = {
                ply
                for ply in {*universe, *ruleset.legal(state)}
                if isinstance(attempt(ruleset, state, (ply,), more=True), Played)
                or isinstance(attempt(ruleset, state, (ply,), more=False), Played)
            }
            assert taken == set(ruleset.legal(state))


@PRESETS
@given(data=st.data(), dice=DICE)
@GAMES
def test_parts_and_whole_turns_lead_to_the_same_state(
    name: str, data: st.DataObject, dice: Random
) -> None:
    """Cut anywhere, the last part with `more` or without: the same state, the same events."""
    trace = data.draw(traces(name))
    ruleset = trace.ruleset
    for state, plies, played in zip(trace.states, trace.turns, trace.played, strict=False):
        assert not played.goes_on
        plies = plies[: played.counted]
        if isinstance(attempt(ruleset, state, plies[:1], more=True), str):
            continue  # this side's turn is sent whole
        events: list[Any] = []
        now, rest, counted = state, list(plies), 0
        while rest:
            size = dice.randint(1, len(rest))
            part, rest = rest[:size], rest[size:]
            result = ruleset.play(now, part, more=bool(rest) or dice.random() < 0.5)
            now, counted = result.state, counted + result.counted
            if result.goes_on:
                assert ruleset.to_move(now) is ruleset.to_move(state)
                assert ruleset.legal(now)  # who is asked can do something
            events += result.events
        if result.goes_on:
            result = ruleset.play(now, (), more=False)
            now = result.state
            events += result.events
        assert (now, tuple(events), counted) == (played.state, played.events, played.counted)


@PRESETS
@given(data=st.data())
@GAMES
def test_a_game_ends_within_its_rounds(name: str, data: st.DataObject) -> None:
    trace = data.draw(traces(name))
    ruleset = trace.ruleset
    assert len(trace.turns) <= ruleset.max_turns
    for state in trace.states[:-1]:
        assert ruleset.verdict(state) is None
        assert ruleset.to_move(state) is not None
    assert all(len(plies) <= ruleset.max_plies for plies in trace.turns)
    end = trace.states[-1]
    verdict = ruleset.verdict(end)
    assert verdict is not None
    assert verdict.reason.isidentifier()
    assert ruleset.to_move(end) is None
    facts = ruleset.facts(end)
    assert all(isinstance(value, str | int) for value in facts.values())
    rounds = facts["rounds"]
    assert isinstance(rounds, int)
    assert 2 * rounds - 1 <= ruleset.max_turns
    with pytest.raises(IllegalMove):
        ruleset.play(end, trace.turns[-1], more=False)


@PRESETS
@given(data=st.data(), dice=DICE)
@GAMES
def test_plies_behind_a_deciding_one_are_neither_checked_nor_recorded(
    name: str, data: st.DataObject, dice: Random
) -> None:
    trace = data.draw(traces(name))
    ruleset, universe = trace.ruleset, list(hooks(trace.ruleset).universe(trace.ruleset))
    state, plies, played = trace.states[-2], trace.turns[-1], trace.played[-1]
    first = next(
        (
            count
            for count in range(1, len(plies) + 1)
            if isinstance(part := attempt(ruleset, state, plies[:count], more=True), Played)
            and ruleset.to_move(part.state) is None
        ),
        None,
    )
    if first is None or first == ruleset.max_plies:
        assert played.counted == len(plies)
        return
    junk = dice.choice(universe)
    longer = (*plies[:first], junk)
    result = attempt(ruleset, state, longer, more=False)
    if isinstance(result, str):  # decided by the turn's end, not by a ply
        assert played.counted == len(plies)
    else:
        assert result == ruleset.play(state, plies[:first], more=True)
        assert result.counted == first


@PRESETS
@given(data=st.data(), dice=DICE)
@GAMES
def test_plies_are_said_and_parsed_back(name: str, data: st.DataObject, dice: Random) -> None:
    trace = data.draw(traces(name))
    ruleset = trace.ruleset
    for _, state in moments(trace, dice, 10):
        for ply in ruleset.legal(state):
            assert ruleset.parse(ruleset.say(ply)) == ply


@PRESETS
@given(seed=st.binary(min_size=32, max_size=32), number=st.integers(0, 2**32))
@GAMES
def test_a_deal_is_a_pure_function(name: str, seed: bytes, number: int) -> None:
    ruleset = registry.make(name)
    assert ruleset.deal(seed, number) == ruleset.deal(seed, number)
    assert len({ruleset.deal(deal_seed(k), number) for k in range(20)}) > 1


@PRESETS
def test_every_text_is_canonical_and_makes_one_object(name: str) -> None:
    for text in all_texts(name):
        ruleset = registry.make(text)
        assert ruleset.text == text
        assert registry.make(text) is ruleset
        assert ruleset.name == name
        assert len(ruleset.board_hash) == 64
        assert msgspec.json.decode(encoded(ruleset.numbers))
        assert msgspec.json.decode(encoded(ruleset.board))
        with pytest.raises(TypeError):
            ruleset.options["players"] = 3  # type: ignore[index]


@PRESETS
def test_play_leaves_the_state_as_it_was(name: str) -> None:
    ruleset = registry.make(name)
    trace = play_out(ruleset, 1, 1)
    kept = [encoded(msgspec.to_builtins(state)) for state in trace.states]
    for state, plies in zip(trace.states, trace.turns, strict=False):
        ruleset.play(state, plies, more=False)
    assert kept == [encoded(msgspec.to_builtins(state)) for state in trace.states]
