"""C4: the ways in which a program can't be started, told apart, without a path of this host."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import BotRefused
from arena.sandbox.startable import check_startable

ELF = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x02\x00"
OTHER_MACHINE = b"\x02\x00"  # a SPARC, of which none runs this test


def put(folder: Path, content: bytes, *, mode: int = 0o755, name: str = "bot") -> None:
    (folder / name).write_bytes(content)
    (folder / name).chmod(mode)


CASES: tuple[tuple[str, bytes, int, str], ...] = (
    ("no execute bit", b"#!/bin/sh\n", 0o644, r"'bot' has no execute bit.*chmod \+x"),
    ("wrong interpreter", b"#!/usr/bin/pyhton3\n", 0o755, r"interpreter 'pyhton3'.*is not there"),
    ("wrong word behind env", b"#!/usr/bin/env pyhton3\n", 0o755, r"interpreter 'pyhton3'"),
    ("CRLF", b"#!/bin/sh\r\necho\r\n", 0o755, r"`#!` line of 'bot' ends with CRLF.*dos2unix"),
    ("no interpreter", b"#!\n", 0o755, r"names no interpreter"),
    ("architecture", ELF + OTHER_MACHINE, 0o755, r"another architecture \(machine 2, this"),
    ("Windows", b"MZ\x90\0", 0o755, r"a Windows program"),
    ("no program", b"print('hi')\n", 0o755, r"no program and has no `#!` line"),
)


@pytest.mark.parametrize(
    ("content", "mode", "text"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_program_that_cannot_start_is_refused(
    content: bytes, mode: int, text: str, tmp_path: Path
) -> None:
    put(tmp_path, content, mode=mode)
    with pytest.raises(BotRefused, match=text) as caught:
        check_startable(["./bot"], tmp_path)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["./nothing"], "'nothing' is missing; is it built"),
        (["no-such-program-anywhere"], "'no-such-program-anywhere' is missing"),
        (["bot"], r"not on the PATH; it lies in the bot's folder: write './bot'"),
        (["./folder"], "is no file"),
        ([], "command is empty"),
        (["./evil\x1b"], r"'evil\\x1b' is missing"),
        (["./" + "x" * 300], r"'x+… \(300 bytes in all\)' is missing"),
        (["x" * 300], r"'x+… \(300 bytes in all\)' is missing"),
    ],
    ids=[
        "missing",
        "not on PATH",
        "in the folder",
        "a folder",
        "empty",
        "escaped",
        "too long",
        "too long for PATH",
    ],
)
def test_command_that_names_no_program_is_refused(
    command: list[str], text: str, tmp_path: Path
) -> None:
    put(tmp_path, b"#!/bin/sh\n")
    (tmp_path / "folder").mkdir()
    with pytest.raises(BotRefused, match=text):
        check_startable(command, tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"#!/bin/sh\n", b"#! /bin/sh -e\n", b"#!/usr/bin/env sh\n", b"#!/usr/bin/env -S sh -e\n"],
)
def test_good_script_is_let_through(content: bytes, tmp_path: Path) -> None:
    put(tmp_path, content)
    check_startable(["./bot", "argument"], tmp_path)


def test_program_on_the_path_is_let_through(tmp_path: Path) -> None:
    check_startable(["sh"], tmp_path)


def test_interpreter_in_the_folder_is_found_from_there(tmp_path: Path) -> None:
    """The kernel looks for a relative interpreter from the working folder."""
    put(tmp_path, b"#!/bin/sh\n", name="own")
    put(tmp_path, b"#!./own\n")
    check_startable(["./bot"], tmp_path)
