"""The entry point: a Ctrl-C while the command is still loading."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from arena.__main__ import main
from arena.cli.exits import Exit


def test_stopped_while_loading_ends_with_one_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load = builtins.__import__

    def interrupted(name: str, *rest: Any, **more: Any) -> Any:
        if name == "arena.cli.main":
            raise KeyboardInterrupt
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == Exit.STOPPED
    assert capsys.readouterr().err == "Stopped.\n"
