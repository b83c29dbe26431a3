"""LineChannel: ask with a line, get a line; tests put a fake here.

The seam between one game and one bot's process: the referee knows nothing else of a bot. What a bot
does wrong on this level comes out as one of the errors below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from arena.errors import BotFault
from arena.sandbox.pondering import OffTurnUse

__all__ = ["BotExited", "BotOverran", "BotTooSlow", "BotTookTooMuch", "LineChannel"]


class BotTooSlow(BotFault):
    """No whole answer came within its limit, or the bot did not read its request."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__("timeout", text, hint)


class BotExited(BotFault):
    """The bot's process ended, or it closed one of its streams."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__("crash", text, hint)


class BotOverran(BotFault):
    """The bot's line is longer than a line may be; nothing more of it is read."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__("protocol", text, hint)


class BotTookTooMuch(BotFault):
    """The bot passed a limit on memory, processes, files or sockets, and was killed for it."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__("resource", text, hint)


class LineChannel(Protocol):
    """One bot, spoken to in lines."""

    @property
    def lost_s(self) -> float:
        """How far the deadline of the last request was moved, in seconds.

        Because the bot was ready to run and the machine did not let it; it is not charged.
        """

    async def ask(self, line: bytes, *, limit_s: float) -> bytes:
        """Send a request and return the next line of the bot, without its newline.

        Args:
            line: the request, newline included.
            limit_s: for the writing, and again from its end to the newline of the answer; may be
                infinite. CPU time, with a CPU clock.

        Raises:
            BotTooSlow: if no whole line came in time, or the request was not read in time.
            BotExited: if the process ended or closed a stream, and no whole line is left.
            BotTookTooMuch: if it was killed for passing a limit, and no whole line is left.
            BotOverran: if a line is too long.
            HostFault: if its sandbox failed before the bot had begun, or if this machine kept it
                from running for many times its limit.
        """

    def spent_s(self) -> float:
        """Return what the last line is to be charged, in seconds.

        From the last byte of the request to the newline of the line, less what was lost; with a CPU
        clock the CPU time of that span.
        """

    def off_turn(self) -> OffTurnUse | None:
        """Return what the bot used while it was not asked, since its start; None if unknown."""

    async def listen(self) -> bytes:
        """Return one more line under the deadline of the last request; raises as `ask` does."""

    def take_line(self) -> bytes | None:
        """Return a whole line that was read together with an earlier one; None if there is none.

        Never waits and makes no system call, so it costs nothing to look before every request.
        """

    def has_unread(self) -> bool:
        """Whether anything at all came that nobody asked for: looks into the pipe too."""

    def has_ended(self) -> bool:
        """Whether at this one look the process has ended or its standard output is closed."""

    def tell(self, line: bytes) -> bool:
        """Write a line that has no answer if the pipe takes it whole at once; never waits.

        Returns:
            Whether it was written; False too if the bot is gone.
        """

    def take_stderr(self) -> tuple[str, int]:
        """Return what came on standard error since this was last called, and the bytes dropped.

        The text holds the first 8 KiB and the last 56 KiB, decoded, control characters escaped.
        """

    def evidence(self) -> Mapping[str, Any]:
        """Return what a fault's record shows: exit status, bytes without newline, and so on."""

    async def end(self, *, grace_s: float = 0.0) -> None:
        """End the bot and all of its group, and give back every descriptor.

        Args:
            grace_s: how long the bot may take to exit by itself once its standard input is closed.
        """
