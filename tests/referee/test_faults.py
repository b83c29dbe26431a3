"""One table: error to fault to forfeit or void."""

from __future__ import annotations

from itertools import permutations
from typing import get_args

import pytest

from arena.errors import BotFault, BotRefused, HostFault, IllegalMove, StoreError
from arena.referee.faults import (
    CAUGHT,
    HINTS,
    PRECEDENCE,
    Caught,
    caught,
    describe,
    forfeit,
    is_ours,
)
from arena.referee.record import FaultKind, Phase, SideWord
from arena.sandbox.channel import BotExited, BotOverran, BotTookTooMuch, BotTooSlow
from protocol.errors import LocalProtocolError, RemoteProtocolError

THEIRS: tuple[tuple[Exception, FaultKind], ...] = (
    (BotRefused("no such program"), "refused"),
    (BotTooSlow("no answer"), "timeout"),
    (BotExited("it ended"), "crash"),
    (BotOverran("too long"), "protocol"),
    (BotTookTooMuch("memory 600 MiB, the limit is 512 MiB"), "resource"),
    (RemoteProtocolError("nonsense"), "protocol"),
    (IllegalMove("L12", "occupied"), "illegal"),
    (BotFault("resource", "too much memory"), "resource"),
    (BotFault("refused", "plays no side"), "refused"),
)


@pytest.mark.parametrize(("error", "kind"), THEIRS, ids=[type(e).__name__ for e, _ in THEIRS])
def test_error_of_a_bot_is_its_fault(error: Exception, kind: FaultKind) -> None:
    assert isinstance(error, CAUGHT)
    assert not is_ours(error)
    fault = caught(error, "mister_x", "turn")
    assert (fault.side, fault.kind, fault.phase) == ("mister_x", kind, "turn")
    assert fault.hint


@pytest.mark.parametrize(
    "error", [HostFault("no room"), StoreError("full"), LocalProtocolError("bug")], ids=repr
)
def test_error_of_ours_is_nobodys_fault(error: Exception) -> None:
    assert isinstance(error, CAUGHT)
    assert is_ours(error)
    with pytest.raises(type(error)):
        caught(error, "mister_x", "turn")


def test_bug_is_not_caught() -> None:
    assert not issubclass(KeyError, CAUGHT)
    with pytest.raises(KeyError):
        is_ours(KeyError("bug"))
    with pytest.raises(BotFault):
        is_ours(BotFault("no such kind", ""))


def test_every_kind_has_a_hint() -> None:
    assert set(HINTS) == set(get_args(FaultKind))
    assert set(PRECEDENCE) == set(get_args(FaultKind)) - {"benched"}


def a_fault(side: SideWord, kind: FaultKind = "crash", phase: Phase = "turn") -> Caught:
    return Caught(side=side, kind=kind, phase=phase, text="what", hint="how")


@pytest.mark.parametrize(
    ("sides", "winner"),
    [
        (("mister_x",), "detectives"),
        (("detectives",), "mister_x"),
        (("mister_x", "detectives"), None),
    ],
    ids=["mister_x", "detectives", "both"],
)
def test_forfeit_gives_the_game_to_the_side_without_a_fault(
    sides: tuple[SideWord, ...], winner: SideWord | None
) -> None:
    for order in permutations(sides):
        found, faults = forfeit([a_fault(side) for side in order])
        assert found == winner
        assert tuple(fault.side for fault in faults) == sides


def test_precedence_decides_between_faults_of_one_side() -> None:
    """Where nothing tells the order, the list does, whatever was noticed first."""
    for order in permutations(PRECEDENCE):
        _, (fault,) = forfeit([a_fault("mister_x", kind) for kind in order])
        assert fault.kind == "refused"
        _, (fault,) = forfeit([a_fault("mister_x", kind) for kind in order if kind != "refused"])
        assert fault.kind == "resource"


def test_description_is_one_line_that_steers_no_terminal() -> None:
    fault = Caught(side="mister_x", kind="protocol", phase="turn", text="a\x1b[2J\nb", hint="how")
    text = describe(fault, bot="evil\x1b" + "n" * 60, game="abc", play=7)
    assert text == f"evil\\x1b{'n' * 35}, game abc, at play 7: protocol: a\\x1b[2J\\x0ab"


def test_description_of_a_start_says_so() -> None:
    text = describe(a_fault("mister_x", phase="start-up"), bot="b", game="abc", play=0)
    assert text == "b, game abc, at the start: crash: what"


def test_precedence_is_the_documented_one() -> None:
    assert PRECEDENCE == ("refused", "resource", "crash", "protocol", "illegal", "timeout")
