"""Tools that a test needs and a machine may lack: found, or the test is skipped with the reason.

With `ARENA_TESTS_COMPLETE=1` (set by `.ci/run` as root, which installs every tool) a lacking tool
is a failure, save those listed in `MAY_LACK` with their reason.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

__all__ = ["MAY_LACK", "need", "need_that"]

# What even a complete machine may lack; a test pins this list's length.
MAY_LACK: dict[str, str] = {
    "rustc": "its tool chain mostly lies in a home folder, which the ordinary user can't see",
    "cgroups": "containers mostly let nobody make one",
}


def need(tool: str) -> Path:
    """Return the path of a program, or skip the test (fail it on a complete machine)."""
    found = shutil.which(tool)
    need_that(found is not None, tool, f"this machine has no `{tool}`")
    return Path(str(found))


def need_that(holds: bool, name: str, reason: str) -> None:
    """Go on if this machine has what `name` stands for, else skip with the reason.

    On a complete machine (`ARENA_TESTS_COMPLETE=1`) it fails instead, unless `name` is pinned in
    `MAY_LACK`.
    """
    if holds:
        return
    if os.environ.get("ARENA_TESTS_COMPLETE") == "1" and name not in MAY_LACK:
        pytest.fail(f"a complete machine was promised, but {reason}")
    pytest.skip(reason)
