"""The games that measurements play: London, between C stubs or between the random Python bots."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from arena.referee.record import BotSpec, GameSpec
from arena.rules.registry import make
from arena.sandbox.limits import default_limits
from arena.tournament import seeds
from arena.tournament.plan import Plan
from protocol.messages import ClockSettings

__all__ = ["RULESET", "games", "stub_bot", "stub_plan"]

RULESET = "london-2013"


def stub_bot(name: str, program: Path, *arguments: str) -> BotSpec:
    """Return the C stub as a bot."""
    return BotSpec(
        name=name,
        version="1",
        hash=hashlib.sha256(f"{name} {arguments}".encode()).hexdigest(),
        command=(f"./{program.name}", *arguments),
        folder=str(program.parent),
        trusted=True,
    )


def games(
    mister_x: BotSpec,
    detectives: BotSpec,
    *,
    keep: bool,
    first: int = 0,
    sandboxed: bool = False,
    move_ms: int = 10_000,
) -> Iterator[GameSpec]:
    """Yield games without end, each on a deal of its own; the same ones every time.

    Args:
        mister_x: the bot of that side.
        detectives: the bot of that side.
        keep: whether processes serve one game after the other.
        first: number of the first deal.
        sandboxed: whether bots are kept in the sandbox.
        move_ms: the time of a turn, generous: what is measured is no clock.
    """
    number = first
    while True:
        digest = hashlib.sha256(b"bench %d" % number).hexdigest()
        yield GameSpec(
            game=digest[:20],
            index=number,
            deal=number,
            deal_seed=digest,
            game_key=hashlib.sha256(digest.encode()).hexdigest(),
            ruleset=RULESET,
            mister_x=mister_x,
            detectives=detectives,
            clock=ClockSettings(move_ms=move_ms),
            nodes=None,
            limits=default_limits(),
            keep=keep,
            rated=True,
            sandbox="auto" if sandboxed else "none",
        )
        number += 1


def stub_plan(stub: Path, *arguments: str, deals: int, sandboxed: bool = False) -> Plan:
    """Return a tournament of two stubs with kept processes; the same one every time.

    Args:
        stub: the C stub.
        arguments: of its command.
        deals: of each of the two pairings.
        sandboxed: whether bots are kept in the sandbox.
    """
    ruleset = make(RULESET)
    return Plan(
        ruleset=ruleset.text,
        behaviour=ruleset.behaviour,
        entrants=tuple(stub_bot(name, stub, *arguments) for name in ("stub-1", "stub-2")),
        deals=deals,
        secret=seeds.open_secret("bench").hex(),
        open_seed="bench",
        clock=ClockSettings(move_ms=10_000),
        limits=default_limits(),
        keep=True,
        sandbox="auto" if sandboxed else "none",
    )
