"""Games as a table: filled row by row, counted, written as CSV. The only import of pandas.

The table is in plan order, whatever the order of the rows that it is made from.
"""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from arena.referee.record import FaultKind, GameRecord, Phase, SideWord
from reports.names import guarded
from reports.played import Floats, Played, gather
from reports.report import End, Excluded, FaultCount, Report, RoundCount, TimeUse
from reports.standings import Standing, Standings

__all__ = ["GameRow", "Games", "Seat", "matrix_csv", "ratings_csv", "row_of"]

SIDES: tuple[SideWord, SideWord] = ("mister_x", "detectives")
RULES = {
    "void": "void: our own fault, or stopped by hand",
    "benched": "both bots were benched",
    "fault": "both bots failed",
    "none": "nobody won",
}


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a game: its fault, and the times that it was charged."""

    fault: FaultKind | None = None
    phase: Phase | None = None
    text: str | None = None  # one line on the fault
    start_ms: float | None = None  # from spawn to the first `ready`
    charged_ms: tuple[float, ...] = ()  # each answer
    off_turn_ms: float | None = None  # CPU time used while it was not asked


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
    x: Seat = Seat()
    d: Seat = Seat()


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
            off_turn_ms=kept.off_turn_cpu_ms,
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
        x=seats["mister_x"],
        d=seats["detectives"],
    )


class Games:
    """All games of a run, those that count for nobody too.

    Attributes:
        frame: a row a game, in plan order; columns as in `games.csv`, and `text` of each side's
            fault.
    """

    def __init__(self, frame: pd.DataFrame, charged: dict[tuple[str, SideWord], Floats]) -> None:
        self.frame = frame
        self._charged = charged  # (bot, side) → every charged time, rising

    @classmethod
    def collect(cls, rows: Iterable[GameRow]) -> Games:
        """Take up games one by one; memory is a few hundred bytes a game, and 8 an answer."""
        columns: dict[str, list[Any]] = {name: [] for name in (*_COLUMNS, "x_text", "d_text")}
        charged: dict[tuple[str, SideWord], array[float]] = {}
        for row in rows:
            for name, value in zip(columns, _cells(row), strict=True):
                columns[name].append(value)
            for side, seat in zip(SIDES, (row.x, row.d), strict=True):
                if seat.charged_ms:
                    key = (getattr(row, side), side)
                    charged.setdefault(key, array("d")).extend(seat.charged_ms)
        # Plain Python objects: the text type of pandas depends on what else is installed.
        frame = pd.DataFrame(
            {name: pd.Series(cells, dtype=object) for name, cells in columns.items()}
        )
        frame["index"] = frame["index"].astype("int64")
        for name in _NUMBERS:
            frame[name] = frame[name].astype("float64")
        frame = frame.sort_values(["index", "game"], kind="stable").reset_index(drop=True)
        times = {key: np.sort(np.frombuffer(values)) for key, values in sorted(charged.items())}
        return cls(frame, times)

    def __len__(self) -> int:
        return len(self.frame)

    def played(self, *, forfeits: bool = True) -> Played:
        """The games that count, as arrays; without `forfeits` only those that were played out."""
        frame = self.frame[self.frame["winner"] != ""]
        if not forfeits:
            frame = frame[frame["reason"] != "fault"]
        return gather(
            frame["mister_x"].tolist(),
            frame["detectives"].tolist(),
            (frame["winner"] == "mister_x").tolist(),
            frame["deal"].tolist(),
        )

    def forfeits(self) -> int:
        """How many games with a winner were decided by a fault."""
        return int(((self.frame["winner"] != "") & (self.frame["reason"] == "fault")).sum())

    def deals(self) -> int:
        """How many deals there are; an empty label is a deal of its own."""
        labels = self.frame["deal"]
        return int(labels[labels != ""].nunique() + (labels == "").sum())

    def ends(self) -> list[End]:
        """How the games that count ended, the most frequent first."""
        frame = self.frame[self.frame["winner"] != ""]
        lost = np.where(
            frame["winner"] == "mister_x", frame["detectives_fault"], frame["mister_x_fault"]
        )
        grouped = frame.assign(lost=lost).groupby(["reason", "lost", "winner"], sort=True)
        made = [
            End(
                reason=str(reason),
                fault=str(fault) or None,
                winner=str(winner),
                games=len(group),
                rounds=_number(group["rounds"].mean(), 2),
            )
            for (reason, fault, winner), group in grouped
        ]
        return sorted(made, key=lambda end: -end.games)

    def rounds(self) -> list[RoundCount]:
        """In which round the games that were played out ended, without gaps from the first."""
        frame = self.frame[(self.frame["winner"] != "") & (self.frame["reason"] != "fault")]
        known = frame[frame["rounds"].notna()]
        if known.empty:
            return []
        number = known["rounds"].astype("int64")
        escaped = known["winner"] == "mister_x"
        first, last = int(number.min()), int(number.max())
        return [
            RoundCount(
                round=k,
                mister_x=int((escaped & (number == k)).sum()),
                detectives=int((~escaped & (number == k)).sum()),
            )
            for k in range(first, last + 1)
        ]

    def faults(self) -> list[FaultCount]:
        """Faults by bot, kind and phase, the most frequent first; every game is counted."""
        seated: dict[str, int] = {}
        parts = []
        for side, short in (("mister_x", "x"), ("detectives", "d")):
            for bot, games in self.frame[side].value_counts().items():
                seated[str(bot)] = seated.get(str(bot), 0) + int(games)
            part = self.frame[self.frame[f"{side}_fault"] != ""]
            parts.append(
                pd.DataFrame(
                    {
                        "bot": part[side],
                        "kind": part[f"{side}_fault"],
                        "phase": part[f"{side}_phase"],
                        "text": part[f"{short}_text"],
                        "game": part["game"],
                        "index": part["index"],
                    }
                )
            )
        frame = pd.concat(parts).sort_values("index", kind="stable")
        made = []
        for (bot, kind, phase), group in frame.groupby(["bot", "kind", "phase"], sort=True):
            told = group.iloc[0]
            made.append(
                FaultCount(
                    bot=str(bot),
                    kind=str(kind),
                    phase=str(phase) or None,
                    games=len(group),
                    share=round(len(group) / seated[str(bot)], 5),
                    first_game=str(told["game"]),
                    text=str(told["text"]) or None,
                )
            )
        return sorted(made, key=lambda fault: -fault.games)

    def times(self, order: list[str]) -> list[TimeUse]:
        """Time use by bot and side, bots in the order given and then by name."""
        seats: dict[SideWord, dict[str, tuple[int, float, float, int]]] = {}
        for side in SIDES:
            groups = self.frame.groupby(side, sort=True)
            start, off_turn = groups[f"{side}_start_ms"], groups[f"{side}_off_turn_ms"]
            late = (self.frame[f"{side}_fault"] == "timeout").groupby(self.frame[side]).sum()
            seats[side] = {
                str(name): (int(size), float(median), float(mean), int(late[name]))
                for name, size, median, mean in zip(
                    start.size().index, start.size(), start.median(), off_turn.mean(), strict=True
                )
            }
        names = sorted({name for table in seats.values() for name in table})
        place = {name: k for k, name in enumerate(order)}
        names.sort(key=lambda name: place.get(name, len(place)))
        made = []
        for name in names:
            for side in SIDES:
                if name not in seats[side]:
                    continue
                games, start_ms, off_turn_ms, losses = seats[side][name]
                charged = self._charged.get((name, side), np.zeros(0))
                if not len(charged) and not losses and not np.isfinite(start_ms):
                    continue
                made.append(
                    TimeUse(
                        bot=name,
                        side=side,
                        games=games,
                        answers=len(charged),
                        p50_ms=_rank(charged, 50),
                        p95_ms=_rank(charged, 95),
                        max_ms=_rank(charged, 100),
                        start_p50_ms=_number(start_ms, 2),
                        time_losses=losses,
                        off_turn_mean_ms=_number(off_turn_ms, 2),
                    )
                )
        return made

    def excluded(self) -> list[Excluded]:
        """Every game that counts for nobody, with the rule that says so."""
        frame = self.frame[self.frame["winner"] == ""]
        return [
            Excluded(
                game=row.game,
                index=row.index,
                deal=row.deal,
                mister_x=row.mister_x,
                detectives=row.detectives,
                rule=row.excluded,
            )
            for row in _tuples(frame)
        ]

    def csv(self) -> str:
        """`games.csv`: a line a game; no cell is taken for a formula, and names come back whole.

        It can be rated again: `arena rate games.csv`.
        """
        columns = [self.frame[name].tolist() for name in _COLUMNS]
        for k, name in enumerate(_COLUMNS):
            if name in _NUMBERS:
                columns[k] = [_plain(value) for value in columns[k]]
            elif name != "index":
                columns[k] = [guarded(value) for value in columns[k]]
        return _csv(_COLUMNS, zip(*columns, strict=True))


_SEAT = ("fault", "phase", "start_ms", "answers", "p50_ms", "p95_ms", "max_ms", "off_turn_ms")
_COLUMNS = (
    "game",
    "index",
    "deal",
    "mister_x",
    "detectives",
    "winner",
    "reason",
    "excluded",
    "rounds",
    "marks",
    *(f"{side}_{name}" for side in SIDES for name in _SEAT),
)
_NUMBERS = (
    "rounds",
    *(f"{side}_{name}" for side in SIDES for name in _SEAT[2:]),
)


class _Row(msgspec.Struct, frozen=True):
    game: str
    index: int
    deal: str
    mister_x: str
    detectives: str
    excluded: str


def _tuples(frame: pd.DataFrame) -> Iterator[_Row]:
    columns = (frame[name].tolist() for name in _Row.__struct_fields__)
    return (_Row(*cells) for cells in zip(*columns, strict=True))


def _cells(row: GameRow) -> Iterator[Any]:
    """The row's cells in the order of the columns; missing text is empty, a missing number None."""
    yield from (row.game, row.index, row.deal, row.mister_x, row.detectives)
    yield from (row.winner or "", row.reason, "" if row.winner else _rule(row), row.rounds)
    yield " ".join(row.marks)
    for seat in (row.x, row.d):
        ranked = sorted(seat.charged_ms)
        yield from (seat.fault or "", seat.phase or "", seat.start_ms, len(ranked))
        yield from (_rank(ranked, 50), _rank(ranked, 95), _rank(ranked, 100), seat.off_turn_ms)
    yield from (row.x.text or "", row.d.text or "")


