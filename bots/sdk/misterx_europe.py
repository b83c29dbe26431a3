"""Europe for the Python SDK: its board, plies, belief set and turns; the standard library alone.

Lies beside `misterx_sdk.py`, and is needed by bots that play `europe-2009` only:

    from misterx_europe import Escape, Hunt
    from misterx_sdk import EUROPE, play

    def mister_x(turn):
        x = Escape(turn)
        colour = x.colours()[0]
        plies = x.opening(colour, x.starts(colour)[0])  # nothing after the first turn
        if steps := x.steps():
            return [*plies, *x.single(*turn.deal.dice.choice(steps))]
        if steps := x.hidden():  # all that he can do, and so he must
            return [*plies, *x.hide(*turn.deal.dice.choice(steps))]
        return plies  # stuck where he starts

    def detectives(turn):
        team = Hunt(turn)
        for figure, steps in team:
            team.go(figure, *turn.deal.dice.choice(steps))
        return team.plies

    if __name__ == "__main__":
        wants = ("board", "events", "legal")
        play(name="mybot", mister_x=mister_x, detectives=detectives, rulesets=EUROPE, wants=wants)

The numbers of rules (E1 …) are those of `arena/rules/europe/RULES.md`.
"""

from __future__ import annotations

from itertools import combinations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from misterx_sdk import Deal, Turn

    Ply = dict[str, Any]
    Step = tuple[str, int]  # ticket and city
    Way = str | None  # a transport; None: any

__all__ = [
    "TICKETS",
    "TRANSPORTS",
    "Belief",
    "Board",
    "Escape",
    "Hunt",
    "action",
    "board",
    "investigate",
    "lay",
    "mission",
    "move",
    "pay",
    "put_back",
    "special",
    "start",
    "transport",
]

TRANSPORTS = ("car", "rail", "air")
TICKETS = tuple(
    f"{by}-{what}" for by in TRANSPORTS for what in ("double", "hidden", "investigate", "special")
)
_ORDER = {ticket: place for place, ticket in enumerate(TICKETS)}


def transport(ticket: str) -> str:
    """Return the upper half of a ticket."""
    return ticket.partition("-")[0]


def action(ticket: str) -> str:
    """Return the lower half of a ticket."""
    return ticket.partition("-")[2]


def mission(colour: str) -> Ply:
    """Return the ply by which Mister X chooses his mission (E11)."""
    return {"do": "mission", "colour": colour}


def start(city: int) -> Ply:
    """Return the ply by which he notes his start (E11)."""
    return {"do": "start", "city": city}


def move(figure: str, ticket: str, to: int) -> Ply:
    """Return a move of `x` or of `d1` to `d5` (E15, E24)."""
    return {"do": "move", "figure": figure, "ticket": ticket, "to": to}


def pay(player: str, ticket: str) -> Ply:
    """Return the payment of one ticket by `x` or by `p1` to `p5` (E17, E18, E27)."""
    return {"do": "pay", "player": player, "ticket": ticket}


def lay(ticket: str, to: int) -> Ply:
    """Return the hidden move that was paid for: a ticket face down, any link (E18)."""
    return {"do": "lay", "ticket": ticket, "to": to}


def investigate() -> Ply:
    """Return the investigation that was paid for (E28)."""
    return {"do": "investigate"}


def special(figure: str, to: int) -> Ply:
    """Return the special mission that was paid for (E29)."""
    return {"do": "special", "figure": figure, "to": to}


def put_back(player: str, ticket: str) -> Ply:
    """Return one ticket to the bag, before the hand is filled (E22, E30)."""
    return {"do": "put_back", "player": player, "ticket": ticket}


