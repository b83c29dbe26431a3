"""As many pieces as possible (A23): against a search that tries every order of every move."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from arena.rules.europe.split import Outlook, Player, matched

CARS, RAILS, AIRS = 0, 1, 2


def brute_matching(frees: tuple[int, ...], purse: tuple[int, ...]) -> int:
    """The most pieces that get a ticket, by trying every choice."""
    best = 0
    for choice in itertools.product(range(-1, len(purse)), repeat=len(frees)):
        used = [place for place in choice if place >= 0]
        fits = all(
            free >> place & 1 for free, place in zip(frees, choice, strict=True) if place >= 0
        )
        if fits and all(used.count(place) <= count for place, count in enumerate(purse)):
            best = max(best, len(used))
    return best


def test_matching_is_as_large_as_any() -> None:
    dice = Random(1)
    for _ in range(300):
        frees = tuple(dice.randrange(8) for _ in range(dice.randrange(5)))
        purse = tuple(dice.randrange(3) for _ in range(3))
        assert matched(frees, purse) == brute_matching(frees, purse)


def may_end(outlook: Outlook) -> bool:
    """The rule word for word: pieces left for want of tickets are as few as a split allows."""
    for place, player in enumerate(outlook.players):
        stayed = [
            outlook.free(piece) for piece in outlook.unmoved if outlook.leaders[piece] == place
        ]
        wanting = [free for free in stayed if free]  # who is shut in does not count
        frees = (*player.moved, *wanting)
        if len(wanting) > len(frees) - brute_matching(frees, player.whole):
            return False
    return True


def can_end(outlook: Outlook) -> bool:
    """Whether any moves at all lead to such an end."""
    return may_end(outlook) or any(
        can_end(outlook.after(piece, transport, end)) for piece, transport, end in moves(outlook)
    )


def moves(outlook: Outlook) -> list[tuple[int, int, int]]:
    return [
        (piece, transport, end)
        for piece in outlook.unmoved
        for transport in range(len(outlook.near))
        if outlook.players[outlook.leaders[piece]].purse[transport]
        for end in outlook.ends(piece, transport)
    ]


def random_outlook(dice: Random) -> Outlook:
    """A narrow board, crowded with four pieces of one or two players, short of tickets."""
    count = dice.randint(6, 8)
    near: list[dict[int, tuple[int, ...]]] = []
    for _ in range(3):
        beside: dict[int, set[int]] = {city: set() for city in range(count)}
        for _ in range(dice.randint(1, 5)):
            one, two = dice.sample(range(count), 2)
            beside[one].add(two)
            beside[two].add(one)
        near.append({city: tuple(sorted(ends)) for city, ends in beside.items()})
    cities = tuple(dice.sample(range(count), 4))
    leaders = dice.choice([(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 1)])
    players = []
    for _ in range(leaders[-1] + 1):
        purse = tuple(dice.choice((0, 0, 1, 1, 2)) for _ in range(3))
        players.append(Player(purse, purse, ()))
    return Outlook(near, cities, leaders, (0, 1, 2, 3), tuple(players))


def test_moves_are_good_exactly_if_the_search_finds_an_end_behind_them() -> None:
    dice = Random(7)
    seen = {True: 0, False: 0}
    searched = 0
    for _ in range(250):
        outlook = random_outlook(dice)
        assert outlook.can_end()
        while found := moves(outlook):
            good = []
            for move in found:
                after = outlook.after(*move)
                expected = can_end(after)
                seen[expected] += 1
                searched += after._bound() is None  # the hard ones
                assert outlook.is_good(*move) == after.can_end() == expected
                if expected:
                    good.append(move)
                assert (move[2] in outlook.good_ends(move[0], move[1])) == expected
            assert outlook.may_end() == may_end(outlook)
            if not good:
                break
            outlook = outlook.after(*dice.choice(good))
        assert outlook.may_end()
    assert min(seen.values()) > 40
    assert searched > 40


def test_a_piece_that_becomes_free_too_late_is_foreseen() -> None:
    """Piece 1 must fly and so frees the station of piece 2: then the rail ticket is wanted there.

    Piece 0 could have gone by car, so its going by rail can't be carried to a good end.
    """
    near: list[dict[int, tuple[int, ...]]] = [
        {0: (10,), 1: (), 2: ()},
        {0: (11,), 1: (), 2: (1,)},
        {0: (), 1: (12,), 2: ()},
    ]
    for table in near:
        table.update({10: (), 11: (), 12: ()})
    purse = (1, 1, 1)
    outlook = Outlook(near, (0, 1, 2), (0, 0, 0), (0, 1, 2), (Player(purse, purse, ()),))
    assert outlook.good_ends(0, RAILS) == ()
    assert outlook.good_ends(0, CARS) == (10,)
    assert not outlook.is_good(0, RAILS, 11)
    assert outlook.good_ends(1, AIRS) == (12,)


@pytest.mark.parametrize("purse", [(1, 0, 0), (0, 0, 0)])
def test_one_piece_alone_moves_while_it_can(purse: tuple[int, ...]) -> None:
    near: list[dict[int, tuple[int, ...]]] = [{0: (1,), 1: (0,)}, {0: (), 1: ()}, {0: (), 1: ()}]
    outlook = Outlook(near, (0,), (0,), (0,), (Player(purse, purse, ()),))
    assert outlook.can_end()
    assert outlook.may_end() == (purse == (0, 0, 0))


def test_where_no_order_of_moves_ends_well_every_move_is_good() -> None:
    """All four could get a ticket, but they are in each other's way."""
    links: list[dict[int, tuple[int, ...]]] = [
        {0: (5,), 3: (4,), 4: (3,), 5: (0,)},
        {1: (7,), 7: (1,)},
        {0: (1, 3), 1: (0,), 3: (0,), 4: (5,), 5: (4,)},
    ]
    near = [{city: table.get(city, ()) for city in range(8)} for table in links]
    purse = (1, 1, 2)
    outlook = Outlook(near, (0, 7, 1, 4), (0, 0, 0, 0), (0, 1, 2, 3), (Player(purse, purse, ()),))
    assert not can_end(outlook)
    assert not outlook.can_end()
    while found := moves(outlook):
        for piece, transport, end in found:
            assert outlook.is_good(piece, transport, end)
            assert end in outlook.good_ends(piece, transport)
        outlook = outlook.after(*found[0])
