"""RESULTS.csv of `arena rate`: columns deal, mister_x, detectives, winner, if wanted reason."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from arena.errors import ConfigError
from reports.names import unguarded

__all__ = ["Results", "read"]

COLUMNS = ("deal", "mister_x", "detectives", "winner")
REASON = "reason"  # may stand beside them, as in `games.csv`
FAULT = "fault"  # the reason of a game that a fault decided
SIDES = ("mister_x", "detectives")
DELIMITERS = {";": "`;`", "\t": "tabs", "|": "`|`"}  # that other programs write


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """Games with a winner, one entry a game; `nobody` is the number of games that had none."""

    deals: tuple[str | None, ...]  # None: a deal that no other game shares
    mister_x: tuple[str, ...]
    detectives: tuple[str, ...]
    escaped: tuple[bool, ...]
    forfeit: tuple[bool, ...]  # decided by a fault
    nobody: int


def read(path: Path) -> Results:
    """Read the results of any games.

    The first line names the columns; more columns may stand beside them. Of these `reason` is read:
    where it is `fault`, a fault decided the game. The others are ignored. An empty `deal` is a deal
    of its own; an empty `winner` is a game that nobody won and is not rated.
    A name that `games.csv` guards against spreadsheets (`'=x`) is read as it was (`=x`).

    Raises:
        ConfigError: naming file and line, what stands there and what should.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return parse(file, path)
    except OSError as error:
        raise ConfigError(f"{path}: can't be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text.") from error


def parse(lines: Iterable[str], path: Path) -> Results:
    """Read all rows; see `read`."""
    rows = csv.reader(lines, strict=True)
    deals: list[str | None] = []
    mister_x: list[str] = []
    detectives: list[str] = []
    escaped: list[bool] = []
    forfeit: list[bool] = []
    nobody = 0
    try:
        head = [name.strip() for name in next(rows, [])]
        places = find_columns(head, path)
        reason = head.index(REASON) if head.count(REASON) == 1 else None
        for row in rows:
            if not row:
                continue
            if len(row) != len(head):
                raise ConfigError(
                    f"{path}:{rows.line_num}: {len(row)} fields where the first line names "
                    f"{len(head)} columns."
                )
            deal, x, d, winner = (unguarded(row[place].strip()) for place in places)
            for column, name in (("mister_x", x), ("detectives", d)):
                if not name:
                    raise ConfigError(
                        f"{path}:{rows.line_num}: `{column}` is empty; write the bot's name."
                    )
            if not winner:
                nobody += 1
                continue
            if winner not in SIDES:
                side = " (write the side, not the bot)" if winner in (x, d) else ""
                raise ConfigError(
                    f"{path}:{rows.line_num}: `winner` is {winner!r}{side}; it must be mister_x, "
                    "detectives or empty."
                )
            deals.append(deal or None)
            mister_x.append(x)
            detectives.append(d)
            escaped.append(winner == "mister_x")
            forfeit.append(reason is not None and row[reason].strip() == FAULT)
    except csv.Error as error:
        raise ConfigError(f"{path}:{rows.line_num}: not CSV: {error}.") from error
    return Results(
        deals=tuple(deals),
        mister_x=tuple(mister_x),
        detectives=tuple(detectives),
        escaped=tuple(escaped),
        forfeit=tuple(forfeit),
        nobody=nobody,
    )


def find_columns(head: list[str], path: Path) -> list[int]:
    """Return where each of the four columns stands."""
    if not any(head):
        raise ConfigError(f"{path}: empty; the first line must be {','.join(COLUMNS)}.")
    if len(head) == 1 and (delimiter := sniffed(head[0])):
        raise ConfigError(
            f"{path}:1: the columns are parted by {delimiter}; this reads commas, so write the "
            "file again with `,` between the columns."
        )
    for column in COLUMNS:
        if head.count(column) == 1:
            continue
        if column in head:
            raise ConfigError(f"{path}:1: the column `{column}` stands there twice.")
        near = difflib.get_close_matches(column, head, n=1)
        hint = f" (is it `{near[0]}`?)" if near else ""
        raise ConfigError(
            f"{path}:1: no column `{column}`{hint}; the first line must name {', '.join(COLUMNS)}."
        )
    return [head.index(column) for column in COLUMNS]


def sniffed(head: str) -> str | None:
    """Return what else than commas parts the columns of a first line; None if it names one."""
    for delimiter, word in DELIMITERS.items():
        if {name.strip(' "') for name in head.split(delimiter)} >= set(COLUMNS):
            return word
    return None
