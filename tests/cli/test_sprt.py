"""`arena sprt`: verdicts as exit codes, numbers as JSON, reasons where there is no number."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cli import answers
from arena.cli.exits import Exit
from arena.cli.sprt import test as work_out
from tests.cli.calling import Called, Caller
from tests.cli.snapshots import same

SCHEMA = json.loads(
    (Path(answers.__file__).with_name("schema") / "answers.schema.json").read_text("utf-8")
)


def sprt(arena: Caller, pairs: str, elo0: float, elo1: float, *more: object) -> Called:
    return arena("sprt", "--pairs", pairs, "--elo0", elo0, "--elo1", elo1, *more)


@pytest.mark.parametrize(
    ("pairs", "elo0", "elo1", "more", "code", "verdict"),
    [
        ("30,400,70", 0, 20, (), Exit.DONE, "H1"),
        ("70,400,30", 0, 20, (), Exit.NO, "H0"),
        ("100,300,130", 0, 10, (), Exit.NOT_KNOWN, "undecided"),
        ("0,0,0", 0, 10, (), Exit.NOT_KNOWN, "undecided"),
        ("0,1000,0", 0, 10, (), Exit.NOT_KNOWN, "undecided"),
        ("100,300,130", 0, 10, ("--alpha", 0.3, "--beta", 0.3), Exit.DONE, "H1"),
        ("30,400,70", 0, 20, ("--alpha", 0.001), Exit.NOT_KNOWN, "undecided"),
        ("5000,0,0", -1500, -500, (), Exit.NO, "H0"),
        ("0,0,500", -1500, -500, (), Exit.DONE, "H1"),
    ],
)
def test_the_verdict_is_the_exit_code(
    arena: Caller,
    pairs: str,
    elo0: float,
    elo1: float,
    more: tuple[object, ...],
    code: Exit,
    verdict: str,
) -> None:
    called = sprt(arena, pairs, elo0, elo1, *more, "--json")
    assert called.code == code
    answer = called.json
    jsonschema.validate(answer, SCHEMA)
    assert answer["dichotomy"]["verdict"] == verdict
    assert len([line for line in called.stderr.splitlines() if line.startswith("Next: ")]) == 1
    assert sprt(arena, pairs, elo0, elo1, *more).code == code


def test_counts_are_answered_with_the_known_numbers(arena: Caller) -> None:
    answer = sprt(arena, "100,300,130", 0, 10, "--json").json
    assert answer["dichotomy"] == {
        "llr": 1.3461,
        "lower": -2.9444,
        "upper": 2.9444,
        "verdict": "undecided",
    }
    assert answer["gsprt_logistic"]["llr"] == 1.4866
    assert answer["gsprt_normalized"]["llr"] == 1.4156
    assert (answer["elo_conditional"], answer["se"]) == (22.79, 11.55)
    assert answer["los"] == 0.976044
    assert answer["p_better"] == 0.0278068
    assert (answer["elo_score"], answer["elo_score_half"]) == (19.69, 19.5)
    assert (answer["elo_normalized"], answer["elo_normalized_half"]) == (21.19, 20.92)
    assert answer["reasons"] == {}


@pytest.mark.parametrize(
    ("pairs", "missing", "reason"),
    [
        ("0,50,10", {"elo_conditional", "se"}, "no pair was lost both times"),
        ("10,50,0", {"elo_conditional", "se"}, "no pair was won both times"),
        ("0,40,0", {"elo_conditional", "se"}, "no pair was decided"),
        ("0,40,0", {"elo_score", "elo_normalized"}, "every pair ended alike"),
        (
            "0,0,0",
            {
                "elo_conditional",
                "se",
                "los",
                "p_better",
                "p_different",
                "elo_score",
                "elo_normalized",
                "gsprt_logistic",
                "gsprt_normalized",
            },
            "there are no pairs",
        ),
    ],
)
def test_what_is_not_defined_is_null_with_a_reason(
    arena: Caller, pairs: str, missing: set[str], reason: str
) -> None:
    answer = sprt(arena, pairs, 0, 10, "--json").json
    assert {name for name, why in answer["reasons"].items() if why == reason} == missing
    assert all(answer[name] is None for name in missing)
    assert f"n/a: {reason}" in sprt(arena, pairs, 0, 10).stdout


@pytest.mark.parametrize(
    ("pairs", "name"), [("100,300,130", "undecided"), ("0,40,0", "split"), ("30,400,70", "h1")]
)
def test_output_is_as_it_was(arena: Caller, pairs: str, name: str) -> None:
    called = sprt(arena, pairs, 0, 20)
    same(f"output/sprt-{name}.txt", called.stdout + "-- stderr\n" + called.stderr)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--pairs", "1,2"), "'1,2' is not LL,SPLIT,WW"),
        (("--pairs", "1,2,3,4"), "is not LL,SPLIT,WW"),
        (("--pairs", "1,-2,3"), "is not LL,SPLIT,WW"),
        (("--pairs", "1,2,x"), "such as 100,300,130"),
        (("--pairs", "1,2,9999999999"), "from 0 to 1,000,000,000"),
        (("--pairs", "1,2,3", "--elo0", "20"), "elo1 (10) must be above elo0 (20)"),
        (("--pairs", "1,2,3", "--elo0", "nan"), "elo0 is nan"),
        (("--pairs", "1,2,3", "--alpha", "0.7"), "alpha is 0.7; write 0.000001 to 0.499"),
        ((), "Missing option '--pairs'"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_sentence(
    arena: Caller, words: tuple[str, ...], says: str
) -> None:
    given_ = words if "--elo0" in words else (*words, "--elo0", "0")
    called = arena("sprt", *given_, "--elo1", "10")
    assert called.code == Exit.USAGE
    assert says in called.stderr
    assert called.stdout == ""


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for one in value.values() for number in numbers(one)]
    return [value] if isinstance(value, float) else []


@settings(max_examples=150, deadline=None)
@given(
    st.tuples(*[st.integers(0, 10**9) | st.integers(0, 5)] * 3),
    st.floats(-10_000, 9_000),
    st.floats(0.02, 1_000),
)
def test_no_answer_has_a_nan_an_infinity_a_negative_zero_or_an_error_of_nothing(
    counts: tuple[int, int, int], elo0: float, gap: float
) -> None:
    answer = work_out(counts, elo0=elo0, elo1=elo0 + gap, alpha=0.05, beta=0.05)
    plain = msgspec.to_builtins(answer)
    for number in numbers(plain):
        assert math.isfinite(number)
        assert not (number == 0 and math.copysign(1, number) < 0)
    for name in ("se", "elo_score_half", "elo_normalized_half"):
        assert plain[name] is None or plain[name] > 0
    nulls = {name for name, value in plain.items() if value is None}
    explained = set(answer.reasons) | {"low", "high", "elo_score_half", "elo_normalized_half"}
    assert nulls <= explained
