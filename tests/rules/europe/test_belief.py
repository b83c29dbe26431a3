"""The belief set is exact: the cities that end a path which fits all that was said, no other."""

from __future__ import annotations

import itertools
from random import Random

import msgspec
import pytest

from arena.rules.europe.belief import Chain, begun, moved, narrowed
from arena.rules.europe.board import TRANSPORTS, Board, Links, Transport, load_board
from arena.rules.europe.net import Net

OWN = load_board()


def small_net(dice: Random) -> Net:
    """A net of six to nine cities with links at random; rules of kinds are of no matter here."""
    ids = sorted(dice.sample(range(1, 40), dice.randint(6, 9)))
    pairs = list(itertools.combinations(ids, 2))
    links = Links(**{t: tuple(dice.sample(pairs, dice.randint(5, 9))) for t in TRANSPORTS})
    cities = tuple(msgspec.structs.replace(OWN.cities[0], id=number) for number in ids)
    board: Board = msgspec.structs.replace(OWN, cities=cities, links=links)
    return Net(board)


def table(net: Net, way: Transport | None, city: int) -> tuple[int, ...]:
    return net.all_neighbours[city] if way is None else net.neighbours[way][city]


@pytest.mark.parametrize("number", range(60))
def test_chain_is_what_counting_every_path_gives(number: int) -> None:
    """Moves, hidden moves, cities avoided, entries told and ruled out, in any order."""
    dice = Random(number)
    net = small_net(dice)
    ids = sorted(net.all_neighbours)
    truth = [dice.choice(ids)]
    starts = {truth[0], *dice.sample(ids, 3)}
    chain = begun(starts)
    paths: list[tuple[int, ...]] = [(city,) for city in starts]
    for _ in range(40):
        if dice.random() < 0.5 and len(truth) < 8:
            ways: list[Transport | None] = [
                way for way in (*TRANSPORTS, None) if table(net, way, truth[-1])
            ]
            if not ways:
                break
            way = dice.choice(ways)
            truth.append(dice.choice(table(net, way, truth[-1])))
            avoiding = set(dice.sample(ids, 2)) - {truth[-1]}
            chain = moved(net, chain, way, avoiding)
            paths = [
                (*path, end)
                for path in paths
                for end in table(net, way, path[-1])
                if end not in avoiding
            ]
        else:
            entry = dice.randrange(len(truth))
            lost = set(dice.sample(ids, dice.choice((1, 1, 2, len(ids) - 1)))) - {truth[entry]}
            chain = narrowed(net, chain, entry, set(ids) - lost)
            paths = [path for path in paths if path[entry] not in lost]
        assert chain.sets == tuple(map(frozenset, zip(*paths, strict=True)))
        assert all(city in cities for city, cities in zip(truth, chain.sets, strict=True))


def test_what_is_told_of_an_old_entry_narrows_where_he_is_now() -> None:
    net = Net(OWN)
    chain = begun(OWN.missions["green"].starts)
    for way in ("car", "rail", None):
        chain = moved(net, chain, way, ())
    wide = chain.now
    first = min(chain.sets[1])
    told = narrowed(net, chain, 1, {first})
    assert told.now < wide
    assert told.sets[0] == {
        city for city in OWN.missions["green"].starts if first in net.neighbours["car"][city]
    }


def test_chain_compares_and_hashes() -> None:
    one = begun((3, 5))
    assert one == Chain((frozenset((5, 3)),))
    assert len({one, begun([5, 3])}) == 1
