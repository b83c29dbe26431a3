"""The order of messages: what the table allows, and what each kind of disorder is told."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from protocol.codec import BLANK_LINES, LOG_GAME_BYTES, LOG_LINE_BYTES, AnyAnswer, AnyRequest
from protocol.errors import LocalProtocolError, RemoteProtocolError
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
from protocol.session import TABLE, Session, State, agree, table_text

LIMITS = Limits(**dict.fromkeys(Limits.__struct_fields__, 1))
OLD_ARENA = "update the arena, or let the bot speak protocol"
EMPTY = Raw(b"{}")


def hello(name: str) -> Hello:
    ours = Range(low=1, high=1)
    return Hello(id=name, protocol=ours, arena="0.1.0", rulesets=("london-2013",), limits=LIMITS)


def deal(name: str) -> Deal:
    return Deal(
        id=name,
        ruleset="london-2013",
        behaviour=1,
        numbers=EMPTY,
        side="mister_x",
        clock=None,
        budget=None,
        seed=1,
        view=EMPTY,
    )


def turn(name: str, part: int = 1) -> Turn:
    return Turn(id=name, part=part, view=EMPTY, bank_ms=None, charged_ms=None)


def end() -> End:
    return End(winner="mister_x", reason="escaped", fault=None)


def request(kind: type[AnyRequest], name: str) -> AnyRequest:
    if kind is Hello:
        return hello(name)
    if kind is Deal:
        return deal(name)
    if kind is Turn:
        return turn(name)
    return end() if kind is End else Bye()


def answer(kind: type[AnyAnswer], name: str) -> AnyAnswer:
    if kind is HelloAnswer:
        return HelloAnswer(id=name, protocol=1, name="bot", rulesets=("london-2013",))
    if kind is Ready:
        return Ready(id=name)
    return Play(id=name, plies=()) if kind is Play else Log(text=name)


def session_in(state: State) -> Session:
    """A session led into a state by the shortest way that the table has."""
    ways: dict[State, Session] = {State.STARTED: Session()}
    while state not in ways:
        for row in TABLE:
            if row.state in ways and row.then not in ways:
                ways[row.then] = session_in_by(ways[row.state], row.message)
    return ways[state]


def session_in_by(session: Session, kind: type[AnyRequest | AnyAnswer]) -> Session:
    after = Session()
    after.state, after.expected = session.state, session.expected
    if kind in get_args(AnyRequest):
        after.request(request(kind, "due"))  # type: ignore[arg-type]
    else:
        after.answer(answer(kind, "due"))  # type: ignore[arg-type]
    return after


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("kind", get_args(AnyRequest))
def test_the_referee_may_say_what_the_table_says_and_nothing_else(
    state: State, kind: type[AnyRequest]
) -> None:
    session = session_in(state)
    rows = [row for row in TABLE if (row.state, row.message) == (state, kind)]
    if rows:
        session.request(request(kind, "new"))
        assert session.state is rows[0].then
        due = kind in {Hello, Deal, Turn}
        assert session.expected == ("new" if due else None)
    else:
        with pytest.raises(LocalProtocolError, match=state.value):
            session.request(request(kind, "new"))
        assert session.state is state


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("kind", get_args(AnyAnswer))
def test_a_bot_may_say_what_the_table_says_and_nothing_else(
    state: State, kind: type[AnyAnswer]
) -> None:
    session = session_in(state)
    rows = [row for row in TABLE if (row.state, row.message) == (state, kind)]
    if rows:
        answered = session.answer(answer(kind, "due"))
        assert session.state is rows[0].then
        assert answered == (kind is not Log and state in {State.GREETED, State.DEALT, State.ASKED})
        assert session.expected is None or kind is Log
    else:
        with pytest.raises(RemoteProtocolError):
            session.answer(answer(kind, "due"))
        assert session.state is state


def test_the_table_has_one_row_for_a_state_and_message() -> None:
    keys = [(row.state, row.message) for row in TABLE]
    assert len(keys) == len(set(keys))
    for row in TABLE:
        assert row.message in get_args(AnyRequest if row.speaker == "referee" else AnyAnswer)


def test_every_state_can_be_reached_and_ends_in_over() -> None:
    assert all(session_in(state).state is state for state in State)
    leads = {(row.state, row.then) for row in TABLE}
    ends = {State.OVER}
    for _ in State:
        ends |= {state for state, then in leads if then in ends}
    assert ends == set(State)


def test_two_games_with_one_process() -> None:
    session = Session()
    session.request(hello("h"))
    assert session.answer(answer(HelloAnswer, "h"))
    for game in "ab":
        session.request(deal(f"d{game}"))
        assert session.answer(Ready(id=f"d{game}"))
        for number in range(3):
            session.request(turn(f"{game}{number}"))
            assert not session.answer(Log(text="thinking"))
            assert session.answer(Play(id=f"{game}{number}", plies=(1,), more=number == 1))
        session.request(end())
        assert session.state is State.FREE
    session.request(Bye())
    assert session.state is State.OVER


def refused(session: Session, message: AnyAnswer) -> RemoteProtocolError:
    with pytest.raises(RemoteProtocolError) as caught:
        session.answer(message)
    assert caught.value.text.isprintable()
    return caught.value


@pytest.mark.parametrize("state", [State.STARTED, State.FREE, State.IDLE])
def test_b11_an_early_answer_is_an_answer_without_a_request(state: State) -> None:
    for kind in (HelloAnswer, Ready, Play):
        fault = refused(session_in(state), answer(kind, "x\x1b"))
        assert fault.text.startswith("answer without a request: `")
        assert fault.text.endswith(r" with id x\x1b")


def test_b12_a_second_answer_is_refused_off_turn_too() -> None:
    session = session_in(State.ASKED)
    assert session.answer(Play(id="due", plies=()))
    assert refused(session, Play(id="due", plies=())).text == (
        "answer without a request: `play` with id due"
    )
    session.request(turn("next"))
    assert refused(session, Play(id="due", plies=())).text == "expected id next, got due"


def test_b13_an_old_id_is_named_with_the_one_expected() -> None:
    session = session_in(State.ASKED)
    fault = refused(session, Play(id="old\n", plies=()))
    assert fault.text == r"expected id due, got old\x0a"
    assert fault.hint == "repeat the id of the request that you answer"
    assert session.answer(Play(id="due", plies=()))  # nothing changed by the refused one


@pytest.mark.parametrize("state", [State.JUDGED, State.OVER])
def test_b14_what_comes_after_the_verdict_changes_nothing(state: State) -> None:
    session = session_in(state)
    for message in (Play(id="due", plies=()), Ready(id="due"), Log(text="oh")):
        assert session.answer(message) is False
    assert session.state is state


def test_b15_a_guessed_id_never_fits() -> None:
    session = session_in(State.IDLE)
    assert "without a request" in refused(session, Play(id="1", plies=())).text
    session.request(turn("7f3a"))
    assert refused(session, Play(id="7f3b", plies=())).text == "expected id 7f3a, got 7f3b"


def test_the_wrong_kind_of_answer_is_named_with_the_right_one() -> None:
    assert refused(session_in(State.ASKED), Ready(id="due")).text == "expected `play`, got `ready`"
    assert refused(session_in(State.DEALT), Play(id="due", plies=())).text == (
        "expected `ready`, got `play`"
    )
    assert refused(session_in(State.GREETED), Ready(id="due")).text == (
        "expected `hello`, got `ready`"
    )


def test_a_log_before_hello_is_refused() -> None:
    assert refused(Session(), Log(text="hi")).text == "`log` before `hello`"


def test_a11_ten_blank_lines_a_turn_are_read_over() -> None:
    session = session_in(State.IDLE)
    for number in range(3):
        session.request(turn(f"t{number}"))
        for _ in range(BLANK_LINES):
            session.blank()
        session.answer(Play(id=f"t{number}", plies=()))
    with pytest.raises(RemoteProtocolError, match="more than 10 blank lines in a turn"):
        session.blank()


def test_a11_the_parts_of_a_turn_share_their_blank_lines() -> None:
    session = session_in(State.IDLE)
    session.request(turn("p1"))
    for _ in range(BLANK_LINES):
        session.blank()
    session.answer(Play(id="p1", plies=(1,), more=True))
    session.request(turn("p2", part=2))
    with pytest.raises(RemoteProtocolError, match="blank"):
        session.blank()


def test_log_lines_are_kept_up_to_a_line_and_a_game() -> None:
    session = session_in(State.DEALT)
    assert not session.keeps_log(LOG_LINE_BYTES + 1)
    kept = [session.keeps_log(LOG_LINE_BYTES) for _ in range(100)]
    assert kept == [True] * 64 + [False] * 36
    assert kept.count(True) * LOG_LINE_BYTES == LOG_GAME_BYTES
    assert not session.keeps_log(1)
    session.answer(Ready(id="due"))
    session.request(end())
    session.request(deal("another"))
    assert session.keeps_log(1)


@given(st.lists(st.sampled_from([row.message for row in TABLE]), max_size=30))
def test_any_order_either_follows_the_table_or_is_refused(
    kinds: list[type[AnyRequest | AnyAnswer]],
) -> None:
    session = Session()
    for number, kind in enumerate(kinds):
        before = session.state
        try:
            if kind in get_args(AnyRequest):
                session.request(request(kind, f"{number}"))  # type: ignore[arg-type]
            else:
                session.answer(answer(kind, session.expected or "x"))  # type: ignore[arg-type]
        except (LocalProtocolError, RemoteProtocolError):
            assert session.state is before
        else:
            assert (before, kind, session.state) in {(r.state, r.message, r.then) for r in TABLE}
        assert (session.expected is None) == (
            session.state not in {State.GREETED, State.DEALT, State.ASKED}
        )


def test_agree_gives_the_bots_version_within_the_range() -> None:
    assert agree(Range(low=1, high=1), 1) == 1
    assert agree(Range(low=1, high=3), 2) == 2


@pytest.mark.parametrize(
    ("low", "high", "theirs", "text", "hint"),
    [
        (1, 1, 2, "the bot speaks 2, this arena 1", f"{OLD_ARENA} 1"),
        (2, 3, 1, "the bot speaks 1, this arena 2 to 3", "update the bot to protocol 2 to 3"),
        (2, 3, 9, "the bot speaks 9, this arena 2 to 3", f"{OLD_ARENA} 2 to 3"),
    ],
)
def test_a_refusal_of_the_version_names_both_ranges(
    low: int, high: int, theirs: int, text: str, hint: str
) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        agree(Range(low=low, high=high), theirs)
    assert caught.value.text == f"no common protocol: {text}"
    assert caught.value.hint == hint


def test_the_printed_table_has_every_state_and_row() -> None:
    lines = table_text().splitlines()
    assert all(line.startswith("|") or not line for line in lines)
    assert len(lines) == 2 + len(State) + 1 + 2 + len(TABLE)
    assert "| asked | bot | `play` | idle |" in lines
    assert "| judged | bot | `play` | (ignored) |" in lines
    assert all(f"| {a} " in table_text() for a in itertools.chain(State))
