"""The team's turn: a move of each detective, one action of the team, tickets put back.

`legal_plies` lists, `play_ply` checks by look-up; a test holds them together. Nothing here looks at
where Mister X is, save to see whether a detective has come upon him.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from arena.errors import IllegalMove
from arena.rules.europe.board import TRANSPORTS, Action
from arena.rules.europe.split import Outlook, Player
from arena.rules.europe.state import (
    ACTION_OF,
    FIGURES,
    ORDER,
    TICKETS,
    TRANSPORT_OF,
    DetectiveName,
    EuropePly,
    Hand,
    Investigate,
    Move,
    Pay,
    PutBack,
    Special,
    Stepped,
    TicketName,
)
from arena.rules.europe.table import Table
from arena.rules.europe.views import Declared, Investigated, Moved, Paid, SatOut, SentOn
from arena.rules.ruleset import Side, Verdict

__all__ = ["begin", "close", "legal_plies", "play_ply"]

CAP = Verdict(winner=Side.DETECTIVES, reason="cap")  # A24
KINDS = len(TICKETS)


def begin(table: Table) -> None:
    """Begin the team's part of a round: all have still to move (E23)."""
    table.to_move = Side.DETECTIVES
    table.stage = "move"
    table.mark = -1
    table.unmoved = FIGURES
    table.stepped, table.entered = (), ()
    _settle_moves(table)


def close(table: Table) -> None:
    """Refill the hands, take the move tickets back, check the position (E26, E30 to E33).

    Raises:
        IllegalMove: if something has still to be done.
    """
    if table.stage == "move":
        raise IllegalMove(*_left_out(table))
    if table.stage == "pay":
        raise IllegalMove("E27", "what is paid for has to be done: investigate, or special")
    for place in range(len(table.hands)):
        table.draw(place)
    table.into_bag(table.spent)
    table.spent = ()
    _check(table)


def legal_plies(table: Table) -> list[EuropePly]:
    """Return the plies that the team can make now, each of which can be carried to a whole turn."""
    stage, players = table.stage, table.rules.players
    if stage == "move":
        return list(_moves(table))
    found: list[EuropePly] = []
    if stage in {"action", "pay"}:
        found += [
            Pay(player=players[place], ticket=ticket)
            for place, hand in enumerate(table.hands)
            for ticket in dict.fromkeys(hand)
            if _payable(table, place, ticket)
        ]
    if stage == "pay":
        price = len(table.paid)
        if _action(table) == "special":
            found += _specials(table, price)
        elif price in table.rules.prices["investigate"]:
            found.append(Investigate())
        return found
    found += [
        PutBack(player=players[place], ticket=ticket)
        for place, hand in enumerate(table.hands)
        for ticket in dict.fromkeys(hand)
        if place * KINDS + ORDER[ticket] >= table.mark
    ]
    return found


def play_ply(table: Table, ply: EuropePly) -> None:
    """Make one ply.

    Raises:
        IllegalMove: with the rule's name; what it says never depends on where Mister X is.
    """
    if isinstance(ply, Move):
        _move(table, ply)
    elif isinstance(ply, PutBack):
        _put_back(table, ply)
    elif isinstance(ply, Pay):
        _pay(table, ply)
    elif isinstance(ply, Special):
        _special(table, ply)
    elif isinstance(ply, Investigate):
        _investigate(table)
    else:
        raise IllegalMove("E23", "it is the detectives' turn; that is Mister X's alone")


def _move(table: Table, ply: Move) -> None:
    words = f"{ply.figure} by {ply.ticket} to {ply.to}"
    rules = table.rules
    if ply.figure == "x":
        raise IllegalMove("E23", f"{words}: it is the detectives' turn, x is not theirs")
    if ply.figure not in table.unmoved:
        what = "has moved" if table.unmoved else "can't move: the moves are over"
        raise IllegalMove("E23", f"{words}: {ply.figure} {what} in this round")
    place = rules.places[ply.figure]
    leader = rules.leaders[place]
    here = table.figures[place].city
    if ply.ticket not in table.hands[leader]:
        raise IllegalMove(
            "E24", f"{words}: there is no such ticket in the hand of {rules.players[leader]}"
        )
    transport = TRANSPORT_OF[ply.ticket]
    if ply.to not in rules.near[transport][here]:
        raise IllegalMove(
            "E24", f"{words}: no {TRANSPORTS[transport]} link leads there from {here}"
        )
    if ply.to in table.taken:
        raise IllegalMove("E24", f"{words}: a detective stands there")
    if _counts_pieces(table):
        outlook = _outlook(table)
        if not outlook.is_good(place, transport, ply.to):
            raise IllegalMove(
                "A23",
                f"{words}: {rules.players[leader]} could then not move as many pieces as possible",
            )
        table.stepped = (*table.stepped, Stepped(place, transport, outlook.free(place)))
    table.take(leader, ply.ticket)
    table.spent = (*table.spent, ply.ticket)
    table.unmoved = tuple([name for name in table.unmoved if name != ply.figure])
    table.put(place, ply.to)
    table.tell(Moved(ply.figure, ply.ticket, ply.to))
    _look(table, ply.figure, ply.to)
    if table.ended is None:
        _settle_moves(table)


