"""One bot at a table: what is said to it and what it answers, in the order that the wire allows."""

from __future__ import annotations

import trio

from arena.errors import BotFault
from arena.referee.record import AskedLimits, BotSpec, Phase
from arena.rules.ruleset import Side
from arena.sandbox.channel import BotTooSlow, LineChannel
from arena.sandbox.metered import Metered
from arena.sandbox.pondering import OffTurnUse
from protocol.codec import AnyAnswer, AnyRequest, decode_answer, encode, is_blank
from protocol.messages import Deal, Hello, HelloAnswer, Limits, Log, Turn
from protocol.plays import PlayReader
from protocol.session import Session

__all__ = ["MeteredSeat", "Seat"]


class Seat:
    """A bot's process that serves one bot and one side, and the talk with it.

    Attributes:
        hello: what the bot said of itself; None until it was greeted.
        held_to: that part of its limits that a bot may ask to be less, as records tell it.
        phase: of what happens now, for a fault's record.
        log: kept lines of this game; `log_dropped` counts the rest.
        last_request: the last line that was sent.
        last_line: the last line that came.
        start_ms: from spawn to the first `ready`; None before it.
        reader: of the plies of the game that is on; None while there is none.
        has_own_plies: whether the plies of the last answer are the game's own, not plain JSON.

    Args:
        bot: who sits there.
        side: which it plays.
        channel: to its process.
        limits: what that is held to.
        sandboxed: whether it is kept in the sandbox.
    """

    def __init__(
        self,
        bot: BotSpec,
        side: Side,
        channel: LineChannel,
        *,
        limits: Limits,
        sandboxed: bool = False,
    ) -> None:
        self.bot = bot
        self.side = side
        self.channel = channel
        self.limits = limits
        self.held_to = AskedLimits.of(limits)
        self.sandboxed = sandboxed
        self.hello: HelloAnswer | None = None
        self.phase: Phase = "start-up"
        self.log: list[str] = []
        self.log_dropped = 0
        self.last_request = b""
        self.last_line = b""
        self.start_ms: float | None = None
        self.reader: PlayReader | None = None
        self.has_own_plies = False
        self._off_turn_s = 0.0  # CPU time used off turn in earlier games
        self._session = Session()
        self._spawned_at = trio.current_time()

    def wants(self, what: str) -> bool:
        """Whether the bot asked for `legal`, `board` or `events`."""
        return self.hello is not None and what in self.hello.wants

    def new_game(self) -> None:
        """Forget what the last game of a kept process left."""
        self.phase = "start-up"
        self.reader = None
        self.log.clear()
        self.log_dropped = 0
        use = self.channel.off_turn()
        self._off_turn_s = 0.0 if use is None else use.cpu_s

    def off_turn(self) -> OffTurnUse | None:
        """Return what the bot used in this game while it was not asked; None if unknown."""
        use = self.channel.off_turn()
        return None if use is None else use._replace(cpu_s=use.cpu_s - self._off_turn_s)

    async def greet(self, request: Hello, limits: Limits) -> HelloAnswer:
        """Greet a new process, once; its answer is kept as `hello`. Raises as `ask` does."""
        answer = await self._ask_ready(request, limits)
        if not isinstance(answer, HelloAnswer):  # the session has seen to it
            raise BotFault("protocol", "expected `hello`")  # pragma: no cover
        self.hello = answer
        return answer

    async def get_ready(self, request: Deal, limits: Limits) -> None:
        """Open a game and wait until the bot is ready; never charged. Raises as `ask` does."""
        await self._ask_ready(request, limits)
        if self.start_ms is None:
            self.start_ms = (trio.current_time() - self._spawned_at) * 1000
        self.phase = "off-turn"

    async def _ask_ready(self, request: Hello | Deal, limits: Limits) -> AnyAnswer:
        if self.start_ms is not None:
            return await self.ask(request, limit_s=limits.ready_ms / 1000)
        until = self._spawned_at + limits.first_ready_ms / 1000
        try:
            return await self.ask(request, limit_s=max(0.001, until - trio.current_time()))
        except BotTooSlow as exc:
            text = f"not ready within {limits.first_ready_ms:,} ms of its start: {exc.text}"
            raise BotTooSlow(text, exc.hint) from exc

    async def ask(self, request: AnyRequest, *, limit_s: float) -> AnyAnswer:
        """Send a request and return the bot's answer to it.

        Raises:
            BotFault: if none came in time, or the process is gone.
            RemoteProtocolError: if something came that is no answer to it, or that came before.
        """
        channel, session = self.channel, self._session
        while (early := channel.take_line()) is not None:
            self._read(early)  # raises, if it is an answer: nothing was asked
        if self.phase == "off-turn":
            self.phase = "turn"
        session.request(request)
        said = self.last_request = encode(request)
        line = self.last_line = await channel.ask(said, limit_s=limit_s)
        if self.reader is not None and (play := self.reader.read(line)) is not None:
            self.has_own_plies = True
            session.answer(play)  # raises, if it answers nothing
            return play
        self.has_own_plies = False
        if line[:1] == b"{" and session.answer(answer := decode_answer(line)):
            return answer
        found = self._read(line)
        while found is None:
            found = self._read(await channel.listen())
        return found

    def _read(self, line: bytes) -> AnyAnswer | None:
        """Read a line; None if it is no answer: a `log`, or blank."""
        self.last_line = line
        if line[:1] != b"{" and is_blank(line):
            self._session.blank()
            return None
        answer = decode_answer(line)
        is_due = self._session.answer(answer)
        if not isinstance(answer, Log):
            return answer if is_due else None
        if self._session.keeps_log(len(line) + 1):
            self.log.append(answer.text)
        else:
            self.log_dropped += 1
        return None

    def tell(self, request: AnyRequest) -> bool:
        """Say what has no answer, if the bot takes it at once."""
        self._session.request(request)
        return self.channel.tell(encode(request))


class MeteredSeat(Seat):
    """A seat with a CPU clock, or one whose bot is stopped while the other side is to move.

    Args:
        bot: as for `Seat`, as are the others.
        side: as for `Seat`.
        channel: to its process.
        limits: as for `Seat`.
        sandboxed: as for `Seat`.
    """

    def __init__(
        self,
        bot: BotSpec,
        side: Side,
        channel: Metered,
        *,
        limits: Limits,
        sandboxed: bool = False,
    ) -> None:
        super().__init__(bot, side, channel, limits=limits, sandboxed=sandboxed)
        self._meter = channel

    async def ask(self, request: AnyRequest, *, limit_s: float) -> AnyAnswer:
        """Send a request and return the bot's answer; only turns are charged. See `Seat.ask`."""
        self._meter.is_charged = isinstance(request, Turn)
        answer = await super().ask(request, limit_s=limit_s)
        self._meter.rest()
        return answer
