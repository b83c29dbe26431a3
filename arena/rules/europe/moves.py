"""Turns and the course of the game: state in, state out.

`legal_plies` lists and `play` plays what `mister_x` and `team` allow; here one turn follows the
other. What leaves no choice, a stuck Mister X or a team with nothing to do, is done without asking.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.errors import IllegalMove
from arena.rules.europe import mister_x, team
from arena.rules.europe.bound import Rules
from arena.rules.europe.state import EuropePly, State
from arena.rules.europe.table import Table
from arena.rules.ruleset import Played, Side

__all__ = ["after_each", "followers", "legal_plies", "play"]


def legal_plies(rules: Rules, state: State) -> tuple[EuropePly, ...]:
    """Return the single plies possible now, in a fixed order; none once the game is over."""
    if state.to_move is None:
        return ()
    return tuple(_legal(Table(rules, state)))


def followers(rules: Rules, state: State, ply: EuropePly) -> tuple[EuropePly, ...]:
    """Return what can follow a legal ply in the same turn; empty if the turn is over with it."""
    played = play(rules, state, (ply,), more=True)
    return legal_plies(rules, played.state) if played.goes_on else ()


def play(rules: Rules, state: State, plies: Sequence[EuropePly], *, more: bool) -> Played:
    """Return the state after these plies of the side to move.

    Raises:
        IllegalMove: with the rule's name.
    """
    if state.to_move is None:
        raise IllegalMove("E36", "the game is over")
    if more and not plies:
        raise IllegalMove("E14", "a part of a turn has at least one ply; this one has none")
    table = Table(rules, state)
    counted = _play_plies(table, plies)
    goes_on = False
    if table.ended is None:
        goes_on = more and not table.turn_over and bool(_legal(table))
        if not goes_on:
            _close(table)
    return Played(table.freeze(), tuple(table.events), counted, goes_on)


def after_each(rules: Rules, state: State, plies: Sequence[EuropePly]) -> tuple[State, ...]:
    """Return the states after each ply but the last of a turn, or part of one, that was played."""
    table = Table(rules, state)
    found: list[State] = []
    for ply in plies[:-1]:
        _play_ply(table, ply)
        found.append(table.freeze())
    return tuple(found)


def _play_plies(table: Table, plies: Sequence[EuropePly]) -> int:
    """Make plies up to a deciding one; how many there were."""
    for count, ply in enumerate(plies, 1):
        _play_ply(table, ply)
        if table.ended is not None:
            return count
    return len(plies)


def _play_ply(table: Table, ply: EuropePly) -> None:
    if table.to_move is Side.MISTER_X:
        mister_x.play_ply(table, ply)
    else:
        team.play_ply(table, ply)


def _legal(table: Table) -> list[EuropePly]:
    if table.to_move is Side.MISTER_X:
        return mister_x.legal_plies(table)
    return team.legal_plies(table)


def _close(table: Table) -> None:
    """Close the turn that is on, and go on to the next in which somebody has something to do."""
    if table.to_move is Side.DETECTIVES:
        _close_team(table)
    else:
        mister_x.close(table)
    while table.ended is None:
        if table.to_move is Side.MISTER_X:
            team.begin(table)
            if _has_choice(table):
                return
            _close_team(table)
        else:
            mister_x.begin(table)
            if table.ended is None and not table.turn_over:
                return


def _close_team(table: Table) -> None:
    team.close(table)
    if table.ended is None:
        table.round += 1


def _has_choice(table: Table) -> bool:
    """True if the team has anything to do: a move, or a ticket to pay or put back."""
    return table.stage == "move" or any(table.hands)
