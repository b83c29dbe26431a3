"""Sections on how games went: ends, rounds, start stations, faults, time use, exclusions; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reports import charts
from reports.game_rows import GameLine
from reports.names import what_happened
from reports.report import End, FaultCount, Report, RoundCount, StartCount, TimeUse, WordCount
from reports.site.markup import NA, Cell, Column, linked, na, name, percent, share, table, text
from reports.site.places import Places

__all__ = [
    "MAX_ROWS",
    "SIDES",
    "ends",
    "excluded",
    "faults",
    "games_list",
    "meanings",
    "rounds",
    "starts",
    "times",
    "words",
]

_MEANINGS = {
    "enclosed": "Mister X could not move",
    "stuck": "no detective could move",
    "encircled": "detectives stood on every city beside Mister X",
    "cap": "the last round was over, and Mister X had not fulfilled his mission",
}
MAX_ROWS = 200  # rows of a list on the page
SIDES = {"mister_x": "Mister X", "detectives": "detectives"}
_NOT_BEGUN = na("none of these games was begun")
_NO_ANSWER = na("no answer was kept")
_NO_BANK = na("the clock has no bank, or no answer was kept")
_NOT_LOOKED = na("nobody looked, as without the sandbox")
_OLDER = na("games of older releases do not tell")


def ends(made: Sequence[End], *, counted: int, excluded: int) -> str:
    """How games that count ended, and a sum: every game of the report is in it once.

    Args:
        made: the ends.
        counted: games that count.
        excluded: games that count for nobody.
    """
    if not counted:
        return "<p>No game has a winner.</p>"
    rows: list[list[Cell | str]] = []
    for end in made:
        reason = f"{end.reason}: {end.fault}" if end.fault else end.reason
        none = _NOT_BEGUN if end.fault == "benched" else NA
        mean = none if end.rounds is None else f"{end.rounds:.1f}"
        side = SIDES.get(end.winner, end.winner)
        rows.append(
            [text(reason), text(side), f"{end.games:,}", percent(end.games / counted), mean]
        )
    rows.append(["all that count", "", f"{counted:,}", percent(1.0), Cell("·", "na")])
    if excluded:
        none = Cell("·", "na")
        rows.append(["count for nobody", "", f"{excluded:,}", none, none])
        rows.append(["all games", "", f"{counted + excluded:,}", none, none])
    heads = [
        Column("reason", "text"),
        Column("won by", "text"),
        Column("games"),
        Column("share"),
        Column("rounds, mean"),
    ]
    return table("Games that count, by how they ended", heads, rows)


def meanings(made: Sequence[End]) -> str:
    """What those ends mean whose word does not say who or what; nothing where there is none."""
    found = {end.reason for end in made}
    told = [
        f"{word.capitalize()}: {meaning}." for word, meaning in _MEANINGS.items() if word in found
    ]
    return f'<p class="why">{" ".join(told)}</p>' if told else ""


def rounds(made: list[RoundCount], about: str = "") -> str:
    """In which round games ended, as a plot and in numbers.

    Args:
        made: the rounds.
        about: whose games, for the plot's title; plain text.
    """
    if not made:
        return ""
    rows: list[list[Cell | str]] = [
        [str(row.round), f"{row.mister_x:,}", f"{row.detectives:,}"] for row in made
    ]
    rows.append(
        [
            "all",
            f"{sum(row.mister_x for row in made):,}",
            f"{sum(row.detectives for row in made):,}",
        ]
    )
    heads = [Column("round", "text"), Column("Mister X"), Column("detectives")]
    caption = "Round in which games ended, by the winner; forfeits left out"
    return (
        f'<figure class="scroll" tabindex="0">{charts.round_plot(made, about)}</figure>'
        f"<details><summary>The same in numbers</summary>\n{table(caption, heads, rows)}</details>"
    )


def starts(made: list[StartCount]) -> str:
    """Win rate of Mister X by his start station."""
    if not made:
        return "<p>No game was played out, or its ruleset tells no start station.</p>"
    is_named = any(row.name for row in made)
    rows: list[list[Cell | str]] = [
        [
            *([text(row.name)] if is_named else []),
            str(row.station),
            share(row.escaped),
            f"{row.escaped.games:,}",
        ]
        for row in made[:MAX_ROWS]
    ]
    heads = [Column("station", "text"), Column("escaped"), Column("games")]
    if is_named:
        heads = [Column("place", "text"), Column("number", "text"), *heads[1:]]
    return (
        "<p>How often Mister X escaped by the station that he began on, forfeits left out. "
        "Stations with few games have wide intervals: by themselves they tell little.</p>"
        f'<figure class="scroll" tabindex="0">{charts.start_plot(made)}</figure>'
        "<details><summary>The same in numbers</summary>\n"
        f"{table('Escapes by start station, forfeits left out', heads, rows)}</details>"
    )


def words(made: Sequence[WordCount]) -> str:
    """Win rate of Mister X by what the ruleset calls a game, such as its mission: a table each."""
    tables = []
    for fact in dict.fromkeys(row.fact for row in made):
        rows: list[list[Cell | str]] = [
            [text(row.word), share(row.escaped), f"{row.escaped.games:,}"]
            for row in [row for row in made if row.fact == fact][:MAX_ROWS]
        ]
        heads = [Column(text(fact), "text"), Column("escaped"), Column("games")]
        tables.append(table(f"Escapes by {fact}, forfeits left out", heads, rows))
    return "\n".join(tables)


def faults(made: Sequence[FaultCount], places: Places, *, whose: str = "") -> str:
    """Faults by kind and phase, and by bot with the first of each.

    Args:
        made: the faults, the most frequent first.
        places: where pages are.
        whose: the only bot's name, where it is one's; then it is not told again.
    """
    if not made:
        return "<p>It did nothing wrong.</p>" if whose else "<p>No bot did anything wrong.</p>"
    heads = [
        Column("bot", "name text"),
        Column("kind", "text"),
        Column("phase", "text"),
        Column("games"),
        Column("of its games"),
        Column("first game", "text"),
        Column("what happened there", "text wrap"),
    ]
    rows: list[list[Cell | str]] = [
        [
            linked(name(fault.bot), places.bot(fault.bot)),
            text(fault.kind),
            text(fault.phase or "·"),
            linked(
                f"{fault.games:,}",
                places.games(bot=fault.bot, fault=fault.kind),
            ),
            percent(fault.share),
            _game(fault.first_game, places, drawn=fault.kind != "benched"),
            text(what_happened(fault.text, fault.first_game)) if fault.text else "·",
        ]
        for fault in made[:MAX_ROWS]
    ]
    if whose:
        heads, rows = heads[1:], [row[1:] for row in rows]
        return table("Faults by kind and phase", heads, rows) + _benched(made)
    return (
        _by_kind(made)
        + table("Faults by bot, kind and phase", heads, rows)
        + _cut(len(made))
        + _benched(made)
    )


def _benched(made: Sequence[FaultCount]) -> str:
    if all(fault.kind != "benched" for fault in made):
        return ""
    return (
        "<p>Benched: after too many faults in a row a bot loses all its later games, played or "
        "not; a game of two benched bots counts for nobody.</p>"
    )


def _by_kind(made: Sequence[FaultCount]) -> str:
    """A line a kind, a column a phase."""
    counts: Counter[tuple[str, str]] = Counter()
    for fault in made:
        counts[fault.kind, fault.phase or ""] += fault.games
    phases = [phase for phase in _PHASES if any(key[1] == phase for key in counts)]
    kinds: Counter[str] = Counter()
    for (kind, _), games in counts.items():
        kinds[kind] += games
    rows: list[list[Cell | str]] = [
        [
            text(kind),
            *(f"{counts[kind, phase]:,}" if counts[kind, phase] else "·" for phase in phases),
            f"{games:,}",
        ]
        for kind, games in kinds.most_common()
    ]
    rows.append(
        [
            "all",
            *(f"{sum(counts[kind, phase] for kind in kinds):,}" for phase in phases),
            f"{counts.total():,}",
        ]
    )
    heads = [
        Column("kind", "text"),
        *(Column(text(_PHASES[phase])) for phase in phases),
        Column("all"),
    ]
    both = "<p>A game in which both bots failed has two faults.</p>"
    return table("Faults by kind and phase", heads, rows) + both


_PHASES = {"start-up": "start-up", "turn": "turn", "off-turn": "off turn", "": "not played"}


def _game(game: str, places: Places, *, drawn: bool = True) -> str:
    """A game's id, leading to its replay, or the command that draws it."""
    replay = places.replay(game)
    short = text(game[:10])
    if replay is not None:
        return linked(f"<code>{short}</code>", replay)
    return f"<code>arena replay {short}</code>" if drawn else f"<code>{short}</code>"


