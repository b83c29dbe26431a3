"""The course of a tournament: what is played next, whatever the order in which games finish."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.tournament.benching import Judged, Outcome, judge
from arena.tournament.course import Course
from arena.tournament.pairings import Pairing
from arena.tournament.plan import Plan
from tests.fake_games import fake_plan, fake_record, outcome_of

FAULTY = ("bot1",)


def ending(plan: Plan, index: int) -> Outcome:
    return outcome_of(fake_record(plan.spec(index), faulty=FAULTY))


def begin(
    plan: Plan, done: Sequence[Outcome] = (), voids: dict[int, int] | None = None
) -> tuple[Course, list[Judged]]:
    judged: list[Judged] = []
    course = Course(plan, iter(done), voids or {}, judged.append)
    course.advance(plan.count + 1)
    return course, judged


def play(
    plan: Plan, course: Course, *, jobs: int, order: random.Random, most: int | None = None
) -> list[int]:
    """Play on, `jobs` at a time, finishing in any order; return what was played."""
    played: list[int] = []
    while not course.is_over and (most is None or len(played) < most):
        while len(course.in_play) < jobs:
            index = course.next_game()
            if index is None:
                break
            assert index < course.judged + plan.look_ahead
            course.in_play.add(index)
        index = order.choice(sorted(course.in_play))
        played.append(index)
        course.add(ending(plan, index))
        course.advance(plan.count + 1)
    return played


def shown(judged: Sequence[Judged]) -> Iterator[tuple[object, ...]]:
    for game in judged:
        yield game.index, game.winner, game.reason, game.mister_x_fault, game.counts


@given(st.integers(1, 20), st.integers(1, 30), st.randoms(use_true_random=False))
def test_results_and_benchings_do_not_depend_on_the_order_of_finishing(
    jobs: int, look_ahead: int, order: random.Random
) -> None:
    plan = fake_plan(4, deals=5, bench_after=4, look_ahead=look_ahead)
    course, judged = begin(plan)
    played = play(plan, course, jobs=jobs, order=order)
    assert len(played) == len(set(played))
    wanted = list(judge(plan, [ending(plan, n) for n in range(plan.count)]))
    assert list(shown(judged)) == list(shown(wanted))
    assert [(game.bot, game.index) for game in course.benched] == [(1, 7)]


@given(st.integers(1, 9), st.integers(0, 60), st.randoms(use_true_random=False))
def test_a_run_that_goes_on_plays_exactly_what_is_missing(
    jobs: int, most: int, order: random.Random
) -> None:
    plan = fake_plan(4, deals=5, bench_after=4, look_ahead=12)
    first, _ = begin(plan)
    before = play(plan, first, jobs=jobs, order=order, most=most)
    done = [ending(plan, n) for n in sorted(before)]
    course, judged = begin(plan, done)
    after = play(plan, course, jobs=jobs, order=order)
    assert not set(before) & set(after)
    wanted = list(judge(plan, [ending(plan, n) for n in range(plan.count)]))
    assert list(shown(judged)) == list(shown(wanted))
    benched_only = set(range(plan.count)) - set(before) - set(after)
    assert all(judged[n].mister_x_fault or judged[n].detectives_fault for n in benched_only)


@given(
    st.integers(1, 20),
    st.integers(0, 60),
    st.lists(st.integers(0, 60), min_size=1),
    st.randoms(use_true_random=False),
)
def test_looking_further_ahead_changes_no_result_and_plays_nothing_twice(
    jobs: int, most: int, looks: list[int], order: random.Random
) -> None:
    plan = fake_plan(4, deals=5, bench_after=4, look_ahead=3)
    first, _ = begin(plan)
    before = play(plan, first, jobs=jobs, order=order, most=most)
    course, judged = begin(plan, [ending(plan, n) for n in sorted(before)])
    after: list[int] = []
    for games in looks:
        course.look_ahead(games)
        far = max([3, *looks])
        while not course.is_over and len(course.in_play) < jobs:
            index = course.next_game()
            if index is None:
                break
            assert index < course.judged + far
            course.in_play.add(index)
        if course.in_play:
            index = order.choice(sorted(course.in_play))
            after.append(index)
            course.add(ending(plan, index))
            course.advance(plan.count + 1)
    while not course.is_over:
        index = next(iter(course.in_play), None)
        if index is None:
            index = course.next_game()
        assert index is not None
        after.append(index)
        course.add(ending(plan, index))
        course.advance(plan.count + 1)
    assert len(after) == len(set(after))
    assert not set(before) & set(after)
    wanted = list(judge(plan, [ending(plan, n) for n in range(plan.count)]))
    assert list(shown(judged)) == list(shown(wanted))


def test_the_plan_goes_at_most_64_games_past_the_last_judged_one() -> None:
    plan = fake_plan(9, deals=9, bench_after=1000)
    course, _ = begin(plan)
    given_out = []
    while (index := course.next_game()) is not None:
        course.in_play.add(index)
        given_out.append(index)
    assert given_out == list(range(64))
    for index in given_out[1:]:
        course.add(ending(plan, index))
        course.advance(1000)
    assert course.next_game() is None
    course.add(ending(plan, 0))
    course.advance(1000)
    assert course.next_game() == 64


def test_a_void_game_is_played_again_twice_and_then_stays_void() -> None:
    plan = fake_plan(2, deals=2)
    course, judged = begin(plan)
    for final in (False, False, True):
        assert course.next_game() == 0  # before any new one
        course.in_play.add(0)
        void = course.add_void(0, "the host failed", lost=False, record=None)
        assert (void.final, void.charged, void.index) == (final, True, 0)
        assert not course.in_play
    course.advance(10)
    assert [game.reason for game in judged] == ["void"]
    assert course.next_game() == 1


def test_void_plays_of_before_are_counted() -> None:
    plan = fake_plan(2, deals=2)
    course, _ = begin(plan, voids={0: 2})
    assert course.add_void(0, "the host failed", lost=False, record=None).final


def test_a_game_that_was_lost_with_its_workers_stays_void_at_once() -> None:
    plan = fake_plan(2, deals=2)
    course, _ = begin(plan)
    void = course.add_void(3, "3 worker processes died with it", lost=True, record=None)
    assert void.final
    assert (void.mister_x, void.detectives) == (1, 0)


def test_a_void_game_of_a_benched_bot_is_not_played_again() -> None:
    plan = fake_plan(2, deals=10, bench_after=3, look_ahead=10)
    course, judged = begin(plan)
    for wanted in range(10):
        assert course.next_game() == wanted
        course.in_play.add(wanted)
    course.add_void(5, "the host failed", lost=False, record=None)
    for index in range(3):
        course.add(ending(plan, index))
    course.advance(1000)
    assert course.is_over  # bot1 is in every game
    assert course.next_game() is None
    assert len(judged) == 20


def test_a_void_game_is_not_played_again_though_one_before_it_is_missing() -> None:
    """Its bot is benched, but the game itself can't be judged yet: a game of others comes first."""
    plan = fake_plan(3, deals=10, bench_after=1, look_ahead=12)
    pairs = [plan.pairing(index)[1:] for index in range(12)]
    first = next(index for index, pair in enumerate(pairs) if 1 in pair)
    missing = next(index for index, pair in enumerate(pairs) if index > first and 1 not in pair)
    void = next(index for index, pair in enumerate(pairs) if index > missing and 1 in pair)
    course, _ = begin(plan)
    while (index := course.next_game()) is not None:
        course.in_play.add(index)
    course.add_void(void, "the host failed", lost=False, record=None)
    for index in range(first + 1):
        course.add(ending(plan, index))
    course.advance(1000)
    assert course.judged == missing < void
    assert course.next_game() not in (void, missing)


