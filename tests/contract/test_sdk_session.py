"""The Python SDK says what the session table allows, when it allows it, and nothing else."""

from __future__ import annotations

import importlib.resources
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.referee.requests import deal_request, end_request, hello_request
from arena.rules.registry import make
from arena.rules.ruleset import Ruleset, Side
from arena.sandbox.limits import default_limits
from protocol.codec import AnyRequest, decode_answer, decode_request, encode
from protocol.messages import Bye, ClockSettings, HelloAnswer, Play, Ready, Turn
from protocol.session import Session, State

SDK = Path(str(importlib.resources.files("bots"))) / "sdk" / "misterx_sdk.py"
_spec = importlib.util.spec_from_file_location("sdk_under_test", SDK)
assert _spec is not None
assert _spec.loader is not None
sdk: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sdk)

Brain = Callable[[Any], Sequence[dict[str, Any]]]


class ModelReferee:
    """Both ends of an SDK bot's pipes, holding every message to the session table.

    Plays `games` games, the bot on `side` and first legal plies for the other side.
    """

    def __init__(self, rules: Ruleset[Any, Any], side: Side, games: int) -> None:
        self.rules = rules
        self.side = side
        self.left = games
        self.session = Session()
        self.hello: HelloAnswer | None = None
        self.state: Any = None
        self.answers: list[Any] = []
        self.part = 1
        self.number = 0
        self.verdicts: list[str] = []

    def read(self) -> bytes:
        """What the SDK reads next; it must owe nothing when it waits."""
        assert self.session.expected is None
        request = self._next()
        self.session.request(request)
        line = encode(request)
        assert decode_request(line[:-1])
        return line

    def write(self, line: bytes) -> int:
        """What the SDK says."""
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        answer = decode_answer(line[:-1])
        due = self.session.answer(answer)
        self.answers.append(answer)
        if isinstance(answer, HelloAnswer):
            self.hello = answer
        elif isinstance(answer, Play):
            assert due
            plies = [msgspec.convert(ply, self.rules.ply_type) for ply in answer.plies]
            self.state = self.rules.play(self.state, plies, more=answer.more).state
            self.part = self.part + 1 if answer.more else 1
        return len(line)

    def _id(self) -> str:
        self.number += 1
        return f"id-{self.number}"

    def _next(self) -> AnyRequest:
        if self.session.state is State.STARTED:
            return hello_request(self._id(), (self.rules.text,), default_limits())
        if self.session.state is State.FREE:
            if not self.left:
                return Bye()
            self.left -= 1
            self.state = self.rules.deal(bytes([self.left]) * 32, self.left)
            return deal_request(
                self._id(),
                self.rules,
                self.state,
                self.side,
                game_key=bytes([self.left]) * 32,
                clock=ClockSettings(),
                nodes=None,
                board=True,
            )
        while self.rules.to_move(self.state) is self.side.other:
            self._other_side_plays()
        verdict = self.rules.verdict(self.state)
        if verdict is not None:
            self.verdicts.append(verdict.reason)
            return end_request(verdict, fault=None, record=None)
        raw = msgspec.Raw(msgspec.json.encode(self.rules.view(self.state, self.side)))
        legal = msgspec.Raw(msgspec.json.encode(self.rules.legal(self.state)))
        return Turn(
            id=self._id(), part=self.part, view=raw, legal=legal, bank_ms=0, charged_ms=None
        )

    def _other_side_plays(self) -> None:
        """First legal plies, one part after the other, until the turn is over."""
        side = self.rules.to_move(self.state)
        while self.rules.to_move(self.state) is side:
            ply = self.rules.legal(self.state)[0]
            more = side is Side.DETECTIVES
            self.state = self.rules.play(self.state, [ply], more=more).state


def talk(referee: ModelReferee, brain: Brain, **settings: Any) -> None:
    """Let the SDK talk with the model until it is told good-bye."""
    brains = {"mister_x": None, "detectives": None, str(referee.side): brain}
    greeting = {
        "type": "hello",
        "protocol": 1,
        "name": "model",
        "sides": [str(referee.side)],
        "rulesets": ["london-2013"],
        "wants": ["board", "legal"],
        "features": ["reuse"],
    }
    sdk._converse(
        sdk._Talk(referee.read, referee.write),
        greeting,
        brains,
        settings.get("prepare"),
        settings.get("finish"),
    )


