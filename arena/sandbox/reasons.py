"""What is said of a bot that was late, ended or wrote too much: what came, the limit, the cure.

Pure; the numbers are measured by `asking.py`.
"""

from __future__ import annotations

import signal

from arena.errors import HostFault
from arena.sandbox.channel import BotExited, BotOverran, BotTooSlow
from protocol.quoting import quote

__all__ = [
    "closed",
    "deaf",
    "ended",
    "how_it_ended",
    "late",
    "not_set_up",
    "overloaded",
    "overran",
    "silent",
]

_FLUSH_HINT = "did the bot flush its output, and does it answer every request?"


def how_it_ended(status: int, *, shifts_signals: bool) -> str:
    """Return a status of a process in words, such as `status 1` or `SIGSEGV`.

    Args:
        status: negative for a signal, as `subprocess` has it.
        shifts_signals: whether 128 and more stands for a signal; see `Hold`.
    """
    if status < 0:
        return _signal_name(-status)
    if status > 128 and (name := _signal_name(status - 128)).startswith("SIG"):
        if shifts_signals:
            return f"{name} (status {status})"
        return f"status {status} (a program of its own died of {name})"
    return f"status {status}"


def ended(how: str, rest: bytes, shortage: str | None) -> BotExited:
    """Return the fault of a bot whose process ended.

    Args:
        how: as `how_it_ended` has it.
        rest: what it wrote behind its last whole line.
        shortage: what it may have been refused, if anything.
    """
    left = f", after {_partial(rest)}" if rest else ""
    hint = "its standard error may say why" if how != "status 0" else "exit after `bye` only"
    return BotExited(
        f"the bot ended with {how} before the game was over{left}{_also(shortage)}", hint
    )


def closed(stream: str) -> BotExited:
    """Return the fault of a bot that lives on without one of its streams."""
    return BotExited(f"the bot closed {stream}", "keep it open until `bye`")


def not_set_up(stderr: str) -> HostFault:
    """Return our fault where a sandbox ended before the bot had begun."""
    said = quote(stderr.strip().encode(), 200)
    return HostFault(f"the sandbox could not be set up for a bot: {said}")


def late(took_s: float, limit_s: float) -> BotTooSlow:
    """Return the fault of a bot whose whole answer is there, but too late."""
    return BotTooSlow(f"the answer came after {_ms(took_s)}; the limit is {_ms(limit_s)}")


def silent(limit_s: float, rest: bytes, shortage: str | None) -> BotTooSlow:
    """Return the fault of a bot of which no whole answer is there."""
    limit = _ms(limit_s)
    if rest:
        return BotTooSlow(f"no newline within {limit}, {_partial(rest)}", "end each answer with LF")
    return BotTooSlow(f"no answer within {limit}{_also(shortage)}", _FLUSH_HINT)


def deaf(taken: int, whole: int, limit_s: float) -> BotTooSlow:
    """Return the fault of a bot that took only so many bytes of a request."""
    return BotTooSlow(
        f"the bot does not read: it took {taken:,} of {whole:,} bytes of a request in "
        f"{_ms(limit_s)}",
        "read every line of the standard input",
    )


def overloaded(waited_s: float, limit_s: float) -> HostFault:
    """Nobody is waited for without end, and nobody loses because of what others took."""
    return HostFault(
        f"this machine is overloaded: it kept a bot from running for most of {waited_s:,.1f} s, "
        f"and its time is {_ms(limit_s)}"
    )


def overran(line_bytes: int, rest: bytes) -> BotOverran:
    """Return the fault of a bot whose line is too long."""
    return BotOverran(
        f"line longer than {line_bytes:,} bytes: {quote(rest[:200])}…",
        "an answer takes a few hundred bytes; is this a log? it belongs on stderr",
    )


def _partial(rest: bytes) -> str:
    return f"{len(rest):,} bytes without newline: {quote(rest)}"


def _also(shortage: str | None) -> str:
    return "" if shortage is None else f"; {shortage}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"
