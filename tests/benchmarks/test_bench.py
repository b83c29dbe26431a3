"""`arena bench`: small in the ordinary tests, held to its promises by hand (`tox -e long`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest
import trio

from arena.bench.promises import PROMISES, judge
from arena.bench.requests import exchanges_of
from arena.cli import answers
from tests.referee.games import honest, play_fakes
from tests.sandboxed import need_sandbox
from tests.tools import need


def bench(folder: Path, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "arena", "bench", "--json", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_bench_fills_every_field_that_scripts_rely_on(tmp_path: Path) -> None:
    need("gcc")
    need_sandbox()
    found = bench(tmp_path, "--seconds", "0.3", "--games", "50")
    assert found["schema"] == "arena.bench/1"
    assert set(found) - {"schema"} == set(answers.Measured.__struct_fields__)
    assert found["sandbox"].startswith("bubblewrap ")
    assert found["bare"].keys() == {"unpinned_us", "pinned_us"}
    assert {"ratio_one", "ratio_cpu", "median_us", "p99_us"} <= found["request"].keys()
    for us in (*found["bare"].values(), found["request"]["median_us"]):
        assert us > 1.0  # no round trip between two processes is faster
    assert found["request"]["p99_us"] >= found["request"]["median_us"]
    assert found["request"]["ratio_cpu"] > 1.0
    assert found["games_per_s"].keys() == {"kept", "fresh"}
    assert 0 < found["coordinator"]["share"] < found["coordinator"]["share_stubs"]
    assert found["storing"]["share"] > 0.1
    assert found["rules"]["game_us"] > 20
    assert found["start"]["sandbox_ms"] is not None
    assert found["memory"]["plan_games"] > 10**7
    assert list(tmp_path.iterdir()) == []


def measuring(process: subprocess.Popen[str]) -> IO[str]:
    """Wait until a bench measures; gives what it says from then on."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("Measuring requests"):
            break
    return process.stderr


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_bench_that_is_stopped_leaves_nothing(tmp_path: Path, end: signal.Signals) -> None:
    need("gcc")
    with subprocess.Popen(
        [sys.executable, "-m", "arena", "bench", "--stubs", "--seconds", "60", "--sandbox", "none"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        talk = measuring(process)
        assert any(tmp_path.iterdir())
        process.send_signal(end)
        try:
            assert process.wait(30) == 130
        finally:
            process.kill()
        assert talk.read().strip() == "Stopped."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_sigterm_ends_a_bench_that_no_ctrl_c_reaches(tmp_path: Path) -> None:
    """As a shell starts it in the background: what is ignored would never end it."""
    need("gcc")
    words = f"trap '' INT; exec {sys.executable} -m arena bench --stubs --sandbox none --seconds 60"
    with subprocess.Popen(
        ["/bin/sh", "-c", words],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        measuring(process)
        process.terminate()
        try:
            assert process.wait(30) == -signal.SIGTERM
        finally:
            process.kill()


def test_the_bare_round_trip_exchanges_what_the_game_did() -> None:
    record, _ = trio.run(play_fakes, honest, honest)
    exchanges = exchanges_of(record)
    assert len(exchanges) == len(record.core.plays)
    for exchange, play in zip(exchanges, record.core.plays, strict=True):
        assert exchange.request.startswith(b'{"type":"turn"')
        assert b'"legal":[' in exchange.request
        assert exchange.request.endswith(b"}\n")
        # The shortest play of so many plies, and no more than its ids, keys and numbers add.
        assert 80 * len(play.plies) + 120 > exchange.answer_bytes > 40 * len(play.plies) + 40


@pytest.mark.long
def test_bench_keeps_the_promises(tmp_path: Path) -> None:
    """Figures of one run on an otherwise idle machine with two cores."""
    need("gcc")
    need_sandbox()
    found = bench(tmp_path, "--games", "10000")
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    kept = {kept.promise.path: kept for kept in judge(found)}
    assert kept.keys() == {promise.path for promise in PROMISES}
    assert [each for each in kept.values() if not each.holds] == []
