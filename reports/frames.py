"""Games as a table: filled row by row, counted, written as CSV. The only import of pandas.

The table is in plan order, whatever the order of the rows that it is made from.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pandas as pd

from arena.referee.record import SideWord
from reports.cells import COLUMNS, NUMBERS, TEXTS, Charged, number, numbers_of, summary, texts_of
from reports.csv_texts import csv_text
from reports.game_rows import SIDES, GameLine, GameRow, Seat, row_of
from reports.names import guarded
from reports.played import Played, gather
from reports.report import End, Excluded, FaultCount, RoundCount, StartCount, TimeUse, WordCount
from reports.win_rates import share

__all__ = ["Frame", "GameLine", "GameRow", "Games", "Seat", "row_of"]

_PIECE = 20_000  # games that are written at once

Frame: TypeAlias = pd.DataFrame


class Games:
    """All games of a run, those that count for nobody too.

    Attributes:
        frame: a row a game, in plan order; columns as in `games.csv`, and `text` of each side's
            fault.
    """

    def __init__(self, frame: pd.DataFrame, charged: dict[tuple[str, SideWord], Charged]) -> None:
        self.frame = frame
        self._charged = charged

    @classmethod
    def collect(cls, rows: Iterable[GameRow]) -> Games:
        """Take up games one by one; memory is a few hundred bytes a game, and 8 an answer."""
        texts: list[str] = []  # cells of all rows, one row behind the other
        numbers = array("d")
        known: dict[str, str] = {}  # most texts are the same in many rows: each is kept once
        charged: dict[tuple[str, SideWord], array[float]] = {}
        nan = float("nan")
        for row in rows:
            texts.append(row.game)
            cells = texts_of(row)
            texts.extend(map(known.setdefault, cells, cells))
            numbers.extend([nan if cell is None else cell for cell in numbers_of(row)])
            if row.x.charged_ms:
                charged.setdefault((row.mister_x, "mister_x"), array("d")).extend(row.x.charged_ms)
            if row.d.charged_ms:
                charged.setdefault((row.detectives, "detectives"), array("d")).extend(
                    row.d.charged_ms
                )
        cells_of_all = np.array(texts, dtype=object).reshape(-1, len(TEXTS))
        del texts
        table = np.frombuffer(numbers).reshape(-1, len(NUMBERS))
        # Columns of what lies there already: copies would be as large again. And plain Python
        # objects: the text type of pandas depends on what else is installed.
        frame = pd.DataFrame(
            {
                **{
                    name: pd.Series(cells_of_all[:, place], dtype=object, copy=False)
                    for place, name in enumerate(TEXTS)
                },
                **{name: table[:, place] for place, name in enumerate(NUMBERS)},
            },
            copy=False,
        )
        frame["index"] = frame["index"].astype("int64")
        if not (np.diff(frame["index"]) > 0).all():
            frame = frame.sort_values(["index", "game"], kind="stable").reset_index(drop=True)
        return cls(frame, {key: summary(values) for key, values in charged.items()})

    def __len__(self) -> int:
        return len(self.frame)

    def _with_winner(self, *columns: str, forfeits: bool = True) -> pd.DataFrame:
        """These columns of the games that count; without `forfeits` of those played out."""
        counted = self.frame["winner"] != ""
        if not forfeits:
            counted &= self.frame["reason"] != "fault"
        return self.frame.loc[counted, list(columns)]

    def pieces(self, size: int = _PIECE) -> Iterator[pd.DataFrame]:
        """The table in pieces, in order: what is made of all rows at once takes far more memory.

        Args:
            size: rows of each; the last one may have fewer.
        """
        for start in range(0, len(self), size):
            yield self.frame.iloc[start : start + size]

    def played(self, *, forfeits: bool = True) -> Played:
        """The games that count, as arrays; without `forfeits` only those that were played out."""
        frame = self._with_winner("mister_x", "detectives", "winner", "deal", forfeits=forfeits)
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
        frame = self._with_winner(
            "reason", "winner", "rounds", "mister_x_fault", "detectives_fault"
        )
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
                rounds=number(group["rounds"].mean(), 2),
            )
            for (reason, fault, winner), group in grouped
        ]
        return sorted(made, key=lambda end: -end.games)

    def rounds(self) -> list[RoundCount]:
        """In which round the games that were played out ended, without gaps from the first."""
        frame = self._with_winner("winner", "rounds", forfeits=False)
        known = frame[frame["rounds"].notna()]
        if known.empty:
            return []
        last_round = known["rounds"].astype("int64")
        escaped = known["winner"] == "mister_x"
        first, last = int(last_round.min()), int(last_round.max())
        return [
            RoundCount(
                round=k,
                mister_x=int((escaped & (last_round == k)).sum()),
                detectives=int((~escaped & (last_round == k)).sum()),
            )
            for k in range(first, last + 1)
        ]

    def starts(self, names: Mapping[int, str]) -> list[StartCount]:
        """How often Mister X escaped by the station that he began on; forfeits are left out."""
        frame = self._with_winner("winner", "x_start", forfeits=False)
        known = frame[frame["x_start"].notna()]
        grouped = (known["winner"] == "mister_x").groupby(known["x_start"].astype("int64"))
        return [
            StartCount(
                station=int(station),
                name=names.get(int(station), ""),
                escaped=share(int(wins), int(games)),
            )
            for station, wins, games in zip(
                grouped.sum().index, grouped.sum(), grouped.size(), strict=True
            )
        ]

    def words(self) -> list[WordCount]:
        """How often Mister X escaped by what the ruleset calls the game, by fact and word."""
        frame = self._with_winner("winner", "words", forfeits=False)
        made: dict[tuple[str, str], list[int]] = {}
        grouped = (frame["winner"] == "mister_x").groupby(frame["words"], sort=False)
        for words, wins, games in zip(
            grouped.sum().index, grouped.sum(), grouped.size(), strict=True
        ):
            for word in str(words).split():
                fact, _, value = word.partition("=")
                counts = made.setdefault((fact, value), [0, 0])
                counts[0] += int(wins)
                counts[1] += int(games)
        return [
            WordCount(fact=fact, word=word, escaped=share(wins, games))
            for (fact, word), (wins, games) in sorted(made.items())
        ]

    def lines(self) -> list[GameLine]:
        """Every game without its times, in plan order."""
        return [line for piece in self.pieces() for line in _lines(piece)]

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
            bank, given_back = groups[f"{side}_bank_ms"], groups[f"{side}_given_back_ms"]
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
                    given_back.sum(min_count=1),
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
                games, numbers, losses = seats[side][name]
                start_ms, off_turn_ms, bank_ms, least_ms, given_back_ms = numbers
                charged = self._charged.get((name, side), Charged())
                if not charged.answers and not losses and not np.isfinite(start_ms):
                    continue
                made.append(
                    TimeUse(
                        bot=name,
                        side=side,
                        games=games,
                        answers=charged.answers,
                        p50_ms=charged.p50_ms,
                        p95_ms=charged.p95_ms,
                        max_ms=charged.max_ms,
                        start_p50_ms=number(start_ms, 2),
                        time_losses=losses,
                        off_turn_mean_ms=number(off_turn_ms, 2),
                        bank_left_p50_ms=number(bank_ms, 0),
                        bank_left_min_ms=number(least_ms, 0),
                        given_back_ms=number(given_back_ms, 3),
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
        return "".join(self.csv_parts())

    def csv_parts(self) -> Iterator[str]:
        """The same, a piece at a time."""
        yield csv_text([COLUMNS])
        for piece in self.pieces():
            yield csv_text(zip(*(_told(piece[name]) for name in COLUMNS), strict=True))


def _lines(piece: pd.DataFrame) -> Iterator[GameLine]:
    names = GameLine.__struct_fields__
    columns = [piece["x_specials" if name == "specials" else name].tolist() for name in names]
    for place, name in enumerate(names):
        if name in ("rounds", "specials"):
            columns[place] = [None if v != v else int(v) for v in columns[place]]
    return map(GameLine, *columns)


def _told(column: pd.Series[Any]) -> list[Any]:
    """A column as cells of a CSV file."""
    if column.name == "index":
        return column.tolist()
    if column.name in NUMBERS:  # few values are many cells
        distinct, places = np.unique(column.to_numpy(), return_inverse=True)
        told = np.array([_plain(value) for value in distinct.tolist()], dtype=object)
        return list(told[places])
    cells = column.tolist()
    safe = {value: guarded(value) for value in set(cells)}
    return [safe[value] for value in cells]


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


def _plain(value: float) -> str:
    """A number without a trailing `.0`; empty if there is none."""
    return "" if value != value else f"{value:.3f}".rstrip("0").rstrip(".")
