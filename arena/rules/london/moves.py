"""Steps, turns and the end of the game: state in, state out.

`legal_steps` lists, `play_mister_x` and `play_team` check by look-up; a test holds them together.
The names of rules (L1 …) are explained in RULES.md beside this module.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from arena.rules.london.net import BITS, Net
from arena.rules.london.refusals import (
    refuse_figure,
    refuse_left_out,
    refuse_mister_x_step,
    refuse_mister_x_ticket,
    refuse_mister_x_turn,
    refuse_part,
    refuse_step,
    refuse_ticket,
)
from arena.rules.london.state import (
    BOBBIES,
    DETECTIVES,
    MISTER_X,
    Figure,
    FigureName,
    Numbers,
    Slot,
    State,
    Step,
    TicketName,
    Tickets,
)
from arena.rules.london.views import DOUBLED, HIDDEN, Announcer, captured, revealed, sat_out
from arena.rules.ruleset import Event, Played, Side, Verdict

__all__ = [
    "Rules",
    "begin_mister_x_turn",
    "legal_steps",
    "play_mister_x",
    "play_team",
    "second_steps",
]

CAPTURED = Verdict(winner=Side.DETECTIVES, reason="captured")  # L30
ENCLOSED = Verdict(winner=Side.DETECTIVES, reason="enclosed")  # L31
ESCAPED = Verdict(winner=Side.MISTER_X, reason="escaped")  # L32
STUCK = Verdict(winner=Side.MISTER_X, reason="stuck")  # L33

TAXI, BUS, METRO, BLACK = (BITS[ticket] for ticket in ("taxi", "bus", "metro", "black"))
ORDINARY = TAXI | BUS | METRO
HIDDEN_SLOT: dict[TicketName, Slot] = {ticket: Slot(ticket, None) for ticket in BITS}


class Rules:
    """The numbers of the rules and the board, made ready to be looked up; never changed.

    Attributes:
        names: the team's figures, detectives first.
        places: figure → its place in `State.figures`.
    """

    __slots__ = ("announcer", "names", "net", "numbers", "places", "reveals")

    def __init__(self, numbers: Numbers, net: Net, announcer: Announcer) -> None:
        self.numbers = numbers
        self.net = net
        self.announcer = announcer
        self.reveals = frozenset(numbers.reveals)
        self.names = (*DETECTIVES[: numbers.detectives], *BOBBIES[: numbers.bobbies])
        self.places: dict[FigureName, int] = {name: i for i, name in enumerate(self.names)}


def legal_steps(rules: Rules, state: State) -> tuple[Step, ...]:
    """Return the single steps possible now, by figure, ticket and station; none once it is over."""
    taken = {figure.station for figure in state.figures}
    if state.to_move is Side.MISTER_X:
        return _mister_x_steps(rules.net, state.path[-1], taken, state.supply, state.blacks)
    net, places, figures, pool = rules.net, rules.places, state.figures, state.pool
    steps: list[Step] = []
    for name in state.unmoved:
        figure = figures[places[name]]
        payable = _payable(net, figure, pool)
        if net.near[figure.station].isdisjoint(taken):
            steps += payable
        else:
            steps += [step for step in payable if step.to not in taken]
    return tuple(steps)


def second_steps(rules: Rules, state: State, first: Step) -> tuple[Step, ...]:
    """Return what can follow Mister X's legal first step in a double move (L21), in fixed order."""
    if not state.doubles or _lacks_slot(rules.numbers, state):
        return ()
    taken = {figure.station for figure in state.figures}
    supply, blacks = state.supply, state.blacks
    if first.ticket == "black":
        blacks -= 1
    elif supply is not None:
        supply = _spend(supply, first.ticket) or refuse_mister_x_ticket(first)
    return _mister_x_steps(rules.net, first.to, taken, supply, blacks)


