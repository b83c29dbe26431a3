"""The sandbox of all tests: looked for until one is found, and once only."""

from __future__ import annotations

import pytest

from arena.sandbox.bubblewrap import Profile
from arena.sandbox.finding import Found
from arena.sandbox.refusals import Refusal, no_bubblewrap
from arena.sandbox.visible import Visible
from tests import sandboxed


def test_one_refusal_is_not_that_of_all_tests_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = Profile(
        bwrap="/bwrap",
        route="U",
        visible=Visible(trees=()),
        prlimit="",
        setpriv="",
        environment=(),
    )
    found = Found(
        profile=profile, origin="system", version="1.0.0", from_cache=False, took_ms=1.0, notes=()
    )
    answers: list[Found | Refusal] = [no_bubblewrap(["/bwrap"]), found]
    monkeypatch.setattr(sandboxed, "_found", [])
    monkeypatch.setattr(sandboxed, "find_sandbox", lambda *_, **__: answers.pop(0))
    assert "bubblewrap is not installed" in str(sandboxed.found_sandbox())
    assert sandboxed.found_sandbox() is found
    assert sandboxed.need_sandbox() is found
    assert answers == []
