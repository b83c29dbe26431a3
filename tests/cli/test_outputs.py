"""What commands that depend on nothing else print for people, as it was."""

from __future__ import annotations

import pytest

from tests.cli.calling import Caller
from tests.cli.snapshots import same


@pytest.mark.parametrize(
    "words",
    [
        ("limits",),
        ("rulesets",),
        ("rulesets", "london-2013:players=2"),
        ("bots",),
        ("config", "schema"),
    ],
    ids=" ".join,
)
def test_output_is_as_it_was(
    arena: Caller, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("arena.cli.limits.not_set_here", lambda: ("a limit: a reason",))
    called = arena(*words)
    assert called.code == 0
    name = "-".join(words).replace(":", "-").replace("=", "-")
    same(f"output/{name}.txt", called.stdout + "-- stderr\n" + called.stderr)
