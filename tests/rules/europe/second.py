"""Europe a second time, from the words of the rules alone, to compare the first with.

Nothing here is taken from `arena.rules`. It is slow and plain on purpose: what can be done is found
by writing down every whole action, and "as many as possible" by trying all moves. Plies are tuples
of their JSON values; which tickets are drawn comes from outside, and is checked against the bag.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

__all__ = ["Drawn", "Game", "Ply", "TooLong"]

Ply = tuple[Any, ...]  # ("move", "d1", "car-double", 45)
Told = tuple[Any, ...]  # ("declare", 3, 45)
Drawn = tuple[str, list[str]]  # player, tickets in the order drawn
Free = tuple[bool, ...]  # for each transport whether it leads to a free city

TRANSPORTS = ("car", "rail", "air")
ACTIONS = ("double", "hidden", "investigate", "special")
TICKETS = [f"{transport}-{action}" for transport in TRANSPORTS for action in ACTIONS]
RANK = {ticket: place for place, ticket in enumerate(TICKETS)}
PIECES = ("d1", "d2", "d3", "d4", "d5")
LED = {2: (5,), 3: (3, 2), 4: (2, 2, 1), 5: (2, 1, 1, 1), 6: (1, 1, 1, 1, 1)}
BACK = {3: 4, 4: 3, 5: 2}  # price of an investigation → entries back
BY = {3: "car", 4: "rail", 5: "air"}  # price of a special mission → transport
TALLIES = ("doubles", "hiddens", "stuck", "investigations", "specials")
MOST_TRIED = 60_000


class TooLong(Exception):
    """All moves of this round are too many to try."""


def by(ticket: str) -> str:
    return ticket.split("-")[0]


def action(ticket: str) -> str:
    return ticket.split("-")[1]


def listed(tickets: Counter[str]) -> list[str]:
    return [ticket for ticket in TICKETS for _ in range(tickets[ticket])]


def held(cards: Counter[str]) -> tuple[int, ...]:
    """Tickets by transport."""
    return tuple(sum(cards[t] for t in TICKETS if by(t) == way) for way in TRANSPORTS)


@cache
def most(pieces: tuple[Free, ...], tickets: tuple[int, ...]) -> int:
    """How many of these pieces a hand can move at best."""
    if not pieces:
        return 0
    best = most(pieces[1:], tickets)
    for way, free in enumerate(pieces[0]):
        if free and tickets[way]:
            rest = (*tickets[:way], tickets[way] - 1, *tickets[way + 1 :])
            best = max(best, 1 + most(pieces[1:], rest))
    return best


class Moving:
    """The team in the middle of its moves, for trying what could follow."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.tried: dict[Any, bool] = {}

    def is_good(self, ply: Ply) -> bool:
        """Whether after this move each player can still move as many pieces as possible (25)."""
        game = self.game
        hands = tuple(held(hand) for hand in game.hands)
        moved = tuple(tuple(done) for done in game.moved)
        at = tuple(game.at[piece] for piece in PIECES)
        _, piece, ticket, to = ply
        way = TRANSPORTS.index(by(ticket))
        left = tuple(game.unmoved)
        return self._ends_well(*self._after(at, left, hands, moved, piece, way, to))

    def _free(self, at: tuple[int, ...], piece: str) -> Free:
        here = at[PIECES.index(piece)]
        return tuple(bool(self.game.links[way][here] - set(at)) for way in TRANSPORTS)

    def _after(
        self, at: Any, left: Any, hands: Any, moved: Any, piece: str, way: int, to: int
    ) -> tuple[Any, Any, Any, Any]:
        place, player = PIECES.index(piece), self.game.leader[piece]
        hand = list(hands[player])
        hand[way] -= 1
        done = tuple(sorted((*moved[player], self._free(at, piece))))
        return (
            (*at[:place], to, *at[place + 1 :]),
            tuple(one for one in left if one != piece),
            (*hands[:player], tuple(hand), *hands[player + 1 :]),
            (*moved[:player], done, *moved[player + 1 :]),
        )

    def _ends_well(self, at: Any, left: Any, hands: Any, moved: Any) -> bool:
        key = (at, left, hands, moved)
        if key not in self.tried:
            if len(self.tried) > MOST_TRIED:
                raise TooLong
            nexts = [
                self._after(at, left, hands, moved, piece, way, to)
                for piece in left
                for way, transport in enumerate(TRANSPORTS)
                if hands[self.game.leader[piece]][way]
                for to in self.game.links[transport][at[PIECES.index(piece)]] - set(at)
            ]
            self.tried[key] = (
                any(self._ends_well(*one) for one in nexts)
                if nexts
                else self._is_least(at, left, moved)
            )
        return self.tried[key]

    def _is_least(self, at: Any, left: Any, moved: Any) -> bool:
        """Whether no split of a hand would have left fewer pieces for want of tickets (A23)."""
        game = self.game
        for player in range(len(game.led)):
            stayed = [self._free(at, one) for one in left if game.leader[one] == player]
            wanting = [free for free in stayed if any(free)]
            pieces = (*moved[player], *wanting)
            if len(wanting) > len(pieces) - most(pieces, game.whole[player]):
                return False
        return True


