"""Games as a table: filled row by row, counted, written as CSV. The only import of pandas.

The table is in plan order, whatever the order of the rows that it is made from.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from arena.referee.record import SideWord
from reports.csv_texts import csv_text
from reports.game_rows import SIDES, GameLine, GameRow, Seat, row_of
from reports.names import guarded
from reports.played import Floats, Played, gather
from reports.report import End, Excluded, FaultCount, RoundCount, StartCount, TimeUse
from reports.win_rates import share

__all__ = ["GameLine", "GameRow", "Games", "Seat", "row_of"]

RULES = {
    "void": "void: our own fault, or stopped by hand",
    "benched": "both bots were benched",
    "fault": "both bots failed",
    "none": "nobody won",
}


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

    def starts(self) -> list[StartCount]:
        """How often Mister X escaped by the station that he began on; forfeits are left out."""
        frame = self.frame[(self.frame["winner"] != "") & (self.frame["reason"] != "fault")]
        known = frame[frame["x_start"].notna()]
        grouped = (known["winner"] == "mister_x").groupby(known["x_start"].astype("int64"))
        return [
            StartCount(station=int(station), escaped=share(int(wins), int(games)))
            for station, wins, games in zip(
                grouped.sum().index, grouped.sum(), grouped.size(), strict=True
            )
        ]

    def lines(self) -> list[GameLine]:
        """Every game without its times, in plan order."""
        names = GameLine.__struct_fields__
        columns = [self.frame["x_specials" if n == "specials" else n].tolist() for n in names]
        for place, name in enumerate(names):
            if name in ("rounds", "specials"):
                columns[place] = [None if v != v else int(v) for v in columns[place]]
        return [
            GameLine(**dict(zip(names, cells, strict=True))) for cells in zip(*columns, strict=True)
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
        seats: dict[SideWord, dict[str, tuple[int, list[float], int]]] = {}
        for side in SIDES:
            groups = self.frame.groupby(side, sort=True)
            start, off_turn = groups[f"{side}_start_ms"], groups[f"{side}_off_turn_ms"]
            bank = groups[f"{side}_bank_ms"]
            late = (self.frame[f"{side}_fault"] == "timeout").groupby(self.frame[side]).sum()
            seats[side] = {
                str(name): (int(size), [float(value) for value in numbers], int(late[name]))
                for name, size, *numbers in zip(
                    start.size().index,
                    start.size(),
                    start.median(),
                    off_turn.mean(),
                    bank.median(),
                    bank.min(),
                    strict=True,
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
                games, (start_ms, off_turn_ms, bank_ms, least_ms), losses = seats[side][name]
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
                        bank_left_p50_ms=_number(bank_ms, 0),
                        bank_left_min_ms=_number(least_ms, 0),
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
        return csv_text(_COLUMNS, zip(*columns, strict=True))


_SEAT = (
    "fault",
    "phase",
    "start_ms",
    "answers",
    "p50_ms",
    "p95_ms",
    "max_ms",
    "off_turn_ms",
    "bank_ms",
)
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
    "x_start",
    "x_specials",
    *(f"{side}_{name}" for side in SIDES for name in _SEAT),
)
_NUMBERS = (
    "rounds",
    "x_start",
    "x_specials",
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
    yield from (" ".join(row.marks), row.start, row.specials)
    for seat in (row.x, row.d):
        ranked = sorted(seat.charged_ms)
        yield from (seat.fault or "", seat.phase or "", seat.start_ms, len(ranked))
        yield from (_rank(ranked, 50), _rank(ranked, 95), _rank(ranked, 100))
        yield from (seat.off_turn_ms, seat.bank_ms)
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
