"""The data of a report, and its published schema."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import msgspec
import pytest

from reports.frames import Games
from reports.ratings import Anchor, Settings
from reports.report import Meta, build, schema
from tests.reports.rows import small_run

ROOT = Path(__file__).parents[2]
PUBLISHED = files("reports.schema").joinpath("report.schema.json")


def test_published_schema_is_that_of_the_code() -> None:
    """Write it anew with `ARENA_WRITE_SCHEMAS=1 pytest tests/reports/test_report.py`."""
    text = json.dumps(schema(), indent=2, sort_keys=True) + "\n"
    if os.environ.get("ARENA_WRITE_SCHEMAS"):
        Path(str(PUBLISHED)).write_text(text, "utf-8")
    assert PUBLISHED.read_text("utf-8") == text


@pytest.mark.parametrize("deals", [0, 1, 12])
def test_reports_keep_the_schema(deals: int) -> None:
    made = build(Games.collect(small_run(deals)), Meta(facts=[("clock", "none")]))
    told = json.loads(msgspec.json.encode(made))
    jsonschema.Draft202012Validator(schema()).validate(told)
    assert told["schema"] == "arena.report-data/1"
    assert "NaN" not in msgspec.json.encode(made).decode()


def test_schema_refuses_another_shape() -> None:
    told = json.loads(msgspec.json.encode(build(Games.collect(small_run(1)), Meta())))
    told["counts"]["games"] = "many"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(told)


def test_an_anchor_that_has_forfeits_alone_does_not_stop_the_second_rating() -> None:
    rows = [row for row in small_run() if row.reason == "fault" and row.winner]
    made = build(
        Games.collect(rows), Meta(), settings=Settings(anchors=(Anchor(bot="belief", elo=0),))
    )
    assert made.without_faults is not None
    assert made.without_faults.bots == []


def measured(deals: int, bots: int, folder: Path) -> dict[str, float]:
    """Make a report of synthetic games in a process of its own; what it took."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.reports.make_report", str(deals), str(bots), str(folder)],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
        },  # where the wheel is tested, no folder is on it
        capture_output=True,
        check=True,
        timeout=300,
    )
    told: dict[str, float] = json.loads(done.stdout)
    sys.stdout.write(f"{told}\n")
    return told


@pytest.mark.slow
def test_a_report_of_five_thousand_games_is_made_in_time(tmp_path: Path) -> None:
    told = measured(167, 6, tmp_path)
    assert told["games"] > 5_000
    assert told["busy_s"] <= 8
    assert told["peak_mib"] <= 400


@pytest.mark.long
def test_a_report_of_a_hundred_thousand_games_is_made_in_time_and_memory(tmp_path: Path) -> None:
    told = measured(3_334, 6, tmp_path)
    assert told["games"] > 100_000
    assert told["busy_s"] <= 20
    assert told["peak_mib"] <= 1_000
    assert (tmp_path / "index.html").stat().st_size < 1_000_000
    assert (tmp_path / "one.html").stat().st_size < 20_000_000


@pytest.mark.long
def test_a_report_of_two_hundred_bots_stays_readable(tmp_path: Path) -> None:
    told = measured(1, 200, tmp_path)
    assert told["busy_s"] <= 40
    assert (tmp_path / "index.html").stat().st_size < 1_000_000
    assert all(file.stat().st_size < 500_000 for file in (tmp_path / "bots").iterdir())
