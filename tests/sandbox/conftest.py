"""Tests of real processes leave no dead ones to those that come after them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.orphans import orphans_reaped


@pytest.fixture(autouse=True)
def reaped(request: pytest.FixtureRequest) -> Iterator[None]:
    """See that nobody is left, dead or alive, of what a test with real processes started."""
    if request.node.get_closest_marker("slow") is None:
        yield
        return
    with orphans_reaped():
        yield
