"""The rules stay cheap beside the referee's other work, by ratios that hold on any machine."""

from __future__ import annotations

import pytest

from arena.rules import registry
from tests.benchmarks.bench_rules import measure


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.names())
def test_a_request_costs_a_small_share_of_the_fixed_loop(name: str) -> None:
    """Twice what was measured: 0.11 for Mister X, 0.21 for five detectives."""
    result = measure(name, games=40, rounds=3)
    assert result["mister_x"]["ratio"] < 0.22
    assert result["detectives"]["ratio"] < 0.42
