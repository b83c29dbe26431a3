"""The team in Europe: greedy walks to a guess and its target, belief closes in on the whole set."""

from __future__ import annotations

from europe_running import spare
from misterx_europe import Hunt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from misterx_europe import Board
    from misterx_sdk import Turn

    Ply = dict[str, Any]
    Weights = dict[int, float]  # city → how likely he is there; they sum to 1

HIS = ("double", "hidden")  # actions that are of no use to the team
AHEAD = 2  # moves of his that are looked ahead
WEIGHTS = (1.0, 0.7)  # what a city weighs that he may be in after one and after two moves
CATCH = 12.0  # what a sure capture is worth, in moves of the nearest detective
ALL = 0.1  # what the average of all detectives' moves counts for, against 1 for the nearest
EAGER = 3.0  # how much likelier he takes a link that brings him a move nearer to a target
SURE = 0.2  # chance of a capture from which a special mission goes before an investigation
WORTH = 0.75  # an investigation has to leave less than this share of the set
SMALL = 3  # a set of so few cities needs none


def walk(turn: Turn) -> list[Ply]:
    """Greedy: guess one city, and go there or to the target that is nearest to it."""
    team, dice = Hunt(turn), turn.deal.dice
    board = team.board
    guess = board.distances(dice.choice(sorted(team.belief.now)))
    targets = board.targets[team.turn.view["colour"]]
    aim = board.distances(min(targets, key=lambda city: (guess[city], city)))
    for figure, steps in team:
        here = team.cities[figure]
        row = guess if guess[here] <= aim[here] else aim
        least = min([row[to] for _, to in steps])
        team.go(figure, *dice.choice([step for step in steps if row[step[1]] == least]))
    _put_back(team)
    return team.plies


def close_in(turn: Turn) -> list[Ply]:
    """Belief: the steps after which he is likely to be caught, or to run into a detective."""
    team = Hunt(turn)
    _move(team)
    _act(team)
    _put_back(team)
    return team.plies


def _move(team: Hunt) -> None:
    """Move one detective after the other, the nearest first."""
    board, dice = team.board, team.turn.deal.dice
    chances = _likely(team)
    ahead = _ahead(team, chances)
    while waiting := team.waiting():
        figure = min(waiting, key=lambda name: (_off(board, team.cities[name], ahead), name))
        steps = team.steps(figure)
        others = [at for name, at in team.cities.items() if name != figure]
        costs = _costs(board, [to for _, to in steps], others, chances, ahead)
        least = min(costs)
        ticket, to = dice.choice([steps[i] for i, cost in enumerate(costs) if cost == least])
        team.go(figure, ticket, to)
        chances.pop(to, None)


def _likely(team: Hunt) -> Weights:
    """How likely he is in each city of the belief set: who is behind is not where he would be."""
    away = team.board.to_target(team.turn.view["colour"])
    possible = sorted(team.belief.now)
    weights = {city: EAGER ** -away[city] for city in possible}
    total = sum(weights.values())
    return {city: weight / total for city, weight in weights.items()}


def _ahead(team: Hunt, chances: Weights) -> Weights:
    """Where he may be after his next moves, each move with its weight."""
    board = team.board
    away = board.to_target(team.turn.view["colour"])
    found: Weights = {}
    now = chances
    for weight in WEIGHTS:
        then: Weights = {}
        for city, chance in now.items():
            ends = board.around[city]
            pulls = {end: EAGER ** (away[city] - away[end]) for end in ends}
            total = sum(pulls.values())
            for end, pull in pulls.items():
                then[end] = then.get(end, 0.0) + chance * pull / total
        for city, chance in then.items():
            found[city] = found.get(city, 0.0) + weight * chance
        now = then
    return found


def _off(board: Board, at: int, ahead: Weights) -> float:
    """How far a detective is from where he may be next, on average."""
    row = board.distances(at)
    return sum([weight * row[city] for city, weight in ahead.items()])


def _costs(
    board: Board, ends: list[int], others: list[int], chances: Weights, ahead: Weights
) -> list[float]:
    """What the table costs the team after each step of a detective: less is better."""
    rows = [board.distances(at) for at in others]
    nearest = [
        (city, weight, min([row[city] for row in rows], default=len(board.cities)))
        for city, weight in ahead.items()
    ]
    costs = []
    for to in ends:
        row = board.distances(to)
        cost = -CATCH * chances.get(to, 0.0)
        for city, weight, moves in nearest:
            own = row[city]
            cost += weight * ((own if own < moves else moves) + ALL * own)
        costs.append(cost)
    return costs


def _act(team: Hunt) -> None:
    """A special mission that is likely to catch him, else an investigation that tells enough."""
    possible = sorted(team.possible)
    if not possible:
        return
    away = team.board.to_target(team.turn.view["colour"])
    weights = {city: EAGER ** -away[city] for city in possible}
    total = sum(weights.values())
    jumps = [
        (weights[to] / total, price, figure, to)
        for price in team.prices("special")
        for figure, to in team.missions(price)
        if to in weights
    ]
    best = max(jumps, key=lambda jump: (jump[0], -jump[1])) if jumps else None
    if best is not None and best[0] >= SURE:
        team.special(*best[1:])
        return
    price = _question(team, possible)
    if price is not None:
        team.investigate(price)
    elif best is not None:
        team.special(*best[1:])


def _question(team: Hunt, possible: list[int]) -> int | None:
    """The price of the investigation that leaves the smallest set, if it is worth it."""
    if len(possible) <= SMALL:
        return None
    found: list[tuple[float, int]] = []
    for price in team.prices("investigate"):
        entry = team.asked_entry(price)
        now = team.belief.copy()
        now.narrow(len(now.sets) - 1, possible)
        sizes = []
        for city in sorted(now.sets[entry]):
            told = now.copy()
            told.narrow(entry, (city,))
            sizes.append(len(told.now))
        found.append((sum([size * size for size in sizes]) / sum(sizes), price))
    if not found:
        return None
    left, price = min(found)
    return price if left < WORTH * len(possible) else None


def _put_back(team: Hunt) -> None:
    """Change tickets that show Mister X's actions, as long as the hand can still move."""
    team.back(
        [(player, ticket) for player, hand in team.hands.items() for ticket in spare(hand, HIS)]
    )
