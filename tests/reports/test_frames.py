"""The table of games: counting, order, files."""

from __future__ import annotations

import csv
import io
import random
from typing import Any

import pytest

from arena.referee.record import (
    Aside,
    BotName,
    Core,
    Fault,
    GameRecord,
    Play,
    SeatAside,
    TurnTime,
)
from reports.csv_texts import matrix_csv, ratings_csv
from reports.frames import GameRow, Games, Seat, row_of
from reports.names import unguarded
from reports.report import Meta, build
from tests.reports.rows import NAMES, small_run


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def game(index: int, **changed: Any) -> GameRow:
    row: dict[str, Any] = {
        "game": f"{index:04}",
        "index": index,
        "deal": "0",
        "mister_x": "A",
        "detectives": "B",
        "winner": "mister_x",
        "reason": "last round",
        "rounds": 24,
    }
    return GameRow(**(row | changed))


def test_rows_in_any_order_make_the_same_report() -> None:
    rows = small_run()
    shuffled = list(rows)
    random.Random(1).shuffle(shuffled)
    one, other = Games.collect(rows), Games.collect(shuffled)
    assert one.csv() == other.csv()
    assert build(one, Meta()) == build(other, Meta())


def test_every_game_is_counted_once() -> None:
    games = Games.collect(small_run())
    made = build(games, Meta())
    assert made.counts.games == len(games) == 144
    assert made.counts.counted == sum(end.games for end in made.ends)
    assert made.counts.excluded == len(made.excluded) == 2
    assert made.counts.forfeits == sum(end.games for end in made.ends if end.fault)
    ended = sum(row.mister_x + row.detectives for row in made.rounds)
    assert ended == made.counts.counted - made.counts.forfeits
    assert sum(cell.games for row in made.matrix.cells for cell in row) == made.counts.counted
    assert sum(bot.games for bot in made.ratings.bots) == 2 * made.counts.counted


def test_ratings_without_forfeits_leave_out_just_those() -> None:
    made = build(Games.collect(small_run()), Meta())
    assert made.without_faults is not None
    assert made.without_faults.games == made.counts.counted - made.counts.forfeits
    assert made.without_faults.bots[-1].elo != made.ratings.bots[-1].elo


def test_without_forfeits_there_is_no_second_rating() -> None:
    assert build(Games.collect([game(0), game(1, deal="1")]), Meta()).without_faults is None


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"winner": None, "reason": "void"}, "void: our own fault, or stopped by hand"),
        (
            {"winner": None, "reason": "fault", "x": Seat(fault="crash"), "d": Seat(fault="crash")},
            "both bots failed",
        ),
        (
            {
                "winner": None,
                "reason": "fault",
                "x": Seat(fault="benched"),
                "d": Seat(fault="benched"),
            },
            "both bots were benched",
        ),
        ({"winner": None, "reason": "stuck"}, "nobody won"),
    ],
)
def test_a_game_that_counts_for_nobody_is_listed_with_its_rule(
    changed: dict[str, Any], rule: str
) -> None:
    made = build(Games.collect([game(0), game(1, **changed)]), Meta())
    assert [(row.index, row.rule) for row in made.excluded] == [(1, rule)]
    assert made.counts.counted == 1


def test_faults_tell_bot_kind_phase_and_the_first_game() -> None:
    crash = Seat(fault="crash", phase="turn", text="exit status 1")
    later = Seat(fault="crash", phase="turn", text="exit status 2")
    rows = [
        game(3, reason="fault", winner="detectives", x=later),
        game(2, reason="fault", winner="mister_x", mister_x="B", detectives="A", d=crash),
        game(1, reason="fault", winner="mister_x", d=Seat(fault="timeout", phase="turn")),
    ]
    first, second = Games.collect(rows).faults()
    assert (first.bot, first.kind, first.games, first.first_game) == ("A", "crash", 2, "0002")
    assert first.text == "exit status 1"
    assert first.share == pytest.approx(0.66667)
    assert (second.bot, second.kind, second.phase, second.text) == ("B", "timeout", "turn", None)


