"""Streams of chance: the same everywhere, fair, and without anything in common."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules.dealing import WORDS, Stream

SEED = bytes(range(32))
SEEDS = st.binary(min_size=1, max_size=64)


def test_the_words_are_those_of_the_description() -> None:
    """Pinned: games of a seed must not change between releases."""
    key = hashlib.blake2b(b"cards", key=SEED, digest_size=32).digest()
    blocks = [hashlib.blake2b(i.to_bytes(8, "big"), key=key).digest() for i in range(3)]
    expected = [int.from_bytes(b[i : i + 8], "big") for b in blocks for i in range(0, 64, 8)]
    stream = Stream(SEED, "cards")
    assert [stream.word() for _ in range(24)] == expected
    assert Stream(SEED, "cards").word() == 12151452525097052304
    assert Stream(SEED, "cards").shuffle(range(10)) == (3, 5, 8, 9, 7, 0, 2, 6, 1, 4)


@given(SEEDS, st.text(max_size=20), st.integers(0, 100))
def test_a_stream_goes_on_from_its_position(seed: bytes, label: str, start: int) -> None:
    stream = Stream(seed, label)
    for _ in range(start):
        stream.word()
    again = Stream(seed, label, stream.position)
    assert [again.word() for _ in range(10)] == [stream.word() for _ in range(10)]
    assert again.position == stream.position == start + 10


@given(SEEDS, st.integers(1, 2**64))
def test_a_number_is_below_its_limit(seed: bytes, limit: int) -> None:
    assert 0 <= Stream(seed, "n").below(limit) < limit


def test_words_that_would_favour_small_numbers_are_drawn_again() -> None:
    limit = 2**63 + 1  # nearly half of all words are refused
    stream = Stream(SEED, "n")
    words = [Stream(SEED, "n", position).word() for position in range(400)]
    fair = [word for word in words if word < limit]
    assert [stream.below(limit) for _ in range(100)] == fair[:100]
    assert stream.position > 150


@given(SEEDS, st.lists(st.integers(), max_size=30))
def test_a_shuffle_keeps_every_item(seed: bytes, items: list[int]) -> None:
    assert Counter(Stream(seed, "cards").shuffle(items)) == Counter(items)


def test_every_order_comes_equally_often() -> None:
    counts = Counter(Stream(SEED, f"try {n}").shuffle("abcd") for n in range(24_000))
    assert set(counts) == set(permutations("abcd"))
    chi_square = sum((count - 1_000) ** 2 / 1_000 for count in counts.values())
    assert chi_square < 49.7  # 23 degrees of freedom, one in a thousand


def test_seeds_and_labels_have_nothing_in_common() -> None:
    streams = [(seed, label) for seed in (b"a", b"b", b"a\0") for label in ("x", "y", "")]
    words = {Stream(seed, label).word() for seed, label in streams}
    assert len(words) == len(streams)


def test_bad_seeds_limits_and_positions_are_refused() -> None:
    for seed in (b"", bytes(65)):
        with pytest.raises(ValueError, match="1 to 64 bytes"):
            Stream(seed, "x")
    with pytest.raises(ValueError, match="word 0"):
        Stream(SEED, "x", -1)
    for limit in (0, -1, 2**64 + 1):
        with pytest.raises(ValueError, match="limit"):
            Stream(SEED, "x").below(limit)


class Scripted(Stream):
    """A stream of given words."""

    def __init__(self, *words: int) -> None:
        super().__init__(b"-", "scripted")
        self._words = iter(words)

    def word(self) -> int:
        return next(self._words)


def test_a_shuffle_draws_again_where_a_word_would_favour_small_numbers() -> None:
    """Of 2**64 words the last one is one too many for three items."""
    assert WORDS % 3 == 1
    assert Scripted(WORDS - 1, 7, 5).shuffle("abc") == Scripted(7, 5).shuffle("abc")
    assert Scripted(WORDS - 2, 5).shuffle("abc") == Scripted(2, 5).shuffle("abc")
