"""What `arena play` says of a game, without playing one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from arena.cli.play import answer_of, given_back, off_turn, tell
from arena.cli.talk import Settings, Talk
from tests.fake_games import fake_plan, fake_record

RECORD = fake_record(fake_plan().spec(0))


@pytest.mark.parametrize(
    ("used_ms", "caught", "lines"),
    [
        (None, False, []),
        (0.9, False, []),
        (12.3, False, ["The detectives used 12 ms of CPU time off turn."]),
        (
            1234.5,
            True,
            ["The detectives used 1,234 ms of CPU time off turn; the bot was stopped for it."],
        ),
    ],
    ids=["nobody looked", "as everybody", "some", "caught"],
)
def test_who_used_time_off_turn_is_told(
    used_ms: float | None, caught: bool, lines: list[str]
) -> None:
    seat = replace(RECORD.aside.detectives, off_turn_cpu_ms=used_ms, caught_pondering=caught)
    assert off_turn(replace(RECORD, aside=replace(RECORD.aside, detectives=seat))) == lines


def test_time_that_was_given_back_is_told() -> None:
    seat = replace(RECORD.aside.mister_x, given_back_ms=1234.5)
    [line] = given_back(replace(RECORD, aside=replace(RECORD.aside, mister_x=seat)))
    assert "1,234 ms longer in all" in line
    assert given_back(RECORD) == []


def test_void_game_is_told_by_its_cause_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """The record names the class of the error too, for maintainers."""
    void = replace(RECORD, aside=replace(RECORD.aside, void="HostFault: no room: not one byte"))
    tell(Talk(Settings()), void, answer_of(void, "7", 0.1))
    assert capsys.readouterr().out == "The game is void, and nobody's: no room: not one byte\n"
