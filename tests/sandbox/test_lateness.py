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


def test_our_own_lag_is_lost_at_the_deadline_and_at_each_look_behind_it(
    books: list[Counts | None],
) -> None:
    waiting = Counts(1.0, {1: Thread(1.0, 1.0)}, is_runnable=True)
    lateness = glanced(books, ASLEEP, waiting, waiting)
    assert lateness.lost(SENT, DEADLINE + 0.3, DEADLINE) == pytest.approx(0.3)
    assert lateness.lost(SENT, DEADLINE + 0.51, DEADLINE) == pytest.approx(0.2)


def test_answer_may_have_come_while_we_waited_ourselves(
    books: list[Counts | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But no earlier than the last look, at which it was not there."""
    waiting = Counts(1.0, {1: Thread(1.0, 1.0)}, is_runnable=True)
    ran = Counts(1.0, {1: Thread(1.0, 1.3)}, is_runnable=False)
    own = [0.0, 5.0, 5.008, 5.1]
    monkeypatch.setattr(lateness_module, "own_wait_s", lambda: own.pop(0))
    lateness = glanced(books, ASLEEP, waiting, ran, ran)
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == 0.0
    found_s = lateness.lost(SENT, DEADLINE + 0.009, DEADLINE, has_answered=True)
    assert found_s == pytest.approx(0.3 + 0.008)
    found_s = lateness.lost(SENT, DEADLINE + 0.01, DEADLINE, has_answered=True)
    assert found_s == pytest.approx(0.3 + 0.001)


def test_our_lag_at_the_first_look_is_lost_too(books: list[Counts | None]) -> None:
    lateness = glanced(books, ASLEEP, ASLEEP, late_s=0.4)
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == pytest.approx(0.4)


def test_first_look_that_comes_behind_the_deadline_looks_at_nothing(
    books: list[Counts | None],
) -> None:
    """All the time since it was due is ours; what the bot did in it nobody knows."""
    lateness = glanced(books, late_s=1.15)
    assert lateness.lost(SENT, DEADLINE + 0.2, DEADLINE) == pytest.approx(0.2 + DEADLINE - DUE)


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
    books: list[Counts | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [5.0, 5.2, 50.0]
    monkeypatch.setattr(lateness_module, "own_wait_s", lambda: own.pop(0))
    lateness = glanced(books, ASLEEP)
    assert unseen(lateness, 0.1) == [0.1, 0.9]
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


@pytest.mark.parametrize("counts", [(None,), (ASLEEP, None)], ids=["glance", "look"])
def test_without_the_kernels_books_nothing_is_known(
    counts: tuple[Counts | None, ...], books: list[Counts | None]
) -> None:
    lateness = glanced(books, *counts)
    assert lateness.lost(SENT, DEADLINE, DEADLINE) == 0.0
    lateness.forgive(DEADLINE)
    assert lateness.look_again_at() is None


def test_next_request_knows_nothing_of_the_last(books: list[Counts | None]) -> None:
    lateness = glanced(books, ASLEEP, late_s=0.4)
    assert lateness.lost(SENT + 5, DEADLINE + 5, DEADLINE + 5) == 0.0
