"""Mister X in Europe: runs for the nearest target and keeps away from the detectives."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from europe_guessing import answer, likely, spare
from misterx_europe import Escape, transport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from misterx_europe import Belief, Step
    from misterx_sdk import Turn

    Ply = dict[str, Any]

NEAR = 2  # moves of the nearest detective from which double and hidden moves are looked at
PRICE = 0.5  # of an action, in moves
RISK = 20.0  # what a certain capture costs, in moves
CAUGHT = 0.5  # how likely greedy thinks that a detective beside him catches him
ROOM = 0.8  # what each move to the nearest detective is worth, in moves, up to FAR
FAR = 4
PAST = (3.0, 1.5, 0.7, 0.3, 0.0)  # what it adds to enter a city, by a detective's moves to it
SEEN = 1.0  # how likely a detective goes where he is foreseen to go
JUMP = 0.8  # how likely a special mission goes there
LOOSE = 0.7  # what is left of a danger that was not foreseen


def run(turn: Turn) -> list[Ply]:
    """Greedy: a detective beside his city is as bad whatever the team may know."""
    return _Runner(turn, knows=False).plies()


def slip(turn: Turn) -> list[Ply]:
    """Belief: goes by where the team must think he can be after each of his moves."""
    return _Runner(turn, knows=True).plies()


class _Runner:
    """One turn of his."""

    def __init__(self, turn: Turn, *, knows: bool) -> None:
        self.x = Escape(turn)
        self.dice = turn.deal.dice
        self.knows = knows
        self.rows = [self.x.board.distances(at) for at in sorted(self.x.taken)]
        self.foreseen: dict[tuple[str | None, ...], Foreseen] = {}

    def plies(self) -> list[Ply]:
        """Return the whole turn."""
        x = self.x
        plies = x.opening(*self._start()) if x.city is None else []
        if plies and not x.taken:  # the detectives are placed now (A1)
            return _Runner(x.turn.part(plies), knows=self.knows).plies()
        colour = x.colour or ""
        self.targets = x.board.targets[colour]
        self.to_target = self._long_ways(x.taken)
        self.begun = bool(plies)
        ways = self._ways()
        if not ways:  # stuck from the start: his turn is over with it (E20)
            return plies
        costs = [self._cost(*way) for way in ways]
        least = min(costs)
        kind, steps = self.dice.choice([ways[i] for i, cost in enumerate(costs) if cost == least])
        if kind == "double":
            plies += x.double(*steps)
        elif kind == "hidden":
            plies += x.hide(*steps[0])
        else:
            plies += x.single(*steps[0])
        if steps[-1][1] in self.targets:
            return plies
        return plies + x.back(spare(x.hand, ("investigate", "special")))

    def _start(self) -> tuple[str, int]:
        """The mission and start whose way is shortest, with detectives far off."""
        x = self.x

        def length(choice: tuple[str, int]) -> float:
            colour, city = choice
            away = min([row[city] for row in self.rows], default=FAR)
            return x.board.to_target(colour)[city] - ROOM * min(away, FAR)

        choices = [(colour, city) for colour in x.colours() for city in x.starts(colour)]
        least = min(map(length, choices))
        return self.dice.choice([choice for choice in choices if length(choice) == least])

    def _long_ways(self, team: Collection[int]) -> dict[int, float]:
        """Moves to a target from each city, those past detectives counted longer.

        Dijkstra's algorithm from the targets. What counts is how near a detective is to each city
        that is entered, now.
        """
        x = self.x
        extra = {city: PAST[min(moves, len(PAST) - 1)] for city, moves in _nearest(x, team).items()}
        found: dict[int, float] = {}
        heap = [(extra[city] if city in team else 0.0, city) for city in sorted(self.targets)]
        heapify(heap)
        while heap:
            length, city = heappop(heap)
            if city in found:
                continue
            found[city] = length
            for end in x.board.around[city]:
                if end not in found:
                    heappush(heap, (length + 1 + extra[city], end))
        return found

    def _ways(self) -> list[tuple[str, tuple[Step, ...]]]:
        """What is looked at: normal moves, and actions where a detective is near."""
        x = self.x
        ways: list[tuple[str, tuple[Step, ...]]] = [("single", (step,)) for step in x.steps()]
        here = x.city or 0
        if not ways or min([row[here] for row in self.rows], default=FAR) <= NEAR:
            ways += [("hidden", (step,)) for step in x.hidden()]
            ways += [("double", steps) for steps in x.doubles()]
        elif any(
            end in self.targets for city in x.board.around[here] for end in x.board.around[city]
        ):
            ways += [("double", steps) for steps in x.doubles() if steps[1][1] in self.targets]
        return ways

    def _cost(self, kind: str, steps: tuple[Step, ...]) -> float:
        """What a way costs in moves: those still to go, and the danger at its end."""
        end = steps[-1][1]
        price = 0.0 if kind == "single" else PRICE
        if end in self.targets:
            return price - len(self.x.board.cities)
        beside = sum(1 for row in self.rows if row[end] == 1)
        if not self.knows:
            room = min([row[end] for row in self.rows], default=FAR)
            danger = CAUGHT if beside else 0.0
            return self.to_target[end] + price + RISK * danger - ROOM * min(room, FAR)
        seen = self._foresee(kind, steps)
        if end in seen.team:
            danger = SEEN
        elif end in seen.jumps:
            danger = JUMP
        else:
            danger = LOOSE * min(1.0, beside * seen.chances.get(end, 0.0))
        return seen.to_target[end] + price + RISK * danger - ROOM * min(seen.nearest[end], FAR)

    def _foresee(self, kind: str, steps: tuple[Step, ...]) -> Foreseen:
        """What the team must think after a way, and where it goes; the same for ways alike."""
        x = self.x
        entries = len(x.turn.view["entries"]) - (not self.begun) + len(steps)
        key = tuple([None if kind == "hidden" else transport(ticket) for ticket, _ in steps])
        is_open = entries > x.turn.deal.numbers["spaces"]
        if is_open:
            key = (*key, str(steps[-1][1]))
        if key not in self.foreseen:
            belief = self._belief().copy()
            for way in key[: len(steps)]:
                belief.moved(way, x.taken.union(self.targets))
            possible = {steps[-1][1]} if is_open else belief.now
            may_jump = entries >= x.turn.deal.numbers["action_from"]
            self.foreseen[key] = self._foreseen(possible, may_jump=may_jump)
        return self.foreseen[key]

    def _foreseen(self, possible: set[int], *, may_jump: bool) -> Foreseen:
        x = self.x
        colour = x.colour or ""
        team = answer(x.board, colour, x.taken, possible) if x.taken else []
        chances = likely(x.board, colour, possible)
        reach = {end for at in team for end in x.board.near["car"][at]} if may_jump else set[int]()
        jumps = sorted(reach & possible - set(team), key=lambda city: (-chances[city], city))[:1]
        return Foreseen(team, jumps, chances, self._long_ways(team), _nearest(x, team))

    def _belief(self) -> Belief:
        """The team's belief set before the way: behind the opening the starts of his colour."""
        belief = self.x.belief
        if not self.begun:
            return belief
        fresh = belief.copy()
        fresh.sets[-1] = set(self.x.starts(self.x.colour or ""))
        return fresh


class Foreseen:
    """A round ahead.

    Attributes:
        team: where the detectives go.
        jumps: where a special mission may go then.
        chances: how likely the team must think each city before it goes.
        to_target: moves from each city to a target, past where they are then.
        nearest: moves of the nearest of them to each city.
    """

    def __init__(
        self,
        team: list[int],
        jumps: list[int],
        chances: dict[int, float],
        to_target: dict[int, float],
        nearest: dict[int, int],
    ) -> None:
        self.team = team
        self.jumps = jumps
        self.chances = chances
        self.to_target = to_target
        self.nearest = nearest


def _nearest(x: Escape, team: Collection[int]) -> dict[int, int]:
    """Moves of the nearest detective to each city."""
    return x.board.distances(*sorted(team)) if team else dict.fromkeys(x.board.cities, FAR)
