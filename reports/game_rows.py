"""Games of a run, one at a time: as rows for the table, and as lines without their times; pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from arena.referee.record import FaultKind, GameRecord, Phase, SideWord

__all__ = ["SIDES", "GameLine", "GameRow", "Seat", "row_of", "specials_of", "start_of", "words_of"]

SIDES: tuple[SideWord, SideWord] = ("mister_x", "detectives")


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a game: its fault, and the times that it was charged."""

    fault: FaultKind | None = None
    phase: Phase | None = None
    text: str | None = None  # one line on the fault
    start_ms: float | None = None  # from spawn to the first `ready`
    charged_ms: tuple[float, ...] = ()  # each answer
    bank_ms: float | None = None  # left in the bank behind the last answer
    off_turn_ms: float | None = None  # CPU time used while it was not asked
    given_back_ms: float | None = None  # by which its deadlines were moved


class GameRow(msgspec.Struct, frozen=True, kw_only=True):
    """A game of a run, as it counts."""

    game: str
    index: int  # place in the plan
    deal: str  # label; games with the same one share their luck
    mister_x: str
    detectives: str
    winner: SideWord | None
    reason: str  # the ruleset's word, `fault` or `void`
    rounds: int | None = None
    marks: tuple[str, ...] = ()
    start: int | None = None  # the station that Mister X began on
    specials: int | None = None  # tickets and moves beyond the usual that Mister X spent
    words: tuple[str, ...] = ()  # what else the ruleset calls the game, such as `mission=green`
    x: Seat = Seat()
    d: Seat = Seat()


class GameLine(msgspec.Struct, frozen=True, gc=False):
    """A game of a run without its times; as in `GameRow`."""

    game: str
    index: int
    deal: str
    mister_x: str
    detectives: str
    winner: str  # a side; empty if the game counts for nobody
    reason: str
    rounds: int | None
    specials: int | None
    mister_x_fault: str  # a kind, or empty
    detectives_fault: str
    mister_x_phase: str  # or empty
    detectives_phase: str
    marks: str  # words with a space between them
    excluded: str  # the rule that leaves it out, or empty


def specials_of(facts: Mapping[str, object]) -> int | None:
    """Special tickets and moves that Mister X spent: what a ruleset's facts call `…_used`."""
    total: int | None = None
    for key, value in facts.items():  # of a million games: no list, no generator
        if key.endswith("_used"):
            total = (total or 0) + (value if isinstance(value, int) else 0)
    return total


def words_of(facts: Mapping[str, object]) -> tuple[str, ...]:
    """What a ruleset's facts say of a game in words, as `fact=word`; numbers are left out."""
    return tuple([f"{fact}={word}" for fact, word in facts.items() if word and type(word) is str])


def start_of(facts: Mapping[str, object]) -> int | None:
    """The station that Mister X began on, by the fact `x_start`."""
    start = facts.get("x_start")
    return start if isinstance(start, int) else None


def row_of(record: GameRecord) -> GameRow:
    """A record as a row; benching, which goes by the plan, is not seen here."""
    core, aside = record.core, record.aside
    faults = {fault.side: fault for fault in core.faults}
    seats = {}
    for side in SIDES:
        fault, kept = faults.get(side), getattr(aside, side)
        seats[side] = Seat(
            fault=fault.kind if fault else None,
            phase=fault.phase if fault else None,
            text=kept.fault_text if fault else None,
            start_ms=kept.start_ms,
            charged_ms=tuple(time.charged_ms for time in kept.times),
            bank_ms=kept.times[-1].bank_ms if kept.times else None,
            off_turn_ms=kept.off_turn_cpu_ms,
            given_back_ms=kept.given_back_ms,
        )
    return GameRow(
        game=core.game,
        index=core.index,
        deal=str(core.deal),
        mister_x=core.mister_x.name,
        detectives=core.detectives.name,
        winner=None if aside.void is not None else core.winner,
        reason="void" if aside.void is not None else core.reason,
        rounds=core.rounds,
        marks=aside.marks,
        start=start_of(core.facts),
        specials=specials_of(core.facts),
        words=words_of(core.facts),
        x=seats["mister_x"],
        d=seats["detectives"],
    )
