"""Derived secrets: one keyed, labelled hash that ids, dice and seeds come from.

`H(key, label, n)` of the design: BLAKE2b with a key, so that neither a derived value nor any number
of its neighbours tells the key or the next one. Labels keep the uses apart; a label never holds a
NUL, so no two (label, n) pairs feed the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import chain, count

__all__ = ["derive", "dice_seed", "wire_ids"]

_SIZE = 32  # bytes of every derived value
_ID_HEX = 16  # digits of an id on the wire: 64 bits, so that a guess never fits


def derive(key: bytes, label: str, n: int | str) -> bytes:
    """Return 32 bytes that only the holder of `key` can compute.

    Args:
        key: the secret, 1 to 64 bytes.
        label: what the value is for, such as `"deal"`, `"game"`, `"id"`.
        n: which one of them: a number or a text (a game's id).
    """
    return hashlib.blake2b(f"{label}\0{n}".encode(), key=key, digest_size=_SIZE).digest()


def dice_seed(game_key: bytes, side: str) -> int:
    """Return the seed for a side's own dice in this game: 0 … 2**53-1, exact in every language."""
    return int.from_bytes(derive(game_key, "dice", side)[:8], "big") >> 11


def wire_ids(game_key: bytes) -> Iterator[str]:
    """Yield the ids of a game's requests, in the order of asking: 16 hex digits each.

    A block of eight comes from one hash, so an id costs well under a microsecond; the sequence
    depends on the game's key alone, and a replay makes the same ids again.
    """
    return chain.from_iterable(_block_of_ids(game_key, block) for block in count())


def _block_of_ids(game_key: bytes, block: int) -> list[str]:
    text = hashlib.blake2b(f"id\0{block}".encode(), key=game_key, digest_size=64).hexdigest()
    return [text[start : start + _ID_HEX] for start in range(0, len(text), _ID_HEX)]
