"""Seat the bots, run the turn loop, give the verdict."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

import msgspec
import trio
from msgspec import UNSET, Raw

from arena.referee import clock as clocks
from arena.referee.faults import CAUGHT, HINTS, Caught, caught, is_ours, tell
from arena.referee.greeting import check_fits
from arena.referee.keys import wire_ids
from arena.referee.plies import list_of, read_plies
from arena.referee.pool import BotPool
from arena.referee.record import FaultKind, GameRecord, GameSpec
from arena.referee.recording import Recorder
from arena.referee.requests import deal_request, end_record, end_request, hello_request
from arena.referee.seat import Seat
from arena.rules.registry import make
from arena.rules.ruleset import Ruleset, Side, Verdict
from arena.sandbox.channel import BotTooSlow
from protocol.messages import Play, Turn
from protocol.plays import PlayReader

__all__ = ["play_game"]

_SIDES = tuple(Side)


async def play_game(spec: GameSpec, pool: BotPool | None = None) -> GameRecord:
    """Play one game and return its record; no process of a fresh bot is left afterwards.

    Whatever a bot does ends up in the record. A fault of ours gives a record whose `aside.void`
    says why. Only a bug, a cancellation or a ruleset that does not exist is raised.

    Args:
        spec: the game.
        pool: the worker's bots; without one the game starts and ends its own.
    """
    if pool is not None:
        return await _Game(spec, pool).play()
    async with BotPool() as own:
        return await _Game(spec, own).play()


class _Game:
    """One game in play."""

    def __init__(self, spec: GameSpec, pool: BotPool) -> None:
        self.spec = spec
        self.pool = pool
        self.ruleset = make(spec.ruleset)
        self.state: Any = self.ruleset.deal(bytes.fromhex(spec.deal_seed), spec.deal)
        self.key = bytes.fromhex(spec.game_key)
        self.ids = wire_ids(self.key)
        self.recorder = Recorder(spec, self.ruleset)
        self.seats: dict[Side, Seat] = {}
        self.told: dict[Side, bool] = {}  # whether the bot took its `end`
        self.kept: set[Side] = set()  # whose process went back to the pool
        self.untold: dict[Side, list[msgspec.Struct]] = {}  # events, of those who want them
        self.void: str | None = None

    async def play(self) -> GameRecord:
        over = False
        try:
            await self._seat_both()
            if not self.recorder.faults and self.void is None:
                await self._take_turns()
            await self._close()
            over = True
        finally:
            if not over:  # cancelled, or a bug: leave no process behind
                await self._break_off()
        return self.recorder.record(self.state, void=self.void, sandbox=self.pool.sandbox)

    # --- start-up -------------------------------------------------------------------------------

    async def _seat_both(self) -> None:
        """Start both bots and wait for both: what one does has no part in the other's result."""
        hello_ids = {side: next(self.ids) for side in _SIDES}
        deal_ids = {side: next(self.ids) for side in _SIDES}
        for side in _SIDES:
            try:
                self.seats[side] = self.pool.seat(self.spec, side)
            except CAUGHT as exc:
                self._catch(exc, side)
        if all(seat.hello is not None for seat in self.seats.values()):
            # Kept bots are ready at once: a task for each would cost more than a turn does.
            for side, seat in self.seats.items():
                await self._deal(side, seat, deal_ids[side])
            return
        async with trio.open_nursery() as nursery:
            for side, seat in self.seats.items():
                nursery.start_soon(self._greet, side, seat, hello_ids[side], deal_ids[side])

    async def _greet(self, side: Side, seat: Seat, hello_id: str, deal_id: str) -> None:
        spec = self.spec
        if seat.hello is None:
            try:
                request = hello_request(hello_id, (spec.ruleset,), seat.limits)
                hello = await seat.greet(request, seat.limits)
                check_fits(hello, side=side, ruleset=spec.ruleset, nodes=spec.nodes is not None)
            except CAUGHT as exc:
                self._catch(exc, side)
                return
        await self._deal(side, seat, deal_id)

    async def _deal(self, side: Side, seat: Seat, deal_id: str) -> None:
        spec = self.spec
        try:
            deal = deal_request(
                deal_id,
                self.ruleset,
                self.state,
                side,
                game_key=self.key,
                clock=spec.clock,
                nodes=spec.nodes,
                board=seat.wants("board"),
            )
            await seat.get_ready(deal, spec.limits)
        except CAUGHT as exc:
            self._catch(exc, side)

    # --- turns ----------------------------------------------------------------------------------

    async def _take_turns(self) -> None:
        """Ask whoever is to move until the game is over or somebody has a fault."""
        table = {side: _Turns(self, self.seats[side]) for side in _SIDES}
        self.untold = {side: [] for side in _SIDES if self.seats[side].wants("events")}
        while (side := self.ruleset.to_move(self.state)) is not None:
            try:
                await table[side].take()
            except CAUGHT as exc:
                self._catch(exc, side, table[side])
                other = self.seats[side.other]
                if self.void is None and other.channel.has_ended():
                    self._catch_gone(side.other, other)
                return

    def _catch(self, exc: Exception, side: Side, turns: _Turns | None = None) -> None:
        """Note a fault of this side, in one of its turns or before, or that the game is void."""
        if is_ours(exc):
            self.void = f"{type(exc).__name__}: {exc}"
            return
        seat = self.seats.get(side)
        if seat is not None and seat.phase != "off-turn" and seat.channel.lost_s:
            self.recorder.give_back(side, seat.channel.lost_s)
        fault = caught(exc, side.value, seat.phase if seat else "start-up")
        charged_ms = None
        if turns is not None and fault.phase == "turn":
            charged_ms = turns.charged_until_now(fault.kind)
        self.recorder.fault(fault, seat, charged_ms)

    def _catch_gone(self, side: Side, seat: Seat) -> None:
        """Both sides are seen failing at one look: neither may gain by being asked second."""
        evidence = seat.channel.evidence()
        breach, status = evidence.get("breach"), evidence.get("exit_status")
        how = f"ended with {status}" if status else "closed its standard output"
        self.recorder.fault(
            Caught(
                side=side.value,
                kind="resource" if breach else "crash",
                phase="off-turn",
                text=breach or f"the bot {how} while the other side was to move",
                hint=HINTS["resource"] if breach else "exit after `bye` only",
            ),
            seat,
        )

    # --- the end --------------------------------------------------------------------------------

    async def _close(self) -> None:
        """Tell both sides how it ended, and give the seats back."""
        spec, recorder = self.spec, self.recorder
        verdict = recorder.verdict(self.state)
        record = None
        if self.void is None and not (spec.keep and spec.rated):
            record = end_record(self.ruleset, self.state, recorder.plays, recorder.notes, verdict)
        leaving = [
            (side, seat)
            for side, seat in self.seats.items()
            if not await self._keep(side, seat, verdict, record)
        ]
        if leaving:
            async with trio.open_nursery() as nursery:
                for side, seat in leaving:
                    nursery.start_soon(self._leave, side, seat)

    async def _keep(self, side: Side, seat: Seat, verdict: Verdict, record: Raw | None) -> bool:
        """Tell a bot how it ended, and keep it for the next game if that may be."""
        recorder, pool = self.recorder, self.pool
        fault = recorder.sides[side].fault
        # Who moved illegally still keeps to the protocol, and is told why it lost.
        if self.void is None and (fault is None or fault.kind == "illegal"):
            end = end_request(verdict, fault=tell(fault) if fault else None, record=record)
            self.told[side] = seat.tell(end)
        if fault is not None or not self.told.get(side) or not pool.can_keep(seat, self.spec):
            return False
        recorder.seat_left(side, seat)
        self.kept.add(side)
        await pool.keep(seat, self.spec)
        return True

    async def _leave(self, side: Side, seat: Seat) -> None:
        if self.told.get(side):
            await self.pool.dismiss(seat)
        else:
            await self.pool.drop(seat)
        self.recorder.seat_left(side, seat)

    async def _break_off(self) -> None:
        """Leave no process behind, cancelled or not; what was kept belongs to the pool."""
        with trio.CancelScope(shield=True):
            for side, seat in self.seats.items():
                if side not in self.kept:
                    await self.pool.drop(seat)


