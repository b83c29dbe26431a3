"""Position vectors: exact legal steps that other programs agree on, checked against the rules.

A vector file has one JSON object a line: a position, Mister X's single steps, the number of his
double moves (pairs of steps) and of double paths (pairs of stations), and each figure's steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from arena.errors import ConfigError
from arena.rules.london.position import Pawn, set_up
from arena.rules.london.state import Step, Tickets
from arena.rules.ruleset import Side

__all__ = ["Checked", "Difference", "check"]

PLENTY = 1_000  # tickets: more than any game uses; stands for `null`, which is unlimited

Steps = tuple[tuple[str, int], ...]  # ticket and station, by ticket (taxi, bus, metro, black)


class Difference(msgspec.Struct, frozen=True):
    """What a vector says and the rules do not."""

    id: str
    what: str


class Checked(msgspec.Struct, frozen=True):
    """What came out of a file of vectors."""

    checked: int
    passed: int
    differences: tuple[Difference, ...]


class Assumed(msgspec.Struct, frozen=True):
    """The rules that a vector was made by."""

    map: str = "london-2013"  # an edition; what follows the first blank is a remark
    x_ordinary_tickets: Literal["finite", "unlimited"] = "unlimited"
    detectives_block_x: bool = True
    x_blocks_detectives: bool = False
    second_step_may_return_to_start: bool = True
    double_allowed_if_card: bool = True
    order: str = "any"


class Held(msgspec.Struct, frozen=True):
    """Ordinary tickets; None is unlimited."""

    taxi: int | None
    bus: int | None
    metro: int | None


class HeldByX(Held, frozen=True):
    """Mister X's tickets and cards; ordinary ones count only where they are finite."""

    black: int
    double: int


class MisterX(msgspec.Struct, frozen=True):
    """Where he stands and what he can pay with."""

    station: int
    tickets: HeldByX


class Piece(msgspec.Struct, frozen=True):
    """A figure of the team; None as tickets: unlimited, or for a Bobby none needed."""

    kind: Literal["detective", "bobby"]
    station: int
    tickets: Held | None


class Vector(msgspec.Struct, frozen=True):
    """One position and what is legal in it; other keys are remarks."""

    id: str
    assume: Assumed
    x: MisterX
    detectives: tuple[Piece, ...]
    x_single_moves: Steps
    x_double_moves: int
    x_double_paths: int
    detective_moves: tuple[Steps, ...]


def check(path: Path) -> Checked:
    """Check every vector of a file (JSON lines) against the rules of London.

    Raises:
        ConfigError: if the file can't be read or a line is no vector; names file and line.
    """
    differences: list[Difference] = []
    checked = passed = 0
    for place, vector in _read(path):
        found = list(_differences(place, vector))
        checked += 1
        passed += not found
        differences += [Difference(vector.id, what) for what in found]
    return Checked(checked, passed, tuple(differences))


def _read(path: Path) -> Iterator[tuple[str, Vector]]:
    """Each vector with its place."""
    decoder = msgspec.json.Decoder(Vector)
    try:
        lines = path.read_bytes().splitlines()
    except OSError as exc:
        raise ConfigError(f"{path}: these vectors can't be read ({exc.strerror})") from exc
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield f"{path}:{number}", decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise ConfigError(f"{path}:{number}: this is no vector: {exc}") from exc


def _differences(place: str, vector: Vector) -> Iterator[str]:
    """Everything in which a vector and the rules differ."""
    ours = Assumed(map=vector.assume.map, x_ordinary_tickets=vector.assume.x_ordinary_tickets)
    if vector.assume != ours:
        yield f"it assumes other rules: {vector.assume}"
        return
    if len(vector.detective_moves) != len(vector.detectives):
        yield f"it has {len(vector.detectives)} figures and steps of {len(vector.detective_moves)}"
        return
    held = vector.x.tickets
    # Detectives and Bobbies get names of their own kind in order; `order` finds them again.
    order = sorted(
        range(len(vector.detectives)), key=lambda i: vector.detectives[i].kind == "bobby"
    )
    try:
        ruleset, state = set_up(
            [_pawn(piece) for piece in vector.detectives],
            vector.x.station,
            edition=vector.assume.map.split(" ", 1)[0],
            supply=None if vector.assume.x_ordinary_tickets == "unlimited" else _tickets(held),
            blacks=held.black,
            doubles=held.double,
        )
    except ConfigError as exc:
        raise ConfigError(f"{place}: {exc}") from exc
    singles = ruleset.legal(state)
    yield from _compare("Mister X's single steps", _steps(singles), vector.x_single_moves)
    doubles = {(one, two) for one in singles for two in ruleset.followers(state, one)}
    yield from _compare("Mister X's double moves", len(doubles), vector.x_double_moves)
    paths = {(one.to, two.to) for one, two in doubles}
    yield from _compare("Mister X's double paths", len(paths), vector.x_double_paths)
    team = msgspec.structs.replace(
        state, to_move=Side.DETECTIVES, unmoved=tuple(f.figure for f in state.figures)
    )
    steps = ruleset.legal(team)
    for figure, index in zip(state.figures, order, strict=True):
        own = _steps(tuple(step for step in steps if step.figure == figure.figure))
        yield from _compare(f"steps of {figure.figure}", own, vector.detective_moves[index])


def _compare(what: str, ours: object, theirs: object) -> Iterator[str]:
    """One difference, or none."""
    if ours != theirs:
        yield f"{what}: the rules give {ours}, the vector says {theirs}"


def _steps(steps: tuple[Step, ...]) -> Steps:
    """Steps as vectors spell them."""
    return tuple((step.ticket, step.to) for step in steps)


def _pawn(piece: Piece) -> Pawn:
    """A piece as the rules set it up."""
    if piece.kind == "bobby":
        return Pawn(piece.station, None, bobby=True)
    return Pawn(piece.station, _tickets(piece.tickets or Held(None, None, None)))


def _tickets(held: Held) -> Tickets:
    """Tickets with a number for each kind."""
    return Tickets(
        PLENTY if held.taxi is None else held.taxi,
        PLENTY if held.bus is None else held.bus,
        PLENTY if held.metro is None else held.metro,
    )
