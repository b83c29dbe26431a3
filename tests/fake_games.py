"""Plans, and records of games that nobody played, for the tests of tournaments and stores."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from arena.referee.record import (
    FORMAT,
    Aside,
    BotName,
    BotSpec,
    Core,
    Fault,
    GameRecord,
    GameSpec,
    Play,
    SeatAside,
    SideWord,
    TurnTime,
)
from arena.sandbox.limits import default_limits
from arena.tournament.benching import Outcome
from arena.tournament.packed import pack
from arena.tournament.plan import Plan
from protocol.messages import ClockSettings

__all__ = ["fake_bot", "fake_plan", "fake_record", "fake_void", "outcome_of"]

BOTH: tuple[SideWord, ...] = ("mister_x", "detectives")


def fake_bot(name: str, *, sides: Sequence[SideWord] = BOTH, content: str = "") -> BotSpec:
    return BotSpec(
        name=name,
        version="1",
        hash=hashlib.sha256(f"{name} {content}".encode()).hexdigest(),
        command=("true",),
        folder=f"/nowhere/{name}",
        sides=tuple(sides),
    )


def fake_plan(bots: int | Sequence[BotSpec] = 3, *, deals: int = 2, **options: Any) -> Plan:
    if isinstance(bots, int):
        bots = [fake_bot(f"bot{n}") for n in range(bots)]
    settings = {
        "ruleset": "london-2013",
        "behaviour": 1,
        "secret": "5e" * 32,
        "clock": ClockSettings(),
        "limits": default_limits(),
        **options,
    }
    return Plan(entrants=tuple(bots), deals=deals, **settings)


def fake_record(spec: GameSpec, *, faulty: Sequence[str] = (), plies: int = 24) -> GameRecord:
    """Return what `spec` came to: a pure function of its key and the names of faulty bots."""
    dice = hashlib.sha256(spec.game_key.encode()).digest()
    seated = zip(BOTH, (spec.mister_x, spec.detectives), strict=True)
    faults = tuple(
        Fault(side=side, kind="crash", phase="turn") for side, bot in seated if bot.name in faulty
    )
    winner: SideWord | None = BOTH[dice[0] % 2]
    if faults:
        winner = None if len(faults) == 2 else BOTH[faults[0].side == "mister_x"]
    seat = SeatAside(
        start_ms=12.5,
        times=tuple(TurnTime(play=n, charged_ms=0.25 * n, bank_ms=None) for n in range(plies)),
        stderr="",
        stderr_dropped=0,
        log=(),
        log_dropped=0,
    )
    return GameRecord(
        core=Core(
            format=FORMAT,
            arena="0.1.0",
            ruleset=spec.ruleset,
            behaviour=1,
            protocol=1,
            board="b0" * 32,
            game=spec.game,
            index=spec.index,
            deal=spec.deal,
            deal_seed=spec.deal_seed,
            game_key=spec.game_key,
            mister_x=_named(spec.mister_x),
            detectives=_named(spec.detectives),
            clock=spec.clock,
            nodes=spec.nodes,
            plays=tuple(
                Play(
                    side=BOTH[n % 2],
                    plies=({"figure": "x", "ticket": "taxi", "to": dice[n % 32]},),
                )
                for n in range(plies)
            ),
            winner=winner,
            reason="fault" if faults else ("escaped", "captured")[dice[0] % 2],
            faults=faults,
            rounds=plies // 2,
            facts={"start": dice[1]},
        ),
        notes={0: "hello"},
        aside=Aside(
            host="here",
            started="2026-01-01T00:00:00+00:00",
            took_s=0.01,
            marks=("unsandboxed",),
            mister_x=seat,
            detectives=seat,
        ),
    )


def fake_void(spec: GameSpec, why: str = "the host failed") -> GameRecord:
    record = fake_record(spec)
    return msgspec.structs.replace(
        record,
        core=msgspec.structs.replace(record.core, winner=None, reason="void", faults=()),
        aside=msgspec.structs.replace(record.aside, void=why),
    )


def _named(bot: BotSpec) -> BotName:
    return BotName(name=bot.name, version=bot.version, hash=bot.hash)


def outcome_of(record: GameRecord) -> Outcome:
    """What a record says of its game's result."""
    return pack(record).outcome