class _Turns:
    """One side's turns: its clock, and how it is asked.

    Nothing here leads back to itself: a game is freed as it ends, without the collector.
    """

    def __init__(self, game: _Game, seat: Seat) -> None:
        spec = game.spec
        self._game = game
        self._seat = seat
        self._side = seat.side
        self._settings = None if spec.nodes is not None else spec.clock
        self._wall_ms = inf if spec.nodes is None else float(spec.limits.nodes_turn_ms)
        self._clock = clocks.start(self._settings, wall_ms=self._wall_ms)
        self._charged_ms: float | None = None
        self._asked_at = 0.0
        self._legal = seat.wants("legal")
        self._plies_type, seat.reader = _plies_of(game.ruleset)  # type: ignore[arg-type]  # all are hashable

    async def take(self) -> None:
        """Take one turn, in as many parts as the bot sends it in.

        Raises:
            BotFault, RemoteProtocolError, IllegalMove: a fault of the bot.
        """
        game, seat, side = self._game, self._seat, self._side
        ruleset, channel = game.ruleset, seat.channel
        part, more = 1, True
        while more:
            state, limit_ms = game.state, self._clock.limit_ms
            # Views, events and plies go into the line as they are: no detour by raw JSON.
            view: Any = ruleset.view(state, side)
            events: Any = game.untold.get(side, UNSET)
            legal: Any = ruleset.legal(state) if self._legal else UNSET
            request = Turn(
                id=next(game.ids),
                part=part,
                view=view,
                events=events,
                legal=legal,
                bank_ms=self._clock.left_ms,
                charged_ms=self._charged_ms,
            )
            self._asked_at = trio.current_time()
            answer: Any = await seat.ask(request, limit_s=limit_ms / 1000)
            more = self._play(answer, clocks.in_ms(channel.spent_s()))
            part += 1

    def charged_until_now(self, kind: FaultKind) -> float:
        """Return what an answer is charged that ends in a fault now, in milliseconds.

        A time-out takes its limit at the least, however little a bot on a CPU clock used.
        """
        settings, channel = self._settings, self._seat.channel
        if settings is not None and settings.kind == "cpu":
            spent_ms = channel.spent_s() * 1000
        else:
            spent_ms = (trio.current_time() - self._asked_at - channel.lost_s) * 1000
        least_ms = self._clock.limit_ms if kind == "timeout" else 0.0
        return round(max(spent_ms, least_ms), 3)

    def _play(self, answer: Play, spent_ms: float) -> bool:
        """Charge an answer and play it; True if the same turn goes on."""
        game, side = self._game, self._side
        ruleset, recorder = game.ruleset, game.recorder
        self._charged_ms = spent_ms
        plies = answer.plies
        if not self._seat.has_own_plies:
            plies = read_plies(answer, self._seat.last_line, self._plies_type, ruleset.name)
        played = ruleset.play(game.state, plies, more=answer.more)
        # With nothing left to do the rules close the turn, `more` or not: so does its clock.
        goes_on = played.goes_on
        limit_ms = self._clock.limit_ms
        # The channel was the judge of the time; rounding it must not make another one.
        clock = clocks.charge(
            self._settings,
            self._clock,
            spent_ms if spent_ms < limit_ms else limit_ms,
            more=goes_on,
            wall_ms=self._wall_ms,
        )
        if clock is None:  # pragma: no cover - the channel was the judge
            raise BotTooSlow(f"the answer took {spent_ms:,.0f} ms of {limit_ms:,.0f} ms")
        self._clock = clock
        self._seat.phase = "off-turn"
        if self._seat.channel.lost_s:
            recorder.give_back(side, self._seat.channel.lost_s)
        recorder.play(side, answer, plies[: played.counted], spent_ms, clock.left_ms)
        game.state = played.state
        for who, untold in game.untold.items():
            if who is side:
                untold.clear()  # the request told them
            untold += [event.what for event in played.events if event.seen_by in (None, who)]
        return goes_on


@lru_cache(maxsize=32)
def _plies_of(ruleset: Ruleset[Any, Any]) -> tuple[Any, PlayReader]:
    """The type of a turn's plies, and who reads them; rulesets are made once and kept."""
    ply_type = ruleset.ply_type
    return list_of(ply_type), PlayReader(ply_type)
