"""The bare round trip, with `cat` for the C child."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bench.bare import Bare, Exchange
from tests.tools import need


@pytest.fixture
def bare() -> Iterator[Bare]:
    need("cat")
    child = Bare(Path("/bin/cat"), [Exchange(b'{"type":"turn"}\n', 11)])
    yield child
    child.close()


def test_a_round_trip_takes_its_time(bare: Bare) -> None:
    assert bare.block(3) > 1.0  # microseconds


def test_pinned_it_stays_on_a_cpu_that_this_process_may_use(
    bare: Bare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch system or a container may have given it others than the first."""
    moved: list[set[int]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {5, 7})
    monkeypatch.setattr(os, "sched_setaffinity", lambda _pid, cpus: moved.append(set(cpus)))
    bare.block(1, pin=True)
    assert moved == [{5}, {5}, {5, 7}, {5, 7}]
    bare.block(1)
    assert len(moved) == 4