class Board:
    """The map of a deal: where each transport leads, and how far apart cities are.

    Attributes:
        raw: the board as the referee sent it: `cities`, `links`, `missions`, and more.
        cities: all numbers, in order.
        names: number → name.
        near: transport → city → cities one link away, ascending.
        around: city → cities one link away by whatever transport, ascending.
        starts: colour of a mission → the cities that it can begin in.
        targets: colour of a mission → the cities of which Mister X has to enter one.
    """

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.cities: list[int] = [city["id"] for city in raw["cities"]]
        self.names: dict[int, str] = {city["id"]: city["name"] for city in raw["cities"]}
        ends: dict[str, dict[int, set[int]]] = {}
        for by in TRANSPORTS:
            found = ends[by] = {city: set[int]() for city in self.cities}
            for one, other in raw["links"][by]:
                found[one].add(other)
                found[other].add(one)
        self.near: dict[str, dict[int, tuple[int, ...]]] = {
            by: {city: tuple(sorted(to)) for city, to in ends[by].items()} for by in TRANSPORTS
        }
        self.around: dict[int, tuple[int, ...]] = {
            city: tuple(sorted(set[int]().union(*(ends[by][city] for by in TRANSPORTS))))
            for city in self.cities
        }
        missions = raw["missions"].items()
        self.starts: dict[str, tuple[int, ...]] = {c: tuple(m["starts"]) for c, m in missions}
        self.targets: dict[str, tuple[int, ...]] = {c: tuple(m["targets"]) for c, m in missions}
        self._rows: dict[tuple[int, ...], dict[int, int]] = {}

    def distance(self, start: int, end: int) -> int:
        """Return the number of moves between two cities, whatever the tickets."""
        return self.distances(start)[end]

    def distances(self, *ends: int) -> dict[int, int]:
        """Return for each city the moves to the nearest of these; each table is kept."""
        if ends not in self._rows:
            found = dict.fromkeys(ends, 0)
            edge = list(ends)
            while edge:
                beyond: list[int] = []
                for here in edge:
                    for there in self.around[here]:
                        if there not in found:
                            found[there] = found[here] + 1
                            beyond.append(there)
                edge = beyond
            self._rows[ends] = found
        return self._rows[ends]

    def to_target(self, colour: str) -> dict[int, int]:
        """Return for each city the moves to the nearest target of a mission."""
        return self.distances(*self.targets[colour])

    def reach(self, way: Way) -> dict[int, tuple[int, ...]]:
        """Return where a transport leads, or any (None)."""
        return self.around if way is None else self.near[way]


_boards: list[Board] = []  # the last one: most often the next game's too


def board(deal: Deal) -> Board:
    """Return the map of a deal, made when it is first asked for.

    Raises:
        RuntimeError: if the bot did not want it.
    """
    raw = deal.raw_board
    if raw is None:
        raise RuntimeError("this bot asked for no board: say play(…, wants=('board', 'events'))")
    if not _boards or (_boards[0].raw is not raw and _boards[0].raw != raw):
        _boards[:] = [Board(raw)]
    return _boards[0]


class Belief:
    """Where Mister X may be, by all that the detectives know: a set for each of his entries.

    Every city of a set lies on a path through all of them that fits all that was said; so what is
    told of an old entry cuts the later ones too. Of his tickets nothing is concluded but one thing:
    who is stuck has none that fits.

    Attributes:
        sets: entry 0 (the start), 1 …, n. Don't change them.
        ways: the transport from each entry to the next; None after a hidden move.
    """

    def __init__(self, board: Board, starts: Iterable[int]) -> None:
        self.board = board
        self.sets: list[set[int]] = [set(starts)]
        self.ways: list[Way] = []

    @property
    def now(self) -> set[int]:
        """Where he may be."""
        return self.sets[-1]

    def copy(self) -> Belief:
        """Return a belief of its own, to try things out with."""
        other = Belief(self.board, ())
        other.sets, other.ways = list(self.sets), list(self.ways)
        return other

    def moved(self, way: Way, avoiding: Collection[int]) -> None:
        """He made an entry by a transport, or a hidden one (None), not to a city of `avoiding`."""
        table = self.board.reach(way)
        reached = set[int]().union(*[table[city] for city in self.now])
        self.sets.append(reached)
        self.ways.append(way)
        self.narrow(len(self.sets) - 1, reached.difference(avoiding))

    def narrow(self, entry: int, cities: Iterable[int]) -> None:
        """An entry is one of these cities: take from all sets what does not fit any more."""
        sets = self.sets
        sets[entry] = sets[entry].intersection(cities)
        for at in range(entry - 1, -1, -1):
            kept = self._beside(sets[at + 1], self.ways[at], sets[at])
            if len(kept) == len(sets[at]):
                break
            sets[at] = kept
        for at in range(entry + 1, len(sets)):
            kept = self._beside(sets[at - 1], self.ways[at - 1], sets[at])
            if len(kept) == len(sets[at]):
                break
            sets[at] = kept

    def _beside(self, others: set[int], way: Way, cities: set[int]) -> set[int]:
        """Those of the cities that one link of the way joins with one of the others."""
        table = self.board.reach(way)
        return {city for city in cities if not others.isdisjoint(table[city])}


