"""`arena bench`: what it says of promises and of an earlier run; measuring is tested elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.cli import bench
from tests.cli.calling import Caller

FOUND: dict[str, Any] = {
    "schema": "arena.bench/1",
    "bare": {"unpinned_us": 40.0, "pinned_us": 5.0},
    "request": {"ratio_one": 2.0, "ratio_cpu": 5.0, "one_us": 80.0, "p99_us": 120.0},
    "requests_per_s": 30_000.0,
}
NEWER = FOUND | {"request": FOUND["request"] | {"ratio_cpu": 7.0}}
WORST = FOUND | {"request": FOUND["request"] | {"ratio_cpu": 8.0}}


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Caller:
    """Calls `arena bench` on a machine that measures what `measured` says."""
    monkeypatch.setattr("arena.cli.bench.enlist", lambda *_, **__: (None,))
    for name, said in (("measure", NEWER), ("measure_stubs", WORST)):
        found = {key: value for key, value in said.items() if key != "schema"}
        monkeypatch.setattr(f"arena.bench.measure.{name}", lambda found=found, **_: found)
    return Caller()


def test_a_run_is_compared_with_an_older_one(call: Caller, tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text(json.dumps(FOUND), encoding="utf-8")
    done = call("bench", "--compare", str(old), "--sandbox", "none")
    assert done.code == 1
    assert "+40 %" in done.stdout
    assert "worse by a quarter or more: CPU time of a request" in done.stderr
    old.write_text(json.dumps(NEWER), encoding="utf-8")
    assert call("bench", "--compare", str(old), "--sandbox", "none").code == 0


def test_measures_are_lines_whatever_they_are() -> None:
    found = {"sandbox": "bubblewrap 0.11.0, route U", "a": {"b": 1_000, "c": 0.5}, "d": None}
    assert bench.flat(found) == [
        ("sandbox", "bubblewrap 0.11.0, route U"),
        ("a.b", "1,000"),
        ("a.c", "0.5"),
        ("d", "-"),
    ]


def test_runs_in_the_sandbox_and_without_it_are_not_compared(call: Caller, tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text(json.dumps(FOUND | {"sandbox": "bubblewrap 0.11.0, route U"}), encoding="utf-8")
    done = call("bench", "--compare", str(old), "--sandbox", "none")
    assert done.code == 2
    assert f"{old}: measured in the sandbox, unlike this run would be: measure both" in done.stderr
    again = call("bench", "--json", "--sandbox", "none").json
    assert again["sandbox"] is None
    old.write_text(json.dumps(again), encoding="utf-8")
    assert call("bench", "--compare", str(old), "--sandbox", "none").code == 0


def test_a_check_fails_where_a_ratio_passes_its_promise_by_a_quarter(call: Caller) -> None:
    assert call("bench", "--check", "--sandbox", "none").code == 0  # 7 of 6
    done = call("bench", "--check", "--stubs", "--sandbox", "none")  # 8 of 6
    assert done.code == 1
    assert "passed" in done.stdout
    assert call("bench", "--stubs", "--sandbox", "none").code == 0  # nobody asked


def test_where_there_is_no_ratio_to_judge_there_is_no_verdict(
    call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = {"requests_per_s": 30_000.0, "scaling_2": None}  # `--stubs` on one CPU
    monkeypatch.setattr("arena.bench.measure.measure_stubs", lambda **_: rates)
    done = call("bench", "--check", "--stubs", "--sandbox", "none")
    assert done.code == 5
    assert "no ratio was measured: nothing to hold to its promise" in done.stderr
    old = tmp_path / "old.json"
    old.write_text(json.dumps(FOUND), encoding="utf-8")
    done = call("bench", "--compare", str(old), "--stubs", "--sandbox", "none")
    assert done.code == 5
    assert f"{old} has no ratio that was measured now: nothing to compare" in done.stderr
    assert "requests a second" in done.stdout


NOTHING = '{"schema": "arena.bench/1", "request": {"ratio_one": null}}'


@pytest.mark.parametrize(
    "text", [None, "", "[]", "{}", '{"schema": "arena.run/1"}', "\xff", NOTHING]
)
def test_an_older_run_that_is_none_is_refused_before_anything_is_measured(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.bench.measure.measure", lambda **_: pytest.fail("measured"))
    old = tmp_path / "old.json"
    if text is not None:
        old.write_bytes(text.encode("latin-1"))
    done = Caller()("bench", "--compare", str(old))
    assert done.code == 2
    assert done.stderr.count("old.json") >= 1
    assert ("can't be read" if text is None else "arena bench --json") in done.stderr


def test_numbers_keep_three_digits() -> None:
    assert [bench.number(value) for value in (0.1234, 5.678, 99.94, 12_345.6)] == [
        *("0.123", "5.68", "99.9", "12,346"),
    ]