def test_results_read_twice_are_judged_once() -> None:
    """While a run goes on, a page of stored results may hold games of this very session."""
    plan = fake_plan(2, deals=3)
    course, judged = begin(plan, [ending(plan, n) for n in (0, 1, 3)])
    assert course.next_game() == 2
    course.add(ending(plan, 2))
    course.add(ending(plan, 1))
    course.advance(1000)
    assert [game.index for game in judged] == [0, 1, 2, 3]


def test_advance_judges_in_pieces() -> None:
    plan = fake_plan(3, deals=4, bench_after=100)
    judged: list[Judged] = []
    course = Course(plan, iter([ending(plan, n) for n in range(24)]), {}, judged.append)
    assert course.advance(10)
    assert len(judged) == 10
    assert course.advance(10)
    assert not course.advance(10)
    assert course.is_over


@pytest.mark.parametrize("index", [0, 5])
def test_a_void_play_names_the_game_and_its_bots(index: int) -> None:
    plan = fake_plan(3)
    course, _ = begin(plan)
    void = course.void(index, "why", charged=False, final=False, record=None)
    spec = plan.spec(index)
    assert (void.game, void.deal) == (spec.game, spec.deal)
    assert plan.entrants[void.mister_x] == spec.mister_x
    assert plan.entrants[void.detectives] == spec.detectives


class Ladder:
    """A schedule that goes by results: the winner of a game meets the next bot."""

    count = 3
    pairs = 0
    needs_results = True

    def known(self, judged: int) -> int:
        return min(judged + 1, self.count)

    def pairing(self, index: int, results: Sequence[Judged] = ()) -> Pairing:
        if index == 0:
            return Pairing(0, 0, 1)
        last = results[index - 1]
        best = last.mister_x if last.winner == "mister_x" else last.detectives
        return Pairing(index, best, index + 1)


def test_a_schedule_may_go_by_results() -> None:
    plan = fake_plan(4)
    vars(plan)["schedule"] = Ladder()  # where the plan keeps what it computed once
    course, judged = begin(plan)
    assert course.next_game() == 0
    assert course.next_game() is None  # the next one is not known yet
    for index, winner in enumerate(("detectives", "mister_x", "detectives")):
        course.add(Outcome(index, winner, "captured"))  # type: ignore[arg-type]
        course.advance(10)
        assert course.next_game() == (index + 1 if index < 2 else None)
        if index < 2:
            assert course.spec(index + 1).mister_x.name == "bot1"
    assert [(game.mister_x, game.detectives) for game in judged] == [(0, 1), (1, 2), (1, 3)]
    assert course.is_over
