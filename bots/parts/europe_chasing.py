"""The team in Europe: greedy walks to a guess and its target, belief closes in on the whole set."""

from __future__ import annotations

from europe_guessing import ahead, costs, likely, off, spare
from misterx_europe import Hunt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from misterx_sdk import Turn

    Ply = dict[str, Any]

HIS = ("double", "hidden")  # actions that are of no use to the team
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
    board, dice, colour = team.board, team.turn.deal.dice, team.turn.view["colour"]
    chances = likely(board, colour, team.belief.now)
    next_ = ahead(board, colour, chances)
    while waiting := team.waiting():
        figure = min(waiting, key=lambda name: (off(board, team.cities[name], next_), name))
        steps = team.steps(figure)
        others = [at for name, at in team.cities.items() if name != figure]
        prices = costs(board, [to for _, to in steps], others, chances, next_)
        least = min(prices)
        ticket, to = dice.choice([steps[i] for i, cost in enumerate(prices) if cost == least])
        team.go(figure, ticket, to)
        chances.pop(to, None)


def _act(team: Hunt) -> None:
    """A special mission that is likely to catch him, else an investigation that tells enough."""
    possible = sorted(team.possible)
    if not possible:
        return
    chances = likely(team.board, team.turn.view["colour"], possible)
    jumps = [
        (chances[to], price, figure, to)
        for price in team.prices("special")
        for figure, to in team.missions(price)
        if to in chances
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
