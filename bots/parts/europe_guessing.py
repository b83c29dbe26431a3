"""Where a team may think that Mister X is in Europe, and how it then goes: for both sides."""

from __future__ import annotations

from misterx_europe import action, transport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from misterx_europe import Board

    Weights = dict[int, float]  # city → how likely he is there

EAGER = 3.0  # how much likelier he is in a city, or takes a link to it, that is a move nearer
WEIGHTS = (1.0, 0.7)  # what a city weighs that he may be in after one and after two moves
CATCH = 12.0  # what a sure capture is worth, in moves of the nearest detective
ALL = 0.1  # what the average of all detectives' moves counts for, against 1 for the nearest
KEPT = 2  # tickets of car and of rail that are never put back; of air 1


def likely(board: Board, colour: str, cities: Iterable[int]) -> Weights:
    """Return how likely each of these cities is: who wants to a target is not far behind."""
    away = board.to_target(colour)
    weights = {city: EAGER ** -away[city] for city in sorted(cities)}
    total = sum(weights.values())
    return {city: weight / total for city, weight in weights.items()}


def ahead(board: Board, colour: str, chances: Weights) -> Weights:
    """Return where he may be after his next moves, each move with its weight."""
    away = board.to_target(colour)
    found: Weights = {}
    now = chances
    for weight in WEIGHTS:
        then: Weights = {}
        for city, chance in now.items():
            pulls = {end: EAGER ** (away[city] - away[end]) for end in board.around[city]}
            total = sum(pulls.values())
            for end, pull in pulls.items():
                then[end] = then.get(end, 0.0) + chance * pull / total
        for city, chance in then.items():
            found[city] = found.get(city, 0.0) + weight * chance
        now = then
    return found


def off(board: Board, at: int, next_: Weights) -> float:
    """Return how far a detective is from where he may be next, weighted."""
    row = board.distances(at)
    return sum([weight * row[city] for city, weight in next_.items()])


def costs(
    board: Board, ends: Iterable[int], others: Iterable[int], chances: Weights, next_: Weights
) -> list[float]:
    """Return what each end of a detective's step costs the team: less is better.

    Args:
        board: of the deal.
        ends: where the step can lead.
        others: where the other detectives stand.
        chances: how likely he is in each city now.
        next_: where he may be next.
    """
    rows = [board.distances(at) for at in others]
    nearest = [
        (city, weight, min([row[city] for row in rows], default=len(board.cities)))
        for city, weight in next_.items()
    ]
    found = []
    for to in ends:
        row = board.distances(to)
        cost = -CATCH * chances.get(to, 0.0)
        for city, weight, moves in nearest:
            own = row[city]
            cost += weight * ((own if own < moves else moves) + ALL * own)
        found.append(cost)
    return found


def answer(board: Board, colour: str, team: Collection[int], possible: Iterable[int]) -> list[int]:
    """Return where a team goes that knows he is in one of these cities, whatever its tickets.

    Detective after detective, the nearest first, takes the step that costs least.
    """
    chances = likely(board, colour, possible)
    next_ = ahead(board, colour, chances)
    here, there = sorted(team, key=lambda at: (off(board, at, next_), at)), list[int]()
    while here:
        at = here.pop(0)
        others = [*here, *there]
        ends = [end for end in board.around[at] if end not in others] or [at]
        prices = costs(board, ends, others, chances, next_)
        to = ends[prices.index(min(prices))]
        there.append(to)
        chances.pop(to, None)
    return there


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