def whole(turn: Any) -> Sequence[dict[str, Any]]:
    """A whole turn at once."""
    if turn.deal.side == "mister_x":
        return [sdk.move("x", *turn.deal.dice.choice(turn.singles()))]
    team = turn.team()
    for figure, steps in team:
        team.go(figure, *turn.deal.dice.choice(steps))
    plies: list[dict[str, Any]] = team.plies
    return plies


def in_parts(turn: Any) -> Sequence[dict[str, Any]]:
    """The team's turn, one figure after the other; `legal` is the truth."""
    while True:
        turn.log("one more")
        team = turn.team()
        figure, steps = next(iter(team))
        assert {(ply["figure"], ply["ticket"], ply["to"]) for ply in turn.legal} == {
            (name, *step) for name in team.waiting() for step in team.steps(name)
        }
        team.go(figure, *steps[-1])
        if not team.waiting():
            plies: list[dict[str, Any]] = team.plies
            return plies
        turn = turn.part(team.plies)


@pytest.mark.parametrize("text", ["london-2013", "london-2013:players=2", "london-coursework"])
@pytest.mark.parametrize("side", list(Side))
def test_sdk_keeps_to_the_session_table_over_many_games(text: str, side: Side) -> None:
    referee = ModelReferee(make(text), side, games=5)
    talk(referee, whole)
    assert referee.session.state is State.OVER
    assert len(referee.verdicts) == 5
    assert [type(answer) for answer in referee.answers[:2]] == [HelloAnswer, Ready]


@pytest.mark.parametrize("text", ["london-2013", "london-2013:players=2", "london-classic"])
def test_sdk_keeps_to_the_session_table_in_parts(text: str) -> None:
    """Games that a part ends are ended without an answer, and the next game begins."""
    referee = ModelReferee(make(text), Side.DETECTIVES, games=20)
    talk(referee, in_parts)
    assert referee.session.state is State.OVER
    assert len(referee.verdicts) == 20
    assert "captured" in referee.verdicts
    assert any(isinstance(answer, Play) and answer.more for answer in referee.answers)


def test_notes_logs_and_hooks_go_where_they_belong() -> None:
    referee = ModelReferee(make("london-2013"), Side.MISTER_X, games=2)
    seen: list[str] = []

    def brain(turn: Any) -> Sequence[dict[str, Any]]:
        turn.note = {"round": turn.view["round"]}
        turn.log("é" * 5_000)
        return whole(turn)

    talk(
        referee,
        brain,
        prepare=lambda deal: seen.append(f"prepare {deal.side}"),
        finish=lambda deal, end: seen.append(f"finish {deal.side} {end['reason']}"),
    )
    plays = [answer for answer in referee.answers if isinstance(answer, Play)]
    assert plays[0].note == {"round": 1}
    assert seen[0] == "prepare mister_x"
    assert seen[1] == f"finish mister_x {referee.verdicts[0]}"
    assert referee.session.state is State.OVER


def test_note_over_the_limit_is_refused_before_it_is_sent() -> None:
    referee = ModelReferee(make("london-2013"), Side.MISTER_X, games=1)

    def brain(turn: Any) -> Sequence[dict[str, Any]]:
        turn.note = "x" * 1_023
        return whole(turn)

    with pytest.raises(ValueError, match="at most 1024 bytes"):
        talk(referee, brain)
    assert not any(isinstance(answer, Play) for answer in referee.answers)


def test_log_lines_are_cut_to_the_limit() -> None:
    sent: list[bytes] = []
    talk_ = sdk._Talk(lambda: b"", sent.append)
    for text in ("short", "a" * 5_000, "é" * 5_000, "\0" * 2_000, "🚇" * 700):
        talk_.log(text)
    assert all(len(line) <= 1_024 for line in sent)
    assert all(len(line) > 900 for line in sent[1:])


def test_end_of_input_is_taken_for_good_bye() -> None:
    sdk._converse(sdk._Talk(lambda: b"", len), {}, {}, None, None)


def test_a_new_message_of_a_later_arena_is_read_over() -> None:
    lines = [b'{"type":"weather","text":"fog"}\n', b'{"type":"bye"}\n']
    said: list[bytes] = []
    sdk._converse(sdk._Talk(lambda: lines.pop(0), said.append), {}, {}, None, None)
    assert not lines
    assert not said
