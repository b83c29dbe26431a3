"""A finished game as it goes from its worker to the store: packed where it was played.

A worker has its own core, the coordinator serves all of them. So the worker compresses the record,
and puts beside it the few things that judging and the store's columns need; the coordinator stores
the rest as it came and never reads it.
"""

from __future__ import annotations

import zlib
from typing import Any

import msgspec

from arena.referee.record import (
    Aside,
    BotName,
    Core,
    Fault,
    FaultKind,
    GameRecord,
    Phase,
    SeatAside,
    SideWord,
)
from arena.tournament.benching import Outcome
from arena.tournament.times import Times, summary

__all__ = [
    "PackedGame",
    "PackedSeat",
    "Remainder",
    "compress",
    "decode_packed",
    "encode_packed",
    "pack",
    "unpack",
]

_LEVEL = 6  # about 40 µs a game; higher levels save under 1 %


class Remainder(msgspec.Struct, frozen=True):
    """All of a record but its core."""

    notes: dict[int, Any]
    aside: Aside


class PackedSeat(msgspec.Struct, frozen=True, array_like=True):
    """What the store's columns hold of one side."""

    start_ms: float | None
    times: Times
    fault: FaultKind | None
    phase: Phase | None
    fault_text: str | None
    hint: str | None
    off_turn_cpu_ms: float | None
    given_back_ms: float


class PackedGame(msgspec.Struct, frozen=True, array_like=True):
    """What judging and the store's columns need of a record, and the record, compressed.

    `core` and `remainder` are its two halves: JSON under zlib. Everything else is told in them too.
    """

    format: int
    game: str
    index: int
    deal: int
    ruleset: str
    bots: tuple[BotName, BotName]  # Mister X's, the detectives'
    winner: SideWord | None
    reason: str
    rounds: int
    started: str
    took_s: float
    host: str
    marks: tuple[str, ...]
    void: str | None  # why the game counts for nobody
    mister_x: PackedSeat
    detectives: PackedSeat
    core: bytes
    remainder: bytes

    @property
    def outcome(self) -> Outcome:
        """What the game came to, before it is judged."""
        if self.void is not None:
            return Outcome(self.index, None, "void")
        return Outcome(
            self.index, self.winner, self.reason, self.mister_x.fault, self.detectives.fault
        )


_json = msgspec.json.Encoder()
_msgpack = msgspec.msgpack.Encoder()
_packed = msgspec.msgpack.Decoder(PackedGame)
_core = msgspec.json.Decoder(Core)
_remainder = msgspec.json.Decoder(Remainder)


def compress(value: object) -> bytes:
    """Return a value's JSON under zlib."""
    return zlib.compress(_json.encode(value), _LEVEL)


def pack(record: GameRecord) -> PackedGame:
    """Return a record, packed."""
    core, aside = record.core, record.aside
    faults = {fault.side: fault for fault in core.faults}
    return PackedGame(
        format=core.format,
        game=core.game,
        index=core.index,
        deal=core.deal,
        ruleset=core.ruleset,
        bots=(core.mister_x, core.detectives),
        winner=core.winner,
        reason=core.reason,
        rounds=core.rounds,
        started=aside.started,
        took_s=aside.took_s,
        host=aside.host,
        marks=aside.marks,
        void=aside.void,
        mister_x=_seat(aside.mister_x, faults.get("mister_x")),
        detectives=_seat(aside.detectives, faults.get("detectives")),
        core=compress(core),
        remainder=compress(Remainder(record.notes, aside)),
    )


def _seat(aside: SeatAside, fault: Fault | None) -> PackedSeat:
    return PackedSeat(
        start_ms=aside.start_ms,
        times=summary(aside.times),
        fault=None if fault is None else fault.kind,
        phase=None if fault is None else fault.phase,
        fault_text=aside.fault_text,
        hint=aside.hint,
        off_turn_cpu_ms=aside.off_turn_cpu_ms,
        given_back_ms=aside.given_back_ms,
    )


def unpack(game: PackedGame) -> GameRecord:
    """Return the record that `pack` took, with its plies as plain JSON values."""
    rest = _remainder.decode(zlib.decompress(game.remainder))
    return GameRecord(
        core=_core.decode(zlib.decompress(game.core)), notes=rest.notes, aside=rest.aside
    )


def encode_packed(game: PackedGame) -> bytes:
    """Return a packed game as bytes that travel."""
    return _msgpack.encode(game)


def decode_packed(text: bytes) -> PackedGame:
    """Return the game that `encode_packed` wrote."""
    return _packed.decode(text)
