"""Embedded SQLite: open, migrate, add a record, read results.

WAL with `synchronous=FULL`, and one transaction a finished game: a crash at any instant loses at
most the games in play. The file holds the runs' secrets, so its mode is 0600. Any number of
processes may read; each run has one writer (`claim`). Readers page through results, so that none
of them holds an old snapshot open for long.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import msgspec

from arena.errors import ConfigError, StoreError
from arena.referee.record import FaultKind, GameRecord, Phase, SideWord
from arena.store.packing import core_text, pack_record, unpack, unpack_record
from arena.store.runs import Run, RunTable, listed
from arena.tournament.benching import Benched, Judged, Outcome, VoidGame, judge, missing
from arena.tournament.packed import PackedGame, PackedSeat, pack
from arena.tournament.times import charged_ms

__all__ = ["Database", "GameRef", "Run", "Seat", "StoredGame"]

_PAGE = 1_000  # rows read at a time
_SHOWN = 6  # candidates looked up for an error's text
_CURRENT = (
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


class Database(RunTable):
    """One open database file; used on one thread.

    Args:
        path: the file; with `create` it and its folder are made where they are missing.
        create: whether a missing file is made; otherwise it is an error.

    Raises:
        ConfigError: if the file is missing and must not be made.
        StoreError: if it can't be opened, is another program's or a newer arena's.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        super().__init__(path, create=create)
        self._bots: tuple[int, dict[tuple[str, str], int]] = (0, {})  # of the run written last
        self._again: dict[tuple[int, str], int] = {}  # places of games, by run and id: `play_again`

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # --- writing --------------------------------------------------------------------------------

    def add_record(self, run: Run, record: GameRecord) -> None:
        """Store a finished game, in one transaction; see `add_packed`."""
        self.add_packed(run, pack(record))

    def add_packed(self, run: Run, packed: PackedGame) -> None:
        """Store a finished game as its worker packed it, in one transaction.

        Raises:
            StoreError: if it is stored already, is void, or the database refuses.
        """
        if packed.void is not None:
            raise StoreError(f"game {packed.game} is void: `add_void` takes it")
        mister_x, detectives = packed.bots
        game = (
            run.key,
            packed.game,
            packed.index,
            packed.deal,
            self._bot(run, mister_x.name, mister_x.hash),
            self._bot(run, detectives.name, detectives.hash),
            packed.winner,
            packed.reason,
            packed.mister_x.fault,
            packed.detectives.fault,
            packed.rounds,
            packed.started,
            packed.took_s,
            packed.host,
            " ".join(packed.marks),
            packed.ruleset,
        )
        with self._db.writing(f"store game {packed.game}"):
            self._make_room(run, packed.game)
            key = self._db.execute(
                "INSERT INTO game (run, id, place, deal, mister_x, detectives, winner, reason,"
                " mister_x_fault, detectives_fault, rounds, started, took_s, host, marks,"
                " ruleset) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                game,
            )
            self._add_seat(key, "mister_x", packed.mister_x)
            self._add_seat(key, "detectives", packed.detectives)
            self._db.execute(
                "INSERT INTO record VALUES (?, ?, ?)", (key, packed.format, packed.core)
            )
            self._db.execute("INSERT INTO remainder VALUES (?, ?)", (key, packed.remainder))
        self._again.pop((run.key, packed.game), None)

    def _add_seat(self, key: int, side: SideWord, seat: PackedSeat) -> None:
        times = seat.times
        self._db.execute(
            "INSERT INTO seat VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                key,
                side,
                seat.start_ms,
                times.answers,
                times.total_ms,
                times.p50_ms,
                times.p95_ms,
                times.max_ms,
                times.charged_us,
                seat.fault,
                seat.phase,
                seat.fault_text,
                seat.hint,
                seat.off_turn_cpu_ms,
                seat.given_back_ms,
            ),
        )

    def add_void(self, run: Run, void: VoidGame) -> None:
        """Store a play that counts for nobody, in one transaction.

        Raises:
            StoreError: if the database refuses.
        """
        x, d = run.plan.entrants[void.mister_x], run.plan.entrants[void.detectives]
        row = (
            run.key,
            void.game,
            void.index,
            void.deal,
            self._bot(run, x.name, x.hash),
            self._bot(run, d.name, d.hash),
            void.why,
            datetime.now(UTC).isoformat(timespec="microseconds"),
            void.charged,
            void.final,
            pack_record(void.record) if void.record else None,
        )
        with self._db.writing(f"store void game {void.game}"):
            if void.final:
                self._make_room(run, void.game)
            self._db.execute(
                "INSERT INTO void (run, id, place, deal, mister_x, detectives, why, at, charged,"
                " final, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
        if void.final:
            self._again.pop((run.key, void.game), None)

    def add_benched(self, run: Run, benched: Benched) -> None:
        """Store that a bot was benched; the views `games` and `faults` go by it.

        Raises:
            StoreError: if the database refuses.
        """
        bot = run.plan.entrants[benched.bot]
        key = self._bot(run, bot.name, bot.hash)
        with self._db.writing(f"bench {bot.name}"):
            self._db.execute("UPDATE bot SET benched = ? WHERE key = ?", (benched.index, key))

    def _bot(self, run: Run, name: str, content: str) -> int:
        if self._bots[0] != run.key or (name, content) not in self._bots[1]:
            rows = self._db.all("SELECT name, hash, key FROM bot WHERE run = ?", (run.key,))
            self._bots = run.key, {(bot, its_hash): key for bot, its_hash, key in rows}
        try:
            return self._bots[1][name, content]
        except KeyError:
            raise StoreError(f"run {run.id} has no bot {name} with hash {content[:12]}") from None

    def play_again(self, run: Run, games: Iterable[str]) -> None:
        """Take stored games for missing, as long as this database is open, or until played anew.

        Each stands as it is until its new result is stored, which takes its place in the same
        transaction: whatever breaks that off leaves it where it was.

        Args:
            run: whose games.
            games: their whole ids.

        Raises:
            ConfigError: if one of them is not there or counts no more; then nothing is changed.
        """
        places = {}
        for game in games:
            rows = self._db.all(
                f"SELECT place FROM game {_CURRENT.format('game')} WHERE game.run = ? AND id = ?",  # noqa: S608 - our own text
                (run.key, game),
            )
            if not rows:
                raise ConfigError(
                    f"game {game} of run {run.id} counts no more: a bot in it was changed since"
                )
            places[run.key, game] = rows[0][0]
        self._again |= places

    def again(self, run: Run) -> dict[str, int]:
        """Return the games that are yet to be played again, each with its place in the plan."""
        return {game: place for (key, game), place in self._again.items() if key == run.key}

    def finish(self, run: Run) -> None:
        """Mark a run as over; what was to be played again, and was not, is decided by benching."""
        for game in self.again(run):
            with self._db.writing(f"remove game {game}"):
                self._make_room(run, game)
            del self._again[run.key, game]
        super().finish(run)

    def _make_room(self, run: Run, game: str) -> None:
        """Remove a game that was played again, in the transaction that stores its new result."""
        if (run.key, game) not in self._again:
            return
        key = "(SELECT key FROM game WHERE run = ? AND id = ?)"
        for table in ("remainder", "record", "seat"):
            self._db.execute(f"DELETE FROM {table} WHERE game = {key}", (run.key, game))  # noqa: S608 - our own names
        self._db.execute("DELETE FROM game WHERE run = ? AND id = ?", (run.key, game))
        self._db.execute("UPDATE run SET state = 'open' WHERE key = ?", (run.key,))

    # --- results --------------------------------------------------------------------------------

    def results(self, run: Run) -> Iterator[Outcome]:
        """Yield how the plays of a run ended, in plan order, in constant memory.

        Games of bots that were changed since are left out. Games that stay void are told with the
        reason `void`; those that will be played again are left out, those of
        `play_again` too. What counts for standings is told by `judged`.

        Raises:
            StoreError: if the database refuses.
        """
        columns = "game.winner, game.reason, game.mister_x_fault, game.detectives_fault"
        played = (Outcome(place, *row) for place, _, *row in self._pages(run, columns))
        void = [
            Outcome(place, None, "void")
            for (place,) in self._db.all(
                f"SELECT DISTINCT void.place FROM void {_CURRENT.format('void')}"  # noqa: S608 - our own text
                " WHERE void.run = ? AND void.final AND NOT EXISTS"
                " (SELECT 1 FROM game WHERE game.run = void.run AND game.id = void.id)"
                " ORDER BY void.place",
                (run.key,),
            )
        ]
        again = set(self.again(run).values())
        both = heapq.merge(played, void, key=attrgetter("index"))
        return (outcome for outcome in both if outcome.index not in again)

    def judged(self, run: Run) -> Iterator[Judged]:
        """Yield what every game of the run came to, benching and void games included."""
        return judge(run.plan, self.results(run))

    def missing(self, run: Run) -> Iterator[int]:
        """Yield the places of the games that are yet to be played."""
        return missing(run.plan, self.results(run))

    def voids(self, run: Run) -> dict[int, int]:
        """Return how many plays of a game were void through our fault, by place in the plan."""
        return dict(
            self._db.all(
                f"SELECT void.place, count(*) FROM void {_CURRENT.format('void')}"  # noqa: S608 - our own text
                " WHERE void.run = ? AND void.charged GROUP BY void.place",
                (run.key,),
            )
        )

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
            f"SELECT game.place, game.key, {columns} FROM game{_CURRENT.format('game')}{join}"  # noqa: S608 - our own text
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
