"""Which message may come when: one table, no I/O.

A `Session` is the talk with one bot process as it stands between the two: the referee tells it
every request that it writes and every answer that it reads; a model of a bot does the same from
the other end.
"""

from __future__ import annotations

import enum
from typing import Literal, NamedTuple, NoReturn

from protocol.codec import (
    BLANK_LINES,
    LOG_GAME_BYTES,
    LOG_LINE_BYTES,
    AnyAnswer,
    AnyRequest,
    quote,
)
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.messages import (
    Bye,
    Deal,
    End,
    Hello,
    HelloAnswer,
    Log,
    Play,
    Range,
    Ready,
    Turn,
)

__all__ = ["TABLE", "Row", "Session", "State", "agree", "table_text"]


class State(enum.StrEnum):
    """Where the talk with one process stands."""

    STARTED = "started"
    GREETED = "greeted"
    FREE = "free"
    DEALT = "dealt"
    IDLE = "idle"
    ASKED = "asked"
    JUDGED = "judged"
    OVER = "over"


_MEANING = {
    State.STARTED: "the process runs, nothing was said",
    State.GREETED: "`hello` was said and is to be answered",
    State.FREE: "between games",
    State.DEALT: "`deal` was said and is to be answered",
    State.IDLE: "in a game, not asked",
    State.ASKED: "in a game, asked for a turn or a part of one",
    State.JUDGED: "the game ended while an answer was due; no new game comes",
    State.OVER: "`bye` was said",
}


class Row(NamedTuple):
    """One line of the table: in `state`, who may say which message, and what state follows."""

    state: State
    speaker: Literal["referee", "bot"]
    message: type[AnyRequest | AnyAnswer]
    then: State


TABLE: tuple[Row, ...] = (
    Row(State.STARTED, "referee", Hello, State.GREETED),
    Row(State.STARTED, "referee", Bye, State.OVER),
    Row(State.GREETED, "bot", HelloAnswer, State.FREE),
    Row(State.GREETED, "bot", Log, State.GREETED),
    Row(State.GREETED, "referee", Bye, State.OVER),
    Row(State.FREE, "referee", Deal, State.DEALT),
    Row(State.FREE, "bot", Log, State.FREE),
    Row(State.FREE, "referee", Bye, State.OVER),
    Row(State.DEALT, "bot", Ready, State.IDLE),
    Row(State.DEALT, "bot", Log, State.DEALT),
    Row(State.DEALT, "referee", End, State.JUDGED),
    Row(State.IDLE, "referee", Turn, State.ASKED),
    Row(State.IDLE, "bot", Log, State.IDLE),
    Row(State.IDLE, "referee", End, State.FREE),
    Row(State.ASKED, "bot", Play, State.IDLE),
    Row(State.ASKED, "bot", Log, State.ASKED),
    Row(State.ASKED, "referee", End, State.JUDGED),
    # What was already under way when the verdict fell is read and changes nothing.
    Row(State.JUDGED, "bot", Ready, State.JUDGED),
    Row(State.JUDGED, "bot", Play, State.JUDGED),
    Row(State.JUDGED, "bot", Log, State.JUDGED),
    Row(State.JUDGED, "referee", Bye, State.OVER),
    Row(State.OVER, "bot", HelloAnswer, State.OVER),
    Row(State.OVER, "bot", Ready, State.OVER),
    Row(State.OVER, "bot", Play, State.OVER),
    Row(State.OVER, "bot", Log, State.OVER),
)

_THEN: dict[State, dict[type[AnyRequest | AnyAnswer], State]] = {
    state: {row.message: row.then for row in TABLE if row.state is state} for state in State
}
_DUE = {State.GREETED: "hello", State.DEALT: "ready", State.ASKED: "play"}


