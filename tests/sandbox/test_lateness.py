"""Whose fault a late answer is, with a kernel's books made up for each case."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arena.sandbox import lateness as lateness_module
from arena.sandbox.lateness import Lateness, OwnLooks
from arena.sandbox.starvation import Counts, Thread

ASLEEP = Counts(1.0, {1: Thread(1.0, 1.0)}, is_runnable=False)
SENT, DUE, DEADLINE = 100.0, 100.05, 101.0


@pytest.fixture
def books(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Counts | None]]:
    """What the next looks find, one after the other."""
    found: list[Counts | None] = []
    monkeypatch.setattr(lateness_module, "look", lambda _pid, _account: found.pop(0))
    monkeypatch.setattr(lateness_module, "own_wait_s", lambda: 0.0)
    monkeypatch.setattr(lateness_module, "monotonic", lambda: 0.0)  # a look takes no time
    yield found
    assert found == []


class OwnWait:
    """For how long we had to wait ourselves, by the kernel's books; it stands still."""

    seconds = 0.0


@pytest.fixture
def own_wait(books: list[Counts | None], monkeypatch: pytest.MonkeyPatch) -> OwnWait:
    del books  # which set that to nothing
    wait = OwnWait()
    monkeypatch.setattr(lateness_module, "own_wait_s", lambda: wait.seconds)
    return wait


def glanced(books: list[Counts | None], *counts: Counts | None, late_s: float = 0.0) -> Lateness:
    """A bot that was looked at early in its request; `counts` of that look and those to come."""
    books.extend(counts)
    lateness = Lateness(1, OwnLooks())
    lateness.glance(SENT, DUE + late_s, due=DUE, deadline=DEADLINE)
    return lateness


def test_bot_that_slept_lost_nothing(books: list[Counts | None]) -> None:
    lateness = glanced(books, ASLEEP, ASLEEP)
    assert lateness.lost(SENT, DEADLINE + 0.001, DEADLINE) == 0.0
    assert lateness.look_again_at() is None


def test_wait_that_is_in_the_books_is_lost(books: list[Counts | None]) -> None:
    lateness = glanced(books, ASLEEP, Counts(1.1, {1: Thread(1.1, 1.6)}, is_runnable=False))
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == pytest.approx(0.6)


def test_wait_of_a_bot_that_hides_what_it_uses_gives_it_nothing(
    books: list[Counts | None],
) -> None:
    """Nobody knows who kept it from running; what we are late by ourselves is lost all the same."""
    lateness = glanced(books, ASLEEP)
    lost = lateness.lost(SENT, DEADLINE + 0.2, DEADLINE, hides_time=True)
    assert lost == pytest.approx(0.2)
    assert lateness.look_again_at() is None


def test_wait_that_still_lasts_is_waited_for(books: list[Counts | None]) -> None:
    """Runnable, and nothing has run: the kernel books the wait when it is over."""
    waiting = Counts(1.0, {1: Thread(1.0, 1.0)}, is_runnable=True)
    ran = Counts(1.002, {1: Thread(1.002, 1.9)}, is_runnable=True)
    lateness = glanced(books, ASLEEP, waiting, waiting, ran)
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == 0.0
    again = lateness.look_again_at()
    assert again == pytest.approx(DEADLINE + 0.01)
    assert again is not None
    assert lateness.lost(SENT, again, DEADLINE) == 0.0
    again = lateness.look_again_at()
    assert again is not None
    assert lateness.lost(SENT, again, DEADLINE) == pytest.approx(0.9)


def test_bot_that_runs_is_looked_at_once_more_and_not_again(books: list[Counts | None]) -> None:
    """The first look behind the deadline can't tell running from waiting, the second can."""
    running = (
        Counts(1.95, {1: Thread(1.95, 1.0)}, is_runnable=True),
        Counts(1.96, {1: Thread(1.96, 1.0)}, is_runnable=True),
    )
    lateness = glanced(books, ASLEEP, *running)
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == pytest.approx(0.0)
    again = lateness.look_again_at()
    assert again is not None
    assert lateness.lost(SENT, again, DEADLINE) == pytest.approx(0.0)
    assert lateness.look_again_at() is None


