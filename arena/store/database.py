"""Embedded SQLite: open, migrate, add a record, read results.

WAL with `synchronous=FULL`, and one transaction a finished game: a crash at any instant loses at
most the games in play. The file holds the runs' secrets, so its mode is 0600. Any number of
processes may read; each run has one writer (`claim`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from types import TracebackType

from arena.errors import ConfigError, StoreError
from arena.referee.record import GameRecord, SideWord
from arena.store.games import CURRENT, GameTable
from arena.store.packing import pack_record
from arena.store.runs import Run
from arena.tournament.benching import Benched, Judged, Outcome, VoidGame, judge, missing
from arena.tournament.packed import PackedGame, PackedSeat, pack

__all__ = ["Database"]


class Database(GameTable):
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
                f"SELECT place FROM game {CURRENT.format('game')} WHERE game.run = ? AND id = ?",  # noqa: S608 - our own text
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
                f"SELECT DISTINCT void.place FROM void {CURRENT.format('void')}"  # noqa: S608 - our own text
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
                f"SELECT void.place, count(*) FROM void {CURRENT.format('void')}"  # noqa: S608 - our own text
                " WHERE void.run = ? AND void.charged GROUP BY void.place",
                (run.key,),
            )
        )