def test_times_are_over_all_answers_of_a_bot_on_a_side() -> None:
    rows = [
        game(0, x=Seat(charged_ms=(1.0, 2.0, 3.0), start_ms=10.0)),
        game(1, x=Seat(charged_ms=(100.0,), start_ms=30.0)),
        game(2, mister_x="B", detectives="A", d=Seat(charged_ms=(5.0,))),
    ]
    times = {(row.bot, row.side): row for row in Games.collect(rows).times(["A", "B"])}
    as_x = times["A", "mister_x"]
    assert (as_x.games, as_x.answers, as_x.p50_ms, as_x.p95_ms, as_x.max_ms) == (
        2,
        4,
        2.0,
        100.0,
        100.0,
    )
    assert as_x.start_p50_ms == 20.0
    assert times["A", "detectives"].p50_ms == 5.0
    assert ("B", "mister_x") not in times  # nothing is known of it


def test_time_losses_and_time_off_turn_stand_beside_the_answers() -> None:
    """An answer that did not come is no answer of 0 ms: it is counted apart."""
    late = Seat(fault="timeout", phase="turn", text="no answer within 1,000 ms", start_ms=5.0)
    rows = [
        game(0, x=Seat(charged_ms=(1.0,), off_turn_ms=10.0)),
        game(1, x=Seat(charged_ms=(1.0,), off_turn_ms=20.0), reason="fault", d=late),
    ]
    times = {row.side: row for row in Games.collect(rows).times(["A", "B"])}
    x, d = times["mister_x"], times["detectives"]
    assert (x.time_losses, x.off_turn_mean_ms) == (0, 15.0)
    assert (d.answers, d.max_ms, d.time_losses, d.off_turn_mean_ms) == (0, None, 1, None)


def test_time_given_back_is_of_all_games_and_unknown_where_no_game_tells() -> None:
    """It is never left out of the sum by a game of an older release, nor made up for one."""
    rows = [
        game(0, x=Seat(charged_ms=(1.0,), given_back_ms=30.5)),
        game(1, x=Seat(charged_ms=(1.0,), given_back_ms=None), d=Seat(charged_ms=(2.0,))),
        game(2, x=Seat(charged_ms=(1.0,), given_back_ms=12.25)),
    ]
    games = Games.collect(rows)
    times = {row.side: row for row in games.times(["A", "B"])}
    assert times["mister_x"].given_back_ms == 42.75
    assert times["detectives"].given_back_ms is None
    assert [row["mister_x_given_back_ms"] for row in rows_of(games.csv())] == ["30.5", "", "12.25"]


def test_a_time_loss_counts_once() -> None:
    """Ends and games that count for nobody add up to the games; no share is over one."""
    late = Seat(fault="timeout", phase="turn", text="no answer within 1,000 ms; timeout; too late")
    rows = [game(n, reason="fault", winner="mister_x", d=late) for n in range(5)]
    rows += [game(5), game(6, winner="detectives", rounds=2), game(7, winner=None, reason="void")]
    made = build(Games.collect(rows), Meta())
    assert sum(end.games for end in made.ends) + made.counts.excluded == made.counts.games == 8
    assert [(end.fault, end.games) for end in made.ends if end.fault] == [("timeout", 5)]
    [fault] = made.faults
    assert fault.games == 5
    assert fault.share == pytest.approx(5 / 8)
    assert sum(row.time_losses for row in made.times) == 5


def test_rounds_have_no_gaps() -> None:
    made = Games.collect([game(0, rounds=3), game(1, rounds=5, winner="detectives")]).rounds()
    assert [(row.round, row.mister_x, row.detectives) for row in made] == [
        (3, 1, 0),
        (4, 0, 0),
        (5, 0, 1),
    ]


