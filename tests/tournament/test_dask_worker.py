"""What a Dask worker, which lives long, looks at before each run."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from arena.rules import registry
from arena.sandbox.refusals import Refusal, not_bubblewrap
from arena.tournament.executors.dask_worker import _trouble_with, in_one_line, with_python

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