class _Trail:
    """Follows a game by its events and keeps the belief set."""

    def __init__(self, deal: Deal) -> None:
        self.board = board(deal)
        self.numbers = deal.numbers
        self.side = deal.side
        view = deal.view
        self.colour: str | None = view["colour"]
        self.cities: dict[str, int] = {one["figure"]: one["city"] for one in view["figures"]}
        self.known: set[int] = set()
        self.entered: set[int] = set()  # by detectives, in the round that is on
        self.unchecked = False  # the team had its turn, and the check of the round is still to come
        self.begun = False
        self.belief = Belief(self.board, self._starts())

    def _starts(self) -> set[int]:
        """Where he can begin: E11."""
        colours = self.board.starts if self.colour is None else (self.colour,)
        cities = {city for colour in colours for city in self.board.starts[colour]}
        return cities.difference(self.cities.values())

    def follow(self, message: dict[str, Any]) -> None:
        """Take in a request: what happened before it, and that the bot is asked."""
        if "events" not in message:
            raise RuntimeError(
                "this bot asked for no events: say play(…, wants=('board', 'events'))"
            )
        for event in message["events"]:
            name = event["event"]
            happened: Callable[[dict[str, Any]], None] | None = getattr(self, f"_{name}", None)
            if happened is not None:
                happened(event)
        view = message["view"]
        if self.side == "mister_x" and self.begun:
            self._check()
            if view["stage"] == "move":
                self._can_move()

    def _mission(self, event: dict[str, Any]) -> None:
        self.colour = event["colour"]
        self.belief = Belief(self.board, self._starts())

    def _start(self, event: dict[str, Any]) -> None:
        del event  # to Mister X it tells the city
        self.begun = True
        self.belief = Belief(self.board, self._starts())

    def _place(self, event: dict[str, Any]) -> None:
        self.cities = {f"d{place}": city for place, city in enumerate(event["cities"], 1)}

    def _pay(self, event: dict[str, Any]) -> None:
        if event["player"] == "x":
            self._begin()

    def _move(self, event: dict[str, Any]) -> None:
        if event["figure"] == "x":
            self._begin()
            self._enter(transport(event["ticket"]), event["to"])
        else:
            self._arrive(event["figure"], event["to"])

    def _lay(self, event: dict[str, Any]) -> None:
        self._enter(None, event["to"])

    def _special(self, event: dict[str, Any]) -> None:
        self._arrive(event["figure"], event["to"])

    def _sit_out(self, event: dict[str, Any]) -> None:
        del event
        self.unchecked = True

    def _stuck(self, event: dict[str, Any]) -> None:
        """E20: not one of his tickets fits."""
        self._check()
        if event["tickets"]:
            taken, near = set(self.cities.values()), self.board.near
            supply: dict[str, int] = dict.fromkeys(TRANSPORTS, 0)
            for ticket, count in self.numbers["tickets"].items():
                supply[transport(ticket)] += count
            self._cut(
                city
                for city in self.belief.now
                if event["tickets"]
                <= sum(supply[by] for by in TRANSPORTS if taken.issuperset(near[by][city]))
            )

    def _investigate(self, event: dict[str, Any]) -> None:
        self.known.add(event["entry"])
        self.belief.narrow(event["entry"], (event["city"],))

    _declare = _open = _investigate

    def _begin(self) -> None:
        """Mister X's turn is on, and he can move."""
        self._check()
        self._can_move()

    def _can_move(self) -> None:
        taken, around = set(self.cities.values()), self.board.around
        self._cut(city for city in self.belief.now if not taken.issuperset(around[city]))

    def _enter(self, way: Way, to: int) -> None:
        """He made an entry; the game goes on, so it is no target (E19)."""
        targets = self.board.targets[self.colour] if self.colour is not None else ()
        self.belief.moved(way, {*self.cities.values(), *targets})
        entry = len(self.belief.sets) - 1
        if entry > self.numbers["spaces"]:  # E21: the team is told it too
            self.known.add(entry)
            self._cut((to,))

    def _arrive(self, figure: str, city: int) -> None:
        """A detective came to a city, and the game goes on."""
        self.cities[figure] = city
        self.entered.add(city)
        self.unchecked = True
        if self.numbers["capture"] == "immediate":
            self._cut(self.belief.now.difference((city,)))

    def _check(self) -> None:
        """The round was checked: what was not declared is not there (E32), and he is free (E33)."""
        if not self.unchecked:
            return
        self.unchecked = False
        entered = set(self.entered)
        self.entered.clear()
        self._cut(self.belief.now.difference(self.cities.values()))
        if self.numbers["passed"] == "ignored":
            entered.intersection_update(self.cities.values())
        sets = self.belief.sets
        first = len(sets) - self.numbers["window"]
        for entry in range(max(first, 0 if self.numbers["start_in_window"] else 1), len(sets)):
            if entry not in self.known:
                self.belief.narrow(entry, sets[entry].difference(entered))

    def _cut(self, cities: Iterable[int]) -> None:
        self.belief.narrow(len(self.belief.sets) - 1, cities)