def test_no_games_make_an_empty_report() -> None:
    games = Games.collect([])
    made = build(games, Meta())
    assert made.counts.games == 0
    assert made.ratings.bots == []
    assert made.matrix.cells == []
    assert rows_of(games.csv()) == []
    assert rows_of(ratings_csv(made.ratings)) == []


def test_only_void_games_make_a_report_without_ratings() -> None:
    made = build(Games.collect([game(0, winner=None, reason="void")]), Meta())
    assert made.ratings.bots == []
    assert len(made.excluded) == 1


def test_games_csv_round_trips_and_holds_no_formula() -> None:
    names = ("=cmd|'/c calc'!A0", '"quoted", name', "'=x", "line\nbreak")
    rows = small_run(4, names)
    read = rows_of(Games.collect(rows).csv())
    assert len(read) == len(rows)
    for row, cells in zip(rows, read, strict=True):
        assert unguarded(cells["mister_x"]) == row.mister_x
        assert unguarded(cells["detectives"]) == row.detectives
        assert cells["winner"] == (row.winner or "")
        assert cells["deal"] == row.deal
        assert cells["rounds"] == str(row.rounds)
        assert int(cells["mister_x_answers"]) == len(row.x.charged_ms)
        assert all(cell[:1] not in "=+@\t\r" or not cell for cell in cells.values())


def test_ratings_csv_has_a_line_a_bot() -> None:
    made = build(Games.collect(small_run()), Meta())
    read = rows_of(ratings_csv(made.ratings))
    assert [row["name"] for row in read] == [bot.name for bot in made.ratings.bots]
    assert float(read[0]["elo"]) == made.ratings.bots[0].elo
    assert read[0]["bounded"] == "false"


def test_matrix_csv_has_every_cell_that_was_played() -> None:
    made = build(Games.collect(small_run()), Meta())
    read = rows_of(matrix_csv(made))
    assert len(read) == len(NAMES) * (len(NAMES) - 1)
    assert sum(int(row["games"]) for row in read) == made.counts.counted


def test_a_record_becomes_a_row() -> None:
    row = row_of(record(void=None))
    assert (row.game, row.index, row.deal, row.winner, row.reason) == (
        "ab",
        4,
        "2",
        "detectives",
        "fault",
    )
    assert (row.x.fault, row.x.phase, row.x.text) == ("timeout", "turn", "1200 of 1000 ms")
    assert row.x.charged_ms == (3.5,)
    assert row.d == Seat(start_ms=12.0, given_back_ms=0.0)


def test_a_void_record_has_no_winner() -> None:
    row = row_of(record(void="the host was out of memory"))
    assert row.winner is None
    assert row.reason == "void"


def record(*, void: str | None) -> GameRecord:
    return GameRecord(
        core=Core(
            format=1,
            arena="0",
            ruleset="london-2013",
            behaviour=1,
            protocol=1,
            board="",
            game="ab",
            index=4,
            deal=2,
            deal_seed="",
            game_key="",
            mister_x=BotName(name="A", version="1", hash=""),
            detectives=BotName(name="B", version="1", hash=""),
            clock=None,
            nodes=None,
            plays=(Play(side="mister_x", plies=()),),
            winner="detectives",
            reason="fault",
            faults=(Fault(side="mister_x", kind="timeout", phase="turn"),),
            rounds=1,
            facts={},
        ),
        notes={},
        aside=Aside(
            host="h",
            started="2026-01-01T00:00:00Z",
            took_s=1.0,
            marks=("unsandboxed",),
            mister_x=SeatAside(
                start_ms=11.0,
                times=(TurnTime(play=0, charged_ms=3.5, bank_ms=None),),
                stderr="",
                stderr_dropped=0,
                log=(),
                log_dropped=0,
                fault_text="1200 of 1000 ms",
            ),
            detectives=SeatAside(
                start_ms=12.0, times=(), stderr="", stderr_dropped=0, log=(), log_dropped=0
            ),
            void=void,
        ),
    )
