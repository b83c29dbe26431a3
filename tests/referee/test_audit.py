"""The search for leaks: quiet on what the rules send, loud on a ruleset that leaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import trio
from msgspec.structs import replace

from arena.referee import replay as replay_module
from arena.referee.audit import find_leaks
from arena.referee.record import Core
from arena.referee.replay import replay
from arena.rules.registry import make
from arena.rules.ruleset import Side
from arena.sandbox.channel import BotExited
from tests.referee.games import Request, honest, play_fakes


@pytest.fixture(scope="module")
def core() -> Core:
    """A game that went on for some rounds."""

    async def main() -> Core:
        for number in range(20):
            record, _ = await play_fakes(honest, honest, number=number)
            if record.core.rounds > 8:
                return record.core
        raise AssertionError("no game was long enough")

    return trio.run(main)


class Leaking:
    """London, but one thing is shown that should not be."""

    def __init__(self, what: str) -> None:
        self._london: Any = make("london-2013")
        self._what = what

    def __getattr__(self, name: str) -> Any:
        return getattr(self._london, name)

    def view(self, state: Any, side: Side) -> Any:
        view = self._london.view(state, side)
        if side is Side.DETECTIVES and self._what == "view":
            return msgspec.convert({**_plain(view), "hint": state.path[-1]}, dict)
        if side is Side.DETECTIVES and self._what == "parity":
            return msgspec.convert({**_plain(view), "hint": state.path[-1] % 2}, dict)
        return view

    def legal(self, state: Any) -> Any:
        legal = self._london.legal(state)
        if self._what == "legal" and state.to_move is Side.DETECTIVES:
            return tuple(ply for ply in legal if ply.to % 7 != state.path[-1] % 7)
        return legal

    def play(self, state: Any, plies: Any, *, more: bool) -> Any:
        played = self._london.play(state, plies, more=more)
        if self._what == "event" and state.to_move is Side.MISTER_X:
            events = tuple(
                replace(event, seen_by=None) if event.seen_by is Side.MISTER_X else event
                for event in played.events
            )
            return replace(played, events=events)
        return played


def _plain(view: Any) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(view)
    return found


def test_honest_game_leaks_nothing(core: Core) -> None:
    assert find_leaks(core, replay(core)) == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("view", "detectives: hint always shows the other side's station"),
        ("parity", "detectives, after play"),
        ("event", "detectives: events[-1].to always shows the other side's station"),
        ("legal", "detectives, after play"),
    ],
)
def test_leak_is_found(what: str, text: str, core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_module, "make", lambda _: Leaking(what))
    assert any(text in leak for leak in find_leaks(core, replay(core)))


def test_secret_word_in_a_message_is_found(core: Core) -> None:
    """The deal's seed, the game's id and the opponent's name have no place on the wire."""
    renamed = replace(
        core,
        game="taxi",
        mister_x=replace(core.mister_x, name="london-2013"),
        detectives=replace(core.detectives, name="detective"),
    )
    found = "\n".join(_secret_leaks(renamed, core))
    assert "holds the game id" in found
    assert "detectives, message before play 0: holds the opponent's name" in found
    assert "mister_x, message before play 0: holds the opponent's name" in found


def _secret_leaks(core: Core, original: Core) -> Iterator[str]:
    yield from find_leaks(core, replay(original))


def test_name_that_any_message_may_hold_is_not_looked_for(core: Core) -> None:
    """A bot that is called `x` leaves nothing to find in `"figure":"x"`."""
    renamed = replace(
        core,
        mister_x=replace(core.mister_x, name="d1"),
        detectives=replace(core.detectives, name="x"),
    )
    assert find_leaks(renamed, replay(core)) == []


def test_game_that_a_fault_ended_is_searched_to_its_last_request() -> None:
    turns = 0

    def fails(request: Request) -> bytes | Exception:
        nonlocal turns
        turns += request["type"] == "turn"
        return BotExited("gone") if turns == 3 else honest(request)

    async def main() -> Core:
        return (await play_fakes(honest, fails))[0].core

    replayed = replay(trio.run(main))
    assert replayed.moments[-1].plies is None
    assert find_leaks(trio.run(main), replayed) == []
