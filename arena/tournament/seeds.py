"""Secret seed + deal number → deal seed: pure, save for the one draw of a new secret.

A run's secret is 32 bytes. Everything that decides a deal or a bot's dice is derived from it by
the keyed hash of `arena.referee.keys`, so that nobody who has seen some deals knows the next one.
With an open seed the secret is a hash of the text that was given: anybody can play the same games,
and the run is marked so.
"""

from __future__ import annotations

import hashlib
import secrets

from arena.referee.keys import derive

__all__ = ["commitment", "deal_seed", "game_id", "game_key", "new_secret", "open_secret"]

_GAME_HEX = 20  # digits of a game's id: among 10^7 games two are equal once in 10^10 plans


def new_secret() -> bytes:
    """Draw a run's secret: 32 bytes from the operating system."""
    return secrets.token_bytes(32)


def open_secret(seed: str) -> bytes:
    """Return the secret of an open seed: the same 32 bytes for the same text on every machine."""
    return hashlib.sha256(b"misterx-arena open seed\0" + seed.encode()).digest()


def commitment(secret: bytes) -> str:
    """Return what is printed before the first game: SHA-256 of the secret, 64 hex digits.

    Once the secret is published, anybody can check that it was fixed before the run.
    """
    return hashlib.sha256(secret).hexdigest()


def deal_seed(secret: bytes, deal: int) -> bytes:
    """Return the 32 bytes that a ruleset deals number `deal` (from 0) from."""
    return derive(secret, "deal", deal)


def game_key(secret: bytes, game: str) -> bytes:
    """Return the 32 bytes that a game's ids on the wire and both sides' dice come from."""
    return derive(secret, "game", game)


def game_id(ruleset: str, deal: int, mister_x: tuple[str, str], detectives: tuple[str, str]) -> str:
    """Return the id of a game: 20 hex digits, made from the plan alone.

    Args:
        ruleset: the ruleset's canonical text.
        deal: the deal's number, from 0.
        mister_x: name and content hash of the bot that plays Mister X.
        detectives: the same for the detectives.

    A bot that was changed has a new hash and so new ids in its own games, and in no others. The
    secret has no part in it: the same plan under another secret has the same ids.
    """
    digest = hashlib.sha256()
    for field in (ruleset, str(deal), *mister_x, *detectives):
        text = field.encode()
        digest.update(len(text).to_bytes(4, "big") + text)  # so that no two lists join alike
    return digest.hexdigest()[:_GAME_HEX]
