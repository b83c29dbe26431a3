"""Databases of very many games that nobody played: rows of real shape, results of the rating model.

For each deal a few games are really played, in memory and between bots that draw lots, until one
of them was won by either side. Every stored game is one of those two, with ids and bots of its own;
which one is drawn by model A of the ratings, from strengths that are known. So the records replay,
and the ratings can be compared with the truth.

Run as a program it makes a data folder: `python -m tests.at_scale.simulated FOLDER GAMES BOTS`.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import msgspec
import trio
import trio.testing

from arena.cli.stored import DATABASE
from arena.referee.record import BotName, BotSpec, GameRecord, GameSpec, SideWord, TurnTime
from arena.referee.referee import play_game
from arena.rules import registry
from arena.store.database import Database
from arena.store.runs import Run
from arena.tournament import seeds
from arena.tournament.plan import Plan
from tests.fake_games import fake_bot, fake_plan
from tests.referee.games import Brain, FakePool, Request, honest, honest_play, line

__all__ = ["ELO", "ROLE", "simulate", "simulated_plan", "strengths"]

ELO = 400 / math.log(10)
ROLE = -0.6  # logits: between equals the detectives win 65 of 100
SPREAD = 200.0  # Elo points: standard deviation of the strengths
DEAL_SD = 1.0  # logits by which deals differ
ANSWER_MS = 3.0  # the mean of what an answer is charged
_PIECE = 10_000  # games a transaction
_SIDES: tuple[SideWord, SideWord] = ("mister_x", "detectives")


def simulated_plan(bots: int, deals: int, *, seed: int = 1) -> Plan:
    """Return a round robin of so many bots: `bots * (bots - 1) * deals` games."""
    text = str(seed)
    return fake_plan(
        [fake_bot(f"bot{number:04}") for number in range(bots)],
        deals=deals,
        behaviour=registry.make("london-2013").behaviour,
        secret=seeds.open_secret(text).hex(),
        open_seed=text,
    )


def strengths(bots: int, *, seed: int = 1) -> list[float]:
    """Return the true strengths of the simulated bots, in logits, by their place in the plan."""
    dice = random.Random(f"strengths {seed}")
    return [dice.gauss(0, SPREAD) / ELO for _ in range(bots)]


def simulate(path: Path, plan: Plan, *, seed: int = 1, missing: int = 0) -> Run:
    """Store the games of a plan, as if they had been played; with all of them the run is over.

    Args:
        path: of the database; made if it is missing.
        plan: as `simulated_plan` makes it.
        seed: of strengths, deals and results.
        missing: how many games, the last ones, are left out.
    """
    true = strengths(len(plan.entrants), seed=seed)
    dice = random.Random(f"results {seed}")
    deals: dict[int, tuple[float, dict[SideWord, GameRecord]]] = {}
    with Database(path) as database:
        run = database.begin(plan)
        with in_bulk(database) as piece:
            for index in range(plan.count - missing):
                if index % _PIECE == 0:
                    piece()
                spec = plan.spec(index)
                if spec.deal not in deals:
                    deals[spec.deal] = dice.gauss(0, DEAL_SD), won_by_either(spec)
                ease, games = deals[spec.deal]
                _, x, d = plan.pairing(index)
                escapes = 1 / (1 + math.exp(-(ROLE + ease + true[x] - true[d])))
                winner = _SIDES[dice.random() >= escapes]
                database.add_record(run, as_played(spec, games[winner]))
        if not missing:
            database.finish(run)
        return database.find_run(run.id)


def as_played(spec: GameSpec, game: GameRecord) -> GameRecord:
    """Return a game of the same deal as a record of this one."""
    core = msgspec.structs.replace(
        game.core,
        game=spec.game,
        index=spec.index,
        game_key=spec.game_key,
        mister_x=named(spec.mister_x),
        detectives=named(spec.detectives),
        clock=spec.clock,
    )
    return msgspec.structs.replace(game, core=core)


def named(bot: BotSpec) -> BotName:
    return BotName(name=bot.name, version=bot.version, hash=bot.hash)


def won_by_either(spec: GameSpec) -> dict[SideWord, GameRecord]:
    """Play games of one deal until either side has won one; return one of each."""
    found: dict[SideWord, GameRecord] = {}
    dice = random.Random(f"plays {spec.deal}")
    while len(found) < len(_SIDES):
        record = play_at_random(spec, dice)
        assert record.core.winner is not None
        found.setdefault(record.core.winner, with_times(record, dice))
    return found


def play_at_random(spec: GameSpec, dice: random.Random) -> GameRecord:
    """Play a game in memory between two that draw lots."""
    unheld = msgspec.structs.replace(spec, sandbox="none")

    async def play() -> GameRecord:
        names = (spec.mister_x.name, spec.detectives.name)
        async with FakePool(dict.fromkeys(names, drawing(dice))) as pool:
            return await play_game(unheld, pool)

    return trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))


def drawing(dice: random.Random) -> Brain:
    """A fake bot that draws its steps."""

    def brain(request: Request) -> bytes:
        if request["type"] != "turn":
            return honest(request)
        legal = dice.sample(request["legal"], len(request["legal"]))
        return line(**honest_play({**request, "legal": legal}))

    return brain


def with_times(record: GameRecord, dice: random.Random) -> GameRecord:
    """Return a record whose answers took their time."""
    aside = record.aside
    seats = {}
    for side in _SIDES:
        seat = getattr(aside, side)
        times = tuple(
            TurnTime(
                play=time.play, charged_ms=round(dice.expovariate(1 / ANSWER_MS), 3), bank_ms=0
            )
            for time in seat.times
        )
        seats[side] = msgspec.structs.replace(seat, times=times, start_ms=30.0)
    return msgspec.structs.replace(record, aside=msgspec.structs.replace(aside, **seats))


@contextmanager
def in_bulk(database: Database) -> Iterator[Callable[[], None]]:
    """Store many games in a transaction; gives a function that begins the next one."""
    connection = database._db
    for pragma in ("synchronous = OFF", "cache_size = -262144"):
        database.rows(f"PRAGMA {pragma}")
    writing = connection.writing
    is_begun = False

    def piece() -> None:
        nonlocal is_begun
        if is_begun:
            connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
        is_begun = True

    connection.writing = lambda _what: nullcontext()  # type: ignore[method-assign,assignment,return-value]
    try:
        yield piece
        connection.execute("COMMIT")
    finally:
        connection.writing = writing  # type: ignore[method-assign]


def main(folder: Path, games: int, bots: int) -> None:
    """Make a data folder with about so many games."""
    deals = max(1, round(games / (bots * (bots - 1))))
    run = simulate(folder / DATABASE, simulated_plan(bots, deals))
    sys.stdout.write(f"run {run.id}: {run.plan.count:,} games\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
