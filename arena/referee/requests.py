"""What each side is told: the one place that makes requests out of a game's state.

The referee says these words, and a replay says them again; so what a record shows is what was sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from arena import __version__
from arena.referee.keys import dice_seed
from arena.referee.record import Play, SideWord
from arena.rules.ruleset import Ruleset, Side, Verdict
from protocol.messages import (
    PROTOCOL,
    Budget,
    ClockSettings,
    Deal,
    End,
    Hello,
    Limits,
    Range,
)

__all__ = ["VERSIONS", "deal_request", "end_record", "end_request", "hello_request"]

VERSIONS = Range(low=PROTOCOL, high=PROTOCOL)

_encode = msgspec.json.encode


def hello_request(id_: str, rulesets: Sequence[str], limits: Limits) -> Hello:
    """Return the greeting of a process that may be dealt these rulesets."""
    return Hello(
        id=id_, protocol=VERSIONS, arena=__version__, rulesets=tuple(rulesets), limits=limits
    )


def deal_request(
    id_: str,
    ruleset: Ruleset[Any, Any],
    state: Any,
    side: Side,
    *,
    game_key: bytes,
    clock: ClockSettings | None,
    nodes: int | None,
    board: bool,
) -> Deal:
    """Return what opens a game for a side.

    Args:
        id_: of the request.
        ruleset: of the game.
        state: its first state.
        side: who is told.
        game_key: the side's dice come from it.
        clock: of the game; not told in a game on nodes.
        nodes: the count that the game is played on, if it is.
        board: whether the bot wants the map.
    """
    numbers, map_ = _fixed_parts(ruleset)  # type: ignore[arg-type]  # all are hashable
    return Deal(
        id=id_,
        ruleset=ruleset.text,
        behaviour=ruleset.behaviour,
        numbers=numbers,
        board=map_ if board else UNSET,
        side=side.value,
        clock=clock if nodes is None else None,
        budget=None if nodes is None else Budget(nodes=nodes),
        seed=dice_seed(game_key, side.value),
        view=Raw(_encode(ruleset.view(state, side))),
    )


def end_record(
    ruleset: Ruleset[Any, Any],
    state: Any,
    plays: Sequence[Play],
    notes: Mapping[int, Any],
    verdict: Verdict,
) -> Raw:
    """Return a game's record as both sides are told it: everything but seeds, names and numbers.

    Notes go by the index of the play, as text: JSON has no other keys. The plan's game id, the
    deal's number and seed and the opponent's name never go on the wire.
    """
    return Raw(
        _encode(
            {
                "ruleset": ruleset.text,
                "behaviour": ruleset.behaviour,
                "plays": plays,
                "notes": {str(index): note for index, note in notes.items()},
                "winner": verdict.winner,
                "reason": verdict.reason,
                "facts": ruleset.facts(state),
            }
        )
    )


def end_request(verdict: Verdict, *, fault: str | None, record: Raw | None) -> End:
    """Return what closes a game for a side; `fault` is one line about its own fault."""
    winner: SideWord | None = None if verdict.winner is None else verdict.winner.value
    return End(
        winner=winner,
        reason=verdict.reason,
        fault=fault,
        record=UNSET if record is None else record,
    )


@lru_cache(maxsize=32)
def _fixed_parts(ruleset: Ruleset[Any, Any]) -> tuple[Raw, Raw]:
    """The numbers and the board of a ruleset, encoded once; rulesets are made once and kept."""
    return Raw(_encode(ruleset.numbers)), Raw(_encode(ruleset.board))
