"""What is kept of a self-test that passed, and what it is good for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.sandbox.bubblewrap import Profile
from arena.sandbox.remembering import fingerprint, remember, remembered
from arena.sandbox.visible import Visible

PROFILE = Profile(
    bwrap=sys.executable,  # some file that is there
    route="R",
    visible=Visible(trees=("/usr",)),
    prlimit="/usr/bin/prlimit",
    setpriv="/usr/bin/setpriv",
    environment=(("LANG", "C.UTF-8"),),
)


def test_an_outcome_is_remembered_for_the_very_same_alone(tmp_path: Path) -> None:
    cache = tmp_path / "selftest.json"
    name = fingerprint(PROFILE, "0.11.0", sys.executable)
    assert not remembered(cache, name)
    remember(cache, name)
    assert remembered(cache, name)
    for other in (
        fingerprint(replace(PROFILE, uid_count=1), "0.11.0", sys.executable),
        fingerprint(PROFILE, "0.12.0", sys.executable),
        fingerprint(PROFILE, "0.11.0", "/usr/bin/python3"),
        fingerprint(replace(PROFILE, bwrap="/usr/bin/env"), "0.11.0", sys.executable),
    ):
        assert not remembered(cache, other)
    assert os.listdir(tmp_path) == ["selftest.json"]  # noqa: PTH208


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"passed": "other"}', b"\xff"])
def test_a_spoilt_memory_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "it").write_bytes(content)
    assert not remembered(tmp_path / "it", "name")


def test_no_memory_is_kept_where_none_is_wanted_or_can_be(tmp_path: Path) -> None:
    remember(None, "name")
    assert not remembered(None, "name")
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    remember(tmp_path / "file" / "it", "name")
    assert not remembered(tmp_path / "file" / "it", "name")
    remember(tmp_path / "made" / "it", "name")
    assert os.listdir(tmp_path / "made") == ["it"]  # noqa: PTH208
    assert remembered(tmp_path / "made" / "it", "name")