def play_mister_x(rules: Rules, state: State, plies: Sequence[Step], *, more: bool) -> Played:
    """Return the state after Mister X's turn: one step, or two with a double-move card.

    Raises:
        IllegalMove: with the rule's name; he is told only what he knows anyway.
    """
    if more or len(plies) != 1:
        double = len(plies) == 2 and state.doubles and not _lacks_slot(rules.numbers, state)
        if more or not double:
            refuse_mister_x_turn(plies, more=more, doubles=state.doubles)
    taken = [figure.station for figure in state.figures]
    supply, blacks, doubles = state.supply, state.blacks, state.doubles
    log, path = state.log, state.path
    here = path[-1]
    events: list[Event] = []
    if len(plies) == 2:
        doubles -= 1
        events.append(DOUBLED)
    for ply in plies:
        ticket, to = ply.ticket, ply.to
        if ply.figure != MISTER_X or to in taken or to not in rules.net.reach[ticket][here]:
            refuse_mister_x_step(rules.net, ply, here)
        if ticket == "black":
            if not blacks:
                refuse_mister_x_ticket(ply)
            blacks -= 1
        elif supply is not None:
            supply = _spend(supply, ticket) or refuse_mister_x_ticket(ply)
        here = to
        path = (*path, to)
        events += (HIDDEN[ticket], rules.announcer.own[ticket][to])
        if len(log) + 1 in rules.reveals:
            log = (*log, Slot(ticket, to))
            events.append(revealed(len(log), to))
        else:
            log = (*log, HIDDEN_SLOT[ticket])
    after = State(
        state.round,
        Side.DETECTIVES,
        state.figures,
        rules.names,
        state.pool,
        supply,
        blacks,
        doubles,
        log,
        path,
    )
    spare = _first_step(rules, state.figures, rules.names, taken, state.pool)
    stuck = spare is None if rules.numbers.stuck == "all" else _are_detectives_stuck(rules, state)
    if stuck:
        after = replace(after, to_move=None, unmoved=(), ended=STUCK)
    elif spare is None:  # only Bobbies are in the way: the team sits out without being asked
        events += [sat_out(name) for name in rules.names]
        after = replace(after, round=state.round + 1, to_move=Side.MISTER_X, unmoved=())
        after = begin_mister_x_turn(rules, after)
    return Played(after, tuple(events), len(plies))


def play_team(rules: Rules, state: State, plies: Sequence[Step], *, more: bool) -> Played:
    """Return the state after the team's plies; with `more` the turn goes on while a step is left.

    Raises:
        IllegalMove: with the rule's name; whether and what it says never depends on where Mister X
            is, except that plies behind a capture are not looked at.
    """
    if more and not plies:
        refuse_part()
    net, team = rules.net, rules.announcer.team
    mister_x = state.path[-1]
    figures = list(state.figures)
    taken = [figure.station for figure in figures]
    unmoved = list(state.unmoved)
    pool = state.pool
    used: list[TicketName] = []
    events: list[Event] = []
    ended: Verdict | None = None
    for ply in plies:
        name, ticket, to = ply.figure, ply.ticket, ply.to
        if name not in unmoved:
            refuse_figure(ply, rules.names)
        place = rules.places[name]
        figure = figures[place]
        if to in taken or ticket == "black" or to not in net.reach[ticket][figure.station]:
            refuse_step(net, ply, figure)
        tickets = figure.tickets
        if tickets is not None:
            tickets = _spend(tickets, ticket) or refuse_ticket(ply)
            used.append(ticket)
        elif figure.kind == "detective":
            pool = (pool and _spend(pool, ticket)) or refuse_ticket(ply)
            used.append(ticket)
        unmoved.remove(name)
        taken[place] = to
        figures[place] = Figure(name, figure.kind, to, tickets)
        events.append(team[name][ticket][to])
        if to == mister_x:
            events.append(captured(name, to))
            ended = CAPTURED
            break
    counted = len(events) - (ended is not None)
    to_move: Side | None = Side.MISTER_X
    if ended is not None:
        to_move, unmoved = None, []
    elif unmoved:
        spare = _first_step(rules, figures, unmoved, taken, pool)
        if spare is None:
            events += [sat_out(name) for name in unmoved]
            unmoved = []
        elif more:
            to_move = Side.DETECTIVES
        else:
            refuse_left_out(spare)
    after = State(
        state.round + (to_move is Side.MISTER_X),
        to_move,
        tuple(figures),
        tuple(unmoved),
        pool,
        _add(state.supply, used),
        state.blacks,
        state.doubles,
        state.log,
        state.path,
        ended,
    )
    if to_move is Side.MISTER_X:
        after = begin_mister_x_turn(rules, after)
    return Played(after, tuple(events), counted, to_move is Side.DETECTIVES)