def _cut(count: int) -> str:
    if count <= MAX_ROWS:
        return ""
    return f"<p>The first {MAX_ROWS} of {count:,}; all are in games.csv.</p>"


def times(made: Sequence[TimeUse], places: Places, *, whose: str = "") -> str:
    """Charged times of bots by side, and what was left in the bank.

    Args:
        made: a line a bot and side.
        places: where pages are.
        whose: the only bot's name, where it is one's; then it is not told again.
    """
    if not made:
        return "<p>No times were kept.</p>"
    heads = [
        Column("bot", "name text"),
        Column("side", "text"),
        Column("median"),
        Column("95&nbsp;%"),
        Column("longest"),
        Column("answers"),
        Column("time losses"),
        Column("bank left, median"),
        Column("bank left, least"),
        Column("start-up, median"),
        Column("off turn, mean"),
        Column("given back"),
    ]
    rows: list[list[Cell | str]] = [
        [
            linked(name(row.bot), places.bot(row.bot)),
            SIDES.get(row.side, text(row.side)),
            _ms(row.p50_ms, _NO_ANSWER),
            _ms(row.p95_ms, _NO_ANSWER),
            _ms(row.max_ms, _NO_ANSWER),
            f"{row.answers:,}",
            f"{row.time_losses:,}",
            _ms(row.bank_left_p50_ms, _NO_BANK),
            _ms(row.bank_left_min_ms, _NO_BANK),
            _ms(row.start_p50_ms, _NO_ANSWER),
            _ms(row.off_turn_mean_ms, _NOT_LOOKED),
            _ms(row.given_back_ms, _OLDER),
        ]
        for row in made[: 2 * MAX_ROWS]
    ]
    lead = (
        "Charged time of an answer in milliseconds: half of them took at most the median, "
        "95&nbsp;% at most the next number. An answer that did not come in time is none of them: "
        "it is a time loss. Start-up is not charged."
    )
    left_out = {0} if whose else set()  # columns that would tell nothing
    if any(row.bank_left_p50_ms is not None for row in made):
        lead += " Bank left is what a game's last answer left of it."
    else:
        left_out |= {7, 8}
    if any(row.off_turn_mean_ms is not None for row in made):
        lead += " Off turn is the CPU time that a bot used in a game while the other was to move."
    else:
        left_out.add(10)
    if any(row.given_back_ms for row in made):
        lead += (
            " Given back is by how much its deadlines were moved in all games, since the machine "
            "kept it from running."
        )
    else:
        left_out.add(11)
    heads = [head for k, head in enumerate(heads) if k not in left_out]
    rows = [[cell for k, cell in enumerate(row) if k not in left_out] for row in rows]
    cut = ""
    if len(made) > 2 * MAX_ROWS:
        cut = f"<p>The first {2 * MAX_ROWS} of {len(made):,}; all are in report.json.</p>"
    return f"<p>{lead}</p>" + table("Time use by bot and side, in ms", heads, rows) + cut


