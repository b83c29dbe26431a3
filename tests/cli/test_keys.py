"""Keys, and lines typed with them."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Sequence
from pathlib import Path

import pytest
import trio

from arena.cli.keys import Keyboard, Line, PipedLines, cbreak

WORDS = ("taxi 12", "taxi 13", "taxi 20", "bus 12")


def complete(text: str) -> Sequence[str]:
    return [word for word in WORDS if word.startswith(text)]


def typed(*keys: str, history: Sequence[str] = ()) -> Line:
    line = Line(complete, history)
    for key in keys:
        assert not line.press(key)
    return line


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["a", "b", "\x7f", "c"], "ac"),
        (["\x7f", "\x08"], ""),
        ([*"two words", "\x17"], "two "),
        ([*"word", "\x17"], ""),
        ([*"word", "\x15", "x"], "x"),
        (["\x1b[D", "\x1b", "\x01", "é"], "é"),
        (["a", "\x04"], "a"),
        (["b", "\t"], "bus 12 "),
        (["t", "\t"], "taxi "),
        ([*"taxi 1", "\t"], "taxi 1"),
        (["z", "\t"], "z"),
    ],
)
def test_keys_change_the_line(keys: list[str], text: str) -> None:
    assert typed(*keys).text == text


def test_tab_offers_the_next_words() -> None:
    assert typed(*"taxi", "\t").offers == ("12", "13", "20")
    assert typed("\t").offers == ("taxi", "bus")
    assert typed(*"taxi", "\t", "1").offers == ()


def test_arrows_go_through_the_history() -> None:
    history = ["first", "second"]
    assert typed("\x1b[A", history=history).text == "second"
    assert typed("\x1b[A", "\x1bOA", "\x1b[A", history=history).text == "first"
    assert typed("\x1b[A", "\x1b[B", history=history).text == ""
    assert typed("\x1b[A", history=[]).text == ""


@pytest.mark.parametrize("enter", ["\r", "\n"])
def test_enter_ends_the_line(enter: str) -> None:
    assert typed("a").press(enter)


@pytest.mark.parametrize("end", ["", "\x04"])
def test_end_of_input_is_told(end: str) -> None:
    with pytest.raises(EOFError):
        typed().press(end)


def test_keyboard_gives_keys_of_a_terminal_one_by_one() -> None:
    keys_in, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)

    async def take() -> list[str]:
        keyboard = Keyboard(terminal)
        os.write(keys_in, "aé\x1b[A\t".encode())
        found = [await keyboard.key() for _ in range(4)]
        os.close(keys_in)
        return [*found, await keyboard.key()]

    with cbreak(terminal):
        assert not termios.tcgetattr(terminal)[3] & termios.ECHO
        assert trio.run(take) == ["a", "é", "\x1b[A", "\t", ""]
    os.close(terminal)
    assert before[3] & termios.ECHO


def test_cbreak_gives_the_terminal_back() -> None:
    keys_in, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    with pytest.raises(KeyError), cbreak(terminal):
        raise KeyError
    assert termios.tcgetattr(terminal) == before
    os.close(keys_in)
    os.close(terminal)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"one\ntwo\r\n", ["one", "two"]),
        (b"one\n\nlast", ["one", "", "last"]),
        (b"\xff\n", ["\ufffd"]),
    ],
)
@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_lines_of_pipes_and_files(tmp_path: Path, kind: str, data: bytes, lines: list[str]) -> None:
    if kind == "pipe":
        fd, write = os.pipe()
        os.write(write, data)
        os.close(write)
    else:
        (tmp_path / "lines").write_bytes(data)
        fd = os.open(tmp_path / "lines", os.O_RDONLY)

    async def take() -> list[str]:
        piped = PipedLines(fd)
        found = []
        while (line := await piped.line()) is not None:
            found.append(line)
        return found

    assert trio.run(take) == lines
    os.close(fd)
