"""The stored games of a database: their records, and what reports need of them.

Whoever reads pages through them, so that nobody holds an old snapshot open for long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from arena.errors import ConfigError
from arena.referee.record import FaultKind, GameRecord, Phase
from arena.store.packing import core_text, unpack, unpack_record
from arena.store.runs import Run, RunTable, listed
from arena.tournament.times import charged_ms

__all__ = ["CURRENT", "GameRef", "GameTable", "Seat", "StoredGame"]

_PAGE = 1_000  # rows read at a time
_SHOWN = 6  # candidates looked up for an error's text
CURRENT = (
    " JOIN bot AS x ON x.key = {0}.mister_x AND x.current"
    " JOIN bot AS d ON d.key = {0}.detectives AND d.current"
)


class GameRef(msgspec.Struct, frozen=True, kw_only=True):
    """Where a stored game is found: the whole ids of its run and of itself."""

    run: str
    game: str


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a stored game, as reports need it."""

    start_ms: float | None  # from spawn to the first `ready`
    charged_ms: tuple[float, ...]  # each answer, in order
    fault: FaultKind | None
    phase: Phase | None
    fault_text: str | None
    off_turn_ms: float | None  # CPU time used while it was not asked
    given_back_ms: float | None  # by which its deadlines were moved; None in older games


class StoredGame(msgspec.Struct, frozen=True, kw_only=True):
    """A stored game without its plies, as reports need it."""

    game: str
    index: int
    rounds: int
    started: str
    took_s: float
    marks: tuple[str, ...]
    mister_x: Seat
    detectives: Seat
    packed: tuple[bytes, ...] = ()  # the halves of its record that were asked for: core, remainder
    after_secret: bool = False  # with a bot that was changed when the secret had been shown


