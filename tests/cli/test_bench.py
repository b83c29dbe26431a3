"""`arena bench`: what it says of promises and of an earlier run; measuring is tested elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import arena
from arena.cli import bench
from arena.tournament.executors.cpus import usable_cpus
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


RATIOS: dict[str, Any] = {
    "request": {"ratio_one": 2.0, "ratio_cpu": 7.0},
    "rules": {"ratio": 3.0},
    "scaling_2": 1.75,
    "coordinator": {"share": 0.02},
    "storing": {"share": 0.8},
}


def in_sandbox(monkeypatch: pytest.MonkeyPatch, found: dict[str, Any]) -> None:
    """Let the machine have a sandbox, and measure this."""
    profile = SimpleNamespace(words="bubblewrap 0.11.0, route U")
    monkeypatch.setattr(
        "arena.cli.bench.sandboxing", lambda *_, **__: SimpleNamespace(profile=profile)
    )
    monkeypatch.setattr("arena.bench.measure.measure", lambda **_: found)


def test_a_check_fails_where_a_ratio_passes_its_promise_by_a_quarter(
    call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_sandbox(monkeypatch, RATIOS)
    done = call("bench", "--check")  # 7 of 6
    assert done.code == 0
    assert [line.split()[-1] for line in done.stdout.splitlines() if "pinned" in line] == ["missed"]
    in_sandbox(monkeypatch, RATIOS | {"request": {"ratio_one": 2.0, "ratio_cpu": 8.0}})
    done = call("bench", "--check")
    assert done.code == 1
    assert "worse by a quarter or more: CPU time of a request" in done.stderr
    assert call("bench").code == 0  # nobody asked


@pytest.mark.parametrize("missing", [*RATIOS])
def test_a_check_knows_nothing_where_a_ratio_was_not_measured(
    missing: str, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_sandbox(monkeypatch, RATIOS | {missing: None})
    done = call("bench", "--check")
    assert done.code == 5
    assert "not measured: " in done.stderr


def test_a_check_without_the_sandbox_knows_nothing(
    call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.bench.measure.measure", lambda **_: RATIOS)
    done = call("bench", "--check", "--sandbox", "none")
    assert done.code == 5
    assert "measured without the sandbox, and promised with it" in done.stderr


def test_stubs_are_held_to_no_promise(call: Caller) -> None:
    done = call("bench", "--stubs", "--check")
    assert done.code == 2
    assert "leave out --check or --stubs" in done.stderr
    done = call("bench", "--stubs", "--sandbox", "none")
    assert done.code == 0
    assert "promised" not in done.stdout


def test_where_there_is_no_ratio_to_compare_there_is_no_verdict(
    call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = {"requests_per_s": 30_000.0, "scaling_2": None}  # `--stubs` on one CPU
    monkeypatch.setattr("arena.bench.measure.measure_stubs", lambda **_: rates)
    old = tmp_path / "old.json"
    old.write_text(json.dumps(FOUND), encoding="utf-8")
    done = call("bench", "--compare", str(old), "--stubs", "--sandbox", "none")
    assert done.code == 5
    assert f"{old} has no ratio that was measured now: nothing to compare" in done.stderr
    assert "requests a second" in done.stdout


def test_a_run_says_what_it_was_made_with(call: Caller, tmp_path: Path) -> None:
    told = call("bench", "--json", "--sandbox", "none").json
    assert told["arena"] == arena.__version__
    assert told["cpus"] == len(usable_cpus())
    old = tmp_path / "old.json"
    old.write_text(json.dumps(told | {"arena": "0.0.9", "cpus": 64}), encoding="utf-8")
    done = call("bench", "--compare", str(old), "--sandbox", "none")
    before = done.stdout.partition("Before: ")[2].partition(". Now: arena ")[0]
    assert before.startswith("arena 0.0.9, 64 CPUs")
    assert before.endswith(f", load {told['load']:g}, {told['at']}")
    assert (told["processor"] or "") in before
    assert "OLD.json" not in done.stderr  # it would be overwritten
    old.write_text(json.dumps(told | {"workers": 64}), encoding="utf-8")
    done = call("bench", "--compare", str(old), "--sandbox", "none")
    assert done.code == 2
    assert f"{old}: measured with 64 workers, this run would have 2: measure both" in done.stderr


@pytest.mark.parametrize(("load", "is_told"), [(0.2, False), (64.5, True)])
def test_a_busy_machine_is_told_before_it_is_measured(
    call: Caller, monkeypatch: pytest.MonkeyPatch, load: float, is_told: bool
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    done = call("bench", "--json", "--sandbox", "none")
    assert ("this machine is busy (load 64.5 on " in done.stderr) is is_told
    assert done.json["load"] == load


BEGUN = '{"schema": "arena.bench/1", "request": {"ratio_one": '


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", "[]", "{}", '{"schema": "arena.run/1"}', "\xff", "[" * 100_000),
        *(f"{BEGUN}{value}}}}}" for value in ("null", '"x"', "-1", "1e300", "[2]")),
        f"{BEGUN}{'[' * 100_000}",
    ],
    ids=lambda text: str(text)[-20:],
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
    assert "arena bench --json > OLD.json" in done.stderr
    assert ("can't be read" if text is None else "not what") in done.stderr


@pytest.mark.parametrize("value", ["nan", "inf", "0", "601"])
def test_the_time_of_a_measure_is_a_number(value: str, call: Caller) -> None:
    done = call("bench", "--seconds", value)
    assert done.code == 2
    assert f"{value} is not in the range 0.1<=x<=600" in done.stderr.replace(".0", "")


def test_numbers_keep_three_digits() -> None:
    assert [bench.number(value) for value in (0.1234, 5.678, 99.94, 12_345.6)] == [
        *("0.123", "5.68", "99.9", "12,346"),
    ]
