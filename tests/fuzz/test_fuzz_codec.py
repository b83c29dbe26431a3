"""The codec's fuzzer runs, finds lines of both kinds, and would find a broken promise."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from tests.fuzz import fuzz_codec


def test_a_moment_of_fuzzing_finds_nothing() -> None:
    checked, taken = fuzz_codec.fuzz(0.3, seed=1)
    assert checked > 500
    assert 0 < taken < checked


def test_the_same_seed_gives_the_same_lines() -> None:
    first, second = (islice(fuzz_codec.lines(random.Random(7)), 200) for _ in range(2))
    assert list(first) == list(second)


def test_a_reader_that_lets_something_pass_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_codec, "read_object", lambda _: {"type": "ready"})
    with pytest.raises(AssertionError, match="seed 1, line 0: "):
        fuzz_codec.fuzz(1, seed=1)