def test_wait_that_lasts_over_a_moved_deadline_is_not_lost_from_sight(
    books: list[Counts | None],
) -> None:
    """A bot that waits again and again has part of each wait on either side of a look."""
    looks = (
        Counts(1.0, {1: Thread(1.0, 1.5)}, is_runnable=True),  # it has waited for 0.45 s more
        Counts(1.01, {1: Thread(1.01, 2.44)}, is_runnable=True),
        Counts(1.02, {1: Thread(1.02, 3.0)}, is_runnable=True),
    )
    lateness = glanced(books, ASLEEP, *looks)
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == pytest.approx(0.5)
    lateness.forgive(DEADLINE)
    moved = DEADLINE + 0.5
    assert lateness.lost(SENT, moved, moved) == pytest.approx(0.94)
    lateness.forgive(moved)
    moved += 0.94
    # All that it did not run since the first look; more than that nobody can have lost.
    assert lateness.lost(SENT, moved, moved) == pytest.approx(3.0 - 1.0 - 0.5 - 0.94)


def test_wait_while_we_were_late_is_given_once(books: list[Counts | None]) -> None:
    """It was still on when its deadline was moved because nobody had looked."""
    waiting = Counts(1.0, {1: Thread(1.0, 1.0)}, is_runnable=True)
    ran = Counts(1.0, {1: Thread(1.0, 2.25)}, is_runnable=False)
    lateness = glanced(books, ASLEEP, waiting, ran)
    assert lateness.lost(SENT, DEADLINE + 0.3, DEADLINE) == pytest.approx(0.3)
    lateness.forgive(DEADLINE + 0.3)
    moved = DEADLINE + 0.31  # it waited from the first look on, for 1.25 s, and then slept
    assert lateness.lost(SENT, moved, moved) == pytest.approx(1.25 - 0.3)


def test_nobody_loses_more_than_the_time_that_went_by(books: list[Counts | None]) -> None:
    """Whatever is written into the books late, and for however many threads."""
    looks = [
        Counts(1.0, {n: Thread(0.0, 5.0 * turn) for n in range(turn + 1)}, is_runnable=True)
        for turn in range(1, 6)
    ]
    lateness = glanced(books, ASLEEP, *looks)
    at, lost_s = DEADLINE, 0.0
    for _ in looks:
        lost_s += lateness.lost(SENT, at, at)
        lateness.forgive(at)
        assert lost_s <= at - DUE + 1e-9
        at = DEADLINE + lost_s


def test_each_request_is_looked_at_by_itself(books: list[Counts | None]) -> None:
    """What was lost in an earlier one gives nothing, and takes nothing."""
    starved = Counts(1.0, {1: Thread(1.0, 1.5)}, is_runnable=False)
    later = Counts(1.0, {1: Thread(1.0, 1.8)}, is_runnable=False)
    lateness = glanced(books, ASLEEP, starved, starved, later)
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == pytest.approx(0.5)
    lateness.forgive(DEADLINE)
    lateness.glance(SENT + 10, DUE + 10, due=DUE + 10, deadline=DEADLINE + 10)
    assert lateness.lost(SENT + 10, DEADLINE + 10, DEADLINE + 10) == pytest.approx(0.3)


def test_our_own_lag_is_lost_at_the_deadline_and_at_each_look_behind_it(
    books: list[Counts | None],
) -> None:
    waiting = Counts(1.0, {1: Thread(1.0, 1.0)}, is_runnable=True)
    lateness = glanced(books, ASLEEP, waiting, waiting)
    assert lateness.lost(SENT, DEADLINE + 0.3, DEADLINE) == pytest.approx(0.3)
    assert lateness.lost(SENT, DEADLINE + 0.51, DEADLINE) == pytest.approx(0.2)


