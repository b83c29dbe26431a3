"""`arena rate`: what it prints beside the ratings, and what it says of faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.cli.snapshots import same
from tests.reports import known
from tests.reports.known import Game


def write(folder: Path, games: list[Game], faults: int = 0) -> Path:
    """A file of results in which the first games were decided by a fault."""
    file = folder / "r.csv"
    lines = [
        f"{deal or ''},{x},{d},{'mister_x' if won else 'detectives'},"
        f"{'fault' if k < faults else 'captured'}\n"
        for k, (x, d, won, deal) in enumerate(games)
    ]
    file.write_text("deal,mister_x,detectives,winner,reason\n" + "".join(lines))
    return file


def test_output_is_as_it_was(arena: Caller, tmp_path: Path) -> None:
    file = write(tmp_path, known.three_bots(), faults=6)
    called = arena("rate", file, "--pairs", "--bootstrap", 100, env={"COLUMNS": "120"})
    assert called.code == 0
    same("output/rate-pairs-bootstrap.txt", called.stdout + "-- stderr\n" + called.stderr)


def test_games_decided_by_faults_have_a_second_column(arena: Caller, tmp_path: Path) -> None:
    called = arena("rate", write(tmp_path, known.three_bots(), faults=6))
    assert "clean" in called.stdout.splitlines()[0].split()
    assert "6 of them decided by a fault" in called.stderr
    answer = arena("rate", write(tmp_path, known.three_bots(), faults=6), "--json").json
    assert answer["forfeits"] == 6
    clean = arena("rate", write(tmp_path, known.three_bots()[6:]), "--json").json
    assert answer["without_faults"]["bots"] == clean["bots"]


def test_without_faults_there_is_no_second_column(arena: Caller, tmp_path: Path) -> None:
    file = write(tmp_path, known.three_bots())
    called = arena("rate", file)
    assert "clean" not in called.stdout
    assert arena("rate", file, "--json").json["without_faults"] is None


def test_only_faults_leave_nothing_without_them(arena: Caller, tmp_path: Path) -> None:
    called = arena("rate", write(tmp_path, known.two_bots(1, 1, 1, 1), faults=8))
    assert called.code == 0
    assert "a fault decided every game, so nothing is left without them" in called.stderr


def test_role_advantage_and_the_test_of_sides_are_told(arena: Caller, tmp_path: Path) -> None:
    called = arena("rate", write(tmp_path, known.three_bots()), "--prior", 0)
    assert "Mister X's advantage among equals: -118 ± 62 Elo" in called.stdout
    assert "(model b against a)? p = 0.0042, χ² 10.94, 2 df" in called.stdout


def test_pairs_of_two_bots_are_told_once(arena: Caller, tmp_path: Path) -> None:
    called = arena("rate", write(tmp_path, known.two_bots(14, 21, 9, 56)), "--pairs")
    assert "game pairs" in called.stdout
    assert "by decided pairs" not in called.stdout  # one gap; the table of pairs has it
    (line,) = [line for line in called.stdout.splitlines() if line.startswith("A - B")]
    assert line.split()[3:10] == ["9", "70", "14", "56", "21", "56", "%"]
    assert "+74" in line


def test_loose_anchors_are_taken(arena: Caller, tmp_path: Path) -> None:
    file = write(tmp_path, known.three_bots())
    called = arena("rate", file, "--anchor", "A=1000~30", "--anchor", "C=900~30", "--json")
    elo = {bot["name"]: bot["elo"] for bot in called.json["bots"]}
    assert 950 < elo["A"] < 1050
    assert 850 < elo["C"] < 950


@pytest.mark.parametrize("draws", ["1", "100001", "many"])
def test_bootstrap_of_no_sense_is_refused(arena: Caller, tmp_path: Path, draws: str) -> None:
    called = arena("rate", write(tmp_path, known.three_bots()), "--bootstrap", draws)
    assert called.code == 2
    assert "--bootstrap" in called.stderr


def test_games_without_a_winner_alone_are_refused(arena: Caller, tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("deal,mister_x,detectives,winner\n1,A,B,\n")
    called = arena("rate", file)
    assert called.code == 2
    assert "no game in it has a winner" in called.stderr


def test_bots_bounded_by_the_prior_have_open_intervals(arena: Caller, tmp_path: Path) -> None:
    file = write(tmp_path, known.two_bots(0, 8, 0, 0))
    called = arena("rate", file, "--pairs", "--bootstrap", 50)
    assert called.code == 0
    assert "≥ " in called.stdout
    assert "bounded by prior" in called.stderr
    assert "nan" not in called.stdout.lower()
    assert "inf" not in called.stdout.lower()


def test_too_many_bots_are_not_shown_two_by_two(arena: Caller, tmp_path: Path) -> None:
    games: list[Game] = [
        (f"b{k}", f"b{(k + step) % 101}", (k + step) % 2 == 0, str(k % 7))
        for k in range(101)
        for step in (1, 2, 3, 50)
    ]
    called = arena("rate", write(tmp_path, games), "--pairs")
    assert called.code == 0
    assert "game pairs" not in called.stdout
    assert "there are too many bots to show every two of them by their pairs" in called.stderr
