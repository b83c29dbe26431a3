"""What was found out before: that a self-test passed is kept until anything of it changes."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import msgspec

from arena.sandbox.bubblewrap import Profile
from arena.sandbox.seccomp import filter_program, this_machine

__all__ = ["fingerprint", "remember", "remembered"]


def fingerprint(profile: Profile, version: str, python: str) -> str:
    """Return a name for all that a self-test's outcome hangs on; another one for each boot.

    Args:
        profile: what is tested.
        version: of bubblewrap.
        python: path of the interpreter.
    """
    info = Path(profile.bwrap).stat()
    boot = Path("/proc/sys/kernel/random/boot_id")
    users = Path("/proc/self/ns/user")
    canary = (files("arena.sandbox") / "canary" / "canary.py").read_bytes()
    told = [
        msgspec.json.encode(profile),
        filter_program(this_machine()),
        canary,
        repr((version, info.st_size, info.st_mtime_ns, python, os.geteuid(), os.uname())).encode(),
        boot.read_bytes() if boot.exists() else b"",
        str(users.readlink()).encode() if users.is_symlink() else b"",
    ]
    whole = hashlib.sha256()
    for part in told:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def remembered(cache: Path | None, name: str) -> bool:
    """Whether a self-test of this name has passed before."""
    if cache is None:
        return False
    try:
        return bool(json.loads(cache.read_bytes()) == {"passed": name})
    except (OSError, ValueError):
        return False


def remember(cache: Path | None, name: str) -> None:
    """Keep the name of a self-test that passed; failing to is no harm."""
    if cache is None:
        return
    with suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        fresh = cache.with_name(f"{cache.name}.{os.getpid()}")
        fresh.write_text(json.dumps({"passed": name}))
        fresh.replace(cache)