def test_answer_may_have_come_while_we_waited_ourselves(
    books: list[Counts | None], own_wait: OwnWait
) -> None:
    """But no earlier than the last look, at which it was not there."""
    waiting = Counts(1.0, {1: Thread(1.0, 1.0)}, is_runnable=True)
    ran = Counts(1.0, {1: Thread(1.0, 1.3)}, is_runnable=False)
    lateness = glanced(books, ASLEEP, waiting, ran, ran)
    own_wait.seconds = 5.0
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == 0.0
    own_wait.seconds = 5.008
    found_s = lateness.lost(SENT, DEADLINE + 0.009, DEADLINE, has_answered=True)
    assert found_s == pytest.approx(0.3 + 0.008)
    own_wait.seconds = 5.1
    found_s = lateness.lost(SENT, DEADLINE + 0.01, DEADLINE, has_answered=True)
    assert found_s == pytest.approx(0.3 + 0.001)


def test_our_lag_at_the_first_look_is_lost_too(books: list[Counts | None]) -> None:
    lateness = glanced(books, ASLEEP, ASLEEP, late_s=0.4)
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == pytest.approx(0.4)


def test_first_look_that_comes_behind_the_deadline_is_the_first_all_the_same(
    books: list[Counts | None],
) -> None:
    """All the time since it was due is ours: what the bot did in it nobody knows.

    What it does from then on is seen; also where there is no counting at first.
    """
    starved = Counts(1.0, {1: Thread(1.0, 1.6)}, is_runnable=False)
    lateness = glanced(books, None, ASLEEP, starved, late_s=1.15)
    found_s = lateness.lost(SENT, DEADLINE + 0.2, DEADLINE)
    assert found_s == pytest.approx(0.2 + DEADLINE - DUE)
    lateness.forgive(DEADLINE + 0.2)
    moved = DEADLINE + 1.15
    assert lateness.lost(SENT, moved + 0.1, moved) == pytest.approx(0.1)
    lateness.forgive(moved + 0.1)
    assert lateness.lost(SENT, moved + 0.8, moved + 0.8) == pytest.approx(0.6)


def test_usual_lag_is_nobodys(books: list[Counts | None]) -> None:
    lateness = glanced(books, ASLEEP, ASLEEP, late_s=0.001)
    assert lateness.lost(SENT, DEADLINE + 0.0015, DEADLINE) == 0.0


