"""Mister X in Europe: runs for the nearest target and keeps away from the detectives."""

from __future__ import annotations

from misterx_europe import Escape, action, transport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from misterx_europe import Belief, Step
    from misterx_sdk import Turn

    Ply = dict[str, Any]
    Cost = tuple[float, int]

NEAR = 2  # moves of the nearest detective from which double and hidden moves are looked at
PRICE = 0.5  # of an action, in moves
RISK = 6.0  # what a certain capture costs, in moves
CAUGHT = 0.5  # how likely greedy thinks that a detective beside him catches him
ROOM = 0.15  # what each move to the nearest detective is worth, in moves, up to FAR
FAR = 4
KEPT = 2  # tickets of car and of rail that are never put back; of air 1


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

    def plies(self) -> list[Ply]:
        """Return the whole turn."""
        x = self.x
        plies = x.opening(*self._start()) if x.city is None else []
        colour = x.colour or ""
        self.targets = x.board.targets[colour]
        self.to_target = self._free_ways()
        self.sets: dict[tuple[str | None, ...], set[int]] = {}
        self.begun = bool(plies)
        ways = self._ways()
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

    def _free_ways(self) -> dict[int, int]:
        """Moves to a target from each city, not through a detective where that can be helped."""
        x = self.x
        far = len(x.board.cities)
        found = {city: far + moves for city, moves in x.board.distances(*self.targets).items()}
        edge = [city for city in self.targets if city not in x.taken]
        found.update(dict.fromkeys(edge, 0))
        moves = 0
        while edge:
            moves += 1
            edge = sorted(
                {
                    end
                    for city in edge
                    for end in x.board.around[city]
                    if end not in x.taken and found[end] >= far
                }
            )
            found.update(dict.fromkeys(edge, moves))
        return found

    def _ways(self) -> list[tuple[str, tuple[Step, ...]]]:
        """What is looked at: normal moves, and actions where a detective is near."""
        x = self.x
        ways: list[tuple[str, tuple[Step, ...]]] = [("single", (step,)) for step in x.steps()]
        here = x.city or 0
        if not ways or min([row[here] for row in self.rows], default=FAR) <= NEAR:
            ways += [("hidden", (step,)) for step in x.hidden()]
            ways += [("double", steps) for steps in x.doubles()]
        elif self.to_target[here] == NEAR:
            ways += [("double", steps) for steps in x.doubles() if steps[1][1] in self.targets]
        return ways

    def _cost(self, kind: str, steps: tuple[Step, ...]) -> float:
        """What a way costs in moves: those still to go, and the danger at its end."""
        end = steps[-1][1]
        price = 0.0 if kind == "single" else PRICE
        if end in self.targets:
            return price - len(self.x.board.cities)
        away = [row[end] for row in self.rows]
        beside = away.count(1)
        room = min(min(away, default=FAR), FAR)
        if not beside:
            danger = 0.0
        elif self.knows:
            danger = min(1.0, beside / len(self._thought(kind, steps)))
        else:
            danger = CAUGHT
        return self.to_target[end] + price + RISK * danger - ROOM * room

    def _thought(self, kind: str, steps: tuple[Step, ...]) -> set[int]:
        """Where the team must think that he can be after a way."""
        x = self.x
        entries = len(x.turn.view["entries"]) - (not self.begun) + len(steps)
        if entries > x.turn.deal.numbers["spaces"]:
            return {steps[-1][1]}
        transports = [None if kind == "hidden" else transport(ticket) for ticket, _ in steps]
        key = tuple(transports)
        if key not in self.sets:
            belief = self._belief().copy()
            for way in transports:
                belief.moved(way, x.taken.union(self.targets))
            self.sets[key] = belief.now
        return self.sets[key]

    def _belief(self) -> Belief:
        """The team's belief set before the way: behind the opening the starts of his colour."""
        belief = self.x.belief
        if not self.begun:
            return belief
        fresh = belief.copy()
        fresh.sets[-1] = set(self.x.starts(self.x.colour or ""))
        return fresh


def spare(hand: Iterable[str], useless: tuple[str, ...]) -> list[str]:
    """Return the tickets of a hand that are worth changing for others.

    Those whose action is the other side's, as long as enough of their transport are left.
    """
    left = list(hand)
    found = []
    for ticket in sorted(left, key=transport):
        by = transport(ticket)
        count = sum(1 for one in left if transport(one) == by)
        if action(ticket) in useless and count > (1 if by == "air" else KEPT):
            left.remove(ticket)
            found.append(ticket)
    return found
