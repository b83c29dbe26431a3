"""Plays ten stations by looking one step ahead; with the Python SDK."""

from __future__ import annotations

from typing import Any

from misterx_sdk import Turn, play


def apart(turn: Turn, start: int, end: int) -> int:
    """Return how many lines lie between two stations."""
    assert turn.deal.raw_board is not None
    lines = turn.deal.raw_board["lines"]
    reached, found = {start}, 0
    while end not in reached:
        reached |= {b for a, b in lines if a in reached} | {a for a, b in lines if b in reached}
        found += 1
    return found


def mister_x(turn: Turn) -> list[dict[str, Any]]:
    """Go where the nearest detective is farthest."""
    team = turn.view["detectives"]

    def safety(ply: dict[str, Any]) -> int:
        to = turn.view["x"] if ply["to"] is None else ply["to"]
        return min(apart(turn, at, to) for at in team)

    return [max(turn.legal, key=safety)]


def detectives(turn: Turn) -> list[dict[str, Any]]:
    """Go towards where he was seen, each detective in a part of its own."""
    goal, rest = turn.view["seen"] or 1, turn
    while True:
        ply = min(rest.legal, key=lambda one: apart(turn, one["to"], goal))
        if len(rest.view["unmoved"]) == 1:
            return [ply]
        rest = rest.part([ply])


if __name__ == "__main__":
    play(
        name="hunter",
        mister_x=mister_x,
        detectives=detectives,
        rulesets=("tenstations-1",),
        wants=("legal", "board"),
    )
