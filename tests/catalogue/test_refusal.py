"""E26 of the catalogue: where the sandbox can't be had, no stranger's bot is ever started.

On the command line, with programs that are no bubblewrap, and where user namespaces are used up.
What each of them is told apart by is in `tests/sandbox/test_finding.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.catalogue.checks import check_output
from tests.cli.bots import write_bot
from tests.cli.calling import Caller
from tests.sandboxed import need_sandbox
from tests.tools import need_that

pytestmark = pytest.mark.slow

REFUSED_WITHIN_S = 3.0
LIMIT_S = 60.0
TOLD = 'if [ "$1" = --version ]; then echo "bubblewrap 0.11.0"; exit 0; fi\n'
FREE = 'while [ "$1" != -- ]; do shift; done; shift\nexec "$@"'
NO_NAMESPACE = "bwrap: No permissions to creating new namespace, likely because of the kernel"

# Name, what lies where bubblewrap should be (None: nothing), its mode, and the cause that is told.
FAKES = (
    ("missing", None, 0o755, "bubblewrap is not installed"),
    ("not-executable", "exit 0", 0o644, "does not work as bubblewrap"),
    ("exits-1", "exit 1", 0o755, "does not work as bubblewrap"),
    ("exits-1-later", TOLD + "exit 1", 0o755, "does not work as bubblewrap"),
    ("hangs", "exec sleep 20", 0o755, "does not work as bubblewrap"),
    ("hangs-later", TOLD + "exec sleep 20", 0o755, "does not work as bubblewrap"),
    ("prints", TOLD + "echo hello; exec sleep 20", 0o755, "does not work as bubblewrap"),
    ("prints-json", TOLD + "echo '{}'; exec sleep 20", 0o755, "does not work as bubblewrap"),
    ("prints-a-list", TOLD + "echo '[1]'; exec sleep 20", 0o755, "does not work as bubblewrap"),
    ("no-namespaces", TOLD + f"echo '{NO_NAMESPACE}' >&2; exit 1", 0o755, "namespaces"),
    ("lets-all-go", TOLD + FREE, 0o755, "does not (work|hold)"),
)


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """What the stranger's bot makes as soon as it is started."""
    return tmp_path / "started"


@pytest.fixture
def stranger(tmp_path: Path, started: Path) -> Path:
    """A bot of somebody else."""
    bot = write_bot(tmp_path, "stranger", "pass")
    code = (bot / "bot.py").read_text()
    (bot / "bot.py").write_text(f"open({str(started)!r}, 'w').close()\n{code}")
    return bot


def fake(folder: Path, script: str | None, mode: int) -> Path:
    """Write what is no bubblewrap; return where it would be."""
    path = folder / "bwrap"
    if script is not None:
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(mode)
    return path


def check_refusal(code: int, stdout: str, stderr: str, cause: str) -> None:
    """Exit code 2, nothing on stdout, and cause, why, fix and alternative in this order."""
    assert code == 2, stderr
    assert stdout == ""
    found = re.search(
        r"Cannot run untrusted bots: (.+)\. Nothing was started\.\nWhy: .+\nFix: .+\n(.+\n)*?"
        r"Or:  --sandbox=none if you wrote every bot yourself",
        stderr,
    )
    assert found, stderr
    assert re.search(cause, found[1]), stderr
    check_output(stdout, stderr)


@pytest.mark.parametrize(("name", "script", "mode", "cause"), FAKES, ids=[it[0] for it in FAKES])
def test_strangers_bot_is_refused_in_time_and_never_started(
    name: str,
    script: str | None,
    mode: int,
    cause: str,
    tmp_path: Path,
    stranger: Path,
    started: Path,
) -> None:
    bwrap = fake(tmp_path, script, mode)
    began = time.monotonic()
    told = Caller()("play", stranger, "greedy", "--data", tmp_path / "data", "--bwrap", bwrap)
    assert time.monotonic() - began < REFUSED_WITHIN_S
    check_refusal(told.code, told.stdout, told.stderr, cause)
    assert not started.exists()


@pytest.mark.parametrize(
    "words", [("run", "--deals", "1"), ("bots",), ("run", "--jobs", "2", "--restart", "keep")]
)
def test_every_command_that_starts_bots_refuses(
    words: tuple[str, ...], tmp_path: Path, stranger: Path, started: Path
) -> None:
    bwrap = fake(tmp_path, "exit 1", 0o755)
    command, *rest = words
    bots = [stranger, "random"] if command == "run" else [stranger]
    data = ("--data", tmp_path / "data") if command == "run" else ()
    told = Caller()(command, *bots, *rest, *data, "--bwrap", bwrap)
    check_refusal(told.code, told.stdout, told.stderr, "does not work as bubblewrap")
    assert not started.exists()


def test_own_bots_play_without_it_and_it_is_told(tmp_path: Path) -> None:
    """The one exception: one line of warning, and a mark in the record; with a stranger, none."""
    bwrap = fake(tmp_path, "exit 1", 0o755)
    told = Caller()("play", "random", "greedy", "--data", tmp_path / "data", "--bwrap", bwrap)
    assert told.code == 0, told.stderr
    (line,) = (line for line in told.stderr.splitlines() if "no sandbox" in line)
    assert "does not work as bubblewrap" in line
    exported = Caller()("export", "--data", tmp_path / "data", "--format", "jsonl")
    assert '"unsandboxed"' in exported.stdout


def test_where_user_namespaces_are_used_up_it_is_refused_too(
    tmp_path: Path, stranger: Path, started: Path
) -> None:
    """As an ordinary user, in a sandbox of ours that lets no other be made: a real bubblewrap."""
    profile = need_sandbox().profile
    need_that(os.geteuid() == 0, "root", "only root makes a sandbox with other user ids")
    words = [
        *(profile.bwrap, "--unshare-user", "--disable-userns", "--uid", "1234", "--gid", "1234"),
        *("--die-with-parent", "--bind", "/", "/", "--dev", "/dev", "--"),
        *(sys.executable, "-m", "arena", "play", str(stranger), "greedy"),
        *("--data", str(tmp_path / "data")),
    ]
    began = time.monotonic()
    told = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert time.monotonic() - began < REFUSED_WITHIN_S + 2.0  # and Python's own start
    check_refusal(told.returncode, told.stdout, told.stderr, "user namespaces")
    assert not started.exists()
