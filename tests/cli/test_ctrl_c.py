"""Ctrl-C outside of the games."""

from __future__ import annotations

import signal

import pytest

from arena.cli.ctrl_c import is_ctrl_c, put_off


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
