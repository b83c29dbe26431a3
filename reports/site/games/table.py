"""The games as a page with filters: its modules, and the data as columns in scripts beside it.

From `file://` a browser refuses to fetch data, so they come in classic scripts, each small enough
to be read without freezing the page. A column is a list of numbers that point into tables of names;
the tables are in the order that a person would sort them in, so a number is a sort key as well.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from string import Template
from typing import Any
from urllib.parse import quote

import msgspec

from arena.referee.record import SideWord
from reports.frames import Frame, Games
from reports.game_rows import SIDES
from reports.names import shortened, shown, what_happened
from reports.replays import page_json
from reports.site.inlining import inlined, policy
from reports.site.markup import text

__all__ = ["DATA", "PAGE", "Embedded", "address", "embedded", "write"]

PAGE = "games.html"
DATA = "games-data"
PER_FILE = 20_000  # games; about 1 MB, read in well under 50 ms
LONGEST_NAME = 80
LONGEST_TEXT = 160  # of what is told of a fault

_WINNERS = {"": 0, "mister_x": 1, "detectives": 2}
_NUMBER = re.compile(r"[0-9]{1,15}")
_RELATIVE = re.compile(r"(?!/)[^:?#\\]+(#[\w-]*)?")
_LEAD = (
    '<div id="games-table"{mark}>\n<p class="loading">Reading {count} games …</p>\n'
    "<noscript><p>This table needs scripts; the same games are in games.csv.</p></noscript>\n"
    "</div>"
)


class Embedded(msgspec.Struct, frozen=True):
    """The table as a part of a page that has other sections.

    Attributes:
        html: what stands in the section, data included. Its section's id is `games`.
        script: text of the module, for the page's one `script type="module"`.
        style: what it needs besides `style.css`.
    """

    html: str
    script: str
    style: str


def write(
    games: Games, links: Mapping[str, str], *, title: str = "Games"
) -> Iterator[tuple[str, str]]:
    """Yield the page and its data as files of the report folder: path in it, text.

    Args:
        games: all games of the report.
        links: game id → path of its replay, from the folder, where there is one.
        title: heading of the page, plain text.

    Raises:
        ValueError: if a path of a replay leads out of the folder.
    """
    tables, chunks = _parts(games, links)
    files = [f"{DATA}/tables.js"]
    yield files[0], _script(tables)
    for place, chunk in enumerate(chunks):
        files.append(f"{DATA}/games-{place}.js")
        yield files[-1], _script(chunk)
    script, style = _module(), f"\n{_read('style.css').strip()}\n{_style()}"
    mark = f' data-files="{" ".join(files)}"'
    page = Template(_read("games/games.html")).substitute(
        policy=html.escape(policy(script, style, files_beside=True), quote=True),
        title=text(title),
        style=style,
        table=_LEAD.format(mark=mark, count=f"{len(games):,}"),
        script=script,
    )
    yield PAGE, page


def embedded(games: Games, links: Mapping[str, str]) -> Embedded:
    """Return the table as a part of another page, with the data inside.

    Args:
        games: all games of the report.
        links: game id → relative path or fragment of its replay, where there is one.

    Raises:
        ValueError: as `write`.
    """
    tables, chunks = _parts(games, links)
    data = page_json([tables, *chunks])
    return Embedded(
        html=_LEAD.format(mark=" data-embedded", count=f"{len(games):,}")
        + f'\n<script type="application/json" id="games-data">{data}</script>',
        script=_module(),
        style=_style(),
    )


def address(
    *,
    bot: str | None = None,
    side: SideWord | None = None,
    against: str | None = None,
    winner: str | None = None,
    reason: str | None = None,
    rounds: str | None = None,
    fault: str | None = None,
    phase: str | None = None,
    note: str | None = None,
) -> str:
    """Return the fragment that opens the table with these filters: `games.html` + this.

    Args:
        bot: its name.
        side: the one that `bot` plays.
        against: name of its opponent.
        winner: a side, `none`, or (with a bot) `bot` or `opponent`.
        reason: the ruleset's word, `fault` or `void`.
        rounds: `7`, `4-12`, `4-` or `-12`.
        fault: a kind, `any` or `none`.
        phase: of the fault.
        note: a mark, a rule that games are excluded by, `counted`, `excluded`, `benched` or
            `replay`.
    """
    asked = {
        "bot": bot,
        "side": side,
        "against": against,
        "winner": winner,
        "reason": reason,
        "rounds": rounds,
        "fault": fault,
        "phase": phase,
        "note": note,
    }
    return "#" + "&".join(
        f"{key}={quote(value, safe='', errors='replace')}" for key, value in asked.items() if value
    )


def _parts(
    games: Games, links: Mapping[str, str]
) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """The tables of names, and the columns in pieces, each made when it is asked for."""
    for path in links.values():
        if not _RELATIVE.fullmatch(path) or ".." in path.split("/"):
            raise ValueError(f"{path!r}: the path of a replay leads out of the report's folder")
    known = _Tables.of(games)
    tables = {
        "count": len(games),
        "names": [_encodable(name) for name in known.names.values],
        "shown": [shortened(name, LONGEST_NAME) for name in known.names.values],
        "reasons": [shown(reason) for reason in known.reasons.values],
        "deals": [shortened(deal, LONGEST_NAME) for deal in known.deals.values],
        "notes": [
            {"marks": [shown(mark) for mark in marks.split()], "rule": shown(rule)}
            for marks, rule in known.notes.values
        ],
        "faults": known.faults.values,
    }
    return tables, _chunks(games, known, links)


def _chunks(games: Games, known: _Tables, links: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    start = 0
    for piece in games.pieces(PER_FILE):
        column = {name: piece[name].tolist() for name in _TAKEN}
        yield {
            "from": start,
            "id": [shown(game) for game in column["game"]],
            "number": column["index"],
            "x": known.names.places(column["mister_x"]),
            "d": known.names.places(column["detectives"]),
            "winner": [_WINNERS[winner] for winner in column["winner"]],
            "reason": known.reasons.places(column["reason"]),
            "rounds": [-1 if rounds != rounds else int(rounds) for rounds in column["rounds"]],
            "deal": known.deals.places(column["deal"]),
            "note": known.notes.places(_noted(piece)),
            "xFault": known.faults.places(_faults(piece, "mister_x")),
            "dFault": known.faults.places(_faults(piece, "detectives")),
            "replays": [
                (place, links[game]) for place, game in enumerate(column["game"]) if game in links
            ],
        }
        start += len(piece)


_TAKEN = ("game", "index", "mister_x", "detectives", "winner", "reason", "rounds", "deal")


def _noted(piece: Frame) -> Iterator[tuple[str, str]]:
    """Marks and the rule of exclusion of each game."""
    return zip(piece["marks"].tolist(), piece["excluded"].tolist(), strict=True)


def _faults(piece: Frame, side: SideWord) -> Iterator[tuple[str, str, str]]:
    """Kind, phase and line of each game's fault on a side; empty where there is none."""
    short = "x" if side == "mister_x" else "d"
    columns = ("game", f"{side}_fault", f"{side}_phase", f"{short}_text")
    for game, kind, phase, told in zip(*(piece[name].tolist() for name in columns), strict=True):
        line = shortened(what_happened(told, game), LONGEST_TEXT) if told else ""
        yield kind, phase, line


