"""Start a bot once before a run, greet it, and see whether it fits: else it is refused by name."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from arena.errors import BotFault, BotRefused, HostFault
from arena.referee.faults import caught
from arena.referee.pool import BotPool
from arena.referee.record import BotSpec
from arena.referee.requests import VERSIONS, hello_request
from arena.rules.ruleset import Side
from arena.sandbox.channel import LineChannel
from protocol.errors import RemoteProtocolError
from protocol.messages import HelloAnswer, Limits
from protocol.quoting import quote
from protocol.session import agree

__all__ = ["check_fits", "greet", "plays_ruleset"]

_STDERR_LINES = 20  # of a bot that could not be greeted, shown to its author


def plays_ruleset(hello: HelloAnswer, ruleset: str) -> bool:
    """Whether a bot plays a ruleset, by its full text or by its name alone."""
    return ruleset in hello.rulesets or ruleset.partition(":")[0] in hello.rulesets


def check_fits(hello: HelloAnswer, *, side: Side, ruleset: str, nodes: bool) -> None:
    """Check that a bot can play this game.

    Args:
        hello: what it said of itself.
        side: that it is to play.
        ruleset: the full text.
        nodes: whether the game is played on a count.

    Raises:
        BotFault: of kind `refused`, with what it would have to say.
    """
    try:
        agree(VERSIONS, hello.protocol)
    except RemoteProtocolError as exc:
        raise BotFault("refused", exc.text, exc.hint) from exc
    if side.value not in hello.sides:
        raise BotFault(
            "refused",
            f"the bot plays {_list(hello.sides)} only, and is to play {side.value}",
            f"add {side.value} to `sides` of its `hello`, or enter it for the other side",
        )
    if not plays_ruleset(hello, ruleset):
        raise BotFault(
            "refused",
            f"the bot plays {_list(hello.rulesets)}, and is to play {ruleset}",
            f"add {ruleset.partition(':')[0]} to `rulesets` of its `hello`",
        )
    if nodes and "nodes" not in hello.features:
        raise BotFault(
            "refused",
            "the game is played on nodes, and the bot does not count them",
            "count them and say so in `features` of its `hello`, or play on time",
        )


async def greet(
    bot: BotSpec,
    *,
    rulesets: Sequence[str],
    limits: Limits,
    nodes: bool = False,
    sandbox: Literal["auto", "none"] = "none",
    pool: BotPool | None = None,
) -> HelloAnswer:
    """Start a bot, exchange `hello`, and end it.

    Args:
        bot: which was staged.
        rulesets: full texts of what it may be dealt; it must play one of them.
        limits: the organiser's; a bot may have asked for less.
        nodes: whether the run is played on a count.
        sandbox: whether bots are kept in the sandbox.
        pool: who starts it; without one a pool of its own, which has no sandbox.

    Raises:
        BotRefused: if it can't be started or greeted, or fits no side or ruleset; one sentence
            with the bot's name, the cause and the cure, and the end of its standard error below.
        HostFault: if this machine has no room for a process, or no sandbox for a stranger's bot.
    """
    if pool is not None:
        return await _greet(bot, rulesets, limits, nodes, sandbox, pool)
    async with BotPool() as own:
        try:
            return await _greet(bot, rulesets, limits, nodes, sandbox, own)
        except (BotRefused, HostFault) as exc:  # not through the nursery, which would wrap it
            failed = exc
    raise failed


async def _greet(
    bot: BotSpec,
    rulesets: Sequence[str],
    limits: Limits,
    nodes: bool,
    sandbox: Literal["auto", "none"],
    pool: BotPool,
) -> HelloAnswer:
    shown = quote((bot.name or Path(bot.command[0]).name).encode(), 40)
    try:
        seat = pool.start(bot, Side.MISTER_X, limits=limits, sandbox=sandbox)
    except BotRefused as exc:
        raise BotRefused(f"{shown}: {exc}") from exc
    try:
        hello = await seat.greet(
            hello_request(secrets.token_hex(8), rulesets, seat.limits), seat.limits
        )
        _check_any(hello, rulesets, nodes=nodes)
        await pool.dismiss(seat)
    except (BotFault, RemoteProtocolError) as exc:
        await pool.drop(seat)
        fault = caught(exc, "mister_x", "start-up")
        said = f"{fault.text}. {_sentence(fault.hint)}{_last_words(seat.channel)}"
        raise BotRefused(f"{shown}: {said}") from exc
    finally:
        await pool.drop(seat)  # if anything else came between
    return hello


def _check_any(hello: HelloAnswer, rulesets: Sequence[str], *, nodes: bool) -> None:
    """Check that the bot plays at least one of the rulesets; every bot plays at least one side."""
    side = Side(hello.sides[0])
    fitting = [ruleset for ruleset in rulesets if plays_ruleset(hello, ruleset)]
    check_fits(hello, side=side, ruleset=(fitting or list(rulesets))[0], nodes=nodes)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('?') else '.'}"


def _last_words(process: LineChannel) -> str:
    """The end of a bot's standard error, for its author: below the sentence, indented."""
    lines = process.take_stderr()[0].splitlines()[-_STDERR_LINES:]
    return "".join(f"\n    {line}" for line in lines)


def _list(words: Sequence[str]) -> str:
    return ", ".join(words)