def _rule(row: GameRow) -> str:
    """Why a game counts for nobody."""
    if row.reason == "void":
        return RULES["void"]
    if row.x.fault == row.d.fault == "benched":
        return RULES["benched"]
    return RULES["fault"] if row.x.fault or row.d.fault else RULES["none"]


def _rank(ranked: Sequence[float] | Floats, percent: int) -> float | None:
    """Nearest-rank percentile: the smallest value that so many per cent do not exceed."""
    if not len(ranked):
        return None
    return _number(ranked[-(-len(ranked) * percent // 100) - 1], 3)


def _number(value: Any, digits: int) -> float | None:
    number = float(value)
    return round(number, digits) + 0.0 if np.isfinite(number) else None


def _plain(value: float) -> str:
    """A number without a trailing `.0`; empty if there is none."""
    return "" if value != value else f"{value:.3f}".rstrip("0").rstrip(".")


def _csv(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def ratings_csv(made: Standings) -> str:
    """`ratings.csv`: the standings, a line a bot; an empty cell is a number that can't be told."""
    fields = Standing.__struct_fields__
    lines = ([_cell(getattr(bot, field)) for field in fields] for bot in made.bots)
    return _csv(fields, lines)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return guarded(value)
    return "" if value is None else value


def matrix_csv(report: Report) -> str:
    """`matrix.csv`: a line for each Mister X bot against each detectives bot that met."""
    made = report.matrix
    return _csv(
        ("mister_x", "detectives", "games", "mister_x_wins", "rate", "low", "high"),
        (
            (guarded(x), guarded(d), cell.games, cell.wins, cell.rate, cell.low, cell.high)
            for x, row in zip(made.mister_x, made.cells, strict=True)
            for d, cell in zip(made.detectives, row, strict=True)
            if cell.games
        ),
    )