class GameTable(RunTable):
    """What can be read of stored games; see `Database`."""

    def stored_games(self, run: Run, *, halves: Literal[0, 1, 2] = 0) -> Iterator[StoredGame]:
        """Yield the run's games with times and faults but without plies, in plan order.

        Args:
            run: whose games.
            halves: of each record, packed, for who needs little of it: none, the core, or both.
        """
        records = ("record.core", "remainder.text")[:halves]
        seats = ", ".join(f"{seat}.{column}" for seat in ("sx", "sd") for column in _SEAT)
        rows = self._pages(
            run,
            "x.after_secret OR d.after_secret, "
            + ", ".join(("game.id, game.rounds, game.started, game.took_s, game.marks", *records))
            + f", {seats}",
            join=_HALVES[halves] + " JOIN seat AS sx ON sx.game = game.key AND sx.side = 'mister_x'"
            " JOIN seat AS sd ON sd.game = game.key AND sd.side = 'detectives'",
        )
        for place, _, after_secret, game, rounds, started, took_s, marks, *rest in rows:
            both = rest[halves:]
            yield StoredGame(
                game=game,
                index=place,
                rounds=rounds,
                started=started,
                took_s=took_s,
                marks=tuple(marks.split()),
                mister_x=_seat(both[: len(_SEAT)]),
                detectives=_seat(both[len(_SEAT) :]),
                packed=tuple(rest[:halves]),
                after_secret=bool(after_secret),
            )

    def changed_since_shown(self, run: Run) -> tuple[str, ...]:
        """Return the names of bots that were changed when the run's secret had been shown.

        In the order of the plan. A content that was played with before is none of them.
        """
        rows = self._db.all(
            "SELECT name FROM bot WHERE run = ? AND current AND after_secret ORDER BY number",
            (run.key,),
        )
        return tuple(name for (name,) in rows)

    def _pages(self, run: Run, columns: str, *, join: str = "") -> Iterator[tuple[Any, ...]]:
        """Yield (place, key, *columns) of the run's current games, in plan order."""
        query = (
            f"SELECT game.place, game.key, {columns} FROM game{CURRENT.format('game')}{join}"  # noqa: S608 - our own text
            " WHERE game.run = ? AND game.place > ? ORDER BY game.place LIMIT ?"
        )
        after = -1
        while rows := self._db.all(query, (run.key, after, _PAGE)):
            yield from rows
            after = rows[-1][0]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query on the documented views (`arena/store/README.md`).

        Raises:
            StoreError: if the database refuses, for example a change.
        """
        return self._db.all(sql)

    # --- records --------------------------------------------------------------------------------

    def records(self, run: Run) -> Iterator[GameRecord]:
        """Yield the records of a run's games, in plan order.

        Raises:
            ConfigError: if a record is damaged or of a newer format; it names the game.
        """
        columns = "game.id, record.core, remainder.text"
        for _, _, game, core, rest in self._pages(run, columns, join=_RECORD):
            yield unpack(core, rest, f"{run.id}/{game}")

    def cores(self, run: Run) -> Iterator[bytes]:
        """Yield the JSON of a run's cores in plan order: what compares byte for byte."""
        for _, _, game, core in self._pages(run, "game.id, record.core", join=_CORE):
            yield core_text(core, f"{run.id}/{game}")

    def record(self, ref: GameRef) -> GameRecord:
        """Return one record.

        Raises:
            ConfigError: if there is no such game, it was void and left no record, or its record is
                damaged or of a newer format.
        """
        rows = self._db.all(
            f"SELECT record.core, remainder.text FROM game {_RECORD}"  # noqa: S608 - our own text
            " JOIN run ON run.key = game.run WHERE run.id = ? AND game.id = ?",
            (ref.run, ref.game),
        )
        if rows:
            core, rest = rows[0]
            return unpack(core, rest, f"{ref.run}/{ref.game}")
        rows = self._db.all(
            "SELECT void.text FROM void JOIN run ON run.key = void.run WHERE run.id = ?"
            " AND void.id = ? AND void.text IS NOT NULL ORDER BY void.key DESC LIMIT 1",
            (ref.run, ref.game),
        )
        if rows:
            return unpack_record(rows[0][0], f"{ref.run}/{ref.game}")
        raise ConfigError(f"run {ref.run} has no record of a game {ref.game}")

    def find_game(self, prefix: str | None = None, *, run: Run | None = None) -> GameRef:
        """Return the game whose id begins like this; without a prefix the one stored last.

        A game's id is made from its plan alone, so the same game may stand in several runs: the
        last run's is meant. `RUN/GAME` (each a unique prefix) names another's.

        Args:
            prefix: the beginning of the game's id, or `RUN/GAME`.
            run: look in this run alone.

        Raises:
            ConfigError: if there is none, or more than one; the text names candidates.
        """
        if prefix is not None and "/" in prefix:
            of_run, prefix = prefix.split("/", 1)
            run = self.find_run(of_run)
        where, values = ("game.run = ?", [run.key]) if run else ("1", [])
        place = f"run {run.id}" if run else str(self.path)
        source = "FROM game JOIN run ON run.key = game.run WHERE"
        if prefix is None:
            rows = self._db.all(
                f"SELECT run.id, game.id {source} {where} ORDER BY game.key DESC LIMIT 1",
                values,
            )
            if not rows:
                raise ConfigError(f"{place} holds no finished game yet: play one with `arena run`")
            return GameRef(run=rows[0][0], game=rows[0][1])
        if not prefix or not set(prefix) <= set("0123456789abcdef"):
            raise ConfigError(
                f"{prefix!r} is no beginning of a game's id, which has the digits 0-9 and a-f: "
                "`arena games` lists them"
            )
        rows = self._db.all(
            # Of the rows of one id, SQLite gives the run that `max` was found in.
            f"SELECT game.id, run.id, max(run.touched) {source} {where}"
            " AND game.id >= ? AND game.id < ? GROUP BY game.id ORDER BY game.id LIMIT ?",
            [*values, prefix, prefix + "g", _SHOWN],
        )
        if len(rows) == 1:
            return GameRef(run=rows[0][1], game=rows[0][0])
        if rows:
            found = listed([row[0] for row in rows])
            raise ConfigError(f"more than one game begins with {prefix!r}: {found}")
        raise ConfigError(f"no game in {place} begins with {prefix!r}: `arena games` lists them")


_CORE = " JOIN record ON record.game = game.key"
_RECORD = f"{_CORE} JOIN remainder ON remainder.game = game.key"
_HALVES = ("", _CORE, _RECORD)


_SEAT = ("start_ms", "charged_us", "fault", "phase", "fault_text", "off_turn_ms", "given_back_ms")


def _seat(row: list[Any]) -> Seat:
    start_ms, charged, fault, phase, fault_text, off_turn_ms, given_back_ms = row
    return Seat(
        start_ms=start_ms,
        charged_ms=tuple(charged_ms(charged)),
        fault=fault,
        phase=phase,
        fault_text=fault_text,
        off_turn_ms=off_turn_ms,
        given_back_ms=given_back_ms,
    )
