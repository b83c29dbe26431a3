"""BotPool: starts bots for the games of one worker, and keeps those that serve many games.

Here is decided who is kept in the sandbox: with `auto` everybody, and where there is none only the
arena's own bots play, without it; with `none` nobody.

A kept process serves one bot and one side; after any fault or unread byte it is replaced.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from math import ceil
from types import TracebackType
from typing import Literal, Protocol, Self

import msgspec
import trio

from arena.errors import HostFault
from arena.referee.record import BotSpec, GameSpec
from arena.referee.seat import MeteredSeat, Seat
from arena.rules.ruleset import Side
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.channel import LineChannel
from arena.sandbox.holding import Guard
from arena.sandbox.hub import Hub
from arena.sandbox.limits import END_GRACE_S
from arena.sandbox.metered import Metered, Stoppable, is_metered
from arena.sandbox.sandboxes import Sandbox
from arena.sandbox.starting import start_bot
from arena.sandbox.warden import Warden
from protocol.messages import Bye, ClockKind, ClockSettings, Limits, Pondering

__all__ = ["BotPool", "Starter", "cpu_backstop_s"]

_NO_CLOCK = ClockSettings(pondering="allow")
_ON_NODES = ClockSettings()
_MOST_IDLE = 64  # kept processes that wait for a game; the one idle longest goes first
_CPU_SPARE_S = 10

_Key = tuple[BotSpec, Side, str, Limits, str, ClockKind, Pondering]


class Starter(Protocol):
    """Starts a bot; the seam for fakes. Raises as `start_bot` does."""

    def __call__(
        self, bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool
    ) -> LineChannel:
        """Start it."""


class BotPool:
    """The bots of one worker. `async with BotPool() as pool`: at its end no process is left.

    Args:
        start: starts a bot; by default as a process.
        profile: of this machine's sandbox, which has passed its self-test; None without one.

    Attributes:
        sandbox: in a few words what bots are kept in; None without a sandbox.
    """

    def __init__(self, start: Starter | None = None, *, profile: Profile | None = None) -> None:
        self.sandbox: str | None = None
        self._guard: Guard | None = None
        if profile is not None:
            self.sandbox = profile.words
            self._guard = Guard(Sandbox(profile), Warden())
        self._watching = trio.CancelScope()
        self._start = start or self._start_process
        self._hub = Hub()
        self._idle: OrderedDict[int, tuple[_Key, Seat]] = OrderedDict()
        self._manager = trio.open_nursery()

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> Self:
        nursery = await self._manager.__aenter__()
        self._hub.start(nursery)
        if self._guard is not None:
            nursery.start_soon(self._watch, self._guard.warden)
        return self

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        try:
            await self._end_all()
        except BaseException as failed:  # noqa: BLE001 - a Ctrl-C: our nursery is left too
            kind, error, trace = type(failed), failed, failed.__traceback__
        return await self._manager.__aexit__(kind, error, trace)

    async def _end_all(self) -> None:
        try:
            async with trio.open_nursery() as ending:
                for _, seat in self._idle.values():
                    ending.start_soon(self.dismiss, seat)
        finally:
            self._idle.clear()
            self._hub.stop()
            self._watching.cancel()
            if self._guard is not None:
                self._guard.sandbox.close()

    async def _watch(self, warden: Warden) -> None:
        with self._watching:
            await warden.run()

    def _start_process(
        self, bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool
    ) -> LineChannel:
        return start_bot(
            self._hub,
            bot.command,
            bot.folder,
            limits=limits,
            cpu_s=cpu_s,
            guard=self._guard if sandboxed else None,
        )

    def start(
        self,
        bot: BotSpec,
        side: Side,
        *,
        limits: Limits,
        sandbox: Literal["auto", "none"],
        cpu_s: int | None = None,
        clock: ClockSettings = _NO_CLOCK,
    ) -> Seat:
        """Return a seat with a new process, that is not greeted yet (`Seat.hello` is None).

        Args:
            bot: who is to sit there.
            side: which it plays.
            limits: the organiser's; a bot may have asked for less.
            sandbox: whether bots are kept in the sandbox.
            cpu_s: CPU seconds of one process, a backstop; None for none.
            clock: what it is charged, and whether it may ponder; the arena's own bots always may,
                as they do not, and are never stopped.

        Raises:
            BotRefused: if the command can't be started as it is.
            HostFault: if this machine is out of processes, descriptors or memory, or has no
                sandbox for a bot that is not the arena's own.
        """
        sandboxed = sandbox == "auto" and self.sandbox is not None
        if sandbox == "auto" and not sandboxed and not bot.trusted:
            raise HostFault(
                f"there is no sandbox here, and {bot.name} is none of the arena's own bots"
            )
        held_to = bot.limits.within(limits)
        channel = self._start(bot, limits=held_to, cpu_s=cpu_s, sandboxed=sandboxed)
        if bot.trusted:
            clock = msgspec.structs.replace(clock, pondering="allow")
        if isinstance(channel, Stoppable):
            channel.watch_off_turn(allowed=clock.pondering == "allow")
            if is_metered(clock):
                metered = Metered(channel, self._hub, clock)
                return MeteredSeat(bot, side, metered, limits=held_to, sandboxed=sandboxed)
        return Seat(bot, side, channel, limits=held_to, sandboxed=sandboxed)

    def seat(self, spec: GameSpec, side: Side) -> Seat:
        """Return a seat for this side of a game: a kept one that is free, else a new process.

        Whoever takes a seat gives it back with `keep`, `dismiss` or `drop`. Raises as `start`
        does.
        """
        bot = spec.mister_x if side is Side.MISTER_X else spec.detectives
        if spec.keep:
            key = _key(bot, side, spec)
            for number, (other, seat) in reversed(self._idle.items()):
                if other == key:
                    del self._idle[number]
                    seat.new_game()
                    return seat
        cpu_s = None if spec.keep else cpu_backstop_s(spec)
        return self.start(
            bot,
            side,
            limits=spec.limits,
            sandbox=spec.sandbox,
            cpu_s=cpu_s,
            clock=_clock_of(spec),
        )

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
        """Keep a seat for the next game of the same bot, side, ruleset and limits."""
        self._idle[id(seat)] = (_key(seat.bot, seat.side, spec), seat)
        if len(self._idle) > _MOST_IDLE:
            await self.dismiss(self._idle.popitem(last=False)[1][1])

    @trio.lowlevel.enable_ki_protection
    async def dismiss(self, seat: Seat) -> None:
        """Say goodbye to a bot that did nothing wrong, give it a moment to exit, and end it."""
        told = seat.tell(Bye())
        await seat.channel.end(grace_s=END_GRACE_S if told else 0.0)

    @trio.lowlevel.enable_ki_protection
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


def _key(bot: BotSpec, side: Side, spec: GameSpec) -> _Key:
    clock = _clock_of(spec)
    return bot, side, spec.ruleset, spec.limits, spec.sandbox, clock.kind, clock.pondering


def _clock_of(spec: GameSpec) -> ClockSettings:
    """Return what holds for a game on nodes, or with a debugger in a bot, too."""
    if spec.nodes is not None:
        return _ON_NODES
    return _NO_CLOCK if spec.clock is None else spec.clock
