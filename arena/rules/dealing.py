"""Seed → shuffled order; the only place that draws chance.

A `Stream` is an endless row of 64-bit words that a seed and a label give, the same on every machine
and with every version of Python: word `i` is the eight bytes `8·(i mod 8) …` (big-endian) of
`BLAKE2b-512(⌊i/8⌋ as eight bytes, big-endian, key = BLAKE2b-256(label, key = seed))`. Numbers below
a limit are drawn with rejection, so that none of them comes out more often than another.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["Stream"]

T = TypeVar("T")

WORD_BYTES = 8
BLOCK_WORDS = 8
_words = struct.Struct(f">{BLOCK_WORDS}Q").unpack
WORDS = 1 << (8 * WORD_BYTES)  # how many different words there are


class Stream:
    """The chance of one label of one seed, drawn word by word.

    A ruleset that draws during the game keeps the seed and `position` in its state and opens the
    stream again from there: a state stays a value.

    Args:
        seed: 1 to 64 bytes.
        label: what the chance is for; two labels of one seed have nothing in common.
        position: how many words were drawn before.
    """

    __slots__ = ("_block", "_block_number", "_key", "position")

    _block_number: int
    position: int

    def __init__(self, seed: bytes, label: str, position: int = 0) -> None:
        if not 1 <= len(seed) <= hashlib.blake2b.MAX_KEY_SIZE:
            raise ValueError(f"a seed has 1 to 64 bytes, not {len(seed)}")
        if position < 0:
            raise ValueError(f"a stream begins at word 0, not at {position}")
        self._key = hashlib.blake2b(label.encode(), key=seed, digest_size=32).digest()
        self._block: tuple[int, ...] = ()
        self._block_number = -1  # none yet
        self.position = position

    def word(self) -> int:
        """Draw the next word: 0 to 2**64 - 1, each equally likely."""
        number, place = divmod(self.position, BLOCK_WORDS)
        if number != self._block_number:
            counter = number.to_bytes(8, "big")
            self._block = _words(hashlib.blake2b(counter, key=self._key).digest())
            self._block_number = number
        self.position += 1
        return self._block[place]

    def below(self, limit: int) -> int:
        """Draw a number from 0 to `limit` - 1, each equally likely; `limit` is 1 to 2**64."""
        if not 1 <= limit <= WORDS:
            raise ValueError(f"a limit is 1 to 2**64, not {limit}")
        fair = WORDS - WORDS % limit  # words from here on would favour the small numbers
        while True:
            word = self.word()
            if word < fair:
                return word % limit

    def shuffle(self, items: Sequence[T]) -> tuple[T, ...]:
        """Return the items in an order in which every order is equally likely (Fisher-Yates)."""
        order = list(items)
        below = self.below
        for last in range(len(order) - 1, 0, -1):
            other = below(last + 1)
            order[last], order[other] = order[other], order[last]
        return tuple(order)
