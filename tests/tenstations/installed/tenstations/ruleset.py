"""The rules by their numbers (RULES.md), bound into one Ruleset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from arena.errors import ConfigError, IllegalMove
from arena.rules.board import canonical_hash, check_ids, check_links, read_map
from arena.rules.dealing import Stream
from arena.rules.ruleset import Event, Option, Played, Preset, Side, Verdict, filled, spelled

from .state import (
    DETECTIVES,
    Board,
    DetectivesView,
    End,
    Moved,
    Numbers,
    SatOut,
    Seen,
    State,
    Step,
    schema,
    view,
)

__all__ = ["PRESETS", "TenStations"]

NAME = "tenstations-1"
OPTIONS = (Option(name="rounds", values=(8, 4, 12), meaning="until Mister X has escaped (T9)"),)
X, TEAM = Side.MISTER_X, Side.DETECTIVES
CAUGHT = Verdict(winner=TEAM, reason="caught")  # T6
CORNERED = Verdict(winner=TEAM, reason="cornered")  # T7
ESCAPED = Verdict(winner=X, reason="escaped")  # T9


class TenStations:
    """A pursuit on ten stations: a Ruleset, and what is told to those who look on."""

    name = NAME
    behaviour = 1
    ply_type = Step

    def __init__(self, options: Mapping[str, str | int]) -> None:
        given = filled(OPTIONS, options)
        rounds = int(given["rounds"])
        self.options: Mapping[str, str | int] = MappingProxyType(given)
        self.text = spelled(NAME, OPTIONS, given)
        self.numbers = Numbers(rounds=rounds, coins=6, seen_every=3)
        self.board = board()
        self.board_hash = canonical_hash(self.board)
        self.max_turns = 2 * rounds
        self.max_plies = len(DETECTIVES)
        self._near: dict[int, list[int]] = {station: [] for station in self.board.stations}
        for one, other in self.board.lines:
            self._near[one].append(other)
            self._near[other].append(one)
        for ends in self._near.values():
            ends.sort()

    def deal(self, seed: bytes, number: int) -> State:
        """Return the start (T1); the deal's number has nothing to decide here."""
        x, d1, d2, *_ = Stream(seed, "tenstations: starts").shuffle(self.board.stations)
        return State(
            round=1,
            to_move=X,
            x=x,
            start=x,
            seen=None,
            seen_round=0,
            detectives=(d1, d2),
            unmoved=(),
            coins=(self.numbers.coins, self.numbers.coins),
            purse=0,
        )

    def to_move(self, state: State) -> Side | None:
        """Return who is asked next."""
        return state.to_move

    def legal(self, state: State) -> tuple[Step, ...]:
        """Return the single plies possible now: by figure and station, waiting last."""
        if state.to_move is None:
            return ()
        if state.to_move is TEAM:
            return tuple(
                Step(figure=figure, to=end)
                for figure in state.unmoved
                for end in self._ends(state, figure)
            )
        steps = tuple(Step(figure="x", to=end) for end in self._free(state, state.x))
        return (*steps, Step(figure="x", to=None)) if state.purse else steps

    def play(self, state: State, plies: Sequence[Step], *, more: bool) -> Played:
        """Return the state after these plies.

        Raises:
            IllegalMove: with the rule's name.
        """
        if state.to_move is None:
            raise IllegalMove("T2", "the game is over")
        side, events, counted = state.to_move, list[Event](), 0
        for ply in plies:
            state = self._step(state, ply, side, events)
            counted += 1
            if state.ended is not None:
                return Played(state, tuple(events), counted)
        open_turn = bool(state.unmoved) if side is TEAM else not plies
        if open_turn and more and plies:
            return Played(state, tuple(events), counted, goes_on=True)
        if open_turn:
            raise IllegalMove("T3" if side is X else "T4", "who can go must go")
        return Played(self._go_on(state, events), tuple(events), counted)

    def view(self, state: State, side: Side) -> DetectivesView:
        """Return all that this side may know."""
        return view(state, side)

    def verdict(self, state: State) -> Verdict | None:
        """Return how the game ended."""
        return state.ended

    def say(self, ply: Step) -> str:
        """Return a ply in words."""
        return f"{ply.figure} waits" if ply.to is None else f"{ply.figure} to {ply.to}"

    def parse(self, text: str) -> Step:
        """Return the ply that a person typed.

        Raises:
            ConfigError: if it is none.
        """
        found = re.fullmatch(r"(x|d1|d2) (?:waits|to ([1-9][0-9]{0,2}))", text.strip().lower())
        if found is None:
            raise ConfigError(f"{text!r} is no step: write x waits, or d1 to 5")
        figure: Any = found[1]
        return Step(figure=figure, to=None if found[2] is None else int(found[2]))

    def facts(self, state: State) -> dict[str, str | int]:
        """Return flat values for reports."""
        return {"rounds": state.round, "x_start": state.start, "waits_used": state.box}

    def between(self, state: State, plies: Sequence[Step]) -> tuple[State, ...]:
        """Return the states after each ply but the last: for those who look on."""
        found: list[State] = []
        for ply in plies[:-1]:
            state = self._step(state, ply, TEAM, [])
            found.append(state)
        return tuple(found)

    def beliefs(self, trail: Sequence[State]) -> tuple[frozenset[int], ...]:
        """Return for each state where Mister X can be, by what the team sees."""
        here = frozenset(self.board.stations) - {*trail[0].detectives}
        found = [here]
        for before, after in pairwise(trail):
            if before.to_move is X and after.box == before.box:
                here = frozenset(end for one in here for end in self._near[one])
            here -= {*after.detectives}
            shown = after.seen_round > before.seen_round or after.ended is not None
            if shown and after.seen is not None:
                here = frozenset({after.seen})
            found.append(here)
        return tuple(found)

    def _free(self, state: State, station: int) -> list[int]:
        return [end for end in self._near[station] if end not in state.detectives]

    def _ends(self, state: State, figure: str) -> list[int]:
        """Where a detective can go (T4)."""
        place = DETECTIVES.index(figure)
        return self._free(state, state.detectives[place]) if state.coins[place] else []

    def _step(self, state: State, ply: Step, side: Side, events: list[Event]) -> State:
        if side is X:
            return self._step_of_x(state, ply, events)
        if ply.figure not in state.unmoved or ply.to is None:
            raise IllegalMove("T4", f"{self.say(ply)}: not one that has still to go")
        if ply.to not in self._ends(state, ply.figure):
            raise IllegalMove("T4", f"{self.say(ply)}: no free station, or no coin left")
        place = DETECTIVES.index(ply.figure)
        stations, coins = list(state.detectives), list(state.coins)
        stations[place] = ply.to
        coins[place] -= 1
        state = replace(
            state,
            detectives=(stations[0], stations[1]),
            coins=(coins[0], coins[1]),
            purse=state.purse + 1,
            unmoved=tuple([name for name in state.unmoved if name != ply.figure]),
        )
        events.append(Event(seen_by=None, what=Moved(ply.figure, ply.to)))
        if ply.to == state.x:
            return end(state, CAUGHT, events)
        return self._settle(state, events)

    def _step_of_x(self, state: State, ply: Step, events: list[Event]) -> State:
        if events:
            raise IllegalMove("T3", f"{self.say(ply)}: one step a turn")
        if ply not in self.legal(state):
            raise IllegalMove("T3", f"{self.say(ply)}: Mister X can't do that")
        if ply.to is None:
            events.append(Event(seen_by=None, what=Moved("x", None, waited=True)))
            return replace(state, purse=state.purse - 1, box=state.box + 1)
        events.append(Event(seen_by=X, what=Moved("x", ply.to)))
        events.append(Event(seen_by=TEAM, what=Moved("x", None)))
        return replace(state, x=ply.to)

    def _settle(self, state: State, events: list[Event]) -> State:
        """Let detectives sit out once nobody can go any more (T5)."""
        if any(self._ends(state, figure) for figure in state.unmoved):
            return state
        events += [Event(seen_by=None, what=SatOut(figure)) for figure in state.unmoved]
        return replace(state, unmoved=())

    def _go_on(self, state: State, events: list[Event]) -> State:
        """From the end of a turn to the next in which somebody has something to do."""
        if state.to_move is X:
            if state.round % self.numbers.seen_every == 0:
                state = replace(state, seen=state.x, seen_round=state.round)
                events.append(Event(seen_by=None, what=Seen(state.x)))
            state = self._settle(replace(state, to_move=TEAM, unmoved=DETECTIVES), events)
            if state.unmoved:
                return state
        if state.round == self.numbers.rounds:
            return end(state, ESCAPED, events)
        state = replace(state, to_move=X, round=state.round + 1)
        return state if self.legal(state) else end(state, CORNERED, events)


def end(state: State, verdict: Verdict, events: list[Event]) -> State:
    """Return the state at the end, with Mister X shown."""
    events.append(Event(seen_by=None, what=End(state.x)))
    return replace(
        state, ended=verdict, to_move=None, unmoved=(), seen=state.x, seen_round=state.round
    )


@cache
def board() -> Board:
    """Return the ten stations."""
    file = resources.files("tenstations").joinpath("board.json")
    found = read_map(file, Board)
    check_ids(file, "stations", found.stations)
    check_links(file, found.stations, {"line": found.lines})
    return found


PRESETS = (
    Preset(
        name=NAME,
        summary="A pursuit on ten stations, for tests",
        options=OPTIONS,
        make=TenStations,
        schema=schema,
    ),
)
