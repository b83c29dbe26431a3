"""Which games of a run get a replay, and which of a bot's lost games were the closest; pure.

Everything goes by the table of games alone, so that no record is read for a game that nobody draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Literal, TypeAlias

from reports.game_rows import GameLine

__all__ = ["ALL_UP_TO", "CHOSEN", "Wanted", "choose", "closeness", "closest_lost"]

ALL_UP_TO = 1_000  # games: up to so many get a replay each
CHOSEN = 300  # replays of a larger run

Wanted: TypeAlias = Literal["none", "faults", "losses", "all"] | int | None


def choose(lines: Sequence[GameLine], wanted: Wanted = None) -> list[str]:
    """Ids of the games to draw, in plan order.

    Args:
        lines: all games of a run, in plan order.
        wanted: `none`; `faults` for games with one; `losses` for every bot's closest lost games;
            `all`; a number for that many, chosen so that the first game of every kind of fault
            comes first, and then of each pairing the closest, the shortest and the longest game.
            `None` for all up to `ALL_UP_TO` games, else `CHOSEN` of them.
    """
    drawable = [line for line in lines if line.reason != "void" and not _is_benched(line)]
    if wanted is None:
        wanted = "all" if len(drawable) <= ALL_UP_TO else CHOSEN
    if wanted == "none":
        return []
    if wanted == "all":
        return [line.game for line in drawable]
    if wanted == "faults":
        return [line.game for line in drawable if line.mister_x_fault or line.detectives_fault]
    if wanted == "losses":
        taken = {line.index for line in _lost(drawable)}
    else:
        taken = _varied(drawable, wanted)
    return [line.game for line in drawable if line.index in taken]


def _is_benched(line: GameLine) -> bool:
    """Whether benching decided it: then what was played, if anything, is not what counts."""
    return "benched" in (line.mister_x_fault, line.detectives_fault)


def _lost(lines: Sequence[GameLine]) -> Iterable[GameLine]:
    for found in closest_lost(lines).values():
        yield from found


def _varied(lines: Sequence[GameLine], most: int) -> set[int]:
    """Places of at most so many games: faults first, then turn by turn what pairings have."""
    taken: dict[int, None] = {}
    kinds: set[tuple[str, str, str]] = set()
    pairings: dict[tuple[str, str], list[GameLine]] = {}
    for line in lines:
        pairings.setdefault((line.mister_x, line.detectives), []).append(line)
        for side, kind, phase in (
            ("mister_x", line.mister_x_fault, line.mister_x_phase),
            ("detectives", line.detectives_fault, line.detectives_phase),
        ):
            if kind and (side, kind, phase) not in kinds:
                kinds.add((side, kind, phase))
                taken[line.index] = None
    order = [found for _, found in sorted(pairings.items())]
    ranked: dict[int, list[GameLine]] = {}  # of those pairings alone that are come to
    for turn in range(max(map(len, order), default=0)):
        for place, found in enumerate(order):
            if len(taken) >= most:
                return set(list(taken)[:most])
            if turn < len(found):
                if place not in ranked:
                    ranked[place] = _ranked(found)
                taken[ranked[place][turn].index] = None
    return set(list(taken)[:most])


def _ranked(lines: list[GameLine]) -> list[GameLine]:
    """A pairing's games: the closest, the shortest, the longest, the next closest, and so on."""
    played = [line for line in lines if line.reason != "fault"] or lines
    close = sorted(played, key=closeness)
    short = sorted(played, key=lambda line: (line.rounds or 0, line.index))
    long = sorted(played, key=lambda line: (-(line.rounds or 0), line.index))
    order: dict[int, GameLine] = {}
    for three in zip(close, short, long, strict=True):
        for line in three:
            order.setdefault(line.index, line)
    for line in lines:
        order.setdefault(line.index, line)
    return list(order.values())


def closeness(line: GameLine) -> tuple[int, int, int]:
    """What games are ordered by, the closest first.

    Mister X was close to escaping if he was caught late, the detectives close to catching him if he
    had to spend many of his special tickets. Caught in the last rounds is closest of all.
    """
    if line.winner == "detectives":
        return (0, -(line.rounds or 0), line.index)
    return (1, -(line.specials or 0), line.index)


def closest_lost(lines: Iterable[GameLine], most: int = 5) -> dict[tuple[str, str], list[GameLine]]:
    """The closest games that each bot lost on each side, without forfeits: (bot, side) → games."""
    lost: dict[tuple[str, str], list[GameLine]] = {}
    for line in lines:
        if line.winner and line.reason != "fault":
            loser = "detectives" if line.winner == "mister_x" else "mister_x"
            lost.setdefault((getattr(line, loser), loser), []).append(line)
    return {key: nsmallest(most, found, key=closeness) for key, found in sorted(lost.items())}
