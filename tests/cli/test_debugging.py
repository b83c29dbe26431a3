"""`arena rerun --pdb`: which bots it stops, and a whole session at a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.cli.debugging import SCRIPT, stopping_at
from arena.cli.exits import Exit
from arena.cli.stop_at_turn import is_asked
from arena.errors import ConfigError
from tests.cli.bots import write_bot
from tests.cli.calling import Caller
from tests.cli.terminal import Terminal
from tests.referee.games import bot

STOP = (str(SCRIPT), "11", "/dev/pts/3")


@pytest.mark.parametrize(
    ("command", "stopping"),
    [
        (("python3", "bot.py"), ("python3", *STOP, "bot.py")),
        (
            ("/opt/bin/python3.13", "-u", "-X", "dev", "-Wignore", "bot.py", "-v"),
            ("/opt/bin/python3.13", "-u", "-X", "dev", "-Wignore", *STOP, "bot.py", "-v"),
        ),
        (("python", "-W", "error", "-m", "mybot"), ("python", "-W", "error", *STOP, "-m", "mybot")),
        (("./plain", "x"), ("/usr/bin/python3", *STOP, "./plain", "x")),
        (("./env", "x"), ("python3", "-u", *STOP, "./env", "x")),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_python_bot_is_started_behind_the_debugger(
    tmp_path: Path, command: tuple[str, ...], stopping: tuple[str, ...]
) -> None:
    (tmp_path / "plain").write_text("#!/usr/bin/python3\nprint()\n")
    (tmp_path / "env").write_text("#!/usr/bin/env -S python3 -u\nprint()\n")
    spec = stopping_at(bot("mine", *command, folder=str(tmp_path)), 11, "/dev/pts/3")
    assert spec.command == stopping


@pytest.mark.parametrize(
    "command",
    [("./shell",), ("./bare",), ("java", "Bot"), ("python3", "-c", "1"), ("python3", "-m"),
     ("python3", "-"), ("python3",), ("python3", "-X")],
    ids=" ".join,
)  # fmt: skip
def test_bot_that_pdb_cannot_stop_is_told_what_to_do(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "shell").write_text("#!/bin/sh\n")
    (tmp_path / "bare").write_bytes(b"\x7fELF")
    with pytest.raises(ConfigError, match="use --no-clock and a debugger of its own") as caught:
        stopping_at(bot("mine", *command, folder=str(tmp_path)), 11, "/dev/pts/3")
    assert f"mine is started by `{' '.join(command)}`" in str(caught.value)


def test_turn_is_counted_at_its_first_part() -> None:
    assert is_asked(b'{"type":"turn","id":"a","part":1}\n')
    assert not is_asked(b'{"type":"turn","id":"a","part":2}\n')
    assert not is_asked(b'{"type":"bye"}\n')


@pytest.mark.slow
@pytest.mark.parametrize("says", ["c", "q"])
def test_bot_stops_at_the_turn_and_goes_on(arena: Caller, tmp_path: Path, says: str) -> None:
    mine = write_bot(tmp_path, "mine", "pass")
    data = ("--data", str(tmp_path / "arena-data"))
    played = arena("play", mine, "greedy", "--seed", "8", "--sandbox", "none", *data)
    assert played.code == Exit.DONE, played.stderr
    words = ("rerun", "--side", "x", "--bot", str(mine), "--at", "2", "--pdb", "--json", *data)
    shown = Terminal(tmp_path, *words)
    try:
        shown.until("pdb comes at turn 2")
        shown.until("bot.py(")
        shown.until("(Pdb)")
        shown.type("next\n")
        shown.until('kind = message["type"]')
        shown.until("(Pdb)")
        shown.type('p message["part"], 6 * 7\n')
        shown.until("(1, 42)")
        shown.type(f"{says}\n")
        code, text = shown.end()
    finally:
        shown.close()
    answer = json.loads(text)
    if says == "c":
        assert code == Exit.DONE
        assert [(one["turn"], one["same"]) for one in answer["shown"]] == [(2, True)]
    else:
        assert code == Exit.FAULTS
        assert answer["fault"]["text"].startswith("the bot ended with status 0")
