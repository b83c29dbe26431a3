"""The games of a run as the table that reports and exports are made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from arena.cli.stored import Row, rows
from arena.referee.record import FaultKind
from arena.store.database import Database
from arena.store.database import Seat as StoredSeat
from arena.store.runs import Run
from arena.tournament.plan import Section
from reports.frames import GameRow, Games, Seat
from reports.game_rows import specials_of, start_of, words_of

__all__ = ["collect", "table_row"]


def collect(database: Database, run: Run, section: Section) -> Games:
    """Return the games of one ruleset as they count: benching and void games included."""
    found = rows(database, run, section)
    return Games.collect(table_rows(database, run, found))


class Told(msgspec.Struct, frozen=True):
    """What a game's record alone tells; none of it of a game that was not played."""

    start: int | None = None
    specials: int | None = None
    words: tuple[str, ...] = ()
    banks: tuple[float | None, float | None] = (None, None)


class CoreFacts(msgspec.Struct, frozen=True):
    """The part of a record's core that is read here."""

    index: int
    facts: dict[str, Any]


class Bank(msgspec.Struct, frozen=True):
    """What an answer left of the bank."""

    bank_ms: float | None = None


class Banks(msgspec.Struct, frozen=True):
    """A side's answers, of which the last tells."""

    times: list[Bank]

    @property
    def left(self) -> float | None:
        """What the last answer left, if there was one."""
        return self.times[-1].bank_ms if self.times else None


class AsideBanks(msgspec.Struct, frozen=True):
    """Both sides."""

    mister_x: Banks
    detectives: Banks


class RestBanks(msgspec.Struct, frozen=True):
    """The part of a record's other half that is read here."""

    aside: AsideBanks


def table_rows(database: Database, run: Run, found: Iterable[Row]) -> Iterator[GameRow]:
    """Yield the rows of the table.

    Args:
        database: where the records lie.
        run: whose games they are.
        found: the games as they count, in plan order.
    """
    records = told_by_records(database, run)
    place, told = next(records, (-1, Told()))
    for row in found:
        own = Told()
        if row.stored is not None:
            while 0 <= place < row.index:
                place, told = next(records, (-1, Told()))
            if place == row.index:
                own = told
        yield table_row(row, own)


def told_by_records(database: Database, run: Run) -> Iterator[tuple[int, Told]]:
    """Yield the place and what else is told of each record, in plan order.

    The bank's state lies in the half of a record that is slow to read: where the clock has none, it
    is let alone.
    """
    clock = run.plan.clock
    decoder = msgspec.json.Decoder(CoreFacts)
    if clock is None or not (clock.bank_ms or clock.increment_ms):
        for text in database.cores(run):
            core = decoder.decode(text)
            yield core.index, told_of(core)
        return
    banks = msgspec.json.Decoder(RestBanks)
    for text, rest in database.halves(run):
        core, aside = decoder.decode(text), banks.decode(rest).aside
        left = aside.mister_x.left, aside.detectives.left
        yield core.index, msgspec.structs.replace(told_of(core), banks=left)


def told_of(core: CoreFacts) -> Told:
    """Return what a record's facts tell."""
    return Told(start_of(core.facts), specials_of(core.facts), words_of(core.facts))


def table_row(row: Row, told: Told) -> GameRow:
    """Return a game as the table takes it."""
    stored = row.stored
    return GameRow(
        game=row.game,
        index=row.index,
        deal=str(row.deal),
        mister_x=row.mister_x,
        detectives=row.detectives,
        winner=row.winner,
        reason=row.reason,
        rounds=stored.rounds if stored else None,
        marks=stored.marks if stored else (),
        start=told.start,
        specials=told.specials,
        words=told.words,
        x=seat(row.mister_x_fault, stored.mister_x if stored else None, told.banks[0]),
        d=seat(row.detectives_fault, stored.detectives if stored else None, told.banks[1]),
    )


def seat(fault: FaultKind | None, stored: StoredSeat | None, bank_ms: float | None) -> Seat:
    """Return a side's fault as it was judged, and its times as they were played."""
    if stored is None:
        return Seat(fault=fault)
    own = fault is not None and fault == stored.fault  # not one that benching put there
    return Seat(
        fault=fault,
        phase=stored.phase if own else None,
        text=stored.fault_text if own else None,
        start_ms=stored.start_ms,
        charged_ms=stored.charged_ms,
        bank_ms=bank_ms,
        off_turn_ms=stored.off_turn_ms,
        given_back_ms=stored.given_back_ms,
    )
