"""The command line as a fixture."""

from __future__ import annotations

import pytest

from tests.cli.calling import Caller


@pytest.fixture
def arena() -> Caller:
    """The command line, in this process."""
    return Caller()
