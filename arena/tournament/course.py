"""How far a tournament is: what to play next, and what its results come to. Pure.

Results come in any order and are judged in plan order. The next game is chosen between the last
judged one and `look_ahead` games further on (more only where more machines are waiting), so memory
does not grow with the plan.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping

from arena.referee.record import GameRecord, GameSpec
from arena.tournament.benching import Bench, Benched, Judged, Outcome, VoidGame
from arena.tournament.plan import Plan

__all__ = ["MOST_PLAYS", "Course"]

MOST_PLAYS = 3  # of one game: a void one is played again, at most twice


class Course:
    """A tournament on its way.

    Args:
        plan: the tournament.
        done: results of games played before, in plan order; read only as far as needed.
        voids: void plays before that were our fault, by the game's place in the plan.
        on_judged: is told every game's result, in plan order.

    Attributes:
        judged: games, from the first on, whose result is final.
        in_play: places of the games that were given out and have not come back.
        benched: who was benched, in plan order.
    """

    def __init__(
        self,
        plan: Plan,
        done: Iterator[Outcome],
        voids: Mapping[int, int],
        on_judged: Callable[[Judged], None],
    ) -> None:
        self.judged = 0
        self.in_play: set[int] = set()
        self.benched: list[Benched] = []
        self._plan = plan
        self._look_ahead = plan.look_ahead
        self._schedule = plan.schedule
        self._bench = Bench(plan.bench_after)
        self._done = done
        self._head = next(done, None)
        self._voids = dict(voids)
        self._on_judged = on_judged
        self._ahead: dict[int, Outcome] = {}  # finished, but not yet judged
        self._again: list[int] = []  # void games to be played once more; a heap
        self._next = 0  # no game from here on was given out
        self._results: list[Judged] = []  # of schedules that go by results

    @property
    def is_over(self) -> bool:
        """Whether every game has its result."""
        return self.judged == self._plan.count

    def look_ahead(self, games: int) -> None:
        """Let games be given out up to so many past the last judged one, never fewer than before.

        It changes no result, as what is decided in plan order does not ask when games were played;
        after a benching more of them may have been played for nothing.
        """
        if games > self._look_ahead:
            self._look_ahead = games
            self._look_at_done()  # before any game is chosen that was played before

    def advance(self, most: int) -> bool:
        """Judge what can be judged, at most so many games; return whether there may be more."""
        for _ in range(most):
            self._look_at_done()
            if self.is_over:
                return False
            index = self.judged
            pairing = self._schedule.pairing(index, self._results)
            outcome = self._ahead.pop(index, None)
            if outcome is None and not self._bench.is_forfeit(pairing):
                return False
            before = len(self._bench.benched)
            judged = self._bench.judge(index, pairing, outcome)
            self.judged += 1
            if len(self._bench.benched) > before:
                new = list(self._bench.benched.items())[before:]
                self.benched += [Benched(bot=bot, index=first) for bot, first in new]
            if self._schedule.needs_results:
                self._results.append(judged)
            self._on_judged(judged)
        return True

    def next_game(self) -> int | None:
        """Return the place of a game to be given out, None while there is nothing to do.

        Games that benching has decided are left out: they need no play.
        """
        while self._again:
            index = heapq.heappop(self._again)
            if index >= self.judged and not self._is_forfeit(index):
                return index
        self._next = max(self._next, self.judged)
        end = min(self.judged + self._look_ahead, self._schedule.known(self.judged))
        while self._next < end:
            index = self._next
            self._next += 1
            if index not in self._ahead and not self._is_forfeit(index):
                return index
        return None

    def spec(self, index: int) -> GameSpec:
        """Return a game that `next_game` named."""
        return self._plan.spec(index, self._results)

    def add(self, outcome: Outcome) -> None:
        """Take the result of a game that was given out."""
        self.in_play.discard(outcome.index)
        if outcome.index >= self.judged:  # else benching was faster
            self._ahead[outcome.index] = outcome

    def add_void(self, index: int, why: str, *, lost: bool, record: GameRecord | None) -> VoidGame:
        """Take a play that counts for nobody; the game is played again, at most twice.

        Args:
            index: the game's place in the plan.
            why: one line.
            lost: whether it took its workers down with it: then it stays void at once.
            record: what is known of it.
        """
        plays = self._voids[index] = self._voids.get(index, 0) + 1
        void = self.void(index, why, charged=True, final=lost or plays >= MOST_PLAYS, record=record)
        if void.final:
            self.add(Outcome(index, None, "void"))
        else:
            self.in_play.discard(index)
            heapq.heappush(self._again, index)
        return void

    def void(
        self, index: int, why: str, *, charged: bool, final: bool, record: GameRecord | None
    ) -> VoidGame:
        """Return a void play of one game, as it is told and stored."""
        pairing = self._schedule.pairing(index, self._results)
        return VoidGame(
            index=index,
            game=self._plan.game_id(index, pairing),
            deal=pairing.deal,
            mister_x=pairing.mister_x,
            detectives=pairing.detectives,
            why=why,
            charged=charged,
            final=final,
            record=record,
        )

    def _is_forfeit(self, index: int) -> bool:
        return bool(self._bench.benched) and self._bench.is_forfeit(
            self._schedule.pairing(index, self._results)
        )

    def _look_at_done(self) -> None:
        while self._head is not None and self._head.index < self.judged + self._look_ahead:
            self._ahead[self._head.index] = self._head
            self._head = next(self._done, None)
