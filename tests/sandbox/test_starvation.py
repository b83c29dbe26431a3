"""How long a bot was ready to run and was not let: pure arithmetic, and one look at ourselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arena.sandbox.starvation import Counts, look, own_wait_s, starved_s, waits_still


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
    before = Counts(5.0, {7: 2.0}, is_runnable=True)
    after = Counts(5.0 + used, {7: 2.0 + waited}, is_runnable=True)
    assert starved_s(before, after, elapsed) == pytest.approx(lost)


@pytest.mark.parametrize(
    ("used", "is_runnable", "waits"),
    [(0.0, True, True), (0.003, True, True), (0.01, True, False), (0.0, False, False)],
    ids=["waiting", "ticks late", "running", "asleep"],
)
def test_bot_that_is_runnable_and_does_not_run_waits(
    used: float, is_runnable: bool, waits: bool
) -> None:
    before = Counts(5.0, {7: 2.0}, is_runnable=True)
    after = Counts(5.0 + used, {7: 2.0}, is_runnable=is_runnable)
    assert waits_still(before, after) is waits


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
    assert after.is_runnable  # it is we who look


def test_look_at_nobody_gives_nothing() -> None:
    assert look(2**22 + 1) is None


def test_our_own_wait_never_falls() -> None:
    before = own_wait_s()
    assert 0.0 <= before <= own_wait_s()


def test_thread_that_waited_longest_since_counts_and_not_the_one_that_ever_did() -> None:
    before = Counts(5.0, {1: 60.0, 2: 0.1}, is_runnable=True)
    after = Counts(5.0, {1: 60.1, 2: 0.6, 3: 0.3}, is_runnable=True)
    assert starved_s(before, after, 1.0) == pytest.approx(0.5)