def _ms(value: float | None, missing: Cell) -> Cell:
    if value is None:
        return missing
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return Cell(f"{value:,.{digits}f}")


def excluded(report: Report, places: Places) -> str:
    """Every game that counts for nobody, with its rule."""
    if not report.excluded:
        return "<p>None: every game of this report counts.</p>"
    heads = [
        Column("game", "text"),
        Column("no."),
        Column("deal"),
        Column("Mister X", "name text"),
        Column("detectives", "name text"),
        Column("rule", "text"),
    ]
    rows: list[list[Cell | str]] = [
        [
            _game(row.game, places, drawn=False),
            f"{row.index:,}",
            text(row.deal),
            linked(name(row.mister_x), places.bot(row.mister_x)),
            linked(name(row.detectives), places.bot(row.detectives)),
            text(row.rule),
        ]
        for row in report.excluded[:MAX_ROWS]
    ]
    made = table("Each with the rule that leaves it out", heads, rows)
    if len(report.excluded) > MAX_ROWS:
        every = linked("all of them", places.games(note="excluded"))
        made += f"<p>The first {MAX_ROWS} of {len(report.excluded):,}; {every}.</p>"
    return made


def games_list(
    caption: str, lines: Sequence[GameLine], places: Places, *, specials: bool = False
) -> str:
    """Games with their replays, or the commands that draw them.

    Args:
        caption: plain text.
        lines: the games, as many as are to be shown.
        places: where replays are.
        specials: whether to tell how many special tickets Mister X spent.
    """
    heads = [
        Column("game", "text"),
        Column("no."),
        Column("Mister X", "name text"),
        Column("detectives", "name text"),
        Column("won by", "text"),
        Column("reason", "text"),
        Column("rounds"),
    ]
    rows: list[list[Cell | str]] = []
    for line in lines:
        kinds = [kind for kind in (line.mister_x_fault, line.detectives_fault) if kind]
        reason = f"{line.reason}: {', '.join(kinds)}" if kinds else line.reason
        rows.append(
            [
                _game(line.game, places, drawn=line.reason != "void" and "benched" not in kinds),
                f"{line.index:,}",
                linked(name(line.mister_x), places.bot(line.mister_x)),
                linked(name(line.detectives), places.bot(line.detectives)),
                text(SIDES.get(line.winner, "nobody")),
                text(reason),
                NA if line.rounds is None else str(line.rounds),
            ]
        )
        if specials:
            rows[-1].append(NA if line.specials is None else str(line.specials))
    if specials:
        heads.append(Column("special tickets"))
    return table(caption, heads, rows)
