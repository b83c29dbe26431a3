"""Play pairings N at a time; send each record down a channel.

The games that may be in play lie between the last judged one and `look_ahead` games further on (or
as many as the executor asks for, if those are more), so what is kept in memory does not grow with
the plan, and a bot is benched before much time went into it. Records arrive in the order in which
games finish; whatever decides a result is done in plan order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import msgspec
import trio

from arena.errors import ArenaError, ConfigError, leaves
from arena.rules import registry
from arena.tournament.benching import Benched, Judged, Outcome, VoidGame
from arena.tournament.course import Course
from arena.tournament.executors.executor import (
    MOST_DEATHS,
    Executor,
    Finished,
    Job,
    encode_spec,
)
from arena.tournament.packed import PackedGame, decode_packed, unpack
from arena.tournament.plan import Plan

__all__ = ["Event", "Stop", "Summary", "check_behaviour", "play"]

Event: TypeAlias = PackedGame | VoidGame | Benched

_PIECE = 500  # games judged before others have their turn
_LOOK_S = 0.1  # between two looks whether a run that is to be stopped still plays
_GRACE_S = 10.0  # for the games in play, once a stop was asked for


class Stop:
    """How a run is stopped from outside: the two ways of Ctrl-C. Both may be called at any time."""

    def __init__(self) -> None:
        self._soft = trio.Event()
        self._hard = trio.Event()

    def soft(self) -> None:
        """Begin no new game; those in play, if any, finish, 10 s at most, then they are void."""
        self._soft.set()

    def hard(self) -> None:
        """Give up the games in play as well."""
        self._soft.set()
        self._hard.set()

    @property
    def is_asked(self) -> bool:
        """Whether the run is to be stopped."""
        return self._soft.is_set()

    async def wait_soft(self) -> None:
        """Wait until a stop is asked for."""
        await self._soft.wait()

    async def wait_hard(self) -> None:
        """Wait until a stop without grace is asked for."""
        await self._hard.wait()


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run has come; what its games came to is read from the store."""

    planned: int  # games
    judged: int  # games, from the first on, whose result is final
    played: int  # games that were finished this time
    stays_void: tuple[VoidGame, ...]  # of this time: not played again; without records
    stopped: tuple[VoidGame, ...]  # in play when the run was stopped: played when it goes on
    benched: tuple[Benched, ...]

    @property
    def is_over(self) -> bool:
        """Whether every game has its result."""
        return self.judged == self.planned


async def play(
    plan: Plan,
    executor: Executor,
    done: Iterable[Outcome],
    records: trio.MemorySendChannel[Event],
    *,
    voids: Mapping[int, int] | None = None,
    stop: Stop | None = None,
    on_judged: Callable[[Judged], None] | None = None,
    grace_s: float = _GRACE_S,
) -> Summary:
    """Play the missing games of a plan.

    Args:
        plan: the tournament.
        executor: where games are played.
        done: results so far, in plan order; read lazily, while others are being added to it.
        records: takes what happens, in the order in which it happens; while it is full, no new
            game begins. It is closed at the end.
        voids: void plays so far that were our fault, by the game's place in the plan.
        stop: how the run is stopped before its end.
        on_judged: is told every game's result in plan order, those of `done` included.
        grace_s: seconds that games in play have once a stop was asked for.

    Returns:
        How far the run has come.

    Raises:
        ConfigError: if the plan was made for other rules than this arena has.
        HostFault: if the executor can't play.
    """
    check_behaviour(plan)
    course = Course(plan, iter(done), voids or {}, on_judged or (lambda _judged: None))
    run = _Run(course, executor, records, stop or Stop(), grace_s)
    with records:
        await run.play()
    return Summary(
        planned=plan.count,
        judged=course.judged,
        played=run.played,
        stays_void=tuple(run.stays_void),
        stopped=tuple(run.stopped),
        benched=tuple(course.benched),
    )


def check_behaviour(plan: Plan) -> None:
    """Refuse a plan whose games could come out differently than those it already has.

    Raises:
        ConfigError: if one of the plan's rulesets has another behaviour number or another board
            here, or is unknown.
    """
    for section in plan.sections:
        ruleset = registry.make(section.ruleset)
        if ruleset.behaviour != section.behaviour:
            raise ConfigError(
                f"this run was begun with behaviour {section.behaviour} of {section.ruleset}, "
                f"this arena has behaviour {ruleset.behaviour}: go on with the arena that began "
                "it, or begin a new run"
            )
        if section.board not in ("", ruleset.board_hash):
            raise ConfigError(
                f"this run was begun on another board of {section.ruleset} than there is now: "
                "put that board back, or begin a new run"
            )


