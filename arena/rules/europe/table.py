"""The table in the middle of a turn: a state in the making, and what happened on the way.

Everything that several kinds of plies do to it stands here: tickets that go from place to place,
entries that become known, the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.rules.dealing import Stream
from arena.rules.europe.bound import Rules
from arena.rules.europe.state import (
    ORDER,
    TICKETS,
    DetectiveName,
    Figure,
    Hand,
    PlayerName,
    Stage,
    State,
    TicketName,
)
from arena.rules.europe.views import (
    Captured,
    Drew,
    Ended,
    Happening,
    Returned,
    Shortage,
    told,
)
from arena.rules.ruleset import Event, Side, Verdict

__all__ = ["Table", "without"]

TICKET_STREAM = "europe: tickets"
X, TEAM = Side.MISTER_X, Side.DETECTIVES
CAPTURED = Verdict(winner=TEAM, reason="captured")  # E33


class Table:
    """A state that can change, with the events that the changes give.

    The attributes are those of `State`, under the same names, and these:

    Attributes:
        rules: of the game.
        events: what has happened so far.
        taken: cities with a detective on them.
        stream: of tickets, once one was drawn.
        turn_over: nothing more can be done in the turn that is on.
    """

    __slots__ = (
        "bag",
        "board",
        "box",
        "colour",
        "drawn",
        "ended",
        "entered",
        "events",
        "figures",
        "hand",
        "hands",
        "known",
        "mark",
        "paid",
        "path",
        "payers",
        "ringed",
        "rings",
        "round",
        "rules",
        "seed",
        "spent",
        "stage",
        "stepped",
        "stream",
        "taken",
        "tally",
        "to_move",
        "turn_over",
        "unmoved",
    )

    stage: Stage
    unmoved: tuple[DetectiveName, ...]
    hands: tuple[Hand, ...]
    hand: Hand
    paid: Hand
    payers: tuple[int, ...]

    def __init__(self, rules: Rules, state: State) -> None:
        self.rules = rules
        self.events: list[Event] = []
        self.turn_over = False
        self.stream: Stream | None = None  # of tickets; opened once it is needed
        self.round = state.round
        self.to_move = state.to_move
        self.stage = state.stage
        self.seed = state.seed
        self.drawn = state.drawn
        self.colour = state.colour
        self.figures = state.figures
        self.unmoved = state.unmoved
        self.hands = state.hands
        self.hand = state.hand
        self.bag = state.bag
        self.box = state.box
        self.spent = state.spent
        self.board = state.board
        self.path = state.path
        self.known = state.known
        self.rings = state.rings
        self.ringed = state.ringed
        self.paid = state.paid
        self.payers = state.payers
        self.mark = state.mark
        self.stepped = state.stepped
        self.entered = state.entered
        self.tally = state.tally
        self.ended = state.ended
        self.taken = {figure.city for figure in state.figures}

    def freeze(self) -> State:
        """Return the state that the table shows."""
        return State(
            self.round,
            self.to_move,
            self.stage,
            self.seed,
            self.drawn,
            self.colour,
            self.figures,
            self.unmoved,
            self.hands,
            self.hand,
            self.bag,
            self.box,
            self.spent,
            self.board,
            self.path,
            self.known,
            self.rings,
            self.ringed,
            self.paid,
            self.payers,
            self.mark,
            self.stepped,
            self.entered,
            self.tally,
            self.ended,
        )

    @property
    def entries(self) -> int:
        """How many entries were made, without the start (5)."""
        return len(self.path) - 1

    def tell(self, what: Happening, side: Side | None = None) -> None:
        """Note what happened, for one side or both."""
        self.events.append(told(what, side))

    def tell_apart(self, own: Happening, others: Happening, side: Side) -> None:
        """Note what happened in the words for a side, and in those for the other."""
        self.events.append(told(own, side))
        self.events.append(told(others, side.other))

    # Tickets

    def take(self, place: int, ticket: TicketName) -> None:
        """Take a ticket that is there from a player's hand; place -1 is Mister X."""
        if place < 0:
            self.hand = without(self.hand, ticket)
        else:
            hands = list(self.hands)
            hands[place] = without(hands[place], ticket)
            self.hands = tuple(hands)

    def into_bag(self, tickets: Sequence[TicketName]) -> None:
        """Put tickets into the bag."""
        bag = list(self.bag)
        for ticket in tickets:
            bag[ORDER[ticket]] += 1
        self.bag = tuple(bag)

    def into_box(self, ticket: TicketName) -> None:
        """Put a paid ticket into the box."""
        box = list(self.box)
        box[ORDER[ticket]] += 1
        self.box = tuple(box)

    def put_back(self, place: int, ticket: TicketName) -> None:
        """Put a ticket of a player's hand back into the bag (E22, E30)."""
        self.take(place, ticket)
        self.into_bag((ticket,))
        player, side = self.player(place)
        self.tell_apart(Returned(player, ticket), Returned(player, None), side)

    def draw(self, place: int) -> None:
        """Draw up to a player's number of tickets, one at a time (E22, E30, A17).

        Each ticket in the bag is equally likely. An empty bag is filled from the box (E35).
        """
        numbers = self.rules.numbers
        hand = self.hand if place < 0 else self.hands[place]
        size = numbers.mister_x_hand if place < 0 else numbers.hand_sizes[place]
        lacking = size - len(hand)
        if lacking <= 0:
            return
        if self.stream is None:
            self.stream = Stream(self.seed, TICKET_STREAM, self.drawn)
        stream = self.stream
        bag, left = list(self.bag), sum(self.bag)
        found: list[TicketName] = []
        while len(found) < lacking:
            if not left:
                left = sum(self.box)
                if not left:
                    break
                bag = list(self.box)
                self.box = (0,) * len(TICKETS)
                self.tell(Shortage(left))
            number = stream.below(left)
            kind = 0
            while number >= bag[kind]:
                number -= bag[kind]
                kind += 1
            bag[kind] -= 1
            left -= 1
            found.append(TICKETS[kind])
        if not found:
            return
        self.drawn = stream.position
        self.bag = tuple(bag)
        drawn = tuple(found)
        held = tuple(sorted((*hand, *drawn), key=ORDER.__getitem__))
        if place < 0:
            self.hand = held
        else:
            self.hands = (*self.hands[:place], held, *self.hands[place + 1 :])
        player, side = self.player(place)
        self.tell_apart(Drew(player, len(drawn), drawn), Drew(player, len(drawn), None), side)

    def player(self, place: int) -> tuple[PlayerName, Side]:
        """Return a player's name and side; place -1 is Mister X."""
        return ("x", X) if place < 0 else (self.rules.players[place], TEAM)

    # Figures

    def put(self, place: int, city: int) -> None:
        """Put a detective on a city; it counts as entered, and may be the capture (E33)."""
        old = self.figures[place]
        figures = list(self.figures)
        figures[place] = Figure(old.figure, old.player, city)
        self.figures = tuple(figures)
        self.taken.discard(old.city)
        self.taken.add(city)
        self.entered = (*self.entered, city)

    def capture(self, figure: DetectiveName) -> None:
        """End the game: a detective is on Mister X's city."""
        self.tell(Captured(figure, self.path[-1]))
        self.finish(CAPTURED)

    # Entries

    def learn(self, entry: int, *, ringed: bool) -> None:
        """Let the team know an entry; what it knew before takes no ring (E34, A12)."""
        if entry in self.known:
            return
        self.known = tuple(sorted((*self.known, entry)))
        if ringed:
            pairs = self.rules.numbers.rings
            rings = [*self.rings, entry]
            if len(rings) > pairs:
                rings[self.ringed % pairs] = rings.pop()
            self.rings = tuple(rings)
            self.ringed += 1

    def finish(self, verdict: Verdict) -> None:
        """End the game and show what was hidden (E36, E37)."""
        self.ended = verdict
        self.to_move = None
        self.unmoved = ()
        self.paid, self.payers, self.mark = (), (), -1
        self.tell(Ended(self.path, tuple([slot.ticket for slot in self.board if slot.ticket])))


def without(hand: Hand, ticket: TicketName) -> Hand:
    """Return a hand with one such ticket less; it has one."""
    place = hand.index(ticket)
    return hand[:place] + hand[place + 1 :]