def _followed(deal: Deal) -> _Trail:
    """Return the deal's trail as it stands at the turn, or part, that was last asked for."""
    if deal.kept is None:
        deal.kept = _Trail(deal)
    trail: _Trail = deal.kept
    for message in deal.seen:
        trail.follow(message)
    deal.seen.clear()
    return trail


class Escape:
    """A turn of Mister X: what he can do, and the plies that do it.

    Attributes:
        turn: that is asked for.
        board: of the deal.
        colour: of his mission; None until he has chosen, or where `opening` was told.
        city: where he is; None before the start is noted.
        hand: his tickets.
        taken: cities where detectives stand.
    """

    def __init__(self, turn: Turn) -> None:
        view = turn.view
        self.turn = turn
        self.board = board(turn.deal)
        self.colour: str | None = view["colour"]
        self.city: int | None = view["city"]
        self.hand: list[str] = list(view["hand"])
        self.taken: set[int] = {figure["city"] for figure in view["figures"]}

    @property
    def belief(self) -> Belief:
        """Where he may be, by all that the detectives know. Don't change it."""
        return _followed(self.turn.deal).belief

    def colours(self) -> list[str]:
        """Return the missions that he can choose from: one, once it is named."""
        return list(self.board.starts) if self.colour is None else [self.colour]

    def starts(self, colour: str) -> list[int]:
        """Return the cities that he can begin a mission in (E11)."""
        return [city for city in self.board.starts[colour] if city not in self.taken]

    def opening(self, colour: str, city: int) -> list[Ply]:
        """Choose mission and start, as far as they are still to be chosen; [] later in the game."""
        if self.city is not None:
            return []
        chosen = [] if self.colour is not None else [mission(colour)]
        self.colour, self.city = colour, city
        return [*chosen, start(city)]

    def steps(self) -> list[Step]:
        """Return his normal moves, as (ticket, city), in a fixed order (E15)."""
        return self._steps(self._here(), self.hand)

    def hidden(self) -> list[Step]:
        """Return his hidden moves, as (ticket to lay, city); which tickets pay is chosen (E18)."""
        rest = self._after_paying("hidden", self.turn.deal.numbers["hidden_price"])
        if rest is None:
            return []
        ends = [end for end in self.board.around[self._here()] if end not in self.taken]
        return [(ticket, end) for ticket in dict.fromkeys(rest) for end in ends]

    def doubles(self) -> list[tuple[Step, Step]]:
        """Return his double moves, each as two steps; which tickets pay is chosen (E17).

        Double moves whose first step already enters a target are left out: a normal move does it.
        """
        rest = self._after_paying("double", self.turn.deal.numbers["double_price"])
        if rest is None:
            return []
        targets = self.board.targets[self.colour or ""]
        found: list[tuple[Step, Step]] = []
        for first in self._steps(self._here(), rest):
            if first[1] not in targets:
                left = list(rest)
                left.remove(first[0])
                found += [(first, second) for second in self._steps(first[1], left)]
        return found

    def single(self, ticket: str, to: int) -> list[Ply]:
        """Return the plies of a normal move."""
        self.hand.remove(ticket)
        return [move("x", ticket, to)]

    def hide(self, ticket: str, to: int) -> list[Ply]:
        """Return the plies of a hidden move."""
        paid = self._spend("hidden", self.turn.deal.numbers["hidden_price"])
        self.hand.remove(ticket)
        return [*paid, lay(ticket, to)]

    def double(self, first: Step, second: Step) -> list[Ply]:
        """Return the plies of a double move."""
        paid = self._spend("double", self.turn.deal.numbers["double_price"])
        self.hand.remove(first[0])
        self.hand.remove(second[0])
        return [*paid, move("x", *first), move("x", *second)]

    def back(self, tickets: Iterable[str]) -> list[Ply]:
        """Return the plies that put tickets back, in the order that the rules ask for (E22)."""
        return [put_back("x", ticket) for ticket in sorted(tickets, key=_ORDER.__getitem__)]

    def _here(self) -> int:
        if self.city is None:
            raise RuntimeError("Mister X has no start yet: choose one with opening(…)")
        return self.city

    def _steps(self, here: int, hand: Sequence[str]) -> list[Step]:
        near, taken = self.board.near, self.taken
        return [
            (ticket, end)
            for ticket in dict.fromkeys(hand)
            for end in near[transport(ticket)][here]
            if end not in taken
        ]

    def _payment(self, what: str, price: int) -> list[str]:
        """The tickets that he pays with: of the transport that he has most of, one by one."""
        return _cheapest(self.hand, what, price)

    def _after_paying(self, what: str, price: int) -> list[str] | None:
        """His hand once the action is paid for; None if he can't."""
        paid = self._payment(what, price)
        if len(paid) < price:
            return None
        rest = list(self.hand)
        for ticket in paid:
            rest.remove(ticket)
        return rest

    def _spend(self, what: str, price: int) -> list[Ply]:
        paid = self._payment(what, price)
        for ticket in paid:
            self.hand.remove(ticket)
        return [pay("x", ticket) for ticket in paid]


