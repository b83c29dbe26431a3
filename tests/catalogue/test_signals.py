"""E10: two bots share nothing through which one could tell the other something.

Two sandboxes of the same bot, as in parallel games; one holds 200 bits, one after the other, in
every way that is known to us, the other looks. No way may show them better than chance.

Left out is what is not promised (`SECURITY.md`): time, caches, and the pages of shared files.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ordinary_user import OrdinaryUser
from tests.referee.games import FAULTY
from tests.sandboxed import started
from tests.tools import need_that

BITS = 200
# Of the 100 bits that are guessed, chance gets more than this right once in two million tries.
MOST_RIGHT = 75


def rightly_guessed(bits: Sequence[int], seen: Sequence[str]) -> int:
    """Return how many of the second half are guessed by what the first half taught."""
    half = len(bits) // 2
    taught = Counter(zip(seen[:half], bits[:half], strict=True))
    guesses = [int(taught[it, 1] > taught[it, 0]) for it in seen[half:]]
    return sum(guess == bit for guess, bit in zip(guesses, bits[half:], strict=True))


def test_guesses_are_learnt() -> None:
    bits = [0, 1] * 100
    assert rightly_guessed(bits, ["one" if bit else "none" for bit in bits]) == 100
    assert rightly_guessed(bits, ["same"] * 200) == 50


@contextmanager
def _staged() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="arena-test-") as made:
        folder = Path(made)
        shutil.copyfile(FAULTY / "signalling.py", folder / "bot.py")
        folder.chmod(0o755)
        yield folder


@pytest.mark.slow
def test_one_bot_can_not_tell_another_anything() -> None:
    """E10, and E9 and E11 while both run."""
    bits = random.Random(10).choices((0, 1), k=BITS)
    seen: dict[str, list[str]] = {}
    with (
        _staged() as folder,
        started(folder) as sender,
        started(folder) as reader,
    ):
        assert sender.line() == reader.line() == b"up\n"
        for at, bit in enumerate(bits):
            sender.send(f"send {bit}\n".encode())
            assert sender.line() == b"held\n"
            reader.send(b"read\n")
            for way, what in json.loads(reader.line()).items():
                seen.setdefault(way, [""] * at).append(what)
    assert len(seen) > 50
    right = {way: rightly_guessed(bits, what) for way, what in seen.items()}
    assert {way: of for way, of in right.items() if of > MOST_RIGHT} == {}


@pytest.mark.slow
def test_one_bot_can_not_tell_another_anything_in_the_other_route(
    ordinary_users: Callable[[], OrdinaryUser],
) -> None:
    """E10 where the kernel knows both bots, and us, as one user."""
    need_that(os.geteuid() == 0, "root", "this is the other route already")
    user = ordinary_users()
    again = test_one_bot_can_not_tell_another_anything.__name__
    told = subprocess.run(
        [
            *(user.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs"),
            *(f"--basetemp={user.scratch}/pytest", f"tests/catalogue/test_signals.py::{again}"),
        ],
        cwd=user.checkout,
        user=user.uid,
        group=user.gid,
        extra_groups=[],
        env=user.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=480,  # hosts are busy, and it is a whole test run
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "1 passed" in told.stdout
