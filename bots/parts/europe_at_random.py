"""Both sides of Europe at random: each legal ply as likely as any other, and so is to end there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from misterx_sdk import Turn

MAY_END = ("action", "refill")  # stages in which nothing has to be done any more


def wander(turn: Turn) -> list[dict[str, Any]]:
    """Play ply by ply until the dice say to end the turn, or nothing is left to do.

    Each ply is sent as a part: the next legal ones, drawn tickets aside, follow from it.
    """
    throw = turn.deal.dice.random
    while True:
        legal = turn.legal
        number = int(throw() * (len(legal) + (turn.view["stage"] in MAY_END)))
        if number == len(legal):
            return []
        turn = turn.part(legal[number : number + 1])
