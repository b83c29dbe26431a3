"""What the contract tests must know of Europe: random turns, states that look alike, tickets."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

import msgspec

from arena.rules.europe import Europe, State
from arena.rules.europe.state import (
    FIGURES,
    ORDER,
    PLAYERS,
    TICKETS,
    ChooseMission,
    ChooseStart,
    EuropePly,
    Hand,
    Investigate,
    Lay,
    Move,
    Pay,
    PutBack,
    Slot,
    Special,
    TicketName,
    hand_of,
)
from arena.rules.europe.views import (
    Captured,
    Declared,
    Drew,
    Investigated,
    SatOut,
    Stuck,
)
from arena.rules.ruleset import Side

__all__ = ["alike", "stock", "tells", "turn", "twin", "universe"]

Turn = tuple[EuropePly, ...]


def turn(ruleset: Europe, state: State, dice: Random) -> Turn:
    """A kind of ply, then one of it, again and again; an end where one is allowed."""
    plies: list[EuropePly] = []
    goes_on = True
    while goes_on:
        kinds: dict[type, list[EuropePly]] = {}
        for ply in ruleset.legal(state):
            kinds.setdefault(type(ply), []).append(ply)
        if state.stage in {"action", "refill"} and dice.random() < 0.4:
            break
        plies.append(dice.choice(kinds[dice.choice(list(kinds))]))
        played = ruleset.play(state, plies[-1:], more=True)
        state, goes_on = played.state, played.goes_on
    return tuple(plies)


def twin(ruleset: Europe, state: State, side: Side, dice: Random) -> State:
    """Hands that this side can't see mixed with the bag, other chance; hidden entries elsewhere."""
    replace = msgspec.structs.replace
    if state.figures and dice.random() < 0.5:  # who is placed where both sides see
        state = replace(state, seed=dice.randbytes(32))
    bag = list(hand_of(state.bag))
    if side is Side.MISTER_X:
        sizes = [len(hand) for hand in state.hands]
        pool = [*bag, *itertools.chain.from_iterable(state.hands)]
        hands, rest = deal(pool, sizes, dice)
        return replace(state, hands=tuple(hands), bag=counts_of(rest))
    slots = [] if state.ended is not None else [slot for slot in state.board if slot.hidden]
    pool = [*bag, *state.hand, *(slot.ticket for slot in slots if slot.ticket is not None)]
    hands, rest = deal(pool, [len(state.hand), len(slots)], dice)
    laid = iter(hands[1])
    board = tuple(Slot(next(laid), True) if slot.hidden and slots else slot for slot in state.board)
    path = state.path
    if state.ended is None:
        taken = {figure.city for figure in state.figures}
        free = [city.id for city in ruleset.board.cities if city.id not in taken]
        path = tuple(
            city if entry in state.known else dice.choice(free)
            for entry, city in enumerate(state.path)
        )
    return replace(state, hand=hands[0], bag=counts_of(rest), board=board, path=path)


def deal(pool: list[TicketName], sizes: list[int], dice: Random) -> tuple[list[Hand], Hand]:
    """Hands of these sizes out of the pool, and what is left of it."""
    dice.shuffle(pool)
    hands: list[Hand] = []
    for size in sizes:
        hands.append(tuple(sorted(pool[:size], key=ORDER.__getitem__)))
        pool = pool[size:]
    return hands, tuple(pool)


def counts_of(tickets: Iterable[TicketName]) -> tuple[int, ...]:
    found = Counter(tickets)
    return tuple(found[ticket] for ticket in TICKETS)


def tells(what: msgspec.Struct) -> bool:
    """What chance or the rules tell a side of hidden things: drawn tickets, answers, a stuck X."""
    return isinstance(what, Captured | Declared | Drew | Investigated | SatOut | Stuck)


def alike(ruleset: Europe, state: State, turn: Turn, dice: Random) -> Turn:
    """The same with other hidden cities, laid tickets and put-backs, if some tries find it."""
    side = ruleset.to_move(state)
    real = ruleset.play(state, turn, more=False)
    for _ in range(10):
        now, plies, goes_on = state, [], True
        for ply in turn[: real.counted]:
            fitting = [other for other in ruleset.legal(now) if looks_like(other, ply, state)]
            if not goes_on or not fitting:
                break
            plies.append(dice.choice(fitting))
            played = ruleset.play(now, plies[-1:], more=True)
            now, goes_on = played.state, played.goes_on
        if len(plies) < real.counted or (goes_on and not can_end(ruleset, now)):
            continue
        other = ruleset.play(state, plies, more=False).state
        ends = (real.state.ended, real.state.tally.stuck, real.state.round, side)
        # Where all detectives are stuck Mister X draws: from a bag that the put-backs are in.
        chance_tells = other.tally.stuck > state.tally.stuck and other.hand != real.state.hand
        if (
            ends == (other.ended, other.tally.stuck, other.round, side)
            and other.ended is None
            and not chance_tells
        ):
            return tuple(plies)
    return turn


def can_end(ruleset: Europe, state: State) -> bool:
    return state.stage in {"action", "refill"}


def looks_like(one: EuropePly, other: EuropePly, state: State) -> bool:
    """True if the other side is told the same of both, before an open move of Mister X at least."""
    if type(one) is not type(other):
        return False
    if isinstance(one, ChooseStart):
        return True
    if isinstance(one, PutBack) and isinstance(other, PutBack):
        return one.player == other.player
    hidden = state.to_move is Side.MISTER_X and len(state.path) + 1 < 24
    if hidden and isinstance(one, Move) and isinstance(other, Move):
        return one.ticket == other.ticket
    if hidden and isinstance(one, Lay):
        return True
    return one == other


def stock(ruleset: Europe, state: State) -> dict[str, int]:
    """All tickets by kind, wherever they are."""
    found = Counter(itertools.chain(hand_of(state.bag), hand_of(state.box), state.spent))
    found.update(itertools.chain(state.hand, *state.hands))
    found.update(slot.ticket for slot in state.board if slot.ticket is not None)
    return {str(ticket): count for ticket, count in found.items()}


def universe(ruleset: Europe) -> Iterable[Any]:
    """Plies of every kind, to each ninth city and to some that there are not."""
    cities = [*[city.id for city in ruleset.board.cities][::9], 111, 999_999]
    for colour in (*ruleset.numbers.missions, "mauve"):
        yield ChooseMission(colour=colour)
    yield from (ChooseStart(city=city) for city in cities)
    yield Investigate()
    for ticket in TICKETS:
        for city in cities:
            yield Lay(ticket=ticket, to=city)
            for figure in ("x", *FIGURES):
                yield Move(figure=figure, ticket=ticket, to=city)  # type: ignore[arg-type]
        for player in ("x", *PLAYERS):
            yield Pay(player=player, ticket=ticket)
            yield PutBack(player=player, ticket=ticket)
    yield from (Special(figure=figure, to=city) for figure in FIGURES for city in cities)
