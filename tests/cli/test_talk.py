"""Words on their way to a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cli import answers
from arena.cli.talk import Settings, Talk, narrow, table, visible, visible_json
from reports.names import shown

NASTY = "a\x1b[31mred\x07\u202eb\x9b2J\r"
HARMLESS = r"a\x1b[31mred\x07\u202eb\x9b2J\x0d"


@given(st.text())
def test_nothing_that_is_shown_moves_a_cursor(text: str) -> None:
    assert all(
        char.isprintable() or char in "\n\t\xa0\u3000" or char.isspace() for char in visible(text)
    )
    assert not set(visible(text)) & {chr(code) for code in (*range(10), *range(11, 32), 127, 0x9B)}


@pytest.mark.parametrize("text", ["", "plain", "two\nlines\n", "grün 日本 ± …"])
def test_words_of_people_stay_as_they_are(text: str) -> None:
    assert visible(text) == text


def test_tabs_become_spaces() -> None:
    assert visible("a\tb\nabc\td") == "a       b\nabc     d"


@given(st.text())
def test_json_that_is_shown_moves_no_cursor_and_says_the_same(text: str) -> None:
    for encoded in (msgspec.json.encode({text: text}), msgspec.json.format(b'["\x7f"]')):
        seen = visible_json(encoded)
        assert json.loads(seen) == json.loads(encoded)
        assert shown(seen.decode().replace("\n", "")) == seen.decode().replace("\n", "")


def test_json_of_people_stays_as_it_is() -> None:
    text = '{\n  "name": "grün 日本 ± …"\n}'.encode()
    assert visible_json(text) == text
    assert visible_json(b'["\xc2\x9b2J", "\xf0\x9f\x98\x80", "\xf3\xa0\x80\x81"]') == (
        b'["\\u009b2J", "\xf0\x9f\x98\x80", "\\udb40\\udc01"]'
    )


@pytest.mark.parametrize("say", ["say", "warn", "next", "result"])
def test_every_way_to_a_terminal_is_harmless(say: str, capsys: pytest.CaptureFixture[str]) -> None:
    getattr(Talk(Settings()), say)(NASTY)
    seen = capsys.readouterr()
    assert HARMLESS in seen.out + seen.err


def test_cells_and_heads_of_a_table_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    Talk(Settings()).result(table((NASTY, f"#{NASTY}"), [(NASTY, NASTY)]))
    assert capsys.readouterr().out.count(HARMLESS) == 4


def test_next_command_works_on_the_same_folder(capsys: pytest.CaptureFixture[str]) -> None:
    Talk(Settings()).next("arena verify 12", "right?", data=True)
    Talk(Settings(), data=Path("a b")).next("arena verify 12", "right?", data=True)
    Talk(Settings(), data=Path("a b")).next("arena limits")
    assert capsys.readouterr().err.splitlines() == [
        "Next: arena verify 12   (right?)",
        "Next: arena verify 12 --data 'a b'   (right?)",
        "Next: arena limits",
    ]


def test_commands_that_an_error_names_work_on_the_same_folder() -> None:
    text = "`arena resume --again 12` plays it, `arena limits` not, `arena run --data x` there"
    assert Talk(Settings()).with_data(text) == text
    assert Talk(Settings(), data=Path("d")).with_data(text) == text.replace("12`", "12 --data d`")


def test_json_can_name_a_file_whose_name_is_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    path = b"\xff/report".decode(errors="surrogateescape")
    Talk(Settings(), json=True).answer(answers.Reported(run="1", report=path, files=()))
    assert r'"\udcff/report"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("width", "left", "dropped"),
    [(40, 4, ["g", "h"]), (25, 2, ["e", "f", "g", "h"]), (5, 2, ["e", "f", "g", "h"]), (80, 6, [])],
)
def test_narrow_terminal_shows_whole_columns(width: int, left: int, dropped: list[str]) -> None:
    """Text that can be broken takes ten columns at the least, numbers all of theirs."""
    made = table(("name", "#d", "#e", "#f", "#g", "#h"), [("a" * 30, *["1234567"] * 5)])
    assert narrow(made, width) == dropped
    assert len(made.columns) == left


def test_columns_left_out_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    Talk(Settings()).result(table(("name", "#d", "#e"), [("a", "1" * 12, "2" * 20)]))
    shown = capsys.readouterr()
    assert shown.out.splitlines()[2] == "a      111111111111"
    assert shown.err == "(No room for e: a wider terminal or --json shows all.)\n"
