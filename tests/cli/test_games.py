"""What is stored, listed: by bot, winner and reason; and the report of it in the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.cli.exits import Exit
from arena.cli.stored import DATABASE
from arena.store.database import Database
from tests.cli.calling import Caller
from tests.fake_games import fake_plan, fake_record


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a run of three bots, of which the last always crashes."""
    folder = tmp_path / "a b"
    with Database(folder / DATABASE) as database:
        run = database.begin(fake_plan(3, deals=2))
        for number in range(run.plan.count):
            database.add_record(run, fake_record(run.plan.spec(number), faulty=["bot2"]))
        database.finish(run)
    return folder


def test_next_command_names_the_folder(arena: Caller, data: Path) -> None:
    called = arena("games", "--data", data)
    assert called.code == 0
    assert f"--data '{data}'" in called.stderr.splitlines()[-1]


def test_time_that_was_given_back_is_listed(arena: Caller, tmp_path: Path) -> None:
    with Database(tmp_path / DATABASE) as database:
        run = database.begin(fake_plan(3, deals=2))
        first, second = (fake_record(run.plan.spec(number)) for number in range(2))
        seats = {
            side: replace(getattr(second.aside, side), given_back_ms=given_ms)
            for side, given_ms in (("mister_x", 1200.0), ("detectives", 34.5))
        }
        aside = replace(second.aside, marks=("unsandboxed", "overloaded"), **seats)
        database.add_record(run, first)
        database.add_record(run, replace(second, aside=aside))
    called = arena("games", "--data", tmp_path, "--spoil", "--json")
    assert [game["given_back_ms"] for game in called.json["games"]] == [0.0, 1234.5]
    assert called.json["games"][1]["marks"] == ["unsandboxed", "overloaded"]
    listed = arena("games", "--data", tmp_path, "--spoil").stdout
    assert "unsandboxed, overloaded (1,234 ms)" in listed


@pytest.mark.parametrize(("limit", "games"), [("1", 1), ("12", 12), ("9" * 23, 12)])
def test_at_most_so_many_are_listed(arena: Caller, data: Path, limit: str, games: int) -> None:
    called = arena("games", "--data", data, "--limit", limit, "--json")
    assert (called.code, len(called.json["games"])) == (0, games)


@pytest.mark.parametrize("option", ["--bot", "--winner"])
def test_nobody_of_that_name_is_refused(arena: Caller, data: Path, option: str) -> None:
    called = arena("games", "--data", data, option, "bot9")
    assert called.code == Exit.USAGE
    assert "has no bot bot9; did you mean bot" in called.stderr


@pytest.mark.parametrize("winner", ["bot0", "mister_x", "detectives", "nobody"])
def test_winner_is_a_bot_or_a_side_or_nobody(arena: Caller, data: Path, winner: str) -> None:
    assert arena("games", "--data", data, "--winner", winner).code == 0


def test_reason_that_no_game_has_is_told_with_those_there_are(arena: Caller, data: Path) -> None:
    called = arena("games", "--data", data, "--reason", "crashed", "--json")
    assert (called.code, called.json["games"]) == (0, [])
    assert "warning: no game of this run ended with 'crashed'; there are " in called.stderr
    assert "crash, " in called.stderr or "crash\n" in called.stderr


def test_report_in_the_terminal_has_faults_and_times(arena: Caller, data: Path) -> None:
    called = arena("report", "--data", data)
    assert called.code == 0
    assert "faults of" in called.stdout
    assert "ms an answer" in called.stdout
    assert "warning: " in called.stderr


def test_report_lists_its_own_files_alone(arena: Caller, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "private").mkdir(parents=True)
    (folder / "private" / "letter").touch()
    answer = arena("report", "--data", data, "-o", folder, "--json").json
    assert "index.html" in answer["files"]
    assert "report.json" in answer["files"]
    assert "private/letter" not in answer["files"]