def test_what_our_own_looks_take_is_not_lost(
    books: list[Counts | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot of many threads takes long to look at; so no two bots get time from each other.

    Save what the first look took, once.
    """
    clock = iter(n * 0.003 for n in range(100))
    monkeypatch.setattr(lateness_module, "monotonic", lambda: next(clock))
    ours = OwnLooks()
    ran = Counts(2.0, {1: Thread(2.0, 1.0)}, is_runnable=False)
    books += [ASLEEP, ASLEEP, ran, ran, ran]
    one, other = Lateness(1, ours), Lateness(2, ours)
    one.glance(SENT, DUE, due=DUE, deadline=DEADLINE)
    other.glance(SENT, DUE + 0.003, due=DUE, deadline=DEADLINE)
    assert one.lost(SENT, DEADLINE + 0.1, DEADLINE) == pytest.approx(0.1 + 0.003)
    one.forgive(DEADLINE + 0.1)
    assert other.lost(SENT, DEADLINE + 0.103, DEADLINE + 0.1) == pytest.approx(0.006)
    assert one.lost(SENT, DEADLINE + 0.106, DEADLINE + 0.1) == 0.0


def test_wait_of_ours_in_the_middle_of_a_look_is_no_part_of_it(
    books: list[Counts | None], monkeypatch: pytest.MonkeyPatch, own_wait: OwnWait
) -> None:
    """What a look takes is nobody's gain; what kept us from looking is."""
    clock = [0.0]
    monkeypatch.setattr(lateness_module, "monotonic", lambda: clock[0])
    starved = Counts(1.0, {1: Thread(1.0, 1.0)}, is_runnable=False)

    def look(_pid: int, _account: object) -> Counts:
        clock[0] += 0.403  # of which it took 3 ms
        own_wait.seconds += 0.4
        return starved

    monkeypatch.setattr(lateness_module, "look", look)
    ours = OwnLooks()
    one, other = Lateness(1, ours), Lateness(2, ours)
    one.glance(SENT, DEADLINE - 0.2, due=DUE, deadline=DEADLINE)
    assert ours.took_s == pytest.approx(0.003)
    now = DEADLINE + 0.203
    assert other.lost(SENT, now, DEADLINE) == pytest.approx(0.2)
    assert books == []


def test_wait_of_ours_between_looks_at_others_is_lost(books: list[Counts | None]) -> None:
    ours = OwnLooks()
    for at, took_s in ((DEADLINE + 0.001, 0.003), (DEADLINE + 0.203, 0.003)):
        ours.add(at, took_s)
    assert ours.took_s == pytest.approx(0.006)
    assert ours.since(DEADLINE) == pytest.approx(0.001 + 0.003)
    books += [ASLEEP]
    lateness = Lateness(1, ours)
    found_s = lateness.lost(SENT, DEADLINE + 0.204, DEADLINE)
    assert found_s == pytest.approx(0.2)


def unseen(lateness: Lateness, late_s: float) -> list[float]:
    """What a bot lost, and when its answer came since it was asked; empty if nobody can tell."""
    found = lateness.unseen(SENT, DEADLINE + late_s, DEADLINE)
    return [] if found is None else [round(found[0], 6), round(found[1] - SENT, 6)]


def test_answer_at_the_first_look_behind_the_deadline_came_unseen(
    books: list[Counts | None],
) -> None:
    """Where nothing held us up it is charged its limit, and no more."""
    lateness = glanced(books, ASLEEP, Counts(1.0, {1: Thread(1.0, 1.0)}, is_runnable=True))
    assert unseen(lateness, 0.001) == [0.0, 1.0]
    assert unseen(lateness, 0.3) == [0.3, 1.0]
    lateness.lost(SENT, DEADLINE, DEADLINE)
    assert unseen(lateness, 0.001) == []


def test_unseen_answer_may_have_come_while_we_were_held_up(
    books: list[Counts | None], own_wait: OwnWait
) -> None:
    own_wait.seconds = 5.0
    lateness = glanced(books, ASLEEP)
    own_wait.seconds = 5.2
    assert unseen(lateness, 0.1) == [0.1, 0.9]
    own_wait.seconds = 50.0
    assert unseen(lateness, 0.0) == [0.0, 0.0]


def test_unseen_answer_may_have_come_before_a_first_look_that_was_late(
    books: list[Counts | None],
) -> None:
    assert unseen(glanced(books, late_s=1.15), 0.2) == [0.2, 0.25]


def test_deadline_that_was_moved_begins_again(books: list[Counts | None]) -> None:
    """What was lost before is not lost twice."""
    waited = Counts(1.1, {1: Thread(1.1, 1.6)}, is_runnable=True)
    lateness = glanced(books, ASLEEP, waited, waited, late_s=0.1)
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == pytest.approx(0.7)
    lateness.forgive(DEADLINE)
    assert lateness.look_again_at() is None
    assert lateness.lost(SENT, DEADLINE + 0.7, DEADLINE + 0.7) == pytest.approx(0.0)


@pytest.mark.parametrize("counts", [(None, None), (ASLEEP, None)], ids=["glance", "look"])
def test_without_the_kernels_books_nothing_is_known(
    counts: tuple[Counts | None, ...], books: list[Counts | None]
) -> None:
    lateness = glanced(books, *counts)
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == 0.0
    lateness.forgive(DEADLINE)
    assert lateness.look_again_at() is None


def test_next_request_knows_nothing_of_the_last(books: list[Counts | None]) -> None:
    lateness = glanced(books, ASLEEP, ASLEEP, late_s=0.4)
    assert lateness.lost(SENT + 5, DEADLINE + 5, DEADLINE + 5) == 0.0
