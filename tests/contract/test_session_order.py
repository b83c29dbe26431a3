"""What every bot that ships must do: keep to the session table, as a real process.

The reference bots (by the SDK), an SDK bot that sends its turns in parts, and the bot that is
printed whole in SPEC.md. Each plays both sides of two games against itself; every line is read by
the strict codec and held against the table and the JSON Schema.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from msgspec import UNSET, Raw

from arena.referee.keys import dice_seed
from arena.referee.requests import deal_request, end_request, hello_request
from arena.rules import registry
from arena.rules.ruleset import Side
from arena.sandbox.limits import default_limits
from arena.tournament.entrants import find_bot, reference_names
from protocol.codec import AnyAnswer, AnyRequest, decode_answer, encode
from protocol.messages import Bye, ClockSettings, HelloAnswer, Play, Turn
from protocol.schema_text import answers_schema
from protocol.session import Session, State

LIMIT_S = 60.0  # hosts are busy; a bot that hangs is ended after this
RULESET = "london-2013:players=3"
SCHEMA = jsonschema.Draft202012Validator(answers_schema())
PART_BOT = """
from misterx_sdk import play

def mister_x(turn):
    return turn.legal[:1]

def detectives(turn):
    print("this goes to standard error")
    while turn.view["round"] % 2:  # left by the SDK when the turn is over
        turn = turn.part(turn.legal[:1])
    while len(turn.view["unmoved"]) > 1:
        ply = turn.legal[0]
        turn.log("moving " + ply["figure"])
        turn = turn.part([ply])
        if not turn.legal:
            return []
    turn.note = {"last": True}
    return turn.legal[:1]

play(name="parts", mister_x=mister_x, detectives=detectives, wants=("legal", "events"))
"""

Command = tuple[tuple[str, ...], Path]


def spec_bot() -> str:
    spec = resources.files("protocol").joinpath("SPEC.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", spec, re.DOTALL | re.MULTILINE)
    return str(code)


def staged(name: str, folder: Path) -> Command:
    """The command of a bot, and the folder that it runs in."""
    if name in reference_names():
        entrant = find_bot(name, folder)
        return entrant.spec.command, Path(entrant.spec.folder)
    sdk = resources.files("bots").joinpath("sdk", "misterx_sdk.py").read_text(encoding="utf-8")
    (folder / "misterx_sdk.py").write_text(sdk, encoding="utf-8")
    code = PART_BOT if name == "parts" else spec_bot()
    (folder / "bot.py").write_text(code, encoding="utf-8")
    return (
        sys.executable,
        "-I",
        "-S",
        "-c",
        "import sys; sys.path[:0] = ['.']; import bot",
    ), folder


class Talk:
    """The talk with one process, held against the table."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.session = Session()
        self.said: list[AnyAnswer] = []

    def tell(self, message: AnyRequest) -> None:
        self.session.request(message)
        assert self.process.stdin is not None
        self.process.stdin.write(encode(message))
        self.process.stdin.flush()

    def ask(self, message: AnyRequest) -> Any:
        self.tell(message)
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            assert line.endswith(b"\n"), f"the bot ended after {message!r}"
            answer = decode_answer(line[:-1])
            SCHEMA.validate(json.loads(line))
            self.said.append(answer)
            if self.session.answer(answer):
                return answer


@contextmanager
def running(command: Command) -> Iterator[Talk]:
    words, folder = command
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe)
    watch = threading.Timer(LIMIT_S, process.kill)
    watch.start()
    drained: list[bytes] = []
    assert process.stderr is not None
    reader = threading.Thread(
        target=lambda error: drained.append(error.read()), args=[process.stderr]
    )
    reader.start()
    try:
        yield Talk(process)
    finally:
        watch.cancel()
        process.kill()
        process.wait()
        reader.join()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def play_one(talks: dict[Side, Talk], number: int) -> None:
    """Play a game to its end by the rules; any illegal play is an error."""
    ruleset = registry.make(RULESET)
    state = ruleset.deal(bytes([number]) * 32, number)
    key = bytes([7, number]) * 16
    wants = {side: talk.said[0].wants for side, talk in talks.items()}  # type: ignore[union-attr]
    unseen: dict[Side, list[Any]] = {side: [] for side in Side}
    for seat, talk in talks.items():
        deal = deal_request(
            f"deal{number}",
            ruleset,
            state,
            seat,
            game_key=key,
            clock=ClockSettings(),
            nodes=None,
            board="board" in wants[seat],
        )
        assert deal.seed == dice_seed(key, seat)
        talk.ask(deal)
    part = turn = 1
    while (side := ruleset.to_move(state)) is not None:
        request = Turn(
            id=f"turn{turn}.{part}",
            part=part,
            view=raw(ruleset.view(state, side)),
            events=raw(unseen[side]) if "events" in wants[side] else UNSET,
            legal=raw(ruleset.legal(state)) if "legal" in wants[side] else UNSET,
            bank_ms=0,
            charged_ms=None,
        )
        unseen[side].clear()
        answer: Play = talks[side].ask(request)
        plies = [msgspec.convert(ply, ruleset.ply_type) for ply in answer.plies]
        played = ruleset.play(state, plies, more=answer.more)
        state = played.state
        for event in played.events:
            for seer in Side:
                if event.seen_by in (None, seer):
                    unseen[seer].append(event.what)
        on = answer.more and ruleset.to_move(state) is side
        part, turn = (part + 1, turn) if on else (1, turn + 1)
    verdict = ruleset.verdict(state)
    assert verdict is not None
    for talk in talks.values():
        talk.tell(end_request(verdict, fault=None, record=None))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*reference_names(), "parts", "spec"])
def test_a_bot_keeps_to_the_table_through_two_games(name: str, tmp_path: Path) -> None:
    command = staged(name, tmp_path)
    with ExitStack() as stack:
        talks = {side: stack.enter_context(running(command)) for side in Side}
        for talk in talks.values():
            hello = talk.ask(hello_request("hello", [RULESET], default_limits()))
            assert isinstance(hello, HelloAnswer)
            assert hello.protocol == 1
        for number in range(2):
            play_one(talks, number)
        for talk in talks.values():
            talk.tell(Bye())
            assert talk.process.wait(LIMIT_S) == 0
            assert talk.session.state is State.OVER
            assert talk.process.stdout is not None
            assert talk.process.stdout.read() == b""
    sent = [said for talk in talks.values() for said in talk.said]
    assert any(isinstance(said, Play) and said.more for said in sent) == (name in {"parts", "spec"})


@pytest.mark.slow
@pytest.mark.parametrize("name", [*reference_names(), "parts", "spec"])
def test_a_bot_ends_when_the_referee_is_gone(name: str, tmp_path: Path) -> None:
    with running(staged(name, tmp_path)) as talk:
        talk.ask(hello_request("hello", [RULESET], default_limits()))
        assert talk.process.stdin is not None
        talk.process.stdin.close()
        assert talk.process.wait(LIMIT_S) == 0