def _cheapest(hand: Sequence[str], what: str, price: int) -> list[str]:
    """The payment after which tickets of the fewest kinds of transport are missing; sorted.

    Fewer than the price if there are not enough.
    """
    fitting = [ticket for ticket in hand if action(ticket) == what]
    if len(fitting) <= price:
        return sorted(fitting, key=_ORDER.__getitem__)

    def left(paid: tuple[str, ...]) -> tuple[int, int]:
        rest = [transport(ticket) for ticket in hand]
        for ticket in paid:
            rest.remove(transport(ticket))
        return len(set(rest)), min(rest.count(by) for by in TRANSPORTS)

    best = max(dict.fromkeys(combinations(fitting, price)), key=left)
    return sorted(best, key=_ORDER.__getitem__)


class Hunt:
    """A turn of the team in the making: moves, one action, tickets put back.

    Going through it gives each detective that can move, with its steps, until none is left; each
    must be told to `go` before the next comes.

    Where one player leads several detectives, which steps the rules leave depends on the steps
    before (E25): there `go` sends each step as a part, and `legal` must be wanted. What ends the
    game leaves the bot's function at that place.

    Attributes:
        turn: that is asked for, or the part of it that is on.
        board: of the deal.
        cities: figure → city.
        hands: player → tickets, less what was planned.
        leaders: figure → player.
        entered: cities entered in this turn.
        plies: what is still to be sent; returned at the end.
    """

    def __init__(self, turn: Turn) -> None:
        self.board = board(turn.deal)
        self.entered: list[int] = []
        self.leaders: dict[str, str] = {}
        self._begin(turn)
        players = list(self.leaders.values())
        self._stepwise = len(set(players)) < len(players)

    def _begin(self, turn: Turn) -> None:
        """Take over what stands on the table: at the beginning, and behind each part."""
        view = turn.view
        self.turn = turn
        self.plies: list[Ply] = []
        self.cities: dict[str, int] = {one["figure"]: one["city"] for one in view["figures"]}
        self.leaders = {one["figure"]: one["player"] for one in view["figures"]}
        hands = iter(view["hands"])
        self.hands: dict[str, list[str]] = {
            player: list(next(hands)) for player in dict.fromkeys(self.leaders.values())
        }
        self._unmoved: list[str] = list(view["unmoved"])

    @property
    def belief(self) -> Belief:
        """Where Mister X may be, as it was when the turn, or its last part, was asked for."""
        return _followed(self.turn.deal).belief

    @property
    def possible(self) -> set[int]:
        """Where he may be if none of the steps planned so far ends the game; a set of your own."""
        caught = set(self.entered)
        if self.turn.deal.numbers["capture"] == "check":  # who is sent on captures nothing (A2)
            caught.intersection_update(self.cities.values())
        return self.belief.now.difference(caught)

    @property
    def entries(self) -> int:
        """How many entries Mister X has made, without the start."""
        return len(self.turn.view["entries"]) - 1

    def __iter__(self) -> Iterator[tuple[str, list[Step]]]:
        while True:
            for figure in self._unmoved:  # from the front: a step may have set one free
                steps = self.steps(figure)
                if steps:
                    yield figure, steps
                    if figure in self._unmoved:
                        raise RuntimeError(f"{figure} was not told to go anywhere")
                    break
            else:
                return

    def waiting(self) -> list[str]:
        """Return the detectives that have still to move and can, in a fixed order."""
        return [figure for figure in self._unmoved if self.steps(figure)]

    def steps(self, figure: str) -> list[Step]:
        """Return a detective's steps now, as (ticket, city), in a fixed order (E24, E25)."""
        if figure not in self._unmoved:
            return []
        if self._stepwise:
            legal = self.turn.legal
            return [
                (ply["ticket"], ply["to"])
                for ply in legal
                if ply["do"] == "move" and ply["figure"] == figure
            ]
        taken, near, here = self.cities.values(), self.board.near, self.cities[figure]
        return [
            (ticket, end)
            for ticket in dict.fromkeys(self.hands[self.leaders[figure]])
            for end in near[transport(ticket)][here]
            if end not in taken
        ]

    def go(self, figure: str, ticket: str, to: int) -> None:
        """Plan a detective's move; sent at once where a player leads several."""
        self.plies.append(move(figure, ticket, to))
        self.entered.append(to)
        if self._stepwise:
            self._send()
            return
        self._unmoved.remove(figure)
        self.hands[self.leaders[figure]].remove(ticket)
        self.cities[figure] = to

    def payment(self, what: str, price: int) -> list[Ply] | None:
        """Return how the team pays for an action: in order, each player his share (E27).

        Args:
            what: `investigate` or `special`.
            price: how many tickets.

        Returns:
            The plies; None if it can't, or may not before Mister X has made enough entries.
        """
        if self.entries < self.turn.deal.numbers["action_from"]:
            return None
        paid: list[Ply] = []
        for player, hand in self.hands.items():
            share = min(list(self.leaders.values()).count(player), price - len(paid))
            paid += [pay(player, ticket) for ticket in _cheapest(hand, what, share)[:share]]
        return paid if len(paid) == price else None

    def prices(self, what: str) -> list[int]:
        """Return the prices of an action that the team can pay now, ascending."""
        prices = sorted(map(int, self.turn.deal.numbers[what]))
        return [price for price in prices if self.payment(what, price) is not None]

    def asked_entry(self, price: int) -> int:
        """Return the entry that an investigation at this price asks for (E28)."""
        back: int = self.turn.deal.numbers["investigate"][str(price)]
        return self.entries - back

    def missions(self, price: int) -> list[tuple[str, int]]:
        """Return the special missions that a price gives, as (figure, city) (E29)."""
        near = self.board.near[self.turn.deal.numbers["special"][str(price)]]
        taken = self.cities.values()
        return [
            (figure, end)
            for figure, here in self.cities.items()
            for end in near[here]
            if end not in taken
        ]

    def investigate(self, price: int) -> None:
        """Ask for an entry; sent at once, so that `belief` and `hands` are new behind it."""
        self.plies += [*self._paid("investigate", price), investigate()]
        self._send()

    def special(self, price: int, figure: str, to: int) -> None:
        """Plan a special mission."""
        for ply in self._paid("special", price):
            self.plies.append(ply)
            self.hands[ply["player"]].remove(ply["ticket"])
        self.plies.append(special(figure, to))
        self.cities[figure] = to
        self.entered.append(to)

    def back(self, tickets: Iterable[tuple[str, str]]) -> None:
        """Plan to put tickets back, as (player, ticket); brought into the rules' order (E30)."""
        players = list(self.hands)
        for player, ticket in sorted(
            tickets, key=lambda one: (players.index(one[0]), _ORDER[one[1]])
        ):
            self.plies.append(put_back(player, ticket))
            self.hands[player].remove(ticket)

    def _paid(self, what: str, price: int) -> list[Ply]:
        paid = self.payment(what, price)
        if paid is None:
            raise RuntimeError(f"the team can't pay {price} {what} tickets now")
        return paid

    def _send(self) -> None:
        """Send what is planned as a part, and take over what it led to."""
        plies, self.plies = self.plies, []
        self._begin(self.turn.part(plies))
