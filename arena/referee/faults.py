"""Error → fault → forfeit or void, in one table.

A bot's fault is a result: it forfeits the game for that side alone. A fault of ours voids the game.
Everything else that is raised is a bug and goes on up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from arena.errors import BotFault, BotRefused, HostFault, IllegalMove
from arena.referee.record import Fault, FaultKind, Phase, SideWord
from arena.sandbox.channel import BotExited, BotOverran, BotTookTooMuch, BotTooSlow
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.quoting import quote

__all__ = [
    "CAUGHT",
    "HINTS",
    "PRECEDENCE",
    "TABLE",
    "Caught",
    "caught",
    "describe",
    "forfeit",
    "is_ours",
    "tell",
]

# Where nothing tells which fault came first, the one further left counts.
PRECEDENCE: tuple[FaultKind, ...] = (
    "refused",
    "resource",
    "crash",
    "protocol",
    "illegal",
    "timeout",
)

# The first row that fits counts; None: our own fault, the game is void.
TABLE: tuple[tuple[type[Exception], FaultKind | None], ...] = (
    (BotRefused, "refused"),
    (BotTookTooMuch, "resource"),
    (BotTooSlow, "timeout"),
    (BotExited, "crash"),
    (BotOverran, "protocol"),
    (RemoteProtocolError, "protocol"),
    (IllegalMove, "illegal"),
    (HostFault, None),
    (LocalProtocolError, None),
)
# A plain `BotFault` carries its kind itself.
CAUGHT: tuple[type[Exception], ...] = (*(error for error, _ in TABLE), BotFault)

HINTS: Mapping[FaultKind, str] = {
    "refused": "correct the command or the greeting; `arena check` tries both",
    "resource": "stay within the limits that `hello` names; `arena limits` lists them",
    "crash": "read the bot's standard error in the record; `arena rerun` plays the moves again",
    "protocol": "compare the line with protocol/SPEC.md; logs belong on stderr",
    "illegal": "choose among `legal`, or check the rule that is named",
    "timeout": "answer sooner, or flush the output after each line",
    "benched": "correct the faults before it, and enter the bot again",
}


class Caught(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's fault as it was noticed."""

    side: SideWord
    kind: FaultKind
    phase: Phase
    text: str  # one line: what was expected, what came, the limit and the measured number
    hint: str  # one line that says what to do


def is_ours(error: BaseException) -> bool:
    """Whether an error of the table is our own fault, which voids the game."""
    return _kind(error) is None


def caught(error: BaseException, side: SideWord, phase: Phase) -> Caught:
    """Return the fault that an error of the table is.

    Args:
        error: one of `CAUGHT` that is not ours.
        side: who was asked.
        phase: when.
    """
    kind = _kind(error)
    if kind is None:
        raise error
    if isinstance(error, IllegalMove):
        text, hint = str(error), ""
    else:
        text, hint = str(getattr(error, "text", error)), str(getattr(error, "hint", ""))
    return Caught(side=side, kind=kind, phase=phase, text=text, hint=hint or HINTS[kind])


def forfeit(faults: Sequence[Caught]) -> tuple[SideWord | None, tuple[Fault, ...]]:
    """Return who wins by these faults, and what the record says of them.

    One side's fault gives the game to the other; if both have one, nobody gets it. The order in
    which they were noticed has no part in it.
    """
    sides: dict[SideWord, Caught] = {}
    for fault in sorted(faults, key=lambda fault: PRECEDENCE.index(fault.kind)):
        sides.setdefault(fault.side, fault)
    words: tuple[SideWord, ...] = ("mister_x", "detectives")
    found = tuple(
        Fault(side=side, kind=sides[side].kind, phase=sides[side].phase)
        for side in words
        if side in sides
    )
    if len(found) != 1:
        return None, found
    return ("detectives" if found[0].side == "mister_x" else "mister_x"), found


def describe(fault: Caught, *, bot: str, game: str, play: int) -> str:
    """Return a fault as one line for people, nothing in it that steers a terminal.

    Args:
        fault: what was noticed.
        bot: the bot's name; escaped, at most 40 characters of it.
        game: the game's id.
        play: how many plays were made before.
    """
    where = "at the start" if fault.phase == "start-up" else f"at play {play}"
    return f"{quote(bot.encode()[:40])}, game {game}, {where}: {tell(fault)}"


def tell(fault: Caught) -> str:
    """Return a fault as one line for the bot itself: the game's id never goes on the wire."""
    what = "".join(char if char.isprintable() else quote(char.encode()) for char in fault.text)
    return f"{fault.kind}: {what}"


def _kind(error: BaseException) -> FaultKind | None:
    for type_, kind_or_none in TABLE:
        if isinstance(error, type_):
            return kind_or_none
    if isinstance(error, BotFault):
        for kind in PRECEDENCE:
            if kind == error.kind:
                return kind
    raise error
