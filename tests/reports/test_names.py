"""Names of strangers' bots as text and as cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.referee.faults import Caught, describe, tell
from reports.names import guarded, shortened, shown, unguarded, what_happened


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "|cmd", "'=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert guarded(text) == "'" + text


@given(st.text())
def test_every_cell_comes_back_whole(text: str) -> None:
    assert unguarded(guarded(text)) == text


@given(st.text())
def test_a_guarded_cell_never_starts_a_formula(text: str) -> None:
    assert guarded(text)[:1] not in set("=+-@\t\r\n")


def test_ordinary_names_stay_as_they_are() -> None:
    assert guarded("greedy-2") == "greedy-2"
    assert unguarded("o'hara") == "o'hara"
    assert unguarded("'tis") == "'tis"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("random, game ab12, at play 4: illegal: L11: no", "At play 4: illegal: L11: no"),
        ("random, game ab12, at the start: ', game ab12, '", "At the start: ', game ab12, '"),
        ("random, game cd34, at play 4: silent", "random, game cd34, at play 4: silent"),
        ("1200 of 1000 ms", "1200 of 1000 ms"),
        ("", ""),
    ],
)
def test_a_fault_is_told_without_the_names_that_stand_beside_it(text: str, told: str) -> None:
    assert what_happened(text, "ab12") == told


def test_what_a_fault_is_told_by_has_the_form_that_is_cut() -> None:
    fault = Caught(side="mister_x", kind="timeout", phase="turn", text="timeout: late", hint="-")
    whole = describe(fault, bot="random", game="ab12", play=4)
    assert what_happened(whole, "ab12") == f"At play 4: {tell(fault)}"


def test_what_cannot_be_seen_is_written_as_its_number() -> None:
    assert shown("a\x1b[31m") == "a\\x1b[31m"
    assert shown("a\u202eb") == "a\\u202eb"
    assert shown("\U000e0041") == "\\U000e0041"
    assert shown("Zoë 猫") == "Zoë 猫"


@given(st.text(max_size=60), st.integers(4, 30))
def test_shortened_names_fit_and_keep_both_ends(text: str, length: int) -> None:
    short = shortened(text, length)
    assert len(short) <= length
    whole = shown(text)
    if len(whole) > length:
        head, tail = short.split("…")[0], short.rsplit("…", 1)[1]
        assert whole.startswith(head)
        assert whole.endswith(tail)
    else:
        assert short == whole
