"""Promises beside measures, two runs beside each other, and the table of them in README.md."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.bench.promises import PROMISES, changes, judge, value_of
from arena.cli import answers
from tests.benchmarks.figures import FIGURES, README, in_readme, table

FOUND: dict[str, Any] = {
    "schema": "arena.bench/1",
    "bare": {"unpinned_us": 40.0, "pinned_us": 5.0},
    "request": {"ratio_one": 2.0, "ratio_cpu": 5.0, "one_us": 80.0, "p99_us": 120.0},
    "requests_per_s": 30_000.0,
    "games_per_s": {"kept": 500.0, "fresh": 10.0},
    "scaling_2": None,
    "start": {"sandbox_ms": None, "help_ms": 60.0},
}


def found(**request: float) -> dict[str, Any]:
    return FOUND | {"request": FOUND["request"] | request}


def by_path(measured: dict[str, Any]) -> dict[str, Any]:
    return {kept.promise.path: kept for kept in judge(measured)}


def test_only_what_was_measured_is_judged() -> None:
    assert set(by_path(FOUND)) == {
        "request.ratio_one",
        "request.ratio_cpu",
        "request.p99_us",
        "requests_per_s",
        "games_per_s.kept",
        "games_per_s.fresh",
        "start.help_ms",
    }
    assert value_of(FOUND, "bare.pinned_us") == 5.0
    assert value_of(FOUND, "bare.pinned_us.deeper") is None


def test_a_promise_is_kept_up_to_its_limit_from_either_side() -> None:
    kept = by_path(FOUND)
    assert kept["request.ratio_cpu"].by == pytest.approx(5 / 6)
    assert kept["requests_per_s"].by == pytest.approx(25 / 30)
    assert kept["games_per_s.fresh"].by == pytest.approx(2.0)
    assert not kept["games_per_s.fresh"].holds
    assert by_path(found(ratio_cpu=6.0))["request.ratio_cpu"].holds


def test_only_a_ratio_that_passes_by_a_quarter_is_broken() -> None:
    assert not by_path(found(ratio_cpu=7.5))["request.ratio_cpu"].is_broken
    assert by_path(found(ratio_cpu=7.6))["request.ratio_cpu"].is_broken
    assert not by_path(FOUND)["games_per_s.fresh"].is_broken  # no ratio


def test_where_the_bare_round_trip_is_short_a_few_microseconds_count_not_the_ratio() -> None:
    short = found(ratio_one=3.0, one_us=60.0) | {"bare": {"unpinned_us": 20.0, "pinned_us": 5.0}}
    assert by_path(short)["request.ratio_one"].holds
    short["request"]["one_us"] = 66.0
    assert by_path(short)["request.ratio_one"].is_broken


@pytest.mark.parametrize(("path", "now"), [("scaling_2", 0.0), ("requests_per_s", 0)])
def test_nothing_at_all_is_no_kept_promise(path: str, now: float) -> None:
    kept = by_path(FOUND | {path: now})[path]
    assert not kept.holds
    assert kept.is_broken == (path == "scaling_2")
    (change,) = changes({path: 1.8}, {path: now})
    assert change.worse == inf
    (change,) = changes({path: now}, {path: 1.8})
    assert change.worse == 0


def test_a_cost_that_was_nothing_and_is_something_got_worse() -> None:
    (change,) = changes({"coordinator": {"share": 0.0}}, {"coordinator": {"share": 0.01}})
    assert change.is_worse


def test_where_the_bare_round_trip_is_short_runs_are_not_compared_by_the_ratio() -> None:
    short = found(ratio_one=3.0, one_us=60.0) | {"bare": {"unpinned_us": 20.0, "pinned_us": 5.0}}
    old = found(ratio_one=1.6, one_us=60.0)
    told = {change.promise.path: change for change in changes(old, short)}
    assert not told["request.ratio_one"].is_worse
    short["request"]["one_us"] = 66.0
    told = {change.promise.path: change for change in changes(old, short)}
    assert told["request.ratio_one"].is_worse


def test_where_two_thousand_games_a_second_are_stored_the_share_does_not_count() -> None:
    quick = {"storing": {"games_per_s": 2_000.0, "share": 0.2}}
    slow = {"storing": {"games_per_s": 1_999.0, "share": 0.2}}
    assert by_path(quick)["storing.share"].holds
    assert by_path(slow)["storing.share"].is_broken
    assert by_path({"storing": {"share": 0.2}})["storing.share"].is_broken
    (change,) = changes({"storing": {"share": 0.6}}, quick)
    assert change.is_worse  # than it was, on the same kind of disk


def test_changes_tell_better_from_worse_for_both_kinds() -> None:
    old = found() | {"requests_per_s": 40_000.0, "scaling_2": 1.8}
    told = {change.promise.path: change for change in changes(old, found(ratio_cpu=6.5))}
    assert told["request.ratio_cpu"].worse == pytest.approx(1.3)
    assert told["request.ratio_cpu"].is_worse
    assert told["requests_per_s"].worse == pytest.approx(4 / 3)
    assert not told["requests_per_s"].is_worse  # machines differ
    assert "scaling_2" not in told


def test_readme_shows_the_figures_of_the_last_run_kept_in_the_tree() -> None:
    figures = json.loads(Path(FIGURES).read_text(encoding="utf-8"))
    msgspec.convert(figures, answers.Measured)
    assert {kept.promise.path for kept in judge(figures)} == {p.path for p in PROMISES}
    assert in_readme(README.read_text(encoding="utf-8")) == table(figures)
    assert [kept for kept in judge(figures) if not kept.holds] == []
    assert figures["sandbox"]
