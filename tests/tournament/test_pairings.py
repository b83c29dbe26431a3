"""Round robin and gauntlet: who meets whom, in which order, with how much memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arena.errors import ConfigError
from arena.tournament.pairings import Gauntlet, Pairing, RoundRobin, Schedule

SIDES = st.sampled_from(["both", "x", "d"])


def split(kinds: Iterable[str]) -> tuple[list[int], list[int]]:
    """Return the Mister X bots and the detectives bots of a list of kinds."""
    kinds = list(kinds)
    return (
        [n for n, kind in enumerate(kinds) if kind != "d"],
        [n for n, kind in enumerate(kinds) if kind != "x"],
    )


def every(schedule: Schedule) -> list[Pairing]:
    return [schedule.pairing(n) for n in range(schedule.count)]


def spread(counts: Counter[int], bots: Iterable[int]) -> int:
    values = [counts[bot] for bot in bots]
    return max(values) - min(values)


@given(st.lists(SIDES, min_size=2, max_size=9), st.integers(1, 3), st.booleans())
def test_round_robin_plays_each_ordered_pair_once_a_deal(
    kinds: list[str], deals: int, self_play: bool
) -> None:
    x, d = split(kinds)
    wanted = {
        Pairing(deal, a, b) for deal in range(deals) for a in x for b in d if self_play or a != b
    }
    if not x or not d or not wanted:
        with pytest.raises(ConfigError):
            RoundRobin(x, d, deals=deals, self_play=self_play)
        return
    schedule = RoundRobin(x, d, deals=deals, self_play=self_play)
    played = every(schedule)
    assert len(played) == len(set(played)) == schedule.count
    assert set(played) == wanted
    assert [pairing.deal for pairing in played] == sorted(pairing.deal for pairing in played)
    both = Counter((p.deal, *sorted(p[1:])) for p in played if p.mister_x != p.detectives)
    assert schedule.pairs == sum(n == 2 for n in both.values())


@given(
    st.one_of(
        st.integers(2, 9).map(lambda n: (range(n), range(n))),
        st.tuples(st.integers(1, 7), st.integers(1, 7)).map(
            lambda ab: (range(ab[0]), range(ab[0], sum(ab)))
        ),
    ),
    st.integers(1, 3),
    st.booleans(),
)
def test_round_robin_is_balanced_in_every_prefix(
    lists: tuple[range, range], deals: int, self_play: bool
) -> None:
    as_x: Counter[int] = Counter()
    as_d: Counter[int] = Counter()
    for _, x, d in every(RoundRobin(*lists, deals=deals, self_play=self_play)):
        as_x[x] += 1
        as_d[d] += 1
        assert spread(as_x, lists[0]) <= 1
        assert spread(as_d, lists[1]) <= 1


@given(st.lists(SIDES, min_size=2, max_size=9), st.integers(1, 3))
def test_round_robin_of_mixed_lists_is_balanced_within_a_deal_and_among_bots_alike(
    kinds: list[str], deals: int
) -> None:
    x, d = split(kinds)
    assume(x and d and (len(kinds) > 1) and not (len(x) == len(d) == 1 and x == d))
    as_x: Counter[tuple[int, int]] = Counter()  # (deal, bot)
    as_d: Counter[tuple[int, int]] = Counter()
    for deal, a, b in every(RoundRobin(x, d, deals=deals)):
        as_x[deal, a] += 1
        as_d[deal, b] += 1
        for counts, bots in ((as_x, x), (as_d, d)):
            now = Counter({bot: counts[deal, bot] for bot in bots})
            assert spread(now, bots) <= 1
            total = Counter({bot: sum(counts[n, bot] for n in range(deal + 1)) for bot in bots})
            for kind in set(kinds):
                alike = [bot for bot in bots if kinds[bot] == kind]
                assert not alike or spread(total, alike) <= 1


@given(st.integers(2, 12))
def test_round_robin_goes_by_stages_and_completes_a_pair_after_two(bots: int) -> None:
    schedule = RoundRobin(range(bots), range(bots), deals=1)
    stages = [
        [(p.mister_x, p.detectives) for p in every(schedule)[at : at + bots]]
        for at in range(0, schedule.count, bots)
    ]
    shifts = [shift for s in range(1, bots // 2 + 1) for shift in dict.fromkeys((s, bots - s))]
    assert stages == [[(i, (i + s) % bots) for i in range(bots)] for s in shifts]
    open_pairs: set[tuple[int, int]] = set()
    for number, stage in enumerate(stages, 1):
        for x, d in stage:
            open_pairs ^= {(min(x, d), max(x, d))}
        if number % 2 == 0 or number == bots - 1:
            assert not open_pairs


@given(
    st.lists(SIDES, min_size=2, max_size=8),
    st.sets(st.integers(0, 7), min_size=1),
    st.integers(1, 3),
)
def test_gauntlet_plays_challengers_against_the_others_and_nobody_else(
    kinds: list[str], challengers: set[int], deals: int
) -> None:
    first = sorted(n for n in challengers if n < len(kinds))
    x, d = split(kinds)
    wanted = {
        Pairing(deal, a, b)
        for deal in range(deals)
        for a in x
        for b in d
        if (a in first) != (b in first)
    }
    if not wanted:
        with pytest.raises(ConfigError):
            Gauntlet(first, x, d, deals=deals)
        return
    schedule = Gauntlet(first, x, d, deals=deals)
    played = every(schedule)
    assert len(played) == len(set(played)) == schedule.count
    assert set(played) == wanted
    pairs = [(p.deal, *sorted(p[1:])) for p in played]
    # The two games of a pair follow each other, and the next deal begins after this one.
    assert [pair for n, pair in enumerate(pairs) if pair not in pairs[:n]] == [
        pair for n, pair in enumerate(pairs) if n == 0 or pair != pairs[n - 1]
    ]
    assert [p.deal for p in played] == sorted(p.deal for p in played)
    assert schedule.pairs == sum(n == 2 for n in Counter(pairs).values())


@pytest.mark.parametrize(
    "schedule",
    [RoundRobin([0, 1], [0, 1], deals=3), Gauntlet([0], [0, 1], [0, 1], deals=3)],
    ids=["round robin", "gauntlet"],
)
def test_schedules_know_all_their_games_from_the_start(schedule: Schedule) -> None:
    assert schedule.count == schedule.known(0) == 6
    assert not schedule.needs_results
    for index in (-1, 6):
        with pytest.raises(IndexError, match=r"of a plan of 6 games"):
            schedule.pairing(index)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([], [0], 1), "no bot here plays Mister X"),
        (([0], [], 1), "no bot here plays the detectives"),
        (([0, 1], [0, 1], 0), "deals is 0"),
        (([0], [0], 1), "nobody to meet"),
    ],
)
def test_round_robin_says_what_it_lacks(
    arguments: tuple[list[int], list[int], int], text: str
) -> None:
    x, d, deals = arguments
    with pytest.raises(ConfigError, match=text):
        RoundRobin(x, d, deals=deals)


def test_self_play_alone_is_one_game_a_deal() -> None:
    schedule = RoundRobin([0], [0], deals=3, self_play=True)
    assert every(schedule) == [Pairing(n, 0, 0) for n in range(3)]
    assert schedule.pairs == 0
