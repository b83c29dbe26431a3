"""Plies in the words of terminals and logs, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from arena.errors import ConfigError
from arena.rules.europe.state import (
    FIGURES,
    MISTER_X,
    PLAYERS,
    TICKETS,
    ChooseMission,
    ChooseStart,
    EuropePly,
    Investigate,
    Lay,
    Move,
    Pay,
    PutBack,
    Special,
)

__all__ = ["parse", "say"]

NOISE = frozenset(("a", "and", "by", "goes", "in", "is", "moves", "on", "put", "puts", "the", "to"))
FORMS = {
    "move": "d1 car-double 45",
    "mission": "mission green",
    "start": "start 21",
    "pay": "pay p1 rail-special",
    "lay": "lay car-hidden 45",
    "investigate": "investigate",
    "special": "special d1 45",
    "back": "back p1 rail-special",
}
VERBS = {
    **{verb: verb for verb in FORMS if verb != "move"},
    "chooses": "mission",
    "starts": "start",
    "pays": "pay",
    "lays": "lay",
}


def say(ply: EuropePly) -> str:
    """Return a ply in words; `parse` reads it back."""
    found: Any = ply  # each kind has fields of its own
    if isinstance(ply, Move):
        return f"{found.figure} goes by {found.ticket} to {found.to}"
    if isinstance(ply, Pay):
        return f"{found.player} pays {found.ticket}"
    if isinstance(ply, PutBack):
        return f"{found.player} puts back {found.ticket}"
    if isinstance(ply, Lay):
        return f"{MISTER_X} lays {found.ticket} and goes to {found.to}"
    if isinstance(ply, Special):
        return f"special: {found.figure} to {found.to}"
    if isinstance(ply, ChooseStart):
        return f"{MISTER_X} starts in {found.city}"
    if isinstance(ply, ChooseMission):
        return f"{MISTER_X} chooses {found.colour}"
    return "investigate"


def parse(text: str) -> EuropePly:
    """Return the ply that a person typed.

    Raises:
        ConfigError: if it is none; says how to write one.
    """
    typed = [word for word in re.split(r"[\s:,]+", text.strip().lower()) if word]
    typed = [word for word in typed if word not in NOISE]
    verbs = dict.fromkeys(VERBS[word] for word in typed if word in VERBS)
    rest = [word for word in typed if word not in VERBS]
    if len(verbs) > 1:
        _refuse(text, f"is {' and '.join(verbs)} at once", FORMS.values())
    verb = next(iter(verbs), "move")
    if verb in _OWN and rest[:1] != [MISTER_X]:
        rest.insert(0, MISTER_X)
    if verb in {"move", "pay", "back"} and rest and rest[0] in TICKETS:
        rest.insert(0, MISTER_X)
    checks, make = _KINDS[verb]
    if len(rest) != len(checks):
        forms = FORMS.values() if verb == "move" else (FORMS[verb],)
        _refuse(text, "is no ply", forms)
    for word, (what, known) in zip(rest, checks, strict=True):
        if not known(word):
            _refuse(text, f"has no {what} where it says {word!r}", (FORMS[verb],))
    return make(*rest)


def _refuse(text: str, what: str, forms: Iterable[str]) -> NoReturn:
    raise ConfigError(f"{text!r} {what}; write one such as {', '.join(forms)}")


def _is_city(word: str) -> bool:
    return re.fullmatch(r"[1-9][0-9]{0,5}", word) is not None


def _is_colour(word: str) -> bool:
    return len(word) <= 30


_Check = tuple[str, Callable[[str], bool]]

_FIGURE: _Check = ("figure", (MISTER_X, *FIGURES).__contains__)
_DETECTIVE: _Check = ("detective", FIGURES.__contains__)
_PLAYER: _Check = ("player", (MISTER_X, *PLAYERS).__contains__)
_SELF: _Check = ("figure", (MISTER_X,).__contains__)
_TICKET: _Check = ("ticket", TICKETS.__contains__)
_CITY: _Check = ("city's number", _is_city)
_COLOUR: _Check = ("colour", _is_colour)
_OWN = frozenset(("mission", "start", "lay"))  # Mister X's alone: his figure need not be named

# verb → what its words must be, in order, and the ply that they make
_KINDS: dict[str, tuple[tuple[_Check, ...], Callable[..., EuropePly]]] = {
    "mission": ((_SELF, _COLOUR), lambda _, colour: ChooseMission(colour=colour)),
    "start": ((_SELF, _CITY), lambda _, city: ChooseStart(city=int(city))),
    "move": (
        (_FIGURE, _TICKET, _CITY),
        lambda figure, ticket, to: Move(figure=figure, ticket=ticket, to=int(to)),
    ),
    "pay": ((_PLAYER, _TICKET), lambda player, ticket: Pay(player=player, ticket=ticket)),
    "lay": ((_SELF, _TICKET, _CITY), lambda _, ticket, to: Lay(ticket=ticket, to=int(to))),
    "investigate": ((), Investigate),
    "special": ((_DETECTIVE, _CITY), lambda figure, to: Special(figure=figure, to=int(to))),
    "back": ((_PLAYER, _TICKET), lambda player, ticket: PutBack(player=player, ticket=ticket)),
}
