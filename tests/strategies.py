"""Hypothesis strategies: rulesets by name, and games of them played at random.

States come from playing legal plies, never built by hand. What the tests must know of one game
alone (which states a side can't tell apart, what is conserved) stands in `HOOKS`, one entry a
family of rulesets.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from random import Random
from typing import Any

import msgspec
from hypothesis import strategies as st

from arena.errors import ConfigError, IllegalMove
from arena.rules import registry
from arena.rules.europe import Europe
from arena.rules.london import London
from arena.rules.london.state import TICKETS, State, Step
from arena.rules.ruleset import Played, Ply, Ruleset, Side
from tests import strategies_of_europe as of_europe

__all__ = [
    "HOOKS",
    "Hooks",
    "Trace",
    "all_texts",
    "deal_seed",
    "hooks",
    "play_out",
    "random_turn",
    "texts",
    "traces",
]

Rules = Ruleset[Any, Any]

MANY_TEXTS = 200  # more than these of a preset are not all tried
MIXED_TEXTS = 10


@dataclass(frozen=True)
class Hooks:
    """What the contract tests must know of one family of rulesets."""

    turn: Callable[[Any, Any, Random], tuple[Any, ...]]  # a random complete turn
    twin: Callable[[Any, Any, Side, Random], Any]  # a state that this side can't tell from it
    alike: Callable[[Any, Any, Any, Random], Any]  # a turn that the other side can't tell from it
    stock: Callable[[Any, Any], Mapping[str, int]]  # what is conserved, by kind
    universe: Callable[[Any], Iterable[Any]]  # every ply that the ply type can spell, or enough
    tells: Callable[[Any], bool] = lambda _: False  # an event of chance, or an answer, may differ


@dataclass(frozen=True)
class Trace:
    """One game: the states at which a side was asked, the turns it chose, what came of them."""

    ruleset: Rules
    seed: bytes
    number: int
    states: tuple[Any, ...]  # one more than turns
    turns: tuple[tuple[Ply, ...], ...]
    played: tuple[Played, ...]


def deal_seed(number: int) -> bytes:
    """Return a fixed seed of 32 bytes."""
    return hashlib.sha256(b"tests: deal %d" % number).digest()


# London


def london_turn(ruleset: London, state: State, dice: Random) -> tuple[Step, ...]:
    """Mister X uniform over whole turns, each single and each double; the team in any order."""
    if ruleset.to_move(state) is Side.MISTER_X:
        singles = ruleset.legal(state)
        doubles = [(one, two) for one in singles for two in ruleset.followers(state, one)]
        place = dice.randrange(len(singles) + len(doubles))
        return (singles[place],) if place < len(singles) else doubles[place - len(singles)]
    plies: list[Step] = []
    while ruleset.to_move(state) is Side.DETECTIVES and (legal := ruleset.legal(state)):
        figure = dice.choice(sorted({step.figure for step in legal}))
        plies.append(dice.choice([step for step in legal if step.figure == figure]))
        state = ruleset.play(state, plies[-1:], more=True).state
        if not state.unmoved:
            break
    return tuple(plies)


def london_twin(ruleset: London, state: State, side: Side, dice: Random) -> State:
    """Mister X elsewhere, then and now, save where a reveal or a capture told where."""
    if side is Side.MISTER_X:
        return state  # nothing is hidden from him
    free = sorted(
        {station.id for station in ruleset.board.stations} - {f.station for f in state.figures}
    )
    shown = [None, *(slot.station for slot in state.log)]
    path = [dice.choice(free) if open_ is None else open_ for open_ in shown]
    if state.ended is not None and state.ended.reason == "captured":
        path[-1] = state.path[-1]
    return msgspec.structs.replace(state, path=tuple(path))


def london_alike(
    ruleset: London, state: State, turn: tuple[Step, ...], dice: Random
) -> tuple[Step, ...]:
    """Another turn of Mister X with the same tickets and the same stations where he is shown."""
    if ruleset.to_move(state) is not Side.MISTER_X:
        return turn  # all that the team does lies open
    shown = [len(state.log) + i in ruleset.numbers.reveals for i in range(1, len(turn) + 1)]

    def fits(index: int, step: Step) -> bool:
        told = turn[index]
        return step.ticket == told.ticket and (not shown[index] or step.to == told.to)

    firsts = [step for step in ruleset.legal(state) if fits(0, step)]
    if len(turn) == 1:
        return (dice.choice(firsts),)
    pairs = [(a, b) for a in firsts for b in ruleset.followers(state, a) if fits(1, b)]
    return dice.choice(pairs)


def london_stock(ruleset: London, state: State) -> dict[str, int]:
    """Black tickets; ordinary ones where the supply is finite; double-move cards."""
    spent = [slot.ticket for slot in state.log]
    stock = {"black": state.blacks + spent.count("black"), "double": state.doubles}
    if state.supply is not None:
        purses = [f.tickets for f in state.figures if f.tickets is not None]
        purses += [state.supply] + ([state.pool] if state.pool is not None else [])
        for kind in ("taxi", "bus", "metro"):
            stock[kind] = sum(getattr(purse, kind) for purse in purses) + spent.count(kind)
    rounds = ruleset.facts(state)["rounds"]
    assert isinstance(rounds, int)
    stock["double"] += len(state.log) - rounds
    return stock


def london_universe(ruleset: London) -> Iterable[Step]:
    """Every figure, ticket and station, and some that there are not."""
    stations = [*(station.id for station in ruleset.board.stations), 200, 999_999]
    figures = ("x", "d1", "d2", "d3", "d4", "d5", "b1", "b2")
    for figure, ticket, to in itertools.product(figures, TICKETS, stations):
        yield Step(figure=figure, ticket=ticket, to=to)  # type: ignore[arg-type]


def hooks_in(module: Any) -> Hooks:
    """The hooks of a module that has them under these names."""
    names = ("turn", "twin", "alike", "stock", "universe", "tells")
    return Hooks(**{name: getattr(module, name) for name in names if hasattr(module, name)})


HOOKS: dict[type, Hooks] = {
    London: Hooks(
        turn=london_turn,
        twin=london_twin,
        alike=london_alike,
        stock=london_stock,
        universe=london_universe,
    ),
    Europe: hooks_in(of_europe),
    # A package that plugs a ruleset in names a module with hooks, and `RULESET`, its class.
    **{
        module.RULESET: hooks_in(module)
        for module in (entry.load() for entry in entry_points(group="arena.rulesets.hooks"))
    },
}


# Every ruleset


def hooks(ruleset: Rules) -> Hooks:
    """Return what the contract tests know of a ruleset."""
    return HOOKS[type(ruleset)]


def random_turn(ruleset: Rules, state: Any, dice: Random) -> tuple[Any, ...]:
    """Return a complete turn of the side to move."""
    return hooks(ruleset).turn(ruleset, state, dice)


def play_out(ruleset: Rules, deal: int, dice_seed: int) -> Trace:
    """Return a whole game of random turns; the same for the same numbers."""
    dice = Random(dice_seed)
    seed = deal_seed(deal)
    states = [ruleset.deal(seed, deal)]
    turns: list[tuple[Ply, ...]] = []
    played: list[Played] = []
    while ruleset.to_move(states[-1]) is not None:
        turns.append(random_turn(ruleset, states[-1], dice))
        played.append(ruleset.play(states[-1], turns[-1], more=False))
        states.append(played[-1].state)
        assert len(turns) <= ruleset.max_turns
    return Trace(ruleset, seed, deal, tuple(states), tuple(turns), tuple(played))


def complete(ruleset: Rules, state: Any, ply: Any, dice: Random) -> Any:
    """Return the state after a turn that begins with a ply, the rest chosen at random."""
    while True:
        try:
            return ruleset.play(state, (ply,), more=False).state
        except IllegalMove:
            played = ruleset.play(state, (ply,), more=True)
            state = played.state
        if not played.goes_on:
            return state
        ply = dice.choice(ruleset.legal(state))


def all_texts(name: str) -> list[str]:
    """Return every ruleset that a preset's options can make, as its canonical text.

    Of a preset with many options: each value of each with all others at their default, and some
    with values of all options at once, the same ones always.
    """
    options = registry.preset(name).options
    found: dict[str, None] = {}
    choices: list[tuple[str | int, ...]] = []
    if math.prod(len(option.values) for option in options) <= MANY_TEXTS:
        choices += itertools.product(*(option.values for option in options))
    else:
        defaults = tuple(option.values[0] for option in options)
        for place, option in enumerate(options):
            choices += [
                (*defaults[:place], value, *defaults[place + 1 :]) for value in option.values
            ]
        dice = Random(name)
        choices += [tuple(dice.choice(o.values) for o in options) for _ in range(MIXED_TEXTS)]
    for values in choices:
        given = {o.name: v for o, v in zip(options, values, strict=True) if v != o.values[0]}
        part = ",".join(f"{key}={value}" for key, value in given.items())
        try:
            found[registry.make(f"{name}:{part}" if part else name).text] = None
        except ConfigError:
            continue  # options that exclude each other
    return list(found)


def texts(name: str) -> st.SearchStrategy[str]:
    """Rulesets of one preset, with any options."""
    return st.sampled_from(all_texts(name))


def traces(name: str) -> st.SearchStrategy[Trace]:
    """Whole games of one preset, with any options."""
    numbers = st.integers(0, 2**32)
    return st.builds(play_out, texts(name).map(registry.make), numbers, numbers)
