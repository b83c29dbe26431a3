"""Mister X's turn: mission and start, one move or special action, tickets put back.

`legal_plies` lists, `play_ply` checks by look-up; a test holds them together. The numbers of rules
(E1 …) are explained in RULES.md beside this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from msgspec.structs import replace

from arena.errors import IllegalMove
from arena.rules.dealing import Stream
from arena.rules.europe.board import TRANSPORTS
from arena.rules.europe.bound import Rules
from arena.rules.europe.state import (
    ACTION_OF,
    FIGURES,
    MISTER_X,
    ORDER,
    TRANSPORT_OF,
    ChooseMission,
    ChooseStart,
    EuropePly,
    Figure,
    Hand,
    Lay,
    Move,
    Pay,
    PutBack,
    Slot,
    TicketName,
)
from arena.rules.europe.table import Table, without
from arena.rules.europe.views import (
    Laid,
    MissionChosen,
    Moved,
    Opened,
    Paid,
    Placed,
    Started,
    Stuck,
)
from arena.rules.ruleset import Side, Verdict

__all__ = ["begin", "close", "legal_plies", "place_detectives", "play_ply"]

CARD_STREAM = "europe: start cards"
ESCAPED = Verdict(winner=Side.MISTER_X, reason="escaped")  # E19
ENCIRCLED = Verdict(winner=Side.DETECTIVES, reason="encircled")  # A5
X, TEAM = Side.MISTER_X, Side.DETECTIVES
OWN = -1  # his place among the players


def place_detectives(rules: Rules, seed: bytes) -> tuple[Figure, ...]:
    """Return the detectives on the cities of their start cards (E10)."""
    cards = Stream(seed, CARD_STREAM).shuffle(rules.numbers.detective_starts)
    return tuple(
        [
            Figure(name, rules.players[leader], card)
            for name, leader, card in zip(FIGURES, rules.leaders, cards, strict=False)
        ]
    )


def begin(table: Table) -> None:
    """Begin Mister X's part of a round; if he can't move, what that brings is done (E20, A5)."""
    table.to_move = X
    table.stage = "move"
    table.mark = -1
    table.turn_over = False
    around = table.rules.around[table.path[-1]]
    free = any(city not in table.taken for city in around)
    if not free and table.rules.numbers.encircled == "loss":
        table.finish(ENCIRCLED)
        return
    if free and (_can_move(table) or _can_hide(table, 0)):
        return
    table.tell(Stuck(len(table.hand)))
    table.tally = replace(table.tally, stuck=table.tally.stuck + 1)
    table.into_bag(table.hand)
    table.hand = ()
    table.draw(OWN)
    table.turn_over = True


def close(table: Table) -> None:
    """Refill his hand at the end of his turn (E22).

    Raises:
        IllegalMove: if something has still to be done.
    """
    if table.turn_over:
        return
    if table.stage != "refill":
        raise IllegalMove(*_undone(table))
    table.draw(OWN)


def legal_plies(table: Table) -> list[EuropePly]:
    """Return the plies that Mister X can make now, each of which can be carried to a whole turn."""
    stage, rules = table.stage, table.rules
    if stage == "mission":
        return [ChooseMission(colour=colour) for colour in rules.colours]
    if stage == "start":
        return [ChooseStart(city=city) for city in sorted(_starts(table, table.colour))]
    if stage == "refill":
        return [
            PutBack(player=MISTER_X, ticket=ticket)
            for ticket in dict.fromkeys(table.hand)
            if ORDER[ticket] >= table.mark
        ]
    if stage == "hidden":
        ends = [end for end in rules.around[table.path[-1]] if end not in table.taken]
        return [Lay(ticket=ticket, to=end) for ticket in dict.fromkeys(table.hand) for end in ends]
    found: list[EuropePly] = []
    if stage != "pay":
        found += _moves(table, table.path[-1], table.hand)
    if stage in {"move", "pay"}:
        found += [
            Pay(player=MISTER_X, ticket=ticket)
            for ticket in dict.fromkeys(table.hand)
            if _payable(table, ticket)
        ]
    return found


def play_ply(table: Table, ply: EuropePly) -> None:
    """Make one ply.

    Raises:
        IllegalMove: with the rule's name.
    """
    if table.turn_over:
        raise IllegalMove("E20", "Mister X is stuck and stays: his turn is over with that")
    if isinstance(ply, Move):
        _move(table, ply)
    elif isinstance(ply, PutBack):
        _put_back(table, ply)
    elif isinstance(ply, Pay):
        _pay(table, ply)
    elif isinstance(ply, Lay):
        _lay(table, ply)
    elif isinstance(ply, ChooseMission):
        _choose_mission(table, ply)
    elif isinstance(ply, ChooseStart):
        _choose_start(table, ply)
    else:
        raise IllegalMove("E27", "investigations and special missions are the detectives' alone")


def _choose_mission(table: Table, ply: ChooseMission) -> None:
    rules = table.rules
    if table.stage != "mission":
        raise IllegalMove("E12", f"the mission is {table.colour} and stays so")
    if ply.colour not in rules.targets:
        raise IllegalMove("E11", f"there is no mission {ply.colour!r}; {_list(rules.colours)}")
    table.colour = ply.colour
    table.stage = "start"
    table.tell(MissionChosen(ply.colour))


def _choose_start(table: Table, ply: ChooseStart) -> None:
    if table.stage == "mission":
        raise IllegalMove("E11", "first comes the mission, then the start")
    if table.stage != "start":
        raise IllegalMove("E11", "the start is noted already")
    starts = _starts(table, table.colour)
    if ply.city not in starts:
        cities = _list([str(city) for city in sorted(starts)])
        raise IllegalMove(
            "E11", f"{ply.city} is no free start of the {table.colour} mission; {cities}"
        )
    table.path = (ply.city,)
    table.tell_apart(Started(ply.city), Started(None), X)
    if not table.figures:
        table.figures = place_detectives(table.rules, table.seed)
        table.taken = {figure.city for figure in table.figures}
        table.tell(Placed(tuple([figure.city for figure in table.figures])))
    begin(table)


def _move(table: Table, ply: Move) -> None:
    words = f"{ply.figure} by {ply.ticket} to {ply.to}"
    stage, here = table.stage, table.path[-1] if table.path else 0
    if ply.figure != MISTER_X:
        raise IllegalMove("E14", f"{words}: it is Mister X's turn, his figure is {MISTER_X}")
    if stage not in {"move", "double", "second"}:
        raise IllegalMove(*_not_now(table, words))
    if ply.ticket not in table.hand:
        raise IllegalMove("E15", f"{words}: there is no such ticket in his hand")
    transport = TRANSPORT_OF[ply.ticket]
    if ply.to not in table.rules.near[transport][here]:
        raise IllegalMove(
            "E15", f"{words}: no {TRANSPORTS[transport]} link leads there from {here}"
        )
    if ply.to in table.taken:
        raise IllegalMove("E15", f"{words}: a detective stands there")
    if stage == "double":
        rest = without(table.hand, ply.ticket)
        if not _is_target(table, ply.to) and not _can_step(table, ply.to, _purse(rest)):
            raise IllegalMove("A8", f"{words}: no second move could follow")
    table.take(OWN, ply.ticket)
    if _arrive(table, ply.ticket, ply.to, hidden=False):
        table.tell(Moved("x", ply.ticket, ply.to))
    else:
        table.tell_apart(Moved("x", ply.ticket, ply.to), Moved("x", ply.ticket, None), X)
    table.stage = "second" if stage == "double" else "refill"
    _settle(table)


def _pay(table: Table, ply: Pay) -> None:
    words = f"{ply.player} pays {ply.ticket}"
    action = ACTION_OF[ply.ticket]
    if ply.player != MISTER_X:
        raise IllegalMove("E14", f"{words}: it is Mister X's turn, he pays as {MISTER_X}")
    if table.stage not in {"move", "pay"}:
        raise IllegalMove(*_not_now(table, words))
    if action not in {"double", "hidden"}:
        raise IllegalMove("E3", f"{words}: that action is the detectives' alone")
    if ply.ticket not in table.hand:
        raise IllegalMove("E17", f"{words}: there is no such ticket in his hand")
    if table.paid and action != ACTION_OF[table.paid[0]]:
        raise IllegalMove("A7", f"{words}: one action a turn, and it is a {_action(table)} move")
    if ORDER[ply.ticket] < table.mark:
        raise IllegalMove("E17", f"{words}: tickets are paid in the order of their list")
    if not _payable(table, ply.ticket):
        rule = "E17" if action == "double" else "E18"
        raise IllegalMove(rule, f"{words}: with what is left no {action} move could follow")
    table.take(OWN, ply.ticket)
    table.into_box(ply.ticket)
    table.paid = (*table.paid, ply.ticket)
    table.payers = (*table.payers, OWN)
    table.mark = ORDER[ply.ticket]
    table.stage = "pay"
    table.tell(Paid(MISTER_X, ply.ticket))
    if len(table.paid) == _price(table.rules, ply.ticket):
        table.mark = -1
        if action == "double":
            table.stage = "double"
            table.tally = replace(table.tally, doubles=table.tally.doubles + 1)
        else:
            table.stage = "hidden"
            table.tally = replace(table.tally, hiddens=table.tally.hiddens + 1)


def _lay(table: Table, ply: Lay) -> None:
    words = f"{MISTER_X} lays {ply.ticket} and goes to {ply.to}"
    if table.stage != "hidden":
        raise IllegalMove(*_not_now(table, words))
    here = table.path[-1]
    if ply.ticket not in table.hand:
        raise IllegalMove("E18", f"{words}: there is no such ticket in his hand")
    if ply.to not in table.rules.around[here]:
        raise IllegalMove("E18", f"{words}: no link leads there from {here}")
    if ply.to in table.taken:
        raise IllegalMove("E18", f"{words}: a detective stands there")
    table.take(OWN, ply.ticket)
    open_to_all = _arrive(table, ply.ticket, ply.to, hidden=True)
    seen = ply.to if open_to_all else None
    table.tell_apart(Laid(ply.ticket, ply.to), Laid(None, seen), X)
    table.stage = "refill"
    _settle(table)


def _put_back(table: Table, ply: PutBack) -> None:
    words = f"{ply.player} puts back {ply.ticket}"
    if ply.player != MISTER_X:
        raise IllegalMove("E14", f"{words}: it is Mister X's turn, his tickets are {MISTER_X}'s")
    if table.stage != "refill":
        raise IllegalMove("E22", f"{words}: tickets are put back after the move")
    if ply.ticket not in table.hand:
        raise IllegalMove("E22", f"{words}: there is no such ticket in his hand")
    if ORDER[ply.ticket] < table.mark:
        raise IllegalMove("E22", f"{words}: tickets are put back in the order of their list")
    table.put_back(OWN, ply.ticket)
    table.mark = ORDER[ply.ticket]


def _arrive(table: Table, ticket: TicketName, city: int, *, hidden: bool) -> bool:
    """Enter a city and put the ticket where it belongs; True if the entry is open (E15, E21)."""
    table.path = (*table.path, city)
    entry, spaces = table.entries, table.rules.numbers.spaces
    if entry <= spaces:
        table.board = (*table.board, Slot(ticket, hidden))
        return False
    table.into_bag((ticket,))
    if entry == spaces + 1:
        table.learn(spaces, ringed=False)
        table.tell(Opened(spaces, table.path[spaces]))
    table.learn(entry, ringed=False)
    return True


def _settle(table: Table) -> None:
    """After a move: the target (E19), or the end of the action that was paid for."""
    if _is_target(table, table.path[-1]):
        table.finish(ESCAPED)
    elif table.stage == "refill":
        table.paid, table.payers = (), ()


def _is_target(table: Table, city: int) -> bool:
    return city in table.rules.targets[table.colour or ""]


def _starts(table: Table, colour: str | None) -> tuple[int, ...]:
    """Cities where a mission can begin: without a detective (E11)."""
    starts = table.rules.numbers.missions[colour or ""].starts
    return tuple([city for city in starts if city not in table.taken])


def _moves(table: Table, here: int, hand: Hand) -> list[EuropePly]:
    """Moves by one ticket; in a double move those that a second can follow (A8)."""
    found = _steps(table, here, hand)
    if table.stage != "double":
        return found
    return [
        ply
        for ply in found
        if isinstance(ply, Move)
        and (
            _is_target(table, ply.to) or _can_step(table, ply.to, _purse(without(hand, ply.ticket)))
        )
    ]


def _steps(table: Table, here: int, hand: Hand) -> list[EuropePly]:
    """Moves by one ticket of a hand from a city, by ticket and city (E15)."""
    near, taken = table.rules.near, table.taken
    return [
        Move(figure=MISTER_X, ticket=ticket, to=end)
        for ticket in dict.fromkeys(hand)
        for end in near[TRANSPORT_OF[ticket]][here]
        if end not in taken
    ]


def _can_move(table: Table) -> bool:
    """True if a ticket of his hand gives a normal move."""
    return _can_step(table, table.path[-1], _purse(table.hand))


def _can_step(table: Table, here: int, purse: list[int]) -> bool:
    """True if one of the tickets, counted by transport, leads to a free city."""
    near, taken = table.rules.near, table.taken
    return any(
        count and any(end not in taken for end in near[place][here])
        for place, count in enumerate(purse)
    )


def _can_step_twice(table: Table, purse: list[int]) -> bool:
    """True if the tickets give two moves, or one to a target (A8)."""
    near, taken = table.rules.near, table.taken
    here = table.path[-1]
    for place, count in enumerate(purse):
        if count:
            rest = [*purse]
            rest[place] -= 1
            for end in near[place][here]:
                if end not in taken and (_is_target(table, end) or _can_step(table, end, rest)):
                    return True
    return False


def _can_hide(table: Table, mark: int) -> bool:
    """True if a hidden move can be paid for from this place on, and a ticket is left to lay."""
    hand = table.hand
    lacking = table.rules.numbers.hidden_price - len(table.paid)
    fitting = sum(1 for one in hand if ACTION_OF[one] == "hidden" and ORDER[one] >= mark)
    return fitting >= lacking and len(hand) > lacking


def _payable(table: Table, ticket: TicketName) -> bool:
    """True if paying this ticket next can lead to the whole action (E17, E18, A8, A9)."""
    action = ACTION_OF[ticket]
    order = ORDER[ticket]
    if order < table.mark or (table.paid and ACTION_OF[table.paid[0]] != action):
        return False
    if action == "hidden":
        around = table.rules.around[table.path[-1]]
        return _can_hide(table, order) and any(end not in table.taken for end in around)
    if action != "double":
        return False
    return any(_can_step_twice(table, purse) for purse in _double_purses(table, ticket))


def _double_purses(table: Table, ticket: TicketName) -> Iterator[list[int]]:
    """What can be left, by transport, when a double move is paid for, this ticket next."""
    rest = without(table.hand, ticket)
    lacking = table.rules.numbers.double_price - len(table.paid) - 1
    fitting = [
        TRANSPORT_OF[one]
        for one in rest
        if ACTION_OF[one] == "double" and ORDER[one] >= ORDER[ticket]
    ]
    for paid in set(combinations(fitting, lacking)):
        purse = _purse(rest)
        for transport in paid:
            purse[transport] -= 1
        yield purse


def _purse(hand: Hand) -> list[int]:
    """Tickets by transport."""
    purse = [0] * len(TRANSPORTS)
    for ticket in hand:
        purse[TRANSPORT_OF[ticket]] += 1
    return purse


def _price(rules: Rules, ticket: TicketName) -> int:
    numbers = rules.numbers
    return numbers.double_price if ACTION_OF[ticket] == "double" else numbers.hidden_price


def _action(table: Table) -> str:
    return ACTION_OF[table.paid[0]]


def _undone(table: Table) -> tuple[str, str]:
    """Which rule is broken if the turn ends here, and why."""
    stage = table.stage
    if stage == "mission":
        return "E11", "Mister X has to name a mission and a start"
    if stage == "start":
        return "E11", "Mister X has to note a start"
    if stage == "move":
        return "E16", "Mister X can move, so he must"
    return "A8", f"the {_action(table)} move that is paid for has to be made to its end"


def _not_now(table: Table, words: str) -> tuple[str, str]:
    """Which rule forbids a ply at this stage, and why."""
    stage = table.stage
    if stage == "refill":
        return "E14", f"{words}: Mister X has moved; one move or special action a turn"
    if stage in {"mission", "start"}:
        return "E11", f"{words}: mission and start come first"
    if not table.paid:
        return "E18", f"{words}: a hidden move is paid for first"
    return "A8", f"{words}: the {_action(table)} move that was begun has to be made"


def _list(words: tuple[str, ...] | list[str]) -> str:
    return f"there are {', '.join(words)}"
