"""`arena play` on a pseudo-terminal: `--watch`, `--step` and a person."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.cli.exits import Exit
from arena.cli.stored import open_data
from tests.cli.calling import Caller
from tests.cli.terminal import LIMIT_S, Terminal

pytestmark = pytest.mark.slow


class Opener:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.opened: list[Terminal] = []

    def __call__(self, *words: str, rows: int = 40, columns: int = 120) -> Terminal:
        words = (*words, "--sandbox", "none", "--seed", "8")
        self.opened.append(Terminal(self.folder, *words, rows=rows, columns=columns))
        return self.opened[-1]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Opener]:
    opener = Opener(tmp_path)
    yield opener
    for one in opener.opened:
        one.close()


@pytest.mark.parametrize(("rows", "columns"), [(24, 80), (60, 200)])
def test_step_waits_and_the_game_is_stored(terminal: Opener, rows: int, columns: int) -> None:
    shown = terminal(
        "play", "random", "greedy", "--step", "--pace", "0", "--json", rows=rows, columns=columns
    )
    shown.until("Mister X to move")
    shown.until("space: next turn")
    shown.type(" ")
    shown.until("detectives to move")
    shown.type("c")
    code, stdout = shown.end()
    assert code == Exit.DONE, shown.seen
    assert json.loads(stdout)["winner"] in ("mister_x", "detectives")
    assert "\x1b[?1049l" in shown.seen


def test_person_types_with_completion_and_hears_why_not(terminal: Opener) -> None:
    shown = terminal("play", "human", "greedy", "--json")
    shown.until("Mister X on 170> ")
    shown.type("taxi 5\r")
    shown.until("No: L11: x by taxi to 5: no taxi link leads there from 170")
    shown.type("taxi \t")
    shown.until("157  159  185")
    shown.type("85\r")
    shown.until("Mister X on 185> ")
    shown.type("\x04")
    code, stdout = shown.end()
    assert code == Exit.STOPPED
    answer = json.loads(stdout)
    assert answer["winner"] is None
    assert "left the game" in answer["void"]


@pytest.mark.parametrize("words", [("human", "greedy"), ("human", "greedy", "--watch")])
def test_ctrl_c_gives_the_terminal_back(terminal: Opener, words: tuple[str, ...]) -> None:
    shown = terminal("play", *words)
    shown.until("Mister X on 170> ")
    os.killpg(shown.process.pid, signal.SIGINT)
    code, _ = shown.end()
    assert code == Exit.STOPPED
    assert "Stopped." in shown.seen
    assert "Traceback" not in shown.seen


def test_watch_without_a_terminal_says_a_line_a_turn(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    called = arena("play", "random", "greedy", "--watch", "--seed", "8", "--sandbox", "none")
    assert called.code == Exit.DONE, called.stderr
    assert " 1  X  " in called.stderr
    assert "\x1b" not in called.stderr
    step = arena("play", "random", "greedy", "--step")
    assert step.code == Exit.USAGE
    assert "standard input is no terminal" in step.stderr


def test_person_behind_a_pipe_leaves_with_its_end(tmp_path: Path) -> None:
    def play(lines: str) -> subprocess.CompletedProcess[str]:
        words = ("play", "random", "human", "--seed", "8", "--sandbox", "none", "--json")
        return subprocess.run(
            [sys.executable, "-m", "arena", *words],
            cwd=tmp_path,
            input=lines,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )

    left = play("nonsense\nd1 taxi 69\n")
    assert left.returncode == Exit.STOPPED
    assert "No: 'nonsense' is no step" in left.stderr
    assert " 1  D  d1 taxi 69" in left.stderr
    assert json.loads(left.stdout)["void"]
    with open_data(tmp_path / "arena-data") as database:
        assert database.runs() == []
