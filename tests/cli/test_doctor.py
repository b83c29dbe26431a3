"""`arena doctor`: what it says of a machine with a sandbox, and of one without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from arena.cli import answers
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.finding import Found
from arena.sandbox.refusals import no_bubblewrap
from arena.sandbox.selftest import Check
from arena.sandbox.visible import Visible
from tests.cli.calling import Caller
from tests.sandboxed import need_sandbox

PROFILE = Profile(
    bwrap="/usr/bin/bwrap",
    version="0.11.0",
    route="R",
    visible=Visible(trees=("/usr",)),
    prlimit="/usr/bin/prlimit",
    setpriv="/usr/bin/setpriv",
    environment=(),
)
FOUND = Found(
    profile=PROFILE,
    origin="system",
    version="0.11.0",
    from_cache=False,
    took_ms=61.6,
    checks=(Check("sees no file outside", "saw files outside", True),),
    notes=("a note of bubblewrap",),
)
REFUSED = no_bubblewrap(["/usr/bin/bwrap"])


def find(monkeypatch: pytest.MonkeyPatch, found: Any) -> None:
    """Let the sandbox be found like this."""
    monkeypatch.setattr("arena.sandbox.finding.find_sandbox", lambda *_args, **_more: found)


def test_sandbox_and_what_was_tried_are_told(
    arena: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    find(monkeypatch, FOUND)
    monkeypatch.setattr("arena.cli.doctor.not_set_here", lambda *, sandboxed: (f"x {sandboxed}",))
    called = arena("doctor")
    assert called.code == 0
    assert "bubblewrap 0.11.0, /usr/bin/bwrap (system)" in called.stdout
    assert "R: we are root" in called.stdout
    assert "60706 to 61183" in called.stdout
    assert "1 checks passed in 62 ms" in called.stdout
    assert "\nA program in the sandbox, just tried:\n  sees no file outside\n" in called.stdout
    assert "warning: a note of bubblewrap" in called.stderr
    assert "Not held to here: x True." in called.stderr


def test_refusal_is_told_with_its_fix_and_ends_with_1(
    arena: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    find(monkeypatch, REFUSED)
    called = arena("doctor")
    assert called.code == 1
    assert "none: bubblewrap is not installed" in called.stdout
    assert REFUSED.text() in called.stdout
    assert "only in the sandbox" in called.stderr


@pytest.mark.parametrize("found", [FOUND, REFUSED], ids=["found", "refused"])
def test_object_has_the_one_or_the_other(
    arena: Caller, monkeypatch: pytest.MonkeyPatch, found: Any
) -> None:
    find(monkeypatch, found)
    answer = arena("doctor", "--json").json
    jsonschema.validate(answer, answers.schema())
    assert (answer["sandbox"] is None) != (answer["refusal"] is None)
    assert answer["machine"]["cpus"] >= 1


@pytest.mark.parametrize(
    ("quota", "says"), [(None, "2"), (8.0, "2"), (2.0, "2"), (1.5, "1, by a quota of 1.5")]
)
def test_a_quota_is_told_where_it_gives_less_than_the_cpus(
    arena: Caller, monkeypatch: pytest.MonkeyPatch, quota: float | None, says: str
) -> None:
    find(monkeypatch, FOUND)
    for module in ("cli.doctor", "tournament.executors.cpus"):
        monkeypatch.setattr(f"arena.{module}.cpu_quota", lambda: quota)
        monkeypatch.setattr(f"arena.{module}.usable_cpus", lambda: (0, 1))
    (line,) = (one for one in arena("doctor").stdout.splitlines() if "usable cores" in one)
    assert line.split("usable cores")[1].strip() == says


def test_what_was_remembered_does_not_count(
    arena: Caller, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[dict[str, Any]] = []

    def note(*_args: Any, **more: Any) -> Found:
        asked.append(more)
        return FOUND

    monkeypatch.setattr("arena.sandbox.finding.find_sandbox", note)
    arena("doctor", "--data", tmp_path, "--bwrap", "here/bwrap")
    assert asked[0]["cache"] is None
    assert asked[0]["setting"] == str(Path("here/bwrap").absolute())
    arena("doctor", "--bwrap", "path")
    assert asked[1]["setting"] == "path"


@pytest.mark.slow
def test_this_machine_is_well(arena: Caller) -> None:
    need_sandbox()
    answer = arena("doctor", "--json").json
    assert answer["refusal"] is None
    assert len(answer["sandbox"]["checks"]) == 17 - 3 * (not answer["sandbox"]["proc"])
    assert answer["sandbox"]["filter_instructions"] > 100
