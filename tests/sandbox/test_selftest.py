"""The self-test: what a canary's words mean, and that it finds a sandbox with a hole."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.sandbox import selftest
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.patience import Patience
from arena.sandbox.selftest import beside, judge, run_canary
from arena.sandbox.visible import Visible
from tests.sandboxed import need_sandbox

PROFILE = Profile(
    bwrap=sys.executable,  # some file that is there
    route="R",
    visible=Visible(trees=("/usr",)),
    prlimit="/usr/bin/prlimit",
    setpriv="/usr/bin/setpriv",
    environment=(("LANG", "C.UTF-8"),),
)
ASKED = {"processes": 16, "tmp_bytes": 1 << 24}
US = 1000
NONE = "0" * 16


def words(**changes: Any) -> dict[str, Any]:
    told = {
        "seen": [],
        "connected": False,
        "processes": [],
        "written": [],
        "families": [],
        "locked": False,
        "forked": 15,
        "uid": 60_706,
        "status": {"CapEff": NONE, "CapBnd": NONE, "NoNewPrivs": "1", "Seccomp": "2"},
        "descriptors": [0, 1, 2],
        "environment": {"LANG": "C.UTF-8", "PWD": "/bot"},
        "tmp_bytes": ASKED["tmp_bytes"],
    }
    return told | changes


def failures(answer: dict[str, Any], profile: Profile = PROFILE, our_uid: int = US) -> list[str]:
    """What a canary with this answer could do and must not."""
    checks = judge(answer, ASKED, profile, our_uid)
    return [check.failure for check in checks if not check.holds]


def test_a_canary_that_got_nowhere_is_well() -> None:
    assert failures(words()) == []


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"seen": ["/etc/passwd"]}, "saw files"),
        ({"connected": True}, "reached a listener"),
        ({"processes": [1234]}, "saw processes"),
        ({"written": ["/usr", "/bot"]}, "could write to /usr, /bot"),
        ({"families": [40]}, "sockets"),
        ({"locked": True}, "lock"),
        ({"forked": 16}, "not stopped at 16 processes"),
        ({"forked": 0}, "not left any process"),
        ({"uid": US}, "ran as you"),
        ({"uid": 0}, "ran as you"),
        ({"status": words()["status"] | {"CapEff": "0" * 15 + "1"}}, "rights of root"),
        ({"status": words()["status"] | {"CapBnd": "0" * 15 + "1"}}, "rights of root"),
        ({"status": words()["status"] | {"NoNewPrivs": "0"}}, "could gain rights"),
        ({"status": words()["status"] | {"Seccomp": "0"}}, "without a filter"),
        ({"descriptors": [0, 1, 2, 7]}, "inherited open files"),
        ({"environment": {"LANG": "C.UTF-8", "SECRET": "x"}}, "inherited variables"),
        ({"environment": {}}, "inherited variables"),
        ({"tmp_bytes": 10**12}, "no /tmp of its own"),
    ],
)
def test_every_hole_is_named(changes: dict[str, Any], what: str) -> None:
    found = failures(words(**changes))
    assert len(found) == 1
    assert what in found[0]


def test_without_proc_its_counts_are_not_asked_for() -> None:
    blind = dict.fromkeys(words()["status"])
    assert failures(words(status=blind), replace(PROFILE, proc=False)) == []


def test_in_a_user_namespace_every_bot_is_nobody_even_if_we_are() -> None:
    found = failures(words(uid=65_534), replace(PROFILE, route="U"), 65_534)
    assert found == []


# --- real sandboxes -----------------------------------------------------------------------------


@pytest.mark.slow
def test_canary_gets_nowhere_in_the_real_sandbox() -> None:
    outcome = run_canary(need_sandbox().profile, sys.executable, limit_s=20.0)
    assert outcome.passed, outcome
    assert outcome.took_ms > 0


@pytest.mark.slow
def test_a_shown_folder_below_a_place_of_the_host_leaves_all_beside_it_hidden(
    tmp_path: Path,
) -> None:
    for name in ("home/me/venv/bin", "home/me/mail", "home/you", "var"):
        (tmp_path / name).mkdir(parents=True)
    home, shown = tmp_path / "home", {tmp_path / "home/me/venv", tmp_path / "usr"}
    assert list(beside(home, shown)) == [str(home / "me/mail"), str(home / "you")]
    assert list(beside(tmp_path / "var", shown)) == [str(tmp_path / "var")]
    assert list(beside(home, {home})) == [str(home)]


@pytest.mark.slow
def test_a_python_below_a_place_of_the_host_is_no_hole() -> None:
    """Such as a virtual environment in a home folder: the usual place, and the folders above it."""
    found = need_sandbox()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        venv = Path(made) / "here" / "venv"
        venv.mkdir(parents=True)
        (Path(made) / "secret").touch()
        trees = (*found.profile.visible.trees, str(venv))
        visible = replace(found.profile.visible, trees=trees)
        outcome = run_canary(replace(found.profile, visible=visible), sys.executable, limit_s=30)
        assert outcome.passed, outcome
        hole = replace(visible, trees=(*trees, "/var"))
        outcome = run_canary(replace(found.profile, visible=hole), sys.executable, limit_s=30)
        assert "saw files outside" in outcome.failed


def test_canary_finds_a_profile_with_holes() -> None:
    """What is shown by mistake is found: here the folders of the host that hold secrets."""
    profile = need_sandbox().profile
    shown = replace(profile.visible, trees=(*profile.visible.trees, "/etc", "/sys"))
    outcome = run_canary(replace(profile, visible=shown), sys.executable, limit_s=20.0)
    assert outcome.failed == ("saw files outside",), outcome


@pytest.mark.slow
def test_canary_that_has_no_time_is_trouble(tmp_path: Path) -> None:
    """Here one that never answers: a real one may be quicker than we come to look."""
    hangs = tmp_path / "bwrap"
    hangs.write_text("#!/bin/sh\nexec sleep 20\n")
    hangs.chmod(0o755)
    profile = replace(need_sandbox().profile, bwrap=str(hangs))
    outcome = run_canary(profile, sys.executable, limit_s=0.0)
    assert not outcome.passed
    assert "busy" in outcome.trouble


@pytest.mark.slow
def test_canary_runs_without_proc_too() -> None:
    profile = replace(need_sandbox().profile, proc=False)
    outcome = run_canary(profile, sys.executable, limit_s=20.0)
    assert outcome.passed, outcome


@pytest.mark.slow
def test_an_interpreter_that_is_not_shown_is_trouble() -> None:
    outcome = run_canary(need_sandbox().profile, "/nowhere/python3", limit_s=20.0)
    assert not outcome.passed
    assert "ended without an answer" in outcome.trouble
    assert "python3" in outcome.stderr


@pytest.mark.slow
def test_what_comes_behind_the_bytes_that_were_asked_for_is_not_taken_with_them(
    tmp_path: Path,
) -> None:
    """On a busy machine both lie in the pipe at once, and a sandbox that holds was refused."""
    code = "import os; os.write(1, b'x' * 1000 + b'behind'); os.read(0, 1)"
    with subprocess.Popen(
        [sys.executable, "-S", "-c", code],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    ) as process:
        patience = Patience(20.0)
        assert selftest._exchange(process, b"", 1000, patience) == b"x" * 1000
        assert selftest._exchange(process, b"", 6, patience) == b"behind"
        process.kill()
