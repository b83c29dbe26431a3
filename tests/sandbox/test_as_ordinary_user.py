"""The tests with real sandboxes again, as an ordinary user: route U where all else is root's."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from tests.ordinary_user import OrdinaryUser
from tests.orphans import orphans_reaped

pytestmark = pytest.mark.slow

FILES = (
    "cli/test_deaths",
    "sandbox/test_building",
    "sandbox/test_finding",
    "sandbox/test_processes",
    "sandbox/test_runtimes",
    "sandbox/test_sandboxes",
    "sandbox/test_selftest",
    "sandbox/test_starting",
    "sandbox/test_traps",
    "sandbox/test_warden",
)
MAY_SKIP = {"sandbox/test_runtimes", "sandbox/test_finding"}
_LIMIT_S = 480  # hosts are busy


@pytest.mark.parametrize("name", FILES)
def test_real_sandboxes_hold_for_an_ordinary_user(
    name: str, ordinary_users: Callable[[], OrdinaryUser]
) -> None:
    user = ordinary_users()
    with orphans_reaped():
        told = subprocess.run(
            [
                *(user.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "slow", "-rs"),
                *(f"--basetemp={user.scratch / 'pytest'}", f"tests/{name}.py"),
            ],
            cwd=user.checkout,
            user=user.uid,
            group=user.gid,
            extra_groups=[],
            env=user.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT_S,
        )
    assert told.returncode == 0, told.stdout + told.stderr
    assert " skipped" not in told.stdout or name in MAY_SKIP, told.stdout
