"""The data of a report, and its published schema."""

from __future__ import annotations

import json
import os
import time
from importlib.resources import files
from pathlib import Path

import jsonschema
import msgspec
import pytest

from reports import site
from reports.frames import Games
from reports.ratings import Anchor, Settings
from reports.report import Meta, build, schema
from tests.reports.rows import small_run

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


@pytest.mark.slow
def test_a_report_of_a_hundred_thousand_games_is_made_in_time(tmp_path: Path) -> None:
    rows = small_run(3334, tuple(f"bot {k}" for k in range(6)))
    assert len(rows) > 100_000
    start, busy = time.perf_counter(), time.process_time()
    games = Games.collect(rows)
    site.write(build(games, Meta()), games, tmp_path)
    assert min(time.perf_counter() - start, time.process_time() - busy) <= 20
    assert (tmp_path / "index.html").stat().st_size < 1_000_000