class Session:
    """The order of messages with one bot process.

    Attributes:
        state: where the talk stands.
        expected: the id that the next answer must repeat; None while none is due.
    """

    __slots__ = ("_blank_lines", "_log_bytes", "expected", "state")

    def __init__(self) -> None:
        self.state = State.STARTED
        self.expected: str | None = None
        self._blank_lines = 0
        self._log_bytes = 0

    def request(self, message: AnyRequest) -> None:
        """Note that the referee says this now.

        Raises:
            LocalProtocolError: if it may not say so now: a bug of ours.
        """
        then = _THEN[self.state].get(message.__class__)
        if then is None:
            raise LocalProtocolError(f"`{_word(message)}` may not be said when {self.state.value}")
        self.state = then
        if isinstance(message, Turn):
            self.expected = message.id
            if message.part == 1:
                self._blank_lines = 0
        elif isinstance(message, (End, Bye)):
            self.expected = None
        else:
            self.expected = message.id
            self._blank_lines = 0
            if isinstance(message, Deal):
                self._log_bytes = 0

    def answer(self, message: AnyAnswer) -> bool:
        """Note that the bot said this.

        Returns:
            Whether it answers the request that is due. Not so a `log`, nor whatever was under
            way when the game ended: both are to be read over.

        Raises:
            RemoteProtocolError: if it may not say so now: an early, second, old or guessed
                answer, or one of the wrong type.
        """
        then = _THEN[self.state].get(message.__class__)
        if then is None:
            self._refuse(message)
        if isinstance(message, Log) or self.expected is None:
            return False
        if message.id != self.expected:
            got = quote(message.id.encode())
            raise RemoteProtocolError(
                f"expected id {self.expected}, got {got}",
                "repeat the id of the request that you answer",
            )
        self.state = then
        self.expected = None
        return True

    def blank(self) -> None:
        """Note that the bot sent a line with nothing but blanks in it.

        Raises:
            RemoteProtocolError: if these are too many for one turn.
        """
        self._blank_lines += 1
        if self._blank_lines > BLANK_LINES:
            raise RemoteProtocolError(f"more than {BLANK_LINES} blank lines in a turn")

    def keeps_log(self, size: int) -> bool:
        """Whether a `log` line of `size` bytes, newline included, is to be kept.

        It is not (and is to be counted as dropped) if it is too long, or if the log of this game
        would get too long with it.
        """
        if size > LOG_LINE_BYTES or self._log_bytes + size > LOG_GAME_BYTES:
            return False
        self._log_bytes += size
        return True

    def _refuse(self, message: AnyAnswer) -> NoReturn:
        due = _DUE.get(self.state)
        said = _word(message)
        if due is not None:
            raise RemoteProtocolError(f"expected `{due}`, got `{said}`")
        if isinstance(message, Log):
            raise RemoteProtocolError("`log` before `hello`", "wait for the referee's `hello`")
        raise RemoteProtocolError(
            f"answer without a request: `{said}` with id {quote(message.id.encode())}",
            "answer each request once, after it came",
        )


def agree(ours: Range, theirs: int) -> int:
    """Return the version that both speak: the bot's, out of the referee's range.

    Raises:
        RemoteProtocolError: if it is outside; the text names what each side speaks.
    """
    if ours.low <= theirs <= ours.high:
        return theirs
    old_bot = theirs < ours.low
    cure = "update the bot to" if old_bot else "update the arena, or let the bot speak"
    raise RemoteProtocolError(
        f"no common protocol: the bot speaks {theirs}, this arena {_range(ours)}",
        f"{cure} protocol {_range(ours)}",
    )


def table_text() -> str:
    """Return the states and the table of the session as Markdown, as they stand in SPEC.md."""
    lines = ["| state | meaning |", "| --- | --- |"]
    lines += [f"| {state} | {_MEANING[state]} |" for state in State]
    lines += ["", "| state | who | may say | then |", "| --- | --- | --- | --- |"]
    for row in TABLE:
        ignored = row.state in {State.JUDGED, State.OVER} and row.speaker == "bot"
        then = "(ignored)" if ignored else row.then.value
        lines.append(f"| {row.state} | {row.speaker} | `{_tag(row.message)}` | {then} |")
    return "\n".join(lines) + "\n"


def _range(versions: Range) -> str:
    if versions.low == versions.high:
        return str(versions.low)
    return f"{versions.low} to {versions.high}"


def _word(message: AnyRequest | AnyAnswer) -> str:
    return _tag(type(message))


def _tag(kind: type[AnyRequest | AnyAnswer]) -> str:
    return str(kind.__struct_config__.tag)
