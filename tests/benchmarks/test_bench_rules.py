"""The rules stay cheap beside the referee's other work, by ratios that hold on any machine."""

from __future__ import annotations

import pytest

from arena.rules import registry
from tests.benchmarks.bench_rules import measure

MOST = {  # twice what was measured: for Mister X, for the detectives
    "london": (0.22, 0.42),
    "europe": (1.45, 3.0),  # a turn has twice the plies, and hands that are drawn
}


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.names())
def test_a_request_costs_a_small_share_of_the_fixed_loop(name: str) -> None:
    result = measure(name, games=40, rounds=3)
    mister_x, detectives = MOST[name.partition("-")[0]]
    assert result["mister_x"]["ratio"] < mister_x
    assert result["detectives"]["ratio"] < detectives
