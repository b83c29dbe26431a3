"""An ordinary user, made for tests that run as root, and a Python that this user can run.

In CI everything is root's: interpreter, packages and checkout may all lie below a closed home
folder. The user gets a virtual environment of the system's Python (of a copy of ours where that is
another version) in a folder open to all. It takes the packages of the Python that runs the tests
from where they lie, or from copies where that is closed. Nothing is downloaded.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from tests.tools import need, need_that

__all__ = ["CHECKOUT", "OrdinaryUser", "OrdinaryUsers"]

CHECKOUT = Path(__file__).resolve().parents[1]

_INSIDE = "/usr/local/bin:/usr/bin:/bin"
_NOT_COPIED = shutil.ignore_patterns("__pycache__", ".*")
_LARGE = 1 << 18
_NOBODY = 65_534
_TRIES = 40  # other programs that change the list of users lock it for a moment


class OrdinaryUser(NamedTuple):
    """Somebody with no rights, and what they run tests with.

    Attributes:
        name: of the user.
        uid, gid: of the user.
        python: the interpreter of the virtual environment.
        checkout: where `tests` lies, readable.
        scratch: a folder of the user's own.
    """

    name: str
    uid: int
    gid: int
    python: Path
    checkout: Path
    scratch: Path

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the variables of a process of this user."""
        return {
            "PATH": f"{_INSIDE}:/usr/sbin:/sbin",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.scratch),
            "TMPDIR": str(self.scratch),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.scratch / "hypothesis"),
            **{name: value for name, value in os.environ.items() if name.startswith("ARENA_")},
            **(more or {}),
        }


class OrdinaryUsers:
    """Makes the user when somebody asks, and takes them away at the end."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._user: OrdinaryUser | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def get(self) -> OrdinaryUser:
        """Return the user; skips the test with the reason where there can be none."""
        if self._user is None:
            self._user = self._stack.enter_context(_ordinary_user())
        return self._user


@contextmanager
def _ordinary_user() -> Iterator[OrdinaryUser]:
    need_that(os.geteuid() == 0, "root", "only root can make a user to run these as")
    useradd, userdel = need("useradd"), need("userdel")
    name = f"arena-test-{os.getpid()}"
    words = ["--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/false", name]
    trouble = _call([str(useradd), *words])
    need_that(not trouble, "a user of one's own", trouble)
    try:
        user = pwd.getpwnam(name)
        with tempfile.TemporaryDirectory(prefix="arena-user-") as made:
            folder = Path(made)
            folder.chmod(0o755)
            scratch = folder / "scratch"
            scratch.mkdir()
            os.chown(scratch, user.pw_uid, user.pw_gid)
            checkout = _readable([CHECKOUT / "tests"], folder / "checkout")[0].parent
            if checkout != CHECKOUT:
                _give(str(CHECKOUT / "pyproject.toml"), str(checkout / "pyproject.toml"))
            python = _environment(_interpreter(folder), folder, checkout)
            yield OrdinaryUser(name, user.pw_uid, user.pw_gid, python, checkout, scratch)
    finally:
        trouble = _call([str(userdel), name])
        assert not trouble, trouble


def _interpreter(folder: Path) -> Path:
    """Return a Python of our version that everybody can run: the system's, else a copy of ours."""
    ours = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for name in (f"python{ours}", "python3"):
        found = shutil.which(name, path=_INSIDE)
        if found and _version(found) == ours:
            return Path(found)
    (home,) = _readable([Path(sys.base_prefix)], folder / "python")
    copy = home / "bin" / f"python{ours}"
    reason = f"the system's Python is not {ours}, and a copy of ours does not run"
    need_that(_version(str(copy)) == ours, "system python", reason)
    return copy


def _version(python: str) -> str:
    """Return the version of a Python, as nobody is told it; empty if it does not run."""
    told = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={},
        user=_NOBODY,
        group=_NOBODY,
        extra_groups=[],
    )
    return told.stdout.strip()


def _environment(interpreter: Path, folder: Path, checkout: Path) -> Path:
    """Make the virtual environment; its paths lead to our packages first, so wheels are tested."""
    home = folder / "venv"
    subprocess.run([interpreter, "-m", "venv", "--without-pip", home], check=True)
    ours = [Path(sysconfig.get_path("purelib")), Path(msgspec.__file__).parents[1]]
    packages = _readable(list(dict.fromkeys(ours)), folder / "packages")
    # Of an editable install the sources lie in the checkout, else they are among the packages.
    sources = [CHECKOUT / name for name in ("arena", "protocol", "bots", "reports")]
    if not (ours[0] / "arena").exists():
        readable = _readable(sources, folder / "checkout")
        need_that(
            {path.parent for path in readable} == {checkout}, "readable checkout", "it is not"
        )
    lines = "".join(f"{path}\n" for path in (*packages, checkout))
    (site,) = (home / "lib").glob("python3*/site-packages")
    (site / "arena-tests.pth").write_text(lines)
    return home / "bin" / "python"


def _readable(folders: Sequence[Path], into: Path) -> list[Path]:
    """Return the folders if everybody can read them all, else copies with the same names."""
    if all(map(_is_open, folders)):
        return list(folders)
    copies = []
    for number, source in enumerate(folders):
        copy = into / (source.name if into.name == "checkout" else str(number))
        shutil.copytree(source, copy, copy_function=_give, ignore=_NOT_COPIED, dirs_exist_ok=True)
        for place, _, _ in os.walk(copy):
            Path(place).chmod(0o755)
        copies.append(copy)
    into.chmod(0o755)
    return copies


def _give(source: str, target: str) -> str:
    """Copy a file so that everybody may read it; a large one that they may is linked.

    Bots are among the small ones, and a file of a bot may have no second name.
    """
    told = os.stat(source)  # noqa: PTH116 - called ten thousands of times
    if told.st_size > _LARGE and told.st_mode & 0o004:
        with suppress(OSError):
            os.link(source, target)
            return target
    shutil.copyfile(source, target)
    Path(target).chmod(0o755)
    return target


def _is_open(folder: Path) -> bool:
    """Whether everybody can come to a folder, and list it."""
    above = all(parent.stat().st_mode & 0o001 for parent in folder.parents)
    return above and folder.stat().st_mode & 0o005 == 0o005


def _call(command: Sequence[str]) -> str:
    """Run a program that changes the list of users; return what went wrong, if anything did."""
    for left in range(_TRIES, -1, -1):
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.returncode == 0:
            break
        for_now = "lock" in told.stderr or "currently used" in told.stderr
        if not left or not for_now:
            return f"`{command[0]}` fails: {told.stderr.strip()}"
        time.sleep(0.25)
    return ""