class _Table:
    """Values in a fixed order, each once; a column holds their places."""

    def __init__(self, values: Iterable[Any], *, key: Any = None) -> None:
        self.values: list[Any] = sorted(set(values), key=key)
        self._place = {value: place for place, value in enumerate(self.values)}

    def places(self, column: Iterable[Any]) -> list[int]:
        place = self._place
        return [place[value] for value in column]


class _Tables(msgspec.Struct, frozen=True):
    """What the columns point into."""

    names: _Table
    reasons: _Table
    deals: _Table
    notes: _Table
    faults: _Table

    @classmethod
    def of(cls, games: Games) -> _Tables:
        """Collect them, piece by piece."""
        names, reasons, deals = set[str](), set[str](), set[str]()
        notes, faults = set[tuple[str, str]](), {("", "", "")}
        for piece in games.pieces(PER_FILE):
            for side in SIDES:
                names.update(piece[side].tolist())
                faults.update(_faults(piece, side))
            reasons.update(piece["reason"].tolist())
            deals.update(piece["deal"].tolist())
            notes.update(_noted(piece))
        return cls(
            names=_Table(names, key=_by_name),
            reasons=_Table(reasons),
            deals=_Table(deals, key=_natural),
            notes=_Table(notes),
            faults=_Table(faults),
        )


def _by_name(name: str) -> tuple[str, str]:
    return name.casefold(), name


def _natural(label: str) -> tuple[int, int, str]:
    """Numbers by size and before other labels."""
    return (0, int(label), label) if _NUMBER.fullmatch(label) else (1, 0, label)


def _encodable(name: str) -> str:
    """A name as it can stand in a file: a lone surrogate, which no text file holds, is replaced."""
    return name.encode("utf-8", "replace").decode()


def _script(part: Mapping[str, Any]) -> str:
    """A classic script that hands one part to the page.

    JSON in a string is read faster than the same as program text.
    """
    data = page_json(part).replace("\\", "\\\\").replace("'", "\\'")
    return f"(globalThis.arenaGames ??= []).push(JSON.parse('{data}'));\n"


def _module() -> str:
    return f"\n{inlined('main.js', _source, names={})}\n"


def _source(file: str) -> str:
    return _read(f"viewer/{file}" if file == "shapes.js" else f"games/{file}")


def _style() -> str:
    return f"{_read('games/games.css').strip()}\n"


def _read(path: str) -> str:
    return files("reports.site").joinpath(path).read_text("utf-8")