class _Run:
    """The tasks of one `play`: one gives games out, one takes what comes, one listens to stop."""

    def __init__(
        self,
        course: Course,
        executor: Executor,
        records: trio.MemorySendChannel[Event],
        stop: Stop,
        grace_s: float,
    ) -> None:
        self.played = 0
        self.stays_void: list[VoidGame] = []
        self.stopped: list[VoidGame] = []
        self._course = course
        self._executor = executor
        self._records = records
        self._stop = stop
        self._grace_s = grace_s
        self._feeding = trio.CancelScope()
        self._playing = trio.CancelScope()
        self._changed = trio.Event()
        self._failure: ArenaError | None = None

    async def play(self) -> None:
        jobs_in, jobs_out = trio.open_memory_channel[Job](0)
        results_in, results_out = trio.open_memory_channel[Finished](0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._feed, jobs_in)
            nursery.start_soon(self._execute, jobs_out, results_in)
            nursery.start_soon(self._listen)
            with results_out:
                async for finished in results_out:
                    await self._take(finished)
            nursery.cancel_scope.cancel()
        if self._failure is not None:
            raise self._failure
        for index in sorted(self._course.in_play):
            void = self._course.void(
                index, "the run was stopped", charged=False, final=False, record=None
            )
            self.stopped.append(void)
            await self._tell(void)

    async def _feed(self, jobs: trio.MemorySendChannel[Job]) -> None:
        """Give games out as long as there are any and nobody asked for a stop."""
        with jobs, self._feeding:
            await self._judge()
            while not self._course.is_over:
                self._changed = trio.Event()
                self._course.look_ahead(self._executor.reach)
                index = self._course.next_game()
                if index is None:
                    await self._changed.wait()
                else:
                    await self._give_out(jobs, index)

    async def _give_out(self, jobs: trio.MemorySendChannel[Job], index: int) -> None:
        spec = encode_spec(self._course.spec(index))
        self._course.in_play.add(index)  # before: it might come back before we run again
        is_sent = False
        try:
            await jobs.send(Job(index, spec))
            is_sent = True
        finally:
            if not is_sent:
                self._course.in_play.discard(index)

    async def _execute(
        self, jobs: trio.MemoryReceiveChannel[Job], results: trio.MemorySendChannel[Finished]
    ) -> None:
        """Run the executor; what it raises is told after everything else has ended."""
        with jobs, results:
            try:
                with self._playing:
                    await self._executor.run(jobs, results)
            except* ArenaError as group:
                self._failure = leaves(group)[0]
            finally:
                self._feeding.cancel()

    async def _listen(self) -> None:
        """Stop giving out games when asked to, and playing when none is left, or no time."""
        await self._stop.wait_soft()
        self._feeding.cancel()
        with trio.move_on_after(self._grace_s):
            while True:
                with trio.move_on_after(_LOOK_S) as look:
                    await self._stop.wait_hard()
                # Looked at afterwards: an executor whose games are over ends by itself first.
                if not (look.cancelled_caught and self._executor.in_play):
                    break
        self._playing.cancel()

    async def _take(self, finished: Finished) -> None:
        """Judge a result and hand the record on."""
        index = finished.number
        if finished.record is None:
            why = f"{MOST_DEATHS} worker processes died with it"
            await self._tell(self._course.add_void(index, why, lost=True, record=None))
        else:
            game = decode_packed(finished.record)
            if game.void is None:
                self.played += 1
                self._course.add(game.outcome)
                await self._tell(game)
            else:
                void = self._course.add_void(index, game.void, lost=False, record=unpack(game))
                await self._tell(void)
        await self._judge()
        self._changed.set()

    async def _judge(self) -> None:
        """Judge all that can be judged; a long run that goes on is read in pieces."""
        told = len(self._course.benched)
        while self._course.advance(_PIECE):
            await trio.lowlevel.checkpoint()
        for benched in self._course.benched[told:]:
            await self._tell(benched)

    async def _tell(self, event: Event) -> None:
        if isinstance(event, VoidGame) and event.final:
            self.stays_void.append(msgspec.structs.replace(event, record=None))
        try:
            await self._records.send(event)
        except trio.BrokenResourceError:  # who takes the records has failed, and will say why
            self._stop.hard()
