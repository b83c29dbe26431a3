"""On systems without a sandbox: one sentence where bots are needed, and all else as anywhere.

There are none of them to test on. What Python lacks there is taken away here before anything of
the arena is loaded.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.main import COMMANDS, STARTS_BOTS

pytestmark = pytest.mark.slow

CODE = """
import os, platform, select, signal, sys
system = sys.argv.pop(1)
lacking = {
    os: "pidfd_open sched_getaffinity sched_setaffinity memfd_create P_PIDFD pipe2 prctl",
    select: "epoll EPOLLIN EPOLLET",
    signal: "pidfd_send_signal",
}
if system == "Windows":
    for name in ("resource", "pwd", "grp", "fcntl", "termios", "tty"):
        sys.modules[name] = None
    lacking[os] += " geteuid getuid killpg setsid getpgid O_NOFOLLOW O_DIRECTORY O_NONBLOCK WNOWAIT"
    lacking[os] += " WEXITED setpriority getpriority PRIO_PROCESS sysconf"
    lacking[signal] += " SIGKILL SIGSTOP SIGCONT SIGHUP"
for module, names in lacking.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
platform.system = lambda: system
from arena.cli.main import main
main()
"""
WITHOUT_BOTS = {
    "games": ("games",),
    "verify": ("verify",),
    "replay": ("replay",),
    "report": ("report",),
    "rate": ("rate", "results.csv"),
    "sprt": ("sprt", "--pairs", "5,60,300", "--elo0", "0", "--elo1", "50"),
    "export": ("export", "--format", "csv"),
    "rulesets": ("rulesets",),
    "limits": ("limits",),
    "protocol": ("protocol", "--schema"),
    "config": ("config", "schema"),
}


def run(system: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Call `arena` as on another system."""
    return subprocess.run(
        [sys.executable, "-c", CODE, system, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in it, which was played elsewhere."""
    folder = tmp_path_factory.mktemp("played")
    for words in (
        ("run", "random", "greedy", "--deals", "1"),
        ("export", "--format", "csv", "-o", "results.csv"),
    ):
        subprocess.run(
            [sys.executable, "-m", "arena", *words], cwd=folder, capture_output=True, check=True
        )
    return folder


def test_every_command_is_of_the_one_kind_or_the_other() -> None:
    assert set(COMMANDS) == STARTS_BOTS | set(WITHOUT_BOTS)


@pytest.mark.parametrize("system", ["Darwin", "Windows"])
@pytest.mark.parametrize("name", WITHOUT_BOTS)
def test_what_needs_no_bots_works(system: str, name: str, played: Path) -> None:
    told = run(system, played, *WITHOUT_BOTS[name])
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stdout


@pytest.mark.parametrize("system", ["Darwin", "Windows"])
@pytest.mark.parametrize("name", sorted(STARTS_BOTS))
def test_what_needs_bots_says_the_sentence(system: str, name: str, tmp_path: Path) -> None:
    told = run(system, tmp_path, name, "random", "--seed", "x", "--json")
    assert told.returncode == (1 if name == "doctor" else 2)
    text = told.stdout if name == "doctor" else told.stderr
    assert "the sandbox needs Linux" in text
    assert f"this is {system}" in text
    assert "WSL2" in text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("--help",), ("run", "--help")])
def test_help_is_there(words: tuple[str, ...], tmp_path: Path) -> None:
    assert run("Windows", tmp_path, *words).returncode == 0
