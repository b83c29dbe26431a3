"""How long a bot was ready to run and was not let: pure arithmetic, and one look at ourselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arena.sandbox.starvation import Counts, look, starved_s


@pytest.mark.parametrize(
    ("used", "waited", "elapsed", "lost"),
    [
        (0.0, 0.0, 1.0, 0.0),  # asleep: its own fault
        (1.0, 0.0, 1.0, 0.0),  # ran all the time
        (0.3, 0.7, 1.0, 0.7),  # had to wait
        (2.0, 30.0, 1.0, 0.0),  # crowded itself out with threads of its own
        (0.9, 30.0, 1.0, 0.1),
    ],
    ids=["asleep", "running", "waiting", "own crowd", "own crowd, one core"],
)
def test_starved_is_what_others_took(
    used: float, waited: float, elapsed: float, lost: float
) -> None:
    before = Counts(5.0, 2.0)
    after = Counts(5.0 + used, 2.0 + waited)
    assert starved_s(before, after, elapsed) == pytest.approx(lost)


@pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this kernel keeps no schedstat"
)
def test_look_counts_what_a_process_uses() -> None:
    before = look(os.getpid())
    while (after := look(os.getpid())) and before and after.cpu_s < before.cpu_s + 0.01:
        pass
    assert before is not None
    assert after is not None
    assert after.cpu_s > before.cpu_s


def test_look_at_nobody_gives_nothing() -> None:
    assert look(2**22 + 1) is None