def begin_mister_x_turn(rules: Rules, state: State) -> State:
    """Return the state, ended if the last round is over (L32) or Mister X is enclosed (L31, L34).

    Args:
        rules: of the game.
        state: with Mister X to move and the number of the round that would begin.
    """
    numbers = rules.numbers
    over = (
        state.round > numbers.rounds
        if numbers.ends_by == "rounds"
        else len(state.log) >= numbers.slots
    )
    if over:
        return replace(state, round=state.round - 1, to_move=None, ended=ESCAPED)
    taken = [figure.station for figure in state.figures]
    for step in _mister_x_payable(rules.net, state.path[-1], state.supply, state.blacks):
        if step.to not in taken:
            return state
    return replace(state, to_move=None, ended=ENCLOSED)


def _are_detectives_stuck(rules: Rules, state: State) -> bool:
    """True if no detective has a step even if the Bobbies' stations count as free (L33)."""
    names = rules.names[: rules.numbers.detectives]
    taken = {figure.station for figure in state.figures if figure.kind == "detective"}
    return _first_step(rules, state.figures, names, taken, state.pool) is None


def _mister_x_steps(
    net: Net, here: int, taken: Collection[int], supply: Tickets | None, blacks: int
) -> tuple[Step, ...]:
    """Mister X's steps from a station, by ticket and station (L10-L12, L17, L20)."""
    steps = _mister_x_payable(net, here, supply, blacks)
    if net.near[here].isdisjoint(taken):
        return steps
    return tuple([step for step in steps if step.to not in taken])


def _mister_x_payable(net: Net, here: int, supply: Tickets | None, blacks: int) -> tuple[Step, ...]:
    """The steps that Mister X can pay for, those to taken stations too."""
    kinds = (ORDINARY if supply is None else _kinds(supply)) | (BLACK if blacks else 0)
    return net.steps[MISTER_X][kinds][here]


def _payable(net: Net, figure: Figure, pool: Tickets | None) -> tuple[Step, ...]:
    """A detective's or Bobby's steps that it can pay for, those to taken stations too (L2, L3)."""
    purse = figure.tickets or pool
    if (purse is not None and purse.taxi and purse.bus and purse.metro) or figure.kind == "bobby":
        return net.steps[figure.figure][ORDINARY][figure.station]
    return () if purse is None else net.steps[figure.figure][_kinds(purse)][figure.station]


def _first_step(
    rules: Rules,
    figures: Sequence[Figure],
    names: Sequence[FigureName],
    taken: Collection[int],
    pool: Tickets | None,
) -> Step | None:
    """One legal step of the named figures, or None if they have none."""
    for name in names:
        for step in _payable(rules.net, figures[rules.places[name]], pool):
            if step.to not in taken:
                return step
    return None


def _kinds(tickets: Tickets) -> int:
    """The kinds that are there, as bits."""
    return (
        (TAXI if tickets.taxi else 0)
        | (BUS if tickets.bus else 0)
        | (METRO if tickets.metro else 0)
    )


def _spend(tickets: Tickets, ticket: TicketName) -> Tickets | None:
    """One ordinary ticket less; None if there is none."""
    taxi, bus, metro = tickets.taxi, tickets.bus, tickets.metro
    if ticket == "taxi":
        return Tickets(taxi - 1, bus, metro) if taxi else None
    if ticket == "bus":
        return Tickets(taxi, bus - 1, metro) if bus else None
    return Tickets(taxi, bus, metro - 1) if metro else None


def _add(tickets: Tickets | None, used: list[TicketName]) -> Tickets | None:
    """The supply with the tickets that detectives used (L4)."""
    if tickets is None or not used:
        return tickets
    taxi, bus = used.count("taxi"), used.count("bus")
    metro = len(used) - taxi - bus
    return Tickets(tickets.taxi + taxi, tickets.bus + bus, tickets.metro + metro)


def _lacks_slot(numbers: Numbers, state: State) -> bool:
    """True if the log has no room for two steps (in 2013's numbers it always has, L24)."""
    return len(state.log) + 2 > numbers.slots
