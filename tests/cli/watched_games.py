"""Watched games with fakes and scripted people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import trio

from arena.cli.following import Following
from arena.cli.human import Completer, human_spec
from arena.cli.scene import Eyes
from arena.cli.watching import Show, Watch, WatchedPool
from arena.referee.record import BotSpec, GameRecord
from arena.referee.referee import play_game
from tests.referee.games import Brain, FakePool, bot, honest, spec

__all__ = ["Recorded", "Scripted", "play_seen"]


class Scripted:
    """A person who types these lines, and leaves after the last one."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = iter(lines)
        self.told: list[str] = []
        self.prompts: list[str] = []
        self.completers: list[Completer] = []

    async def ask(self, prompt: str, complete: Completer) -> str:
        await trio.lowlevel.checkpoint()
        self.prompts.append(prompt)
        self.completers.append(complete)
        try:
            return next(self.lines)
        except StopIteration:
            raise EOFError from None

    def tell(self, text: str) -> None:
        self.told.append(text)


class Recorded:
    """A show that keeps what it was told, and every state that was shown."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.turns: list[Any] = []
        self.eyes: set[Eyes] = set()

    def told(self, following: Following, told: Any, eyes: Eyes) -> None:
        self.answers.append(told)
        self.eyes.add(eyes)

    def turn(self, following: Following, eyes: Eyes, *, below: str = "") -> None:
        self.turns.append((following.state, following.to_move, below))
        self.eyes.add(eyes)


def play_seen(
    mister_x: Brain | Scripted | None = None,
    detectives: Brain | Scripted | None = None,
    show: Show | None = None,
    *,
    watching: dict[str, Any] | None = None,
    **settings: Any,
) -> tuple[GameRecord, Watch]:
    """Play a game that is watched; who is scripted is a person."""
    brains: dict[str, Brain] = {}
    bots: list[BotSpec] = []
    prompter: Scripted | None = None
    for name, who in (("x-bot", mister_x), ("d-bot", detectives)):
        if isinstance(who, Scripted):
            prompter = who
            bots.append(human_spec(settings.get("ruleset", "london-2013")))
        else:
            brains[name] = who or honest
            bots.append(bot(name))
    game = spec(*bots, **settings)
    watch = Watch(Following(game), show or Recorded(), **{"eyes": None, **(watching or {})})

    async def play() -> GameRecord:
        fakes = FakePool(brains)
        starter: Any = fakes._start_fake
        async with WatchedPool(watch, prompter, starter) as pool:
            return await play_game(game, pool)

    return trio.run(play), watch
