"""The whole catalogue, twenty times over without a flake; by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

CHECKOUT = Path(__file__).resolve().parents[2]
PARTS = ("tests/catalogue", "tests/referee/test_faulty_bots.py")
_LIMIT_S = 3_600


@pytest.mark.parametrize("time", range(1, 21))
def test_catalogue_holds_once_more(time: int, tmp_path: Path) -> None:
    told = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-m", "slow and not long", f"--basetemp={tmp_path / 'pytest'}", *PARTS),
        ],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
        timeout=_LIMIT_S,
    )
    assert told.returncode == 0, f"time {time}: {told.stdout[-20_000:]}{told.stderr}"
