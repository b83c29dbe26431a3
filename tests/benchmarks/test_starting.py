"""What a start that fails is told as: the last words of the command that was started."""

from __future__ import annotations

import sys

import pytest

from arena.bench import starting
from arena.errors import HostFault


def started(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let a small program stand for `arena`."""
    monkeypatch.setattr(starting, "_ARENA", (sys.executable, "-S", "-c", code))


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "import sys; print('Run 1', 'error: no room', sep='\\n', file=sys.stderr); sys.exit(2)",
            "ended with 2: error: no room",
        ),
        ("raise SystemExit(4)", "ended with 4, and said nothing"),
        ("import os; os.kill(os.getpid(), 9)", "ended with -9, and said nothing"),
    ],
    ids=["told", "silent", "killed"],
)
def test_a_command_that_fails_is_told_in_its_last_words(
    monkeypatch: pytest.MonkeyPatch, code: str, says: str
) -> None:
    started(monkeypatch, code)
    with pytest.raises(HostFault, match=f"^`arena run` {says}$"):
        starting.measure_first_game()
    with pytest.raises(HostFault, match=f"^`arena --help` {says}$"):
        starting.measure_help(1)


def test_a_run_that_stores_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    started(monkeypatch, "import time; time.sleep(60)")
    monkeypatch.setattr(starting, "_LIMIT_S", 0.0)
    with pytest.raises(HostFault, match=r"^`arena run` stored no game in 0 s$"):
        starting.measure_first_game()


def test_a_run_that_ends_without_a_game_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    started(monkeypatch, "")
    with pytest.raises(HostFault, match=r"^`arena run` ended with 0, and said nothing$"):
        starting.measure_first_game()
