"""How CPUs are named to people."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from arena.tournament.executors.cpus import listed


@pytest.mark.parametrize(
    ("cpus", "written"),
    [
        ([0], "0"),
        ([0, 1], "0-1"),
        ([0, 1, 2, 3, 8, 10, 11], "0-3,8,10-11"),
        (range(0, 128, 2), "0,2,4,6,8,10,12,…,126"),  # no line is filled with them
        ([0, 2, 4, 6, 8, 10, 12, 14, 15], "0,2,4,6,8,10,12,14-15"),
    ],
)
def test_cpus_are_written_as_the_kernel_does(cpus: Sequence[int], written: str) -> None:
    assert listed(cpus) == written
