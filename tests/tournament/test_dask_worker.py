"""What a Dask worker, which lives long, looks at before each run."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.rules import registry
from arena.sandbox.refusals import Refusal, not_bubblewrap
from arena.tournament.executors.crossing import Answer, Batch, Setup
from arena.tournament.executors.dask_worker import (
    _Run,
    _runs,
    _trouble_with,
    exchange,
    in_one_line,
    with_python,
)
from arena.tournament.executors.executor import Job, decode_spec, encode_spec
from tests.fake_games import fake_bot, fake_plan
from tests.fake_table import FAKE_TABLE

OWN = resources.files("arena.rules.europe") / "data" / "board.json"
ON_MINE = "europe-2009:board=mine"


def test_a_board_is_read_anew_for_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_BOARDS", str(tmp_path))
    mine = tmp_path / "mine.json"
    trouble = _trouble_with([(ON_MINE, "")])
    assert trouble is not None
    assert trouble.startswith(f"can't play {ON_MINE}: ")
    assert str(mine) in trouble
    board = json.loads(OWN.read_text("utf-8"))
    mine.write_text(json.dumps(board), encoding="utf-8")
    wanted = [("london-2013", ""), (ON_MINE, registry.make(ON_MINE).board_hash)]
    assert _trouble_with(wanted) is None
    mine.write_text(json.dumps(elsewhere(board)), encoding="utf-8")
    trouble = _trouble_with(wanted)
    assert trouble == f"has another board of {ON_MINE} than the run: put the same file there"
    mine.write_text(json.dumps(board), encoding="utf-8")
    assert _trouble_with(wanted) is None


@pytest.mark.parametrize(
    ("word", "there"),
    [
        ("/opt/arena/bin/python", "/venv/bin/python3.11"),
        ("exec /opt/arena/bin/python -S bot.py", "exec /venv/bin/python3.11 -S bot.py"),
        ("--with=/opt/arena/bin/python", "--with=/venv/bin/python3.11"),
        ("/opt/arena/bin/python3", "/opt/arena/bin/python3"),
        ("/opt/arena/bin/python-config", "/opt/arena/bin/python-config"),
        ("/home/opt/arena/bin/python", "/home/opt/arena/bin/python"),
        ("bot.py", "bot.py"),
    ],
)
def test_the_workers_own_interpreter_takes_the_place_of_the_coordinators_and_no_other(
    word: str, there: str
) -> None:
    assert with_python(word, "/opt/arena/bin/python", "/venv/bin/python3.11") == there


def test_a_worker_that_lacks_a_bots_interpreter_says_so_and_plays_none_of_its_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bot"
    program.write_text("#!/usr/bin/env ruby-of-elsewhere\n", encoding="utf-8")
    program.chmod(0o755)
    there = msgspec.structs.replace(fake_bot("far"), command=("./bot",), folder="/of/coordinator")
    setup = Setup(
        version="1",
        code="",
        python="/opt/python",
        table=FAKE_TABLE,
        settings=b"",
        keeping=None,
        lanes=1,
        is_ours=False,
    )
    run = _Run(setup, b"", lanes=1, workers=1)
    run.bots["/of/coordinator"] = tmp_path
    monkeypatch.setitem(_runs, "run", run)
    jobs = [
        Job(spec.index, encode_spec(spec)) for spec in fake_plan([fake_bot("near"), there]).specs()
    ]
    batch = msgspec.msgpack.encode(Batch(jobs=jobs, at_once=1, here=0))
    answer = msgspec.msgpack.decode(exchange("run", batch), type=Answer)
    assert (answer.played, answer.is_lost) == ([], True)
    assert answer.failure == (
        "can't start far: the interpreter 'ruby-of-elsewhere' in the `#!` line of 'bot' is not "
        "there; install it or correct the line"
    )
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    moved = decode_spec(run.moved(jobs[0]).spec)
    assert str(tmp_path) in {moved.mister_x.folder, moved.detectives.folder}


def test_the_whole_cure_for_a_missing_sandbox_is_said_in_one_line() -> None:
    assert in_one_line(not_bubblewrap("/bin/true", "says nothing")) == (
        "/bin/true does not work as bubblewrap (it says nothing); name a working one with --bwrap, "
        'or leave that out and install one: pip install "misterx-arena[sandbox]"; or a '
        "distribution's: apt install bubblewrap, dnf install bubblewrap, apk add bubblewrap"
    )
    two = Refusal(cause="AppArmor forbids it", why="it says so", fix=("first this", "then that"))
    assert in_one_line(two) == "AppArmor forbids it (it says so); first this; then that"


def elsewhere(board: dict[str, Any]) -> dict[str, Any]:
    """Return a board with another name of its first city."""
    first, *others = board["cities"]
    return {**board, "cities": [{**first, "name": "Elsewhere"}, *others]}
