"""Positions set up by hand: for vectors, cases and puzzles; games begin with `London.deal`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from arena.errors import ConfigError
from arena.rules.london.presets import edition_of, load_map, numbers_of, options_of
from arena.rules.london.ruleset import London
from arena.rules.london.state import BOBBIES, DETECTIVES, Figure, Slot, State, Tickets
from arena.rules.ruleset import Side

__all__ = ["Pawn", "set_up"]


STOCK = Tickets(4, 3, 3)  # Mister X's, where he has one of his own


class Pawn(msgspec.Struct, frozen=True):
    """A detective (with tickets of its own, or None to pay from the pool) or a Bobby."""

    station: int
    tickets: Tickets | None = None
    bobby: bool = False


def set_up(
    pawns: Sequence[Pawn],
    mister_x: int,
    *,
    edition: str = "london-coursework",
    to_move: Side = Side.MISTER_X,
    supply: Tickets | None = STOCK,
    pool: Tickets | None = None,
    blacks: int = 5,
    doubles: int = 2,
    round: int = 1,  # noqa: A002 - the glossary's word
    log: Sequence[Slot] = (),
    stuck: str = "all",
) -> tuple[London, State]:
    """Return a ruleset for exactly these figures, and the state in which they stand as told.

    The state is taken as it is: whether the game should have ended before is not looked at.

    Args:
        pawns: at most five detectives and two Bobbies; named d1 …, b1 … in this order.
        mister_x: his station.
        edition: the preset whose board, cards and numbers hold.
        to_move: whose turn begins.
        supply: what Mister X can take; None is unlimited.
        pool: what detectives without tickets of their own pay from.
        blacks: black tickets left.
        doubles: double-move cards left.
        round: from 1.
        log: the slots that are filled.
        stuck: the option of that name.

    Raises:
        ConfigError: for a station that the board lacks, two pawns on one station, or too many.
    """
    chosen = edition_of(edition)
    loaded = load_map(chosen.links_added)
    detectives = [pawn for pawn in pawns if not pawn.bobby]
    bobbies = [pawn for pawn in pawns if pawn.bobby]
    if len(detectives) > len(DETECTIVES) or len(bobbies) > len(BOBBIES):
        raise ConfigError(
            f"{len(detectives)} detectives and {len(bobbies)} Bobbies are too many: "
            f"there are figures for {len(DETECTIVES)} and {len(BOBBIES)}"
        )
    figures = tuple(
        Figure(name, "bobby" if pawn.bobby else "detective", pawn.station, pawn.tickets)
        for name, pawn in (
            *zip(DETECTIVES, detectives, strict=False),
            *zip(BOBBIES, bobbies, strict=False),
        )
    )
    stations = [figure.station for figure in figures]
    for station in (*stations, mister_x):
        if station not in loaded.net.near:
            raise ConfigError(f"there is no station {station} on the board of {edition}")
    for name, station in zip((figure.figure for figure in figures), stations, strict=True):
        if stations.count(station) > 1:
            raise ConfigError(f"{name} stands on {station}, where another figure stands too")
    options = {option.name: option.values[0] for option in options_of(chosen)} | {"stuck": stuck}
    numbers = replace(
        numbers_of(chosen, options),
        detectives=len(detectives),
        bobbies=len(bobbies),
        pool=pool,
        supply_tickets=supply,
    )
    ruleset = London(name=edition, text=edition, options=options, numbers=numbers, loaded=loaded)
    state = State(
        round=round,
        to_move=to_move,
        figures=figures,
        unmoved=tuple(f.figure for f in figures) if to_move is Side.DETECTIVES else (),
        pool=pool,
        supply=supply,
        blacks=blacks,
        doubles=doubles,
        log=tuple(log),
        path=(mister_x,),
    )
    return ruleset, state
