"""BotPool: starts bots for the games of one worker, and keeps those that serve many games.

A kept process serves one bot and one side; after any fault or unread byte it is replaced.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from math import ceil
from types import TracebackType
from typing import Protocol, Self

import trio

from arena.referee.record import BotSpec, GameSpec
from arena.referee.seat import Seat
from arena.rules.ruleset import Side
from arena.sandbox.channel import LineChannel
from arena.sandbox.hub import Hub
from arena.sandbox.limits import END_GRACE_S
from arena.sandbox.process import start_bot
from protocol.messages import Bye, Limits

__all__ = ["BotPool", "Starter", "cpu_backstop_s"]

_MOST_IDLE = 64  # kept processes that wait for a game; the one idle longest goes first
_CPU_SPARE_S = 10

_Key = tuple[str, tuple[str, ...], str, Side, str]


class Starter(Protocol):
    """Starts a bot; the seam for the sandbox and for fakes. Raises as `start_bot` does."""

    def __call__(self, bot: BotSpec, *, limits: Limits, cpu_s: int | None) -> LineChannel:
        """Start it."""


class BotPool:
    """The bots of one worker. `async with BotPool() as pool`: at its end no process is left.

    Args:
        start: starts a bot; by default as a plain process.
    """

    def __init__(self, start: Starter | None = None) -> None:
        self._start = start or self._start_process
        self._hub = Hub()
        self._idle: OrderedDict[int, tuple[_Key, Seat]] = OrderedDict()
        self._manager = trio.open_nursery()

    async def __aenter__(self) -> Self:
        self._hub.start(await self._manager.__aenter__())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        try:
            async with trio.open_nursery() as ending:
                for _, seat in self._idle.values():
                    ending.start_soon(self.dismiss, seat)
        finally:
            self._idle.clear()
            self._hub.stop()
        return await self._manager.__aexit__(kind, error, trace)

    def _start_process(self, bot: BotSpec, *, limits: Limits, cpu_s: int | None) -> LineChannel:
        return start_bot(self._hub, bot.command, bot.folder, limits=limits, cpu_s=cpu_s)

    def seat(self, spec: GameSpec, side: Side) -> Seat:
        """Return a seat for this side of a game: a kept one that is free, else a new process.

        A new one is not greeted yet (`Seat.hello` is None). Whoever takes a seat gives it back
        with `keep`, `dismiss` or `drop`.

        Raises:
            BotRefused: if the command can't be started as it is.
            HostFault: if this machine is out of processes, descriptors or memory.
        """
        bot = spec.mister_x if side is Side.MISTER_X else spec.detectives
        if spec.keep:
            key = _key(bot, side, spec.ruleset)
            for number, (other, seat) in reversed(self._idle.items()):
                if other == key:
                    del self._idle[number]
                    seat.new_game()
                    return seat
        cpu_s = None if spec.keep else cpu_backstop_s(spec)
        limits = bot.limits.within(spec.limits)
        return Seat(bot, side, self._start(bot, limits=limits, cpu_s=cpu_s))

    def can_keep(self, seat: Seat, spec: GameSpec) -> bool:
        """Whether a seat whose bot had no fault may serve the next game too.

        The game and the bot must allow it, and nothing that nobody asked for may lie in its pipe.
        """
        return (
            spec.keep
            and seat.hello is not None
            and "reuse" in seat.hello.features
            and not seat.channel.has_unread()
            and not seat.channel.has_ended()
        )

    async def keep(self, seat: Seat, spec: GameSpec) -> None:
        """Keep a seat for the next game of the same bot, side and ruleset."""
        self._idle[id(seat)] = (_key(seat.bot, seat.side, spec.ruleset), seat)
        if len(self._idle) > _MOST_IDLE:
            await self.dismiss(self._idle.popitem(last=False)[1][1])

    async def dismiss(self, seat: Seat) -> None:
        """Say goodbye to a bot that did nothing wrong, give it a moment to exit, and end it."""
        told = seat.tell(Bye())
        await seat.channel.end(grace_s=END_GRACE_S if told else 0.0)

    async def drop(self, seat: Seat) -> None:
        """End a seat's process at once: its bot had a fault, or the game was broken off."""
        await seat.channel.end()


def cpu_backstop_s(spec: GameSpec, *, turns: int = 1_000) -> int | None:
    """Return the CPU seconds after which the kernel ends one process of a bot, whatever happens.

    Generous, as it is a backstop alone: all the time of the game on every core, the start, and ten
    seconds. None without a clock.

    Args:
        spec: the game.
        turns: of one side, at most.
    """
    if spec.nodes is not None:
        turn_ms, bank_ms = spec.limits.nodes_turn_ms, 0
    elif spec.clock is not None:
        turn_ms = spec.clock.move_ms + spec.clock.increment_ms
        bank_ms = spec.clock.bank_ms
    else:
        return None
    game_s = (turn_ms * turns + bank_ms) / 1000
    cores = os.cpu_count() or 1
    return ceil(game_s * cores + spec.limits.first_ready_ms / 1000) + _CPU_SPARE_S


def _key(bot: BotSpec, side: Side, ruleset: str) -> _Key:
    return bot.hash, bot.command, bot.folder, side, ruleset
