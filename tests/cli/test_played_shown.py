"""Tables of faults and time use: all that a person asks first when a bot has lost."""

from __future__ import annotations

import pytest

from arena.cli.played_shown import MOST_ROWS, faults_table, left_out, times_table
from arena.cli.talk import Settings, Talk
from reports.report import FaultCount, TimeUse

FAULT = FaultCount(
    bot="slow\x1b[31m",
    kind="timeout",
    phase="turn",
    games=1200,
    share=0.25,
    first_game="0123456789abcdef",
    text="no answer within 1,000 ms",
)
TIME = TimeUse(
    bot="slow",
    side="mister_x",
    games=3,
    answers=1234,
    p50_ms=0.123,
    p95_ms=12.34,
    max_ms=1000.4,
    start_p50_ms=None,
    time_losses=1,
    off_turn_mean_ms=None,
    bank_left_p50_ms=None,
    bank_left_min_ms=None,
    given_back_ms=None,
)


def test_fault_is_told_with_a_game_to_look_at(capsys: pytest.CaptureFixture[str]) -> None:
    Talk(Settings()).result(faults_table([FAULT]))
    line = capsys.readouterr().out.splitlines()[2]
    assert line.split() == [r"slow\x1b[31m", "timeout", "turn", "1,200", "0123456789", "25.0", "%"]


def test_times_have_about_three_digits(capsys: pytest.CaptureFixture[str]) -> None:
    Talk(Settings()).result(times_table([TIME]))
    line = capsys.readouterr().out.splitlines()[2]
    assert line.split() == ["slow", "Mister", "X", "0.12", "12.3", "1,000", "1,234", "1", "·", "·"]


def test_long_tables_end_with_what_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    Talk(Settings()).result(times_table([TIME] * (MOST_ROWS + 1)))
    assert len(capsys.readouterr().out.splitlines()) == 2 + MOST_ROWS
    assert left_out(MOST_ROWS) is None
    assert left_out(MOST_ROWS + 1) == "… and 1 line more in the report"
