"""Positions set up by hand, on any board: for cases and puzzles; games begin with `Europe.deal`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from arena.errors import ConfigError
from arena.rules.europe import team
from arena.rules.europe.board import Board
from arena.rules.europe.presets import Bound, bind
from arena.rules.europe.ruleset import Europe, make_on
from arena.rules.europe.state import (
    FIGURES,
    TICKETS,
    Figure,
    Hand,
    Slot,
    State,
    Tally,
    TicketName,
)
from arena.rules.europe.table import Table
from arena.rules.ruleset import Side

__all__ = ["set_up"]

SEED = bytes(32)
LAID: tuple[TicketName, ...] = (
    "car-investigate",
    "rail-investigate",
    "car-special",
    "rail-special",
)


def set_up(
    cities: Sequence[int],
    path: Sequence[int],
    *,
    hand: Sequence[str] = (),
    hands: Sequence[Sequence[str]] = (),
    box: Sequence[str] = (),
    board: Sequence[Slot] | None = None,
    options: Mapping[str, str | int] | None = None,
    on: Board | None = None,
    to_move: Side = Side.MISTER_X,
    colour: str | None = None,
    round: int = 1,  # noqa: A002 - the glossary's word
    known: Sequence[int] = (),
    seed: bytes = SEED,
) -> tuple[Europe, State]:
    """Return a ruleset and the state in which everybody stands and holds what is told.

    All tickets that are not told of are in the bag. The state is taken as it is: whether the game
    should have ended before, or Mister X is stuck, is not looked at.

    Args:
        cities: of d1 to d5.
        path: Mister X's entries, the start first; the last is where he is.
        hand: Mister X's tickets, in any order.
        hands: p1's tickets, p2's …; those that are left out are empty.
        box: tickets that were paid.
        board: the ticket board; by default a ticket for each entry, as far as it has spaces, with
            actions of the detectives.
        options: of the ruleset, those that are not the default.
        on: the board with its cities; the package's own by default.
        to_move: whose turn begins.
        colour: of the mission; the board's first by default.
        round: from 1.
        known: entries that the team has been told.
        seed: of the chance to come.

    Raises:
        ConfigError: for a city or a ticket that there is not, or more tickets of a kind than there
            are.
    """
    bound = bind() if on is None else Bound(on)
    ruleset = make_on(bound, options or {})
    numbers = ruleset.numbers
    rules = bound.rules(numbers)
    for city in (*cities, *path):
        if city not in rules.around:
            raise ConfigError(f"there is no city {city} on the board {bound.board.name}")
    if board is None:
        count = min(len(path) - 1, numbers.spaces)
        board = [Slot(LAID[place % len(LAID)], hidden=False) for place in range(count)]
    held = [_sorted(tickets) for tickets in hands]
    held += [()] * (len(rules.players) - len(held))
    own, paid = _sorted(hand), Counter(_sorted(box))
    used = paid + Counter(ticket for tickets in (own, *held) for ticket in tickets)
    used.update(slot.ticket for slot in board if slot.ticket is not None)
    bag = [count - used[ticket] for ticket, count in zip(TICKETS, rules.tickets, strict=True)]
    for ticket, count in zip(TICKETS, bag, strict=True):
        if count < 0:
            raise ConfigError(f"there are {used[ticket]} {ticket}, {-count} more than in the game")
    state = State(
        round=round,
        to_move=Side.MISTER_X,
        stage="move",
        seed=seed,
        drawn=0,
        colour=colour or rules.colours[0],
        figures=tuple(
            [
                Figure(name, rules.players[leader], city)
                for name, leader, city in zip(FIGURES, rules.leaders, cities, strict=True)
            ]
        ),
        unmoved=(),
        hands=tuple(held),
        hand=own,
        bag=tuple(bag),
        box=tuple([paid[ticket] for ticket in TICKETS]),
        spent=(),
        board=tuple(board),
        path=tuple(path),
        known=tuple(known),
        rings=(),
        ringed=0,
        paid=(),
        payers=(),
        mark=-1,
        stepped=(),
        entered=(),
        tally=Tally(),
    )
    if to_move is Side.DETECTIVES:
        table = Table(rules, state)
        team.begin(table)
        state = table.freeze()
    return ruleset, state


def _sorted(tickets: Sequence[str]) -> Hand:
    """A hand, in the order of TICKETS."""
    for ticket in tickets:
        if ticket not in TICKETS:
            raise ConfigError(f"there is no ticket {ticket!r}; there are {', '.join(TICKETS)}")
    return tuple([ticket for ticket in TICKETS for _ in range(tickets.count(ticket))])
