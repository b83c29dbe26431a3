"""The tests with real sandboxes once more, as an ordinary user: route U where all else is root's.

A user is made for it, and the system's Python runs the tests with the packages of the one that runs
these, so that nothing lies in a closed home folder.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.tools import need, need_that

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parents[2]
FILES = (
    "building",
    "finding",
    "processes",
    "runtimes",
    "sandboxes",
    "selftest",
    "starting",
    "traps",
    "warden",
)
_LIMIT_S = 240


@pytest.fixture(scope="module")
def user() -> Iterator[pwd.struct_passwd]:
    """Make a user without a home folder, and take it away again."""
    need_that(os.geteuid() == 0, "root", "only root can make a user to run these as")
    useradd, userdel = need("useradd"), need("userdel")
    name = f"arena-test-{os.getpid()}"
    subprocess.run(
        [
            useradd,
            "--no-create-home",
            "--home-dir",
            "/nonexistent",
            "--shell",
            "/bin/false",
            name,
        ],
        check=True,
    )
    try:
        yield pwd.getpwnam(name)
    finally:
        subprocess.run([userdel, name], check=True)


@pytest.fixture(scope="module")
def python() -> str:
    """Return a Python that everybody can run and that takes our packages."""
    found = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    version = ""
    if found:
        told = subprocess.run([found, "-c", asked], capture_output=True, text=True, check=False)
        version = told.stdout.strip()
    ours = f"{sys.version_info[0]}.{sys.version_info[1]}"
    need_that(version == ours, "system python", f"the system's Python is not {ours}")
    return str(found)


@pytest.mark.parametrize("name", FILES)
def test_real_sandboxes_hold_for_an_ordinary_user(
    name: str, user: pwd.struct_passwd, python: str
) -> None:
    packages = {sysconfig.get_path("purelib"), str(Path(msgspec.__file__).parents[1])}
    readable = all(os.stat(path).st_mode & 0o005 == 0o005 for path in packages)  # noqa: PTH116
    need_that(readable, "readable packages", "our packages lie in a closed folder")
    with tempfile.TemporaryDirectory(prefix="arena-user-") as scratch:
        os.chown(scratch, user.pw_uid, user.pw_gid)
        told = subprocess.run(
            [
                *(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "slow", "-rs"),
                *(f"--basetemp={scratch}/pytest", f"tests/sandbox/test_{name}.py"),
            ],
            cwd=CHECKOUT,
            user=user.pw_uid,
            group=user.pw_gid,
            extra_groups=[],
            env={
                "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sorted(packages)]),
                "PYTHONDONTWRITEBYTECODE": "1",
                "HOME": scratch,
                "TMPDIR": scratch,
                "HYPOTHESIS_STORAGE_DIRECTORY": f"{scratch}/hypothesis",
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT_S,
        )
    assert told.returncode == 0, told.stdout + told.stderr
    assert " skipped" not in told.stdout or name in {"runtimes", "finding"}, told.stdout
