"""The one source of limits, and how they are set."""

from __future__ import annotations

import resource
import shutil

import pytest
from msgspec.structs import replace

from arena.sandbox.limits import default_limits, limit_command, not_set_here
from protocol import codec


def test_limits_of_the_wire_are_the_codecs() -> None:
    limits = default_limits()
    assert limits.line_bytes == codec.LINE_BYTES
    assert limits.depth == codec.DEPTH
    assert limits.unknown_keys == codec.UNKNOWN_KEYS
    assert limits.note_bytes == codec.NOTE_BYTES


@pytest.mark.skipif(not shutil.which("prlimit"), reason="this machine has no `prlimit`")
def test_command_sets_what_is_asked_for() -> None:
    words = limit_command(replace(default_limits(), open_files=77), cpu_s=12)
    assert "--nofile=77" in words
    assert "--cpu=12" in words
    assert words[-1] == "--"
    assert "--cpu=12" not in limit_command(default_limits())


def test_limit_is_never_over_what_this_process_may_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raising a hard limit fails, and the bot would not start."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10, 10))
    limit_command.cache_clear()
    try:
        words = limit_command(default_limits())
        assert all(word.endswith(("=10", "=0")) for word in words if "=" in word)
    finally:
        limit_command.cache_clear()


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    limit_command.cache_clear()
    try:
        assert limit_command(default_limits()) == ()
    finally:
        limit_command.cache_clear()
    lines = "\n".join(not_set_here())
    assert "setpriv is missing" in lines
    assert "prlimit is missing" in lines
    assert "only in the sandbox" in lines
    assert "only in the sandbox" not in "\n".join(not_set_here(sandboxed=True))
