"""The cases of `vectors/london-cases.json`: positions and short games by coursework numbers."""

from __future__ import annotations

from operator import attrgetter
from typing import Literal

import msgspec
import pytest

from arena.rules.london import London, State, Step
from arena.rules.london.position import Pawn, set_up
from arena.rules.london.state import Tickets
from arena.rules.ruleset import Side
from tests.load import case_list

By = dict[Literal["taxi", "bus", "metro", "black"], tuple[int, ...]]  # ticket → stations


class Piece(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One detective."""

    at: int
    tickets: tuple[int, int, int] = (11, 8, 4)


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A position, the turns played from it, and what holds then."""

    name: str
    x: int
    tickets: tuple[int, int, int] = (4, 3, 3)
    blacks: int = 5
    doubles_left: int = 2
    team: tuple[Piece, ...]
    turns: tuple[tuple[str, ...], ...] = ()
    singles: By | None = None
    doubles: int | None = None
    followers: dict[str, By] = {}
    steps: dict[str, By] | None = None
    stations: dict[str, int] = {}
    supply: tuple[int, int, int] | None = None
    blacks_after: int | None = None
    doubles_after: int | None = None
    log: tuple[int | None, ...] | None = None
    to_move: Side | None = None
    winner: Side | None = None
    reason: str | None = None
    facts: dict[str, int] = {}


def by_ticket(steps: tuple[Step, ...]) -> By:
    found: dict[Literal["taxi", "bus", "metro", "black"], list[int]] = {}
    for step in steps:
        found.setdefault(step.ticket, []).append(step.to)
    return {ticket: tuple(stations) for ticket, stations in found.items()}


def position(case: Case) -> tuple[London, State]:
    return set_up(
        [Pawn(piece.at, Tickets(*piece.tickets)) for piece in case.team],
        case.x,
        supply=Tickets(*case.tickets),
        blacks=case.blacks,
        doubles=case.doubles_left,
    )


@pytest.mark.parametrize("case", case_list("london-cases.json", Case), ids=attrgetter("name"))
def test_case_comes_out_as_told(case: Case) -> None:
    london, state = position(case)
    for turn in case.turns:
        state = london.play(state, [london.parse(text) for text in turn], more=False).state
    if case.singles is not None:
        assert by_ticket(london.legal(state)) == case.singles
    if case.doubles is not None:
        assert sum(len(london.followers(state, one)) for one in london.legal(state)) == case.doubles
    for first, expected in case.followers.items():
        assert by_ticket(london.followers(state, london.parse(first))) == expected
    if case.steps is not None:
        team = state
        if state.to_move is not Side.DETECTIVES:
            names = tuple(figure.figure for figure in state.figures)
            team = msgspec.structs.replace(state, to_move=Side.DETECTIVES, unmoved=names)
        steps = london.legal(team)
        for name, expected in case.steps.items():
            assert by_ticket(tuple(s for s in steps if s.figure == name)) == expected
    for name, station in case.stations.items():
        assert next(f.station for f in state.figures if f.figure == name) == station
    if case.supply is not None:
        assert state.supply == Tickets(*case.supply)
        assert (state.blacks, state.doubles) == (case.blacks_after, case.doubles_after)
    if case.log is not None:
        assert tuple(slot.station for slot in state.log) == case.log
    if case.to_move is not None:
        assert london.to_move(state) is case.to_move
    verdict = london.verdict(state)
    assert (verdict.winner if verdict else None) is case.winner
    assert (verdict.reason if verdict else None) == case.reason
    assert {key: london.facts(state)[key] for key in case.facts} == case.facts
