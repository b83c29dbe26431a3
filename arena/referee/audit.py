"""Search what was sent to the sides of a game for what they may not know.

Three looks, none of which knows the game:

1. No message holds the plan's game id, a seed, a key, or the opponent's name.
2. *Twins*: wherever Mister X could have played another ply that looks the same to the detectives
   (the same events), their next view and legal plies must be the same bytes. So for each side.
3. *Shadows*: no place in the messages of one side follows a value that only the other side's view
   has, all through the game.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from arena.errors import IllegalMove
from arena.referee.record import Core
from arena.referee.replay import Moment, Replayed
from arena.rules.ruleset import Side
from protocol.messages import Turn

__all__ = ["find_leaks"]

_TWINS = 4  # tried at each turn
_LONG_NAME = 4  # a shorter name may stand in any message by chance
_SHADOW_MOMENTS = 6  # that a shadow is followed through, at least
_SHADOW_VALUES = 3  # different ones, at least

_Flat = dict[str, int | str]  # path → value

_encode = msgspec.json.encode


def find_leaks(core: Core, replayed: Replayed) -> list[str]:
    """Return what a side was shown that it may not know, one sentence each; empty if nothing.

    Args:
        core: the record.
        replayed: its replay, with everything that can be wanted.
    """
    return [*_secrets(core, replayed), *_twins(replayed), *_shadows(replayed)]


def _secrets(core: Core, replayed: Replayed) -> Iterator[str]:
    names = {Side.MISTER_X: core.detectives.name, Side.DETECTIVES: core.mister_x.name}
    common = {"game id": core.game, "deal seed": core.deal_seed, "game key": core.game_key}
    for sent in replayed.sent:
        line = _encode(sent.message)
        words = dict(common)
        if len(names[sent.side]) >= _LONG_NAME:
            words["opponent's name"] = names[sent.side]
        for what, word in words.items():
            if f'"{word}"'.encode() in line:
                yield f"{sent.side}, message before play {sent.play}: holds the {what}"


def _twins(replayed: Replayed) -> Iterator[str]:
    ruleset = replayed.ruleset
    for index, moment in enumerate(replayed.moments):
        if not moment.plies:
            continue
        audience = moment.side.other
        shown, seen = _shown(ruleset, moment, moment.plies, audience)
        tried = 0
        for ply in ruleset.legal(moment.state):
            if ply == moment.plies[0]:
                continue
            try:
                other_shown, other_seen = _shown(
                    ruleset, moment, (ply, *moment.plies[1:]), audience
                )
            except IllegalMove:
                continue
            if shown != other_shown:
                continue
            if seen != other_seen:
                yield (
                    f"{audience}, after play {index}: can tell {ruleset.say(moment.plies[0])} "
                    "from another ply that looks the same"
                )
            tried += 1
            if tried == _TWINS:
                break


def _shown(
    ruleset: Any, moment: Moment, plies: tuple[Any, ...], audience: Side
) -> tuple[bytes, bytes]:
    """The events that the other side is told of these plies, and what it sees after them."""
    played = ruleset.play(moment.state, plies, more=moment.more)
    events = [event.what for event in played.events if event.seen_by in (None, audience)]
    over = ruleset.to_move(played.state) is None
    legal = ruleset.legal(played.state) if ruleset.to_move(played.state) is audience else ()
    view = ruleset.view(played.state, audience)
    # Whether the game is over by this ply is open to both sides.
    return _encode((over, events)), _encode((view, legal))


def _shadows(replayed: Replayed) -> Iterator[str]:
    ruleset = replayed.ruleset
    turns = iter(replayed.moments)
    trails: dict[Side, list[tuple[_Flat, _Flat]]] = {side: [] for side in Side}
    for sent in replayed.sent:
        if not isinstance(sent.message, Turn):
            continue
        moment = next(turns)
        told = dict(_flat(msgspec.to_builtins(sent.message.view), ""))
        own = dict(_flat(msgspec.to_builtins(ruleset.view(moment.state, sent.side.other)), ""))
        hidden = {path: value for path, value in own.items() if path not in told}
        told.update(_flat(msgspec.to_builtins(sent.message.events), "events"))
        trails[sent.side].append((told, hidden))
    for side, trail in trails.items():
        secrets = {path for _, hidden in trail for path in hidden}
        places = {path for told, _ in trail for path in told}
        for secret in sorted(secrets):
            for place in sorted(places):
                if _follows(trail, place, secret):
                    yield f"{side}: {place} always shows the other side's {secret}"


def _follows(trail: list[tuple[_Flat, _Flat]], place: str, secret: str) -> bool:
    """Whether a place shows a secret whenever both are there, which is most of the time."""
    values: list[int | str] = []
    for told, hidden in trail:
        if place in told and secret in hidden:
            if told[place] != hidden[secret]:
                return False
            values.append(told[place])
    enough = max(_SHADOW_MOMENTS, len(trail) // 2 + 1)
    return len(values) >= enough and len(set(values)) >= _SHADOW_VALUES


def _flat(value: Any, path: str) -> Iterator[tuple[str, int | str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _flat(item, f"{path}[{index}]")
        if value:
            yield from _flat(value[-1], f"{path}[-1]")
    elif isinstance(value, int | str) and not isinstance(value, bool):
        yield path, value
