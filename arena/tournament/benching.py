"""Results in plan order → which games count: benching, and games that stay void. Pure.

A bot that faults `bench_after` times in a row, by plan order, is benched from the next game on:
every later game of it is a forfeit (`benched`) for its opponent, whether or not it was already
played, and a game of two benched bots counts for nobody. A void game neither lengthens nor breaks
a row, and a forfeit by benching changes no row of the opponent, since nobody had to play it. All
of it goes by plan order alone, so the order in which games finish can't change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from arena.referee.record import FaultKind, GameRecord, SideWord
from arena.tournament.pairings import Pairing
from arena.tournament.plan import Plan

__all__ = ["Bench", "Benched", "Judged", "Outcome", "VoidGame", "judge", "missing"]


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """What the play of a game came to, before it is judged."""

    index: int  # place in the plan, from 0
    winner: SideWord | None
    reason: str  # the ruleset's word, `fault`, or `void` for a game that stays void
    mister_x_fault: FaultKind | None = None
    detectives_fault: FaultKind | None = None

    @property
    def is_void(self) -> bool:
        """Whether the game counts for nobody, since we or our machine failed it."""
        return self.reason == "void"


class Judged(msgspec.Struct, frozen=True, gc=False):
    """What a game of the plan came to; bots are told by their place in the plan."""

    index: int
    deal: int
    mister_x: int
    detectives: int
    winner: SideWord | None
    reason: str
    mister_x_fault: FaultKind | None
    detectives_fault: FaultKind | None
    counts: bool  # for standings and ratings
    is_played: bool  # False: a forfeit by benching of a game that has no record


class VoidGame(msgspec.Struct, frozen=True, kw_only=True):
    """A play that counts for nobody: our fault, or a run that was stopped."""

    index: int
    game: str
    deal: int
    mister_x: int  # place among the plan's entrants
    detectives: int
    why: str  # one line
    charged: bool  # whether it is one of the plays that a game has; a stopped run's is not
    final: bool  # it is not played again
    record: GameRecord | None  # none where the worker itself was lost


class Benched(msgspec.Struct, frozen=True, kw_only=True):
    """A bot was benched: every game of it from `index` on is a forfeit."""

    bot: int  # place among the plan's entrants
    index: int


class Bench:
    """Judges games one after the other, in plan order.

    Args:
        bench_after: faults in a row that bench a bot, 1 or more.
    """

    def __init__(self, bench_after: int) -> None:
        self.benched: dict[int, int] = {}
        """Benched bots, each with the number of the first game that it is benched in."""
        self._bench_after = bench_after
        self._row: dict[int, int] = {}  # bot → faults in a row

    def is_forfeit(self, pairing: Pairing) -> bool:
        """Whether the next game, or any later one, is decided by benching and needs no play."""
        return pairing.mister_x in self.benched or pairing.detectives in self.benched

    def judge(self, index: int, pairing: Pairing, outcome: Outcome | None) -> Judged:
        """Judge the next game.

        Args:
            index: its place in the plan; rising from call to call.
            pairing: who met whom.
            outcome: how its play ended; None only for a forfeit by benching that wasn't played.
        """
        deal, x, d = pairing
        if self.benched and self.is_forfeit(pairing):
            x_out, d_out = x in self.benched, d in self.benched
            winner: SideWord | None = None
            if x_out != d_out:
                winner = "detectives" if x_out else "mister_x"
            return Judged(
                index,
                deal,
                x,
                d,
                winner,
                "fault",
                "benched" if x_out else None,
                "benched" if d_out else None,
                counts=winner is not None,
                is_played=outcome is not None and not outcome.is_void,
            )
        if outcome is None:
            raise ValueError(f"game {index} is neither played nor decided by benching")
        if outcome.is_void:
            return Judged(index, deal, x, d, None, "void", None, None, counts=False, is_played=True)
        # Of a bot that meets itself, one fault of either side is one fault.
        for bot, fault in _faults(x, d, outcome).items():
            row = self._row.get(bot, 0) + 1 if fault else 0
            self._row[bot] = row
            if row >= self._bench_after:
                self.benched[bot] = index + 1
        return Judged(
            index,
            deal,
            x,
            d,
            outcome.winner,
            outcome.reason,
            outcome.mister_x_fault,
            outcome.detectives_fault,
            counts=outcome.winner is not None or outcome.reason != "fault",
            is_played=True,
        )


def judge(plan: Plan, outcomes: Iterable[Outcome]) -> Iterator[Judged]:
    """Yield what the games of the plan came to, in plan order; lazily, in constant memory.

    Games that are yet to be played are passed over. Of a broken-off run, forfeits by benching are
    told up to the first missing game behind the last played one.

    Args:
        plan: the tournament.
        outcomes: of the games played so far, in plan order.
    """
    for _, judged in _walk(plan, outcomes, to_the_end=False):
        if judged is not None:
            yield judged


def missing(plan: Plan, outcomes: Iterable[Outcome]) -> Iterator[int]:
    """Yield the places of the games that are yet to be played, ascending; lazily.

    Some of them may still turn out to be forfeits by benching while those before them are played.

    Args:
        plan: the tournament.
        outcomes: of the games played so far, in plan order.
    """
    for index, judged in _walk(plan, outcomes, to_the_end=True):
        if judged is None:
            yield index


def _walk(
    plan: Plan, outcomes: Iterable[Outcome], *, to_the_end: bool
) -> Iterator[tuple[int, Judged | None]]:
    bench = Bench(plan.bench_after)
    waiting = iter(outcomes)
    head = next(waiting, None)
    for index in range(plan.count):
        outcome = None
        if head is not None and head.index == index:
            outcome, head = head, next(waiting, None)
        elif head is None and not bench.benched and not to_the_end:
            return
        pairing = plan.pairing(index)
        if outcome is not None or bench.is_forfeit(pairing):
            yield index, bench.judge(index, pairing, outcome)
        elif head is None and not to_the_end:
            return
        else:
            yield index, None


def _faults(x: int, d: int, outcome: Outcome) -> dict[int, bool]:
    """Return for each bot of the game whether it faulted."""
    at_fault = {x: outcome.mister_x_fault is not None}
    at_fault[d] = at_fault.get(d, False) or outcome.detectives_fault is not None
    return at_fault