def _pay(table: Table, ply: Pay) -> None:
    words = f"{ply.player} pays {ply.ticket}"
    place = _player(table, ply, words)
    action = ACTION_OF[ply.ticket]
    if action not in {"investigate", "special"}:
        raise IllegalMove("E3", f"{words}: that action is Mister X's alone")
    if table.entries < table.rules.numbers.action_from:
        raise IllegalMove(
            "E27",
            f"{words}: actions begin when Mister X has made entry "
            f"{table.rules.numbers.action_from}",
        )
    if table.stage == "move":
        raise IllegalMove(*_left_out(table))
    if table.stage == "refill":
        raise IllegalMove("E27", f"{words}: one action a round, and before tickets are put back")
    _held(table, place, ply.ticket, words, "paid")
    if table.paid and action != _action(table):
        raise IllegalMove("E27", f"{words}: one action a round, and it is {_action(table)}")
    if not _payable(table, place, ply.ticket):
        raise IllegalMove(
            "E27", f"{words}: that can't be paid to a price of an action in this turn"
        )
    table.take(place, ply.ticket)
    table.into_box(ply.ticket)
    table.paid = (*table.paid, ply.ticket)
    table.payers = (*table.payers, place)
    table.mark = place * KINDS + ORDER[ply.ticket]
    table.stage = "pay"
    table.tell(Paid(ply.player, ply.ticket))


def _investigate(table: Table) -> None:
    back = table.rules.numbers.investigate.get(str(len(table.paid)))
    if table.stage != "pay" or _action(table) != "investigate" or back is None:
        raise IllegalMove(
            "E28", f"an investigation costs {_prices(table, 'investigate')} investigate tickets"
        )
    entry = table.entries - back
    table.tally = replace(table.tally, investigations=table.tally.investigations + 1)
    table.learn(entry, ringed=True)
    table.tell(Investigated(entry, table.path[entry]))
    _acted(table)


def _special(table: Table, ply: Special) -> None:
    rules = table.rules
    words = f"{ply.figure} to {ply.to}"
    transport = rules.numbers.special.get(str(len(table.paid)))
    if table.stage != "pay" or _action(table) != "special" or transport is None:
        raise IllegalMove(
            "E29", f"{words}: a special mission costs {_prices(table, 'special')} special tickets"
        )
    place = rules.places[ply.figure]
    here = table.figures[place].city
    if ply.to not in rules.near[TRANSPORTS.index(transport)][here]:
        raise IllegalMove("E29", f"{words}: no {transport} link leads there from {here}")
    if ply.to in table.taken:
        raise IllegalMove("E29", f"{words}: a detective stands there")
    table.put(place, ply.to)
    table.tally = replace(table.tally, specials=table.tally.specials + 1)
    table.tell(SentOn(ply.figure, transport, ply.to))
    _look(table, ply.figure, ply.to)
    if table.ended is None:
        _acted(table)


def _put_back(table: Table, ply: PutBack) -> None:
    words = f"{ply.player} puts back {ply.ticket}"
    place = _player(table, ply, words)
    if table.stage == "move":
        raise IllegalMove(*_left_out(table))
    if table.stage == "pay":
        raise IllegalMove("E30", f"{words}: the action that is paid for comes first")
    _held(table, place, ply.ticket, words, "put back")
    table.put_back(place, ply.ticket)
    table.mark = place * KINDS + ORDER[ply.ticket]
    table.stage = "refill"


def _player(table: Table, ply: Pay | PutBack, words: str) -> int:
    """The place of the player."""
    players = table.rules.players
    if ply.player not in players:
        raise IllegalMove("E6", f"{words}: the players are {', '.join(players)}")
    return players.index(ply.player)


def _held(table: Table, place: int, ticket: TicketName, words: str, done: str) -> None:
    """Refuse a ticket that the player lacks, or that comes too late in a row of them."""
    if ticket not in table.hands[place]:
        raise IllegalMove("E24", f"{words}: there is no such ticket in that hand")
    if place * KINDS + ORDER[ticket] < table.mark:
        raise IllegalMove(
            "E30", f"{words}: tickets are {done} in the order of players and of their list"
        )


def _acted(table: Table) -> None:
    """The action is done: only tickets can be put back."""
    table.paid, table.payers, table.mark = (), (), -1
    table.stage = "refill"


def _look(table: Table, figure: DetectiveName, city: int) -> None:
    """See whether a detective has come upon Mister X (E33, A2)."""
    if city == table.path[-1] and table.rules.numbers.capture == "immediate":
        table.capture(figure)


def _check(table: Table) -> None:
    """Check the position and end the round (E31 to E33, A3, A11, A14, A24)."""
    numbers = table.rules.numbers
    here = table.path[-1]
    for figure in table.figures:
        if figure.city == here:
            table.capture(figure.figure)
            return
    entered = set(table.entered)
    if numbers.passed == "ignored":
        entered &= table.taken
    first = max(table.entries + 1 - numbers.window, 0 if numbers.start_in_window else 1)
    for entry in range(first, table.entries + 1):
        if table.path[entry] in entered:
            table.tell(Declared(entry, table.path[entry]))
            table.learn(entry, ringed=True)
    if table.round >= numbers.cap:
        table.finish(CAP)


