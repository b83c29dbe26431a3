"""The runs of a database: begun, gone on with, looked up, held by one writer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from arena import __version__
from arena.errors import ConfigError
from arena.store.connection import Connection
from arena.store.locking import RunLocks
from arena.tournament.plan import Plan, decode_plan, encode_plan

__all__ = ["Run", "RunTable", "listed"]

_COLUMNS = "key, id, state, created, touched, finished, plan"
_LAST_FIRST = "ORDER BY touched DESC, key DESC"
_SHOWN = 5  # candidates that an error's text names


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A stored run: its plan, and how far it is."""

    key: int  # of the row; means nothing outside of the store
    id: str  # 10 hex digits
    state: Literal["open", "over"]
    created: str  # UTC, ISO 8601
    touched: str  # last begun or gone on with
    finished: str | None  # first: its secret has been shown since
    plan: Plan

    @property
    def is_new(self) -> bool:
        """Whether nobody has gone on with it since it was begun."""
        return self.touched == self.created


class RunTable:
    """What can be done with whole runs; see `Database`."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        self._db = Connection(path, create=create)
        self._locks = RunLocks(path.with_name(path.name + ".lock"))

    def close(self) -> None:
        """Close the file; what was committed stays, and runs that were held are free."""
        self._locks.close()
        self._db.close()

    def begin(self, plan: Plan, *, afresh: bool = False) -> Run:
        """Store a plan, or go on with the run that has the same one.

        Plans are the same by `Plan.identity`: bots may have been changed, and a secret that was
        drawn gives way to the stored one. Of a changed bot only its own games are missing then;
        where it is changed back, its old games count again.

        Args:
            plan: the tournament.
            afresh: whether a plan without an open seed is a new run in any case.

        Returns:
            The run, whose `plan` is the one to be played. It is now the last run.

        Raises:
            StoreError: if another process is playing the run, or the database refuses.
        """
        # Looked up and inserted in one transaction: another process may begin the same just now.
        with self._db.writing("begin a run"):
            if plan.open_seed is None and not afresh:
                same = self.same_plan(plan.identity)
                if same is not None:
                    plan = msgspec.structs.replace(plan, secret=same.plan.secret)
            known = self._db.all("SELECT key FROM run WHERE id = ?", (plan.run_id,))
            if not known:
                self._insert(plan)
        if known:
            with self._locks.hold(known[0][0], plan.run_id), self._db.writing("go on with a run"):
                self._renew(known[0][0], plan)
        return self.find_run(plan.run_id)

    def _insert(self, plan: Plan) -> None:
        now = _now()
        row = {
            "id": plan.run_id,
            "identity": plan.identity,
            "created": now,
            "touched": now,
            "arena": __version__,
            "kind": plan.kind,
            "ruleset": plan.rulesets,
            "behaviour": plan.behaviour,
            "deals": plan.deals,
            "planned": plan.count,
            "pairs": plan.pairs,
            "commitment": plan.commitment,
            "open_seed": plan.open_seed,
            "plan": encode_plan(plan),
        }
        key = self._db.execute(
            f"INSERT INTO run ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",  # noqa: S608 - our own names
            tuple(row.values()),
        )
        self._seat(key, plan)

    def _renew(self, key: int, plan: Plan) -> None:
        text = encode_plan(plan)
        self._db.execute(
            "UPDATE run SET touched = ?, plan = ?,"
            " state = CASE WHEN plan = ? THEN state ELSE 'open' END WHERE key = ?",
            (_now(), text, text, key),
        )
        seated = self._db.all("SELECT number, hash FROM bot WHERE run = ? AND current", (key,))
        if sorted(seated) != [(number, bot.hash) for number, bot in enumerate(plan.entrants)]:
            self._seat(key, plan)

    def _seat(self, key: int, plan: Plan) -> None:
        # A row of faults may hold games against a changed bot, so benching is told anew for all.
        self._db.execute("UPDATE bot SET current = 0, benched = NULL WHERE run = ?", (key,))
        for number, bot in enumerate(plan.entrants):
            self._db.execute(
                "INSERT INTO bot (run, number, name, version, hash, current, after_secret)"
                " VALUES (?, ?, ?, ?, ?, 1, (SELECT finished IS NOT NULL FROM run WHERE key = ?))"
                " ON CONFLICT (run, number, hash)"
                " DO UPDATE SET current = 1, version = excluded.version",
                (key, number, bot.name, bot.version, bot.hash, key),
            )

    def touch(self, run: Run) -> None:
        """Make this run the last one: the one that is meant where none is named."""
        with self._db.writing("go on with a run"):
            self._db.execute("UPDATE run SET touched = ? WHERE key = ?", (_now(), run.key))

    def forget(self, run: Run) -> None:
        """Delete a run of which nothing was played, so that it is the last one no more.

        A run of which any play is stored stays, as does one that another process has in hand.

        Raises:
            StoreError: if the database refuses.
        """
        if not self._locks.take(run.key):
            return
        try:
            with self._db.writing("forget a run"):
                plays = "SELECT run FROM game UNION ALL SELECT run FROM void"
                known = self._db.all(f"SELECT 1 FROM ({plays}) WHERE run = ? LIMIT 1", (run.key,))  # noqa: S608 - our own
                if not known:
                    self._db.execute("DELETE FROM bot WHERE run = ?", (run.key,))
                    self._db.execute("DELETE FROM run WHERE key = ?", (run.key,))
        finally:
            self._locks.give_up(run.key)

    def finish(self, run: Run) -> None:
        """Mark a run as over: from now on its secret may be shown."""
        with self._db.writing("finish a run"):
            self._db.execute(
                "UPDATE run SET state = 'over', finished = coalesce(finished, ?) WHERE key = ?",
                (_now(), run.key),
            )

    def claim(self, run: Run) -> RunLocks.Held:
        """Be the run's one writer, as a context; it ends with the process at the latest.

        Raises:
            StoreError: on entering, if another process is playing this run.
        """
        return self._locks.hold(run.key, run.id)

    def check_writable(self) -> None:
        """Make sure, as far as can be known, that a run could be begun and held now.

        Raises:
            StoreError, ConfigError: if it could not; see `Connection.check_writable`.
        """
        self._db.check_writable()
        self._locks.take(0)  # no run has this number
        self._locks.give_up(0)

    def runs(self) -> list[Run]:
        """Return all runs, the last one first."""
        return self._select(_LAST_FIRST)

    def same_plan(self, identity: str) -> Run | None:
        """Return the last run whose plan has this identity."""
        runs = self._select(f"WHERE identity = ? {_LAST_FIRST} LIMIT 1", (identity,))
        return runs[0] if runs else None

    def find_run(self, prefix: str | None = None) -> Run:
        """Return the run whose id begins like this; without a prefix the last one.

        Raises:
            ConfigError: if there is none, or more than one; the text names candidates.
        """
        if prefix is None:
            runs = self._select(f"{_LAST_FIRST} LIMIT 1")
            if not runs:
                raise ConfigError(f"{self.path} holds no run yet: play one with `arena run`")
            return runs[0]
        runs = self._select(
            f"WHERE substr(id, 1, ?) = ? {_LAST_FIRST} LIMIT ?",
            (len(prefix), prefix, _SHOWN + 1),
        )
        if len(runs) == 1:
            return runs[0]
        if runs:
            raise ConfigError(
                f"more than one run begins with {prefix!r}: {listed([run.id for run in runs])}"
            )
        known = self._select(f"{_LAST_FIRST} LIMIT ?", (_SHOWN + 1,))
        raise ConfigError(f"no run begins with {prefix!r}: {listed([run.id for run in known])}")

    def _select(self, rest: str, values: Sequence[Any] = ()) -> list[Run]:
        rows = self._db.all(f"SELECT {_COLUMNS} FROM run {rest}", values)  # noqa: S608 - our own
        return [
            Run(
                key=key,
                id=name,
                state=state,
                created=created,
                touched=touched,
                finished=finished,
                plan=decode_plan(plan),
            )
            for key, name, state, created, touched, finished, plan in rows
        ]


def listed(ids: Sequence[str]) -> str:
    """Return candidates for an error's text, the first few by name."""
    if not ids:
        return "there is none yet"
    more = ", …" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
