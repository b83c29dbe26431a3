"""Europe's balance: the reference bots against each other on each mission, in process.

    python -m tests.benchmarks.europe_balance --games 300

prints Mister X's win rates as the table of `arena/rules/europe/data/SOURCE.md`; `--board FILE`
plays on another board in the format, such as ours with other tickets.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from arena.rules.europe.board import load_board
from arena.rules.europe.presets import Bound, bind
from arena.rules.europe.ruleset import Europe, make_on
from arena.rules.ruleset import Side

for _folder in ("sdk", "parts"):  # what a staged bot has beside it
    _place = str(files("bots") / _folder)
    if _place not in sys.path:
        sys.path.append(_place)

from tests.bots.in_process import Brain, load_bot, play_game  # noqa: E402 (it imports the SDK)

NAMES = ("random", "greedy", "belief")
MISSIONS = ("green", "yellow", "orange")
SHARE = 25  # games that one process plays in one go


class Outcome(msgspec.Struct, frozen=True):
    """One game."""

    won: bool  # by Mister X
    reason: str
    rounds: int
    investigations: int
    specials: int
    doubles: int
    hiddens: int
    stuck: int


class Cell(msgspec.Struct, frozen=True):
    """Some games of one pairing on one mission.

    Attributes:
        wins: Mister X's, in per cent.
        error: half the 95 % interval of that, in points.
        rounds: in the mean.
        reasons: how many games ended in which way.
        a_game: investigations, special missions, double moves, hidden moves and stuck turns a game.
    """

    mission: str
    mister_x: str
    detectives: str
    games: int
    wins: float
    error: float
    rounds: float
    reasons: dict[str, int]
    a_game: dict[str, float]


@cache
def rules_of(board: str | None, mission: str, players: int) -> Europe:
    """The ruleset with a mission, on our own board (None) or one from a file."""
    bound = bind() if board is None else Bound(load_board(Path(board)), "other")
    return make_on(bound, {"mission": mission, "players": players})


@cache
def brain(name: str, side: Side) -> Brain:
    found: Brain = getattr(load_bot(name), side)
    return found


def play(job: tuple[str | None, str, int, str, str, int, int]) -> list[Outcome]:
    """Play some games of a pairing, numbered from the first one."""
    board, mission, players, mister_x, detectives, first, games = job
    rules = rules_of(board, mission, players)
    brains = {
        Side.MISTER_X: brain(mister_x, Side.MISTER_X),
        Side.DETECTIVES: brain(detectives, Side.DETECTIVES),
    }
    found = []
    for seed in range(first, first + games):
        state, _ = play_game(rules, brains, seed)
        verdict = rules.verdict(state)
        assert verdict is not None
        tally = state.tally
        found.append(
            Outcome(
                verdict.winner is Side.MISTER_X,
                verdict.reason,
                state.round,
                tally.investigations,
                tally.specials,
                tally.doubles,
                tally.hiddens,
                tally.stuck,
            )
        )
    return found


def cell(mission: str, mister_x: str, detectives: str, found: Sequence[Outcome]) -> Cell:
    """Return what some games of a pairing come to."""
    games = len(found)
    share = sum(one.won for one in found) / games
    reasons = sorted({one.reason for one in found})
    counted = ("investigations", "specials", "doubles", "hiddens", "stuck")
    return Cell(
        mission,
        mister_x,
        detectives,
        games,
        100 * share,
        196 * (share * (1 - share) / games) ** 0.5,
        statistics.mean(one.rounds for one in found),
        {reason: sum(one.reason == reason for one in found) for reason in reasons},
        {name: statistics.mean(getattr(one, name) for one in found) for name in counted},
    )


def round_robin(
    games: int,
    *,
    board: str | None = None,
    missions: Iterable[str] = MISSIONS,
    mister_x: Iterable[str] = NAMES,
    detectives: Iterable[str] = NAMES,
    players: int = 6,
    processes: int = 1,
    first: int = 0,
) -> list[Cell]:
    """Play every pairing on every mission.

    Args:
        games: of each pairing and mission.
        board: a file; None is our own.
        missions: their colours.
        mister_x: bots that play him.
        detectives: bots that play the team.
        players: Mister X counted.
        processes: at once.
        first: number of the first deal.
    """
    cells = list(itertools.product(missions, mister_x, detectives))
    jobs = [
        (board, *one[:1], players, *one[1:], first + begin, min(SHARE, games - begin))
        for one in cells
        for begin in range(0, games, SHARE)
    ]
    if processes == 1:
        played = [play(job) for job in jobs]
    else:
        with ProcessPoolExecutor(processes) as pool:
            played = list(pool.map(play, jobs))
    shares = len(jobs) // len(cells)
    return [
        cell(*one, list(itertools.chain(*played[at * shares : (at + 1) * shares])))
        for at, one in enumerate(cells)
    ]


def table(cells: Sequence[Cell]) -> list[str]:
    """Return the lines of the table: a row a pairing, a column a mission."""
    missions = list(dict.fromkeys(one.mission for one in cells))
    rows: dict[tuple[str, str], list[str]] = {}
    for one in cells:
        rows.setdefault((one.mister_x, one.detectives), []).append(f"{one.wins:.1f}")
    lines = [
        f"| Mister X | detectives | {' | '.join(missions)} |",
        f"| --- | --- | {' | '.join('---' for _ in missions)} |",
    ]
    return lines + [f"| {x} | {team} | {' | '.join(row)} |" for (x, team), row in rows.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=300, help="of each pairing and mission")
    parser.add_argument("--board", help="a board's file; without it our own")
    parser.add_argument("--players", type=int, default=6)
    parser.add_argument("--mister-x", nargs="+", default=NAMES)
    parser.add_argument("--detectives", nargs="+", default=NAMES)
    parser.add_argument("--missions", nargs="+", default=MISSIONS)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first deal")
    asked = parser.parse_args()
    cells = round_robin(
        asked.games,
        board=asked.board,
        missions=asked.missions,
        mister_x=asked.mister_x,
        detectives=asked.detectives,
        players=asked.players,
        processes=asked.processes,
        first=asked.first,
    )
    lines = [*table(cells), *(json.dumps(msgspec.to_builtins(one)) for one in cells)]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