def _settle_moves(table: Table) -> None:
    """End the moves when nobody can move any more; who has not moved sits out (E25)."""
    near, taken = table.rules.near, table.taken
    for name in table.unmoved:
        place = table.rules.places[name]
        here = table.figures[place].city
        for ticket in dict.fromkeys(table.hands[table.rules.leaders[place]]):
            if any(end not in taken for end in near[TRANSPORT_OF[ticket]][here]):
                return
    for name in table.unmoved:
        table.tell(SatOut(name))
    table.unmoved = ()
    table.stage = "action"


def _counts_pieces(table: Table) -> bool:
    """True if a move can spoil "as many as possible": one player leads several pieces."""
    return table.rules.numbers.as_many == "most" and len(table.hands) < len(FIGURES)


def _moves(table: Table) -> Iterator[Move]:
    """The detectives' moves, by figure, ticket and city (E23 to E25)."""
    rules, taken = table.rules, table.taken
    outlook = _outlook(table) if _counts_pieces(table) else None
    for name in table.unmoved:
        place = rules.places[name]
        here = table.figures[place].city
        ends: dict[int, tuple[int, ...]] = {}
        for ticket in dict.fromkeys(table.hands[rules.leaders[place]]):
            transport = TRANSPORT_OF[ticket]
            if transport not in ends:
                ends[transport] = (
                    tuple([end for end in rules.near[transport][here] if end not in taken])
                    if outlook is None
                    else outlook.good_ends(place, transport)
                )
            for end in ends[transport]:
                yield Move(figure=name, ticket=ticket, to=end)


def _outlook(table: Table) -> Outlook:
    """The moves so far, as "as many as possible" looks at them (A23)."""
    rules = table.rules
    players: list[Player] = []
    for place, hand in enumerate(table.hands):
        purse = _purse(hand)
        whole = list(purse)
        moved: list[int] = []
        for step in table.stepped:
            if rules.leaders[step.figure] == place:
                whole[step.transport] += 1
                moved.append(step.free)
        players.append(Player(tuple(whole), tuple(purse), tuple(moved)))
    return Outlook(
        rules.near,
        tuple([figure.city for figure in table.figures]),
        rules.leaders,
        tuple([rules.places[name] for name in table.unmoved]),
        tuple(players),
    )


def _purse(hand: Hand) -> list[int]:
    """Tickets by transport."""
    purse = [0] * len(TRANSPORTS)
    for ticket in hand:
        purse[TRANSPORT_OF[ticket]] += 1
    return purse


def _left_out(table: Table) -> tuple[str, str]:
    """Which detective was left out, and a move that it has."""
    spare = next(_moves(table))
    one = f"by {spare.ticket} to {spare.to}"
    return "E25", f"{spare.figure} is left out but could move, for one {one}; the moves come first"


def _action(table: Table) -> Action:
    return ACTION_OF[table.paid[0]]


def _payable(table: Table, place: int, ticket: TicketName) -> bool:
    """True if paying this ticket next can lead to a price of its action (E27 to E29)."""
    rules = table.rules
    action = ACTION_OF[ticket]
    order = place * KINDS + ORDER[ticket]
    if (
        action not in rules.prices
        or table.entries < rules.numbers.action_from
        or order < table.mark
        or (table.paid and action != _action(table))
        or table.payers.count(place) >= rules.numbers.pieces[place]
    ):
        return False
    least = len(table.paid) + 1
    most = least - 1 + _reserve(table, action, order)
    prices = [price for price in rules.prices[action] if least <= price <= most]
    if action == "investigate":
        return bool(prices)
    return any(_can_be_sent(table, price) for price in prices)


def _reserve(table: Table, action: Action, order: int) -> int:
    """How many tickets can be paid from this place on, each player's share kept (E27)."""
    found = 0
    for place, hand in enumerate(table.hands):
        share = table.rules.numbers.pieces[place] - table.payers.count(place)
        held = sum(
            1
            for ticket in hand
            if ACTION_OF[ticket] == action and place * KINDS + ORDER[ticket] >= order
        )
        found += min(share, held)
    return found


def _specials(table: Table, price: int) -> list[EuropePly]:
    """The special missions that a price gives, by figure and city (E29)."""
    transport = table.rules.numbers.special.get(str(price))
    if transport is None:
        return []
    near = table.rules.near[TRANSPORTS.index(transport)]
    return [
        Special(figure=figure.figure, to=end)
        for figure in table.figures
        for end in near[figure.city]
        if end not in table.taken
    ]


def _can_be_sent(table: Table, price: int) -> bool:
    near = table.rules.near[TRANSPORTS.index(table.rules.numbers.special[str(price)])]
    return any(end not in table.taken for figure in table.figures for end in near[figure.city])


def _prices(table: Table, action: str) -> str:
    return " or ".join(str(price) for price in table.rules.prices[action])
