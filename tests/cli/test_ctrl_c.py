"""Ctrl-C outside of the games."""

from __future__ import annotations

import signal

import pytest

from arena.cli import main
from arena.cli.ctrl_c import is_ctrl_c, put_off
from arena.cli.exits import Exit


def test_ctrl_c_waits_for_the_end() -> None:
    done = []

    def store() -> None:
        with put_off():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            done.append("stored")

    with pytest.raises(KeyboardInterrupt):
        store()
    assert done == ["stored"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_wins_over_a_ctrl_c() -> None:
    def fail() -> None:
        with put_off():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("full")

    with pytest.raises(ValueError, match="full"):
        fail()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_where_ctrl_c_is_ignored_it_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with put_off():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("error", "it_is"),
    [
        (KeyboardInterrupt(), True),
        (BaseExceptionGroup("tasks", [ValueError(), KeyboardInterrupt()]), True),
        (ExceptionGroup("tasks", [ValueError()]), False),
        (ValueError(), False),
    ],
)
def test_ctrl_c_is_known_in_a_group_too(error: BaseException, it_is: bool) -> None:
    assert is_ctrl_c(error) is it_is


@pytest.mark.parametrize("where", ["make_ready", "cli"])
def test_ctrl_c_before_there_is_anything_to_stop_is_told_in_one_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    for name in ("make_ready", "may_be_killed"):
        monkeypatch.setattr(main, name, lambda: None)
    monkeypatch.setattr(main, where, lambda: signal.raise_signal(signal.SIGINT))
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        with pytest.raises(SystemExit) as ended:
            main.main()
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)
    assert ended.value.code == Exit.STOPPED
    assert capsys.readouterr().err == "Stopped.\n"


def test_ctrl_c_on_the_way_out_leaves_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def done() -> None:
        raise SystemExit(3)

    for name in ("make_ready", "may_be_killed"):  # they set up a process of its own
        monkeypatch.setattr(main, name, lambda: None)
    monkeypatch.setattr(main, "cli", done)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        with pytest.raises(SystemExit) as ended:
            main.main()
        signal.raise_signal(signal.SIGINT)
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)
    assert ended.value.code == 3
