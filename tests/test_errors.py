"""Several errors at once: which of them is told."""

from __future__ import annotations

import asyncio

import pytest

from arena.errors import ConfigError, HostFault, StoreError, leaves, one_error, worst_of

STOPPED = KeyboardInterrupt()
CANCELLED = asyncio.CancelledError()
BUG = OSError(5, "a pipe of ours")
FULL, LOST, ASKED = StoreError("full"), HostFault("lost"), ConfigError("no such thing")


def group_of(*errors: BaseException) -> BaseExceptionGroup[BaseException]:
    """Errors as trio gives them: of tasks among tasks."""
    return BaseExceptionGroup("tasks", [BaseExceptionGroup("more", [error]) for error in errors])


@pytest.mark.parametrize(
    ("errors", "worst"),
    [
        ([FULL, BUG, STOPPED], STOPPED),
        ([BUG, LOST, FULL], FULL),
        ([ASKED, BUG], BUG),
        ([CANCELLED, LOST, ASKED], LOST),
        ([ASKED], ASKED),
    ],
)
def test_the_worst_of_several_errors_is_told(
    errors: list[BaseException], worst: BaseException
) -> None:
    group = group_of(*errors)
    assert leaves(group) == errors
    assert worst_of(group) is worst


def test_tasks_that_were_cancelled_stay_a_group() -> None:
    group = group_of(CANCELLED)
    assert worst_of(group) is group


def test_one_error_is_raised_for_several_with_its_own_cause() -> None:
    full = StoreError("full")
    full.__cause__ = cause = OSError(28, "no space")
    with pytest.raises(StoreError) as caught, one_error():
        raise group_of(BUG, full)
    assert caught.value is full
    assert full.__cause__ is cause


def test_an_error_by_itself_is_raised_as_it_is() -> None:
    with pytest.raises(OSError, match="a pipe of ours") as caught, one_error():
        raise BUG
    assert caught.value is BUG
