"""The games of a run as the table that reports and exports are made from."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from arena.cli.stored import Row, rows
from arena.referee.record import FaultKind
from arena.store.database import Database
from arena.store.games import Seat as StoredSeat
from arena.store.packing import DAMAGE, core_text, damaged
from arena.store.runs import Run
from arena.tournament.plan import Section
from reports.frames import GameRow, Games, Seat
from reports.game_rows import specials_of, start_of, words_of

__all__ = ["collect", "table_row", "told_of", "told_rows"]


def collect(database: Database, run: Run, section: Section) -> Games:
    """Return the games of one ruleset as they count: benching and void games included."""
    return Games.collect(map(partial(table_row, run), told_rows(database, run, section)))


def told_rows(database: Database, run: Run, section: Section) -> Iterator[Row]:
    """Yield the games of one ruleset, with as much of their records as the table tells.

    The bank's state lies in the half of a record that is slow to read: where the clock has none, it
    is let alone.
    """
    clock = run.plan.clock
    has_bank = clock is not None and (clock.bank_ms or clock.increment_ms)
    return rows(database, run, section, halves=2 if has_bank else 1)


class Told(msgspec.Struct, frozen=True):
    """What a game's record alone tells; none of it of a game that was not played."""

    start: int | None = None
    specials: int | None = None
    words: tuple[str, ...] = ()
    banks: tuple[float | None, float | None] = (None, None)


class Facts(msgspec.Struct, frozen=True):
    """The part of a record's core that is read here."""

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


_facts = msgspec.json.Decoder(Facts)
_banks = msgspec.json.Decoder(RestBanks)


def told_of(game: str, core: bytes, remainder: bytes | None = None) -> Told:
    """Return what a record tells, from its packed halves.

    Args:
        game: its run and id, `RUN/GAME`, for the error.
        core: the half that compares byte for byte.
        remainder: the other one, if the banks are wanted.

    Raises:
        RecordDamaged: if it is.
    """
    text = core_text(core, game)
    try:
        # They stand behind the plies, which are long; no fact is an object, whatever its name.
        facts = _facts.decode(b"{" + text[text.rfind(b'"facts":{') :]).facts
        told = Told(start_of(facts), specials_of(facts), words_of(facts))
        if remainder is None:
            return told
        aside = _banks.decode(core_text(remainder, game)).aside
    except DAMAGE as exc:
        raise damaged(game, exc) from exc
    return msgspec.structs.replace(told, banks=(aside.mister_x.left, aside.detectives.left))


def table_row(run: Run, row: Row) -> GameRow:
    """Return a game as the table takes it."""
    stored = row.stored
    told = told_of(f"{run.id}/{row.game}", *stored.packed) if stored and stored.packed else Told()
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