class Game:
    """One game, from the deal on.

    Args:
        board: as in its file.
        options: of the ruleset, each with its value.
        number: the deal's.
        cards: start cards of d1 to d5.
        draws: what is drawn, in order; taken from its front.
        told: what happens is written to its end, in the words of `Told`.
    """

    def __init__(
        self,
        board: Any,
        options: Any,
        number: int,
        cards: list[int],
        draws: list[Drawn],
        told: list[Told],
    ) -> None:
        self.board, self.options, self.draws, self.told = board, options, draws, told
        self.links: dict[str, dict[int, set[int]]] = {
            way: {city["id"]: set() for city in board["cities"]} for way in TRANSPORTS
        }
        for way in TRANSPORTS:
            for one, other in board["links"][way]:
                self.links[way][one].add(other)
                self.links[way][other].add(one)
        self.led = LED[options["players"]]
        leaders = [player for player, count in enumerate(self.led) for _ in range(count)]
        self.leader = dict(zip(PIECES, leaders, strict=True))
        self.all = Counter(
            {f"{one['transport']}-{one['action']}": one["count"] for one in board["tickets"]}
        )
        self.bag, self.box, self.hand = Counter(self.all), Counter[str](), Counter[str]()
        self.hands: list[Counter[str]] = [Counter() for _ in self.led]
        self.spent: list[str] = []
        self.slots: list[tuple[str, bool]] = []  # ticket, and whether it lies face down
        self.path: list[int] = []
        self.known: set[int] = set()
        self.rings: dict[int, int] = {}
        self.ringed = 0
        self.at: dict[str, int] = {}
        self.cards = cards
        self.round = 1
        self.over: tuple[str, str] | None = None
        self.tally: Counter[str] = Counter()
        self.side, self.stage = "mister_x", "setup"
        self.turn: list[Ply] = []  # what was done besides moves and put-backs
        self.wholes: list[tuple[Ply, ...]] = []  # every way to do it
        self.last_back = -1
        self.unmoved: list[str] = []
        self.entered: list[int] = []
        self.whole: list[tuple[int, ...]] = []
        self.moved: list[list[Free]] = []
        for player in range(-1, len(self.led)):  # 9, A17
            self.draw(player)
        colours = list(board["missions"])
        fixed = {"choose": None, "balanced": colours[number % len(colours)]}
        self.colour: str | None = fixed.get(options["mission"], options["mission"])
        if options["setup_order"] == "detectives-first":
            self.place()

    # Places

    @property
    def entries(self) -> int:
        return len(self.path) - 1

    def place(self) -> None:
        self.at = dict(zip(PIECES, self.cards, strict=True))

    def free(self, way: str, city: int) -> list[int]:
        return sorted(self.links[way][city] - set(self.at.values()))

    def around(self, city: int) -> list[int]:
        return sorted({to for way in TRANSPORTS for to in self.free(way, city)})

    def is_target(self, city: int) -> bool:
        return city in self.board["missions"][self.colour]["targets"]

    def learn(self, entry: int, *, ring: bool) -> None:
        """34: a pair of rings for what the team did not know; after the fifth the first again."""
        if entry not in self.known and ring:
            self.rings[self.ringed % 5] = entry
            self.ringed += 1
        self.known.add(entry)

    def draw(self, player: int) -> None:
        """22, 30, 35: up to the number, the box into the bag once that is empty."""
        hand = self.hand if player < 0 else self.hands[player]
        lacking = (8 if player < 0 else 4 + self.led[player]) - sum(hand.values())
        count = min(lacking, sum(self.bag.values()) + sum(self.box.values()))
        if count <= 0:
            return
        name, tickets = self.draws.pop(0)
        assert name == ("x" if player < 0 else f"p{player + 1}")
        assert len(tickets) == count
        for ticket in tickets:
            if not sum(self.bag.values()):
                self.told.append(("shortage", sum(self.box.values())))
                self.bag, self.box = self.box, Counter()
            assert self.bag[ticket] > 0
            self.bag[ticket] -= 1
        hand.update(tickets)

    # Mister X

    def begin_x(self) -> None:
        self.side, self.stage, self.turn, self.last_back = "mister_x", "act", [], -1
        if not self.around(self.path[-1]) and self.options["encircled"] == "loss":  # A5
            self.over = ("detectives", "encircled")
            return
        self.wholes = [*self.moves_of_x(), *self.doubles_of_x(), *self.hiddens_of_x()]
        if not self.wholes:  # 20
            self.told.append(("stuck", sum(self.hand.values())))
            self.tally["stuck"] += 1
            self.bag += self.hand
            self.hand = Counter()
            self.draw(-1)
            self.begin_team()

    def steps(self, city: int, hand: Counter[str]) -> Iterator[Ply]:
        for ticket in TICKETS:
            if hand[ticket]:
                for to in self.free(by(ticket), city):
                    yield ("move", "x", ticket, to)

    def moves_of_x(self) -> Iterator[tuple[Ply, ...]]:
        """15."""
        for step in self.steps(self.path[-1], self.hand):
            yield (step,)

    def paid_by_x(self, what: str) -> Iterator[tuple[tuple[Ply, ...], Counter[str]]]:
        """17, 18: three tickets, and what is left then (A9)."""
        fitting = [ticket for ticket in listed(self.hand) if action(ticket) == what]
        for paid in set(itertools.combinations(fitting, 3)):
            yield tuple(("pay", "x", ticket) for ticket in paid), self.hand - Counter(paid)

    def doubles_of_x(self) -> Iterator[tuple[Ply, ...]]:
        """17, 19, A8."""
        for pays, rest in self.paid_by_x("double"):
            for first in self.steps(self.path[-1], rest):
                _, _, ticket, stop = first
                if self.is_target(stop):
                    yield (*pays, first)
                    continue
                for second in self.steps(stop, rest - Counter([ticket])):
                    yield (*pays, first, second)

    def hiddens_of_x(self) -> Iterator[tuple[Ply, ...]]:
        """18."""
        for pays, rest in self.paid_by_x("hidden"):
            for ticket in listed(rest):
                for to in self.around(self.path[-1]):
                    yield (*pays, ("lay", ticket, to))

    def act_of_x(self, ply: Ply) -> None:
        self.turn.append(ply)
        if ply[0] == "pay":
            self.hand[ply[2]] -= 1
            self.box[ply[2]] += 1
            if len(self.turn) == 3:
                self.tally[f"{action(ply[2])}s"] += 1
            return
        ticket, to = ply[-2:]
        self.hand[ticket] -= 1
        self.path.append(to)
        if self.entries <= 24:
            self.slots.append((ticket, ply[0] == "lay"))
        else:  # 21
            self.bag[ticket] += 1
            if self.entries == 25:
                self.told.append(("open", 24, self.path[24]))
                self.learn(24, ring=False)
            self.learn(self.entries, ring=False)
        if self.is_target(to):  # 19
            self.over = ("mister_x", "escaped")
        elif tuple(self.turn) in self.wholes:
            self.stage = "refill"

    # The team

    def begin_team(self) -> None:
        self.side, self.stage, self.turn, self.last_back = "detectives", "move", [], -1
        self.unmoved, self.entered = list(PIECES), []
        self.whole = [held(hand) for hand in self.hands]
        self.moved = [[] for _ in self.led]
        self.settle()
        if self.stage == "act" and not any(sum(hand.values()) for hand in self.hands):
            self.close_team()

    def possible(self) -> list[Ply]:
        """24, whatever it leaves for the others."""
        return [
            ("move", piece, ticket, to)
            for piece in self.unmoved
            for ticket in TICKETS
            if self.hands[self.leader[piece]][ticket]
            for to in self.free(by(ticket), self.at[piece])
        ]

    def settle(self) -> None:
        """23, 25: the moves are over when nobody can move."""
        if not self.possible():
            self.told += [("sit_out", piece) for piece in self.unmoved]
            self.unmoved, self.stage = [], "act"
            self.wholes = list(self.actions())

    def moves(self) -> list[Ply]:
        """25, A23: those that leave as many pieces as possible, if any do."""
        possible = self.possible()
        if self.options["as_many"] == "maximal" or max(self.led) == 1:
            return possible
        moving, good = Moving(self), dict[Ply, bool]()
        for ply in possible:
            alike = (ply[1], by(ply[2]), ply[3])
            if alike not in good:
                good[alike] = moving.is_good(ply)
        return [ply for ply in possible if good[ply[1], by(ply[2]), ply[3]]] or possible

    def actions(self) -> Iterator[tuple[Ply, ...]]:
        """27 to 29."""
        if self.entries < 5:
            return
        for what, price in itertools.product(("investigate", "special"), BACK):
            fitting = [
                (player, ticket)
                for player, hand in enumerate(self.hands)
                for ticket in listed(hand)
                if action(ticket) == what
            ]
            for paid in set(itertools.combinations(fitting, price)):
                gave = Counter(player for player, _ in paid)
                if any(gave[player] > pieces for player, pieces in enumerate(self.led)):
                    continue
                pays = tuple(("pay", f"p{player + 1}", ticket) for player, ticket in paid)
                if what == "investigate":
                    yield (*pays, ("investigate",))
                    continue
                for piece in PIECES:
                    for to in self.free(BY[price], self.at[piece]):
                        yield (*pays, ("special", piece, to))

    def act_of_team(self, ply: Ply) -> None:
        self.turn.append(ply)
        if ply[0] == "pay":
            self.hands[int(ply[1][1]) - 1][ply[2]] -= 1
            self.box[ply[2]] += 1
            return
        self.stage = "refill"
        self.tally["specials" if ply[0] == "special" else "investigations"] += 1
        if ply[0] == "special":
            self.enter(ply[1], ply[2])
        else:
            entry = self.entries - BACK[len(self.turn) - 1]
            self.learn(entry, ring=True)
            self.told.append(("investigate", entry, self.path[entry]))

    def move(self, ply: Ply) -> None:
        _, piece, ticket, to = ply
        player, here = self.leader[piece], self.at[piece]
        self.moved[player].append(tuple(bool(self.free(way, here)) for way in TRANSPORTS))
        self.hands[player][ticket] -= 1
        self.spent.append(ticket)
        self.unmoved.remove(piece)
        self.enter(piece, to)
        if self.over is None:
            self.settle()

    def enter(self, piece: str, to: int) -> None:
        self.at[piece] = to
        self.entered.append(to)
        if to == self.path[-1] and self.options["capture"] == "immediate":  # A2
            self.capture(piece)

    def capture(self, piece: str) -> None:
        self.told.append(("capture", piece, self.path[-1]))
        self.over = ("detectives", "captured")

    def close_team(self) -> None:
        """30, 26, 31 to 33, A24."""
        for player in range(len(self.led)):
            self.draw(player)
        self.bag.update(self.spent)
        self.spent = []
        for piece in PIECES:
            if self.at[piece] == self.path[-1]:
                self.capture(piece)
                return
        cities = set(self.entered)
        if self.options["passed"] == "ignored":  # A3
            cities &= set(self.at.values())
        first = 0 if self.options["start_in_window"] == "true" else 1  # A14
        for entry in range(max(first, self.entries - 4), self.entries + 1):
            if self.path[entry] in cities:
                self.told.append(("declare", entry, self.path[entry]))
                self.learn(entry, ring=True)
        if self.round == self.options["cap"]:
            self.over = ("detectives", "cap")
            return
        self.round += 1
        self.begin_x()

    # Both

    def put_backs(self) -> list[Ply]:
        """22, 30: in the order of players and tickets."""
        hands = [("x", self.hand)] if self.side == "mister_x" else self.players()
        return [
            ("put_back", player, ticket)
            for place, (player, hand) in enumerate(hands)
            for ticket in TICKETS
            if hand[ticket] and place * len(TICKETS) + RANK[ticket] >= self.last_back
        ]

    def players(self) -> list[tuple[str, Counter[str]]]:
        return [(f"p{place + 1}", hand) for place, hand in enumerate(self.hands)]

    def next(self) -> tuple[set[Ply], bool]:
        """What can be done now, and whether the turn may end here."""
        if self.stage == "setup":
            missions = self.board["missions"]
            if self.colour is None:
                return {("mission", colour) for colour in missions}, False
            taken = set(self.at.values())
            return {("start", c) for c in missions[self.colour]["starts"] if c not in taken}, False
        if self.stage == "refill":
            return set(self.put_backs()), True
        if self.stage == "move":
            return set(self.moves()), False
        done = len(self.turn)
        found = {one[done] for one in self.wholes if one[:done] == tuple(self.turn)}
        if self.side == "detectives" and not self.turn:
            return found | set(self.put_backs()), True
        return found, False

    def play(self, ply: Ply) -> bool:
        """Do it; True if the same turn goes on then."""
        if ply[0] == "mission":
            self.colour = ply[1]
        elif ply[0] == "start":
            self.path.append(ply[1])
            if not self.at:
                self.place()
            self.begin_x()
            return self.over is None and self.side == "mister_x" and self.round == 1
        elif ply[0] == "put_back":
            hand = self.hand if ply[1] == "x" else self.hands[int(ply[1][1]) - 1]
            hand[ply[2]] -= 1
            self.bag[ply[2]] += 1
            player = 0 if ply[1] == "x" else int(ply[1][1]) - 1
            self.last_back = player * len(TICKETS) + RANK[ply[2]]
            self.stage = "refill"
        elif self.side == "mister_x":
            self.act_of_x(ply)
        elif self.stage == "move":
            self.move(ply)
        else:
            self.act_of_team(ply)
        if self.over is None and not self.next()[0]:
            self.close()
            return False
        return self.over is None

    def close(self) -> None:
        """End the turn that is on."""
        if self.side == "mister_x":
            self.draw(-1)
            self.begin_team()
        else:
            self.close_team()

    def view(self, side: str) -> dict[str, Any]:
        """Section 3 of the rules: who sees what."""
        ended, team = self.over is not None, side == "detectives"
        open_turn = self.side == "detectives" and not ended
        entries = [
            city if ended or not team or entry in self.known else None
            for entry, city in enumerate(self.path)
        ]
        found: dict[str, Any] = {
            "round": self.round,
            "colour": self.colour,
            "figures": [
                {"figure": piece, "player": f"p{self.leader[piece] + 1}", "city": city}
                for piece, city in self.at.items()
            ],
            "unmoved": self.unmoved if open_turn else [],
            "bag": sum(self.bag.values()),
            "box": {ticket: self.box[ticket] for ticket in TICKETS},
            "spent": self.spent,
            "board": [
                {"ticket": None if hidden and team and not ended else ticket, "hidden": hidden}
                for ticket, hidden in self.slots
            ],
            "entries": entries,
            "city": entries[-1] if entries else None,
            "known": sorted(self.known),
            "rings": [entry for _, entry in sorted(self.rings.items())],
            "tally": {name: self.tally[name] for name in TALLIES},
        }
        if team:
            found["hands"] = [listed(hand) for hand in self.hands]
            found["mister_x_hand"] = sum(self.hand.values())
        else:
            found["hand"] = listed(self.hand)
            found["hand_sizes"] = [sum(hand.values()) for hand in self.hands]
        return found

    def is_whole(self) -> bool:
        """Whether every ticket is somewhere (4)."""
        places = [self.bag, self.box, self.hand, Counter(self.spent), *self.hands]
        laid = Counter(ticket for ticket, _ in self.slots)
        return sum(places, laid) == +self.all
