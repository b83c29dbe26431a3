"""The belief set is exact: the cities that end a path which fits all that was said, no other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from random import Random

import msgspec
import pytest

from arena.errors import IllegalMove
from arena.rules.europe.belief import Chain, begun, beliefs, follow, moved, narrowed
from arena.rules.europe.board import (
    TRANSPORTS,
    Board,
    Kind,
    Links,
    Mission,
    Transport,
    load_board,
)
from arena.rules.europe.net import Net
from arena.rules.europe.presets import Bound
from arena.rules.europe.ruleset import Europe, make, make_on
from arena.rules.europe.state import ChooseMission, ChooseStart, EuropePly, Lay, Move, State
from arena.rules.ruleset import Event, Side
from tests.strategies import deal_seed

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


# Whole games

OPTIONS: tuple[dict[str, str | int], ...] = (
    {},
    {"capture": "check"},
    {"capture": "check", "passed": "ignored", "players": 2},
    {"passed": "ignored", "encircled": "loss", "players": 4},
    {"start_in_window": "true", "as_many": "maximal", "players": 3},
    {"setup_order": "mister-x-first", "mission": "balanced"},
)


def random_turn(rules: Europe, state: State, dice: Random) -> list[EuropePly]:
    """A legal turn, ply by ply; actions are taken wherever they can be."""
    plies: list[EuropePly] = []
    options = rules.legal(state)
    while options:
        if state.stage == "refill" and dice.random() < 0.5:
            break
        pays = [ply for ply in options if type(ply).__name__ in {"Pay", "Special", "Investigate"}]
        plies.append(dice.choice(pays if pays and dice.random() < 0.4 else options))
        played = rules.play(state, plies[-1:], more=True)
        if not played.goes_on:
            break
        state = played.state
        options = rules.legal(state)
    return plies


def seen(events: Sequence[Event]) -> list[Event]:
    """What the team is told."""
    return [event for event in events if event.seen_by is not Side.MISTER_X]


def crowded_board(dice: Random) -> Board:
    """Thirteen cities in a ring with links across, so that much is said and much is blocked."""
    ids = sorted(dice.sample(range(1, 60), 13))
    ring = [*itertools.pairwise(ids), (ids[0], ids[-1])]
    across = [pair for pair in itertools.combinations(ids, 2) if pair not in ring]
    dice.shuffle(across)
    links = Links(car=tuple(ring), rail=tuple(across[:7]), air=tuple(across[7:10]))
    kinds: dict[int, Kind] = dict.fromkeys(ids, "car")
    kinds |= {city: "rail" for pair in links.rail for city in pair}
    kinds |= {city: "air" for pair in links.air for city in pair}
    return msgspec.structs.replace(
        OWN,
        cities=tuple(
            msgspec.structs.replace(OWN.cities[0], id=city, name=str(city), kind=kinds[city])
            for city in ids
        ),
        links=links,
        missions={
            "blue": Mission(starts=tuple(ids[:4]), targets=tuple(ids[11:])),
            "red": Mission(starts=tuple(ids[2:5]), targets=tuple(ids[6:7])),
        },
        detective_starts=tuple(ids[4:11]),
    )


def rich(board: Board, options: Mapping[str, str | int]) -> Europe:
    """The rules with so many tickets for Mister X that he always has one of each kind."""
    tickets = tuple(msgspec.structs.replace(one, count=40) for one in board.tickets)
    bound = Bound(msgspec.structs.replace(board, tickets=tickets))
    plain = make_on(bound, options)
    return Europe(
        name=plain.name,
        text=plain.text,
        options=plain.options,
        numbers=msgspec.structs.replace(plain.numbers, mister_x_hand=60),
        bound=bound,
    )


def variants(ids: Sequence[int], plies: Sequence[EuropePly]) -> list[tuple[EuropePly, ...]]:
    """The same turn of Mister X with every other city in it."""
    choices: list[list[EuropePly]] = []
    for ply in plies:
        if isinstance(ply, Move | Lay):
            choices.append([msgspec.structs.replace(ply, to=city) for city in ids])
        elif isinstance(ply, ChooseStart):
            choices.append([ChooseStart(city=city) for city in ids])
        else:
            choices.append([ply])
    return list(itertools.product(*choices))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_belief_set_is_what_playing_every_other_path_by_the_rules_gives(
    options: Mapping[str, str | int],
) -> None:
    """Exact: a city is in the set if some game that the team can't tell from this one ends there.

    Mister X holds so many tickets that each of them fits somewhere. Where he is stuck all the same
    he could have had worse by all that is known, so from there on the set may hold more.
    """
    compared = narrowings = 0
    for number in range(8):
        dice = Random(number)
        board = crowded_board(dice)
        ids = [city.id for city in board.cities]
        rules = rich(board, options)
        net = Net(board)
        state = rules.deal(deal_seed(number), number)
        trail = [state]
        others = [state]
        stuck = False
        while state.to_move is not None and state.round <= 7 and len(others) < 1500:
            side = state.to_move
            plies = random_turn(rules, state, dice)
            played = rules.play(state, plies, more=False)
            trail += [*rules.between(state, plies[: played.counted]), played.state]
            before = beliefs(net, rules.numbers, trail)[-2]
            turns = variants(ids, plies) if side is Side.MISTER_X else [tuple(plies)]
            found: dict[tuple[int, ...], State] = {}
            for other in others:
                for turn in turns:
                    try:
                        same = rules.play(other, turn, more=False)
                    except IllegalMove:
                        continue
                    if seen(same.events) == seen(played.events):
                        found[same.state.path] = same.state
            others = list(found.values())
            state = played.state
            stuck = stuck or state.tally.stuck > 0
            belief = beliefs(net, rules.numbers, trail)[-1]
            exact = {other.path[-1] for other in others}
            assert state.path[-1] in exact
            assert belief >= exact if stuck else belief == exact
            compared += not stuck
            narrowings += side is Side.DETECTIVES and len(belief) < len(before)
    assert compared > 20
    assert narrowings > 3


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_belief_set_always_holds_mister_x(options: Mapping[str, str | int]) -> None:
    rules = make(options)
    net = Net(rules.board)
    for number in range(4):
        dice = Random(number)
        state = rules.deal(deal_seed(number), number)
        trail = [state]
        while state.to_move is not None:
            plies = random_turn(rules, state, dice)
            played = rules.play(state, plies, more=False)
            trail += [*rules.between(state, plies[: played.counted]), played.state]
            state = played.state
        sets = beliefs(net, rules.numbers, trail)
        assert len(sets) == len(trail)
        for one, cities in zip(trail, sets, strict=True):
            assert cities
            assert not one.path or one.path[-1] in cities
        assert sets[-1] == {state.path[-1]}
        entries = [one for one in trail if len(one.path) > len(one.board) + 1]
        assert all(one.known[-1] == len(one.path) - 1 for one in entries)


def test_nobody_is_stuck_where_every_ticket_fits() -> None:
    """Who is stuck is where a hand of that size can have no ticket that fits."""
    tickets = tuple(
        msgspec.structs.replace(one, count=30 if one.transport == "air" else 1)
        for one in OWN.tickets
    )
    board = msgspec.structs.replace(OWN, tickets=tickets)
    rules = make_on(Bound(board), {"players": 2})
    net = Net(board)
    found = 0
    for number in range(4):
        dice = Random(number)
        state = rules.deal(deal_seed(number), number)
        trail = [state]
        while state.to_move is not None and state.round < 8:
            plies = random_turn(rules, state, dice)
            played = rules.play(state, plies, more=False)
            trail += [*rules.between(state, plies[: played.counted]), played.state]
            state = played.state
        sets = beliefs(net, rules.numbers, trail)
        for cities, (before, after) in zip(sets[1:], itertools.pairwise(trail), strict=True):
            assert not after.path or after.path[-1] in cities
            if after.tally.stuck == before.tally.stuck or after.ended is not None:
                continue
            found += 1
            taken = {figure.city for figure in after.figures}
            # Eight tickets are more than there are for car and rail together.
            assert len(before.hand) == 8
            assert all(taken.issuperset(net.neighbours["air"][city]) for city in cities)
    assert found > 3


def test_nothing_follows_from_being_stuck_with_no_ticket_at_all() -> None:
    rules = make({})
    net = Net(rules.board)
    start = rules.deal(deal_seed(0), 0)
    placed = rules.play(
        start, [ChooseMission(colour="green"), ChooseStart(city=46)], more=True
    ).state
    before = msgspec.structs.replace(placed, hand=())
    tally = msgspec.structs.replace(before.tally, stuck=1)
    chain = begun(OWN.missions["green"].starts)
    after = msgspec.structs.replace(before, tally=tally)
    assert follow(net, rules.numbers, chain, before, after) == chain
    held = msgspec.structs.replace(after, hand=placed.hand)
    assert follow(net, rules.numbers, chain, held, msgspec.structs.replace(held, round=2)) == chain


def test_before_his_start_is_noted_he_can_begin_in_any_that_is_free() -> None:
    rules = make({})
    net = Net(rules.board)
    start = rules.deal(deal_seed(0), 0)
    named = rules.play(start, [ChooseMission(colour="yellow")], more=True).state
    sets = beliefs(net, rules.numbers, [start, named])
    assert sets[0] == {city for one in OWN.missions.values() for city in one.starts}
    assert sets[1] == set(OWN.missions["yellow"].starts)
