"""Sums over what a sandbox's processes use, and the account of its CPU time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.sandbox.processes import Seen
from arena.sandbox.usage import Bounds, CpuAccount, Usage, breach, sum_up

MIB = 1024 * 1024
BOUNDS = Bounds(memory_bytes=512 * MIB, tasks=64, files=100, sockets=10)


def seen(pid: int, **changes: Any) -> Seen:
    told = Seen(
        pid,
        started=0,
        state="S",
        threads=1,
        resident_bytes=10 * MIB,
        swapped_bytes=0,
        cpu_s=0.0,
        reaped_s=0.0,
    )
    return told._replace(**changes)


def test_sum_leaves_our_own_first_process_out() -> None:
    processes = [seen(1), seen(2, threads=3, swapped_bytes=MIB), seen(3)]
    assert sum_up(processes, 1, files=4, sockets=5) == Usage(21 * MIB, 4, 4, 5)


@pytest.mark.parametrize(
    "usage",
    [Usage(512 * MIB, 64, 100, 10), Usage(0, 0), Usage(0, 0, None, None)],
)
def test_bounds_themselves_are_no_breach(usage: Usage) -> None:
    assert breach(usage, BOUNDS) is None


@pytest.mark.parametrize(
    ("usage", "text"),
    [
        (Usage(531 * MIB, 1), "memory 531 MiB, the limit is 512 MiB"),
        (Usage(0, 65), "65 processes and threads, the limit is 64"),
        (Usage(0, 0, 101), "101 files in /tmp and /dev/shm, the limit is 100"),
        (Usage(0, 0, None, 11), "11 sockets, the limit is 10"),
        (Usage(600 * MIB, 65, 101, 11), "memory 600 MiB, the limit is 512 MiB"),
    ],
)
def test_breach_tells_the_number_and_the_limit(usage: Usage, text: str) -> None:
    assert breach(usage, BOUNDS) == text


def test_cpu_of_all_processes_is_added_up() -> None:
    account = CpuAccount()
    assert account.look([seen(1, cpu_s=0.1), seen(2, cpu_s=0.4)]) == pytest.approx(0.5)
    assert account.look([seen(1, cpu_s=0.1), seen(2, cpu_s=0.9)]) == pytest.approx(1.0)


def test_a_child_that_was_waited_for_is_counted_once() -> None:
    account = CpuAccount()
    account.look([seen(2, cpu_s=0.1), seen(3, cpu_s=1.0)])
    assert account.look([seen(2, cpu_s=0.1, reaped_s=1.0)]) == pytest.approx(1.1)


def test_a_child_that_nobody_waited_for_is_counted_all_the_same() -> None:
    """SIGCHLD ignored: the kernel adds its time to nobody's."""
    account = CpuAccount()
    account.look([seen(2, cpu_s=0.1), seen(3, cpu_s=1.0)])
    assert account.look([seen(2, cpu_s=0.3)]) == pytest.approx(1.3)
    account.look([seen(2, cpu_s=0.3), seen(4, cpu_s=0.5)])
    assert account.look([seen(2, cpu_s=0.3)]) == pytest.approx(1.8)


def test_a_chain_of_reaping_is_counted_once() -> None:
    """What a process reaped goes on to whoever reaps it."""
    account = CpuAccount()
    account.look([seen(1), seen(2, cpu_s=0.2, reaped_s=0.7), seen(3, cpu_s=0.4)])
    account.look([seen(1), seen(2, cpu_s=0.2, reaped_s=1.1)])
    assert account.look([seen(1, reaped_s=1.3)]) == pytest.approx(1.3)


def test_children_between_two_looks_show_at_their_reaper() -> None:
    account = CpuAccount()
    account.look([seen(2)])
    assert account.look([seen(2, reaped_s=0.8)]) == pytest.approx(0.8)


def test_a_number_used_again_is_another_process() -> None:
    account = CpuAccount()
    account.look([seen(2), seen(3, started=5, cpu_s=1.0)])
    assert account.look([seen(2), seen(3, started=9, cpu_s=2.0)]) == pytest.approx(3.0)


def test_total_never_falls() -> None:
    account = CpuAccount()
    account.look([seen(2, cpu_s=1.0)])
    assert account.look([]) == pytest.approx(1.0)
    assert account.look([seen(2, cpu_s=0.5)]) >= 1.0
    assert account.total_s >= 1.0


def told(*looks: list[Seen]) -> tuple[bool, bool]:
    """Whether one is suspect, and whether it hides time, after so many looks."""
    account = CpuAccount()
    for look in looks:
        account.look(look)
    return account.is_suspect, account.hides_time


def test_children_that_nobody_collects_are_found_out() -> None:
    """A tenth of a second that is missing at two looks in a row."""
    looks = [[seen(2), seen(number, cpu_s=0.015)] for number in range(3, 13)]
    assert told(*looks[:2]) == (False, False)
    assert told(*looks[:3]) == (True, False)
    assert told(*looks[:3], looks[2]) == (False, False)
    assert told(*looks[:8]) == (True, False)
    assert told(*looks) == (False, True)
    assert told(*looks, [seen(2, reaped_s=9.0)]) == (False, True)


def test_child_that_is_reaped_in_the_middle_of_a_look_hides_nothing() -> None:
    """It is gone, and its reaper was seen just before it collected its time."""
    account = CpuAccount()
    for number in range(3, 10):
        account.look([seen(2, reaped_s=number - 3.0), seen(number, cpu_s=1.0)])
        account.look([seen(2, reaped_s=number - 3.0)])
        assert account.is_suspect
    account.look([seen(2, reaped_s=7.0)])
    assert not account.hides_time
    assert not account.is_suspect


@given(st.lists(st.floats(0.001, 0.2), max_size=60))
def test_who_waits_for_all_children_hides_nothing_however_the_kernel_rounds(
    used: list[float],
) -> None:
    """It tells of reaped time in two counts of ticks, each cut off."""
    account = CpuAccount()
    reaped = 0.0
    for number, cpu_s in enumerate(used, 3):
        parts = (int(reaped * 30) / 100, int(reaped * 70) / 100)
        account.look([seen(2, reaped_s=sum(parts)), seen(number, cpu_s=cpu_s)])
        reaped += cpu_s
    assert not account.hides_time
