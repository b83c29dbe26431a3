"""Why plies are refused: one sentence each, under the name of the rule that forbids them.

None of them is told where Mister X is when the team asks, so none can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from arena.errors import IllegalMove
from arena.rules.london.net import Net
from arena.rules.london.state import MISTER_X, Figure, FigureName, Step

__all__ = [
    "refuse_figure",
    "refuse_left_out",
    "refuse_mister_x_step",
    "refuse_mister_x_ticket",
    "refuse_mister_x_turn",
    "refuse_part",
    "refuse_step",
    "refuse_ticket",
]


def refuse_mister_x_turn(plies: Sequence[Step], *, more: bool, doubles: int) -> NoReturn:
    """Say why a turn is neither one step of Mister X nor a double move."""
    if more:
        raise IllegalMove(
            "L22", "Mister X's turn is sent whole: one step, or two for a double move"
        )
    if not plies:
        raise IllegalMove("L10", "Mister X has a step and must take it; his turn has no ply")
    if len(plies) > 2:
        raise IllegalMove("L21", f"a double move has two steps, this turn has {len(plies)}")
    if not doubles:
        raise IllegalMove("L21", "two steps need a double-move card, and none is left")
    raise IllegalMove("L24", "two steps need two log slots, and only one is left")


def refuse_mister_x_step(net: Net, ply: Step, here: int) -> NoReturn:
    """Say why a step of Mister X is none, whatever he holds."""
    if ply.figure != MISTER_X:
        raise IllegalMove("L10", f"{_words(ply)}: it is Mister X's turn, his figure is {MISTER_X}")
    if ply.to not in net.reach[ply.ticket][here]:
        raise IllegalMove("L11", f"{_words(ply)}: no {_link(ply)} leads there from {here}")
    raise IllegalMove("L12", f"{_words(ply)}: a detective or Bobby stands there")


def refuse_mister_x_ticket(ply: Step) -> NoReturn:
    """Say that Mister X lacks a ticket."""
    if ply.ticket == "black":
        raise IllegalMove("L1", f"{_words(ply)}: no black ticket is left")
    raise IllegalMove("L4", f"{_words(ply)}: no {ply.ticket} ticket is left to take")


def refuse_part() -> NoReturn:
    """Say that a part of the team's turn has no ply."""
    raise IllegalMove("L14", "a part of a turn has at least one ply; this one has none")


def refuse_figure(ply: Step, names: Sequence[FigureName]) -> NoReturn:
    """Say why a figure can't be moved by the team now."""
    if ply.figure == MISTER_X:
        raise IllegalMove("L10", f"{_words(ply)}: it is the team's turn, {MISTER_X} is not theirs")
    if ply.figure not in names:
        raise IllegalMove(
            "L14", f"{_words(ply)}: there is no such figure; the team is {', '.join(names)}"
        )
    raise IllegalMove("L14", f"{_words(ply)}: {ply.figure} has moved in this turn already")


def refuse_step(net: Net, ply: Step, figure: Figure) -> NoReturn:
    """Say why a step of a detective or Bobby is none, whatever it holds."""
    if ply.ticket == "black":
        raise IllegalMove("L17", f"{_words(ply)}: black tickets are Mister X's alone")
    if ply.to not in net.reach[ply.ticket][figure.station]:
        raise IllegalMove(
            "L11", f"{_words(ply)}: no {_link(ply)} leads there from {figure.station}"
        )
    raise IllegalMove("L12", f"{_words(ply)}: a detective or Bobby stands there")


def refuse_ticket(ply: Step) -> NoReturn:
    """Say that a detective lacks a ticket."""
    raise IllegalMove("L2", f"{_words(ply)}: no {ply.ticket} ticket is left to pay with")


def refuse_left_out(spare: Step) -> NoReturn:
    """Say which figure the team left out, and a step that it has."""
    raise IllegalMove(
        "L16",
        f"{spare.figure} is left out but could move, for one {_words(spare)}; "
        "a turn is complete when every figure has moved or has no legal step",
    )


def _words(ply: Step) -> str:
    """A ply as refusals name it."""
    return f"{ply.figure} by {ply.ticket} to {ply.to}"


def _link(ply: Step) -> str:
    """What a ticket would need."""
    return "link" if ply.ticket == "black" else f"{ply.ticket} link"
