"""Plies in the words of terminals and logs, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NoReturn

import msgspec

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
    "put_back": "back",  # as the wire has it
}


def say(ply: EuropePly) -> str:
    """Return a ply in words; `parse` reads it back."""
    match ply:
        case Move():
            return f"{ply.figure} goes by {ply.ticket} to {ply.to}"
        case Pay():
            return f"{ply.player} pays {ply.ticket}"
        case PutBack():
            return f"{ply.player} puts back {ply.ticket}"
        case Lay():
            return f"{MISTER_X} lays {ply.ticket} and goes to {ply.to}"
        case Special():
            return f"special: {ply.figure} to {ply.to}"
        case ChooseStart():
            return f"{MISTER_X} starts in {ply.city}"
        case ChooseMission():
            return f"{MISTER_X} chooses {ply.colour}"
        case _:
            return "investigate"


def parse(text: str) -> EuropePly:
    """Return the ply that a person typed.

    Raises:
        ConfigError: if it is none; says how to write one.
    """
    whole = [word for word in re.split(r"[\s:,]+", text.strip().lower()) if word]
    typed = [word for word in whole if word not in NOISE]
    before = [VERBS.get(word) for word in whole[:-1] if word not in {MISTER_X, *NOISE}]
    if before == ["mission"] and _is_colour(whole[-1]):  # it can be any word, such as `special`
        return ChooseMission(colour=whole[-1])
    verbs = dict.fromkeys(VERBS[word] for word in typed if word in VERBS)
    rest = [word for word in typed if word not in VERBS]
    if len(verbs) > 1:
        _refuse(text, f"is {' and '.join(verbs)} at once", FORMS.values())
    verb = next(iter(verbs), "move")
    if verb in _OWN and rest[:1] != [MISTER_X]:
        rest.insert(0, MISTER_X)
    if verb in {"move", "pay", "back"} and rest and rest[0] in TICKETS:
        rest.insert(0, MISTER_X)
    kind, fields = _KINDS[verb]
    if len(rest) != len(fields):
        forms = FORMS.values() if verb == "move" else (FORMS[verb],)
        _refuse(text, "is no ply", forms)
    found: dict[str, str | int] = {"do": str(kind.__struct_config__.tag)}
    for word, (field, what, known) in zip(rest, fields, strict=True):
        if not known(word):
            _refuse(text, f"has no {what} where it says {word!r}", (FORMS[verb],))
        found[field] = int(word) if field in _CITIES else word
    return msgspec.convert(found, kind)


def _refuse(text: str, what: str, forms: Iterable[str]) -> NoReturn:
    raise ConfigError(f"{text!r} {what}; write one such as {', '.join(forms)}")


def _is_city(word: str) -> bool:
    return re.fullmatch(r"[1-9][0-9]{0,5}", word) is not None


def _is_colour(word: str) -> bool:
    return len(word) <= 30


_Field = tuple[str, str, Callable[[str], bool]]  # its name, in words, and what it can be

_OWN = frozenset(("mission", "start", "lay"))  # Mister X's alone: his figure need not be named
_CITIES = frozenset(("city", "to"))

_SELF: _Field = ("figure", "figure", (MISTER_X,).__contains__)
_FIGURE: _Field = ("figure", "figure", (MISTER_X, *FIGURES).__contains__)
_DETECTIVE: _Field = ("figure", "detective", FIGURES.__contains__)
_PLAYER: _Field = ("player", "player", (MISTER_X, *PLAYERS).__contains__)
_TICKET: _Field = ("ticket", "ticket", TICKETS.__contains__)
_TO: _Field = ("to", "city's number", _is_city)

# verb → the ply, and what its words are, in order; a figure that it has no field for is left out
_KINDS: dict[str, tuple[type[EuropePly], tuple[_Field, ...]]] = {
    "mission": (ChooseMission, (_SELF, ("colour", "colour", _is_colour))),
    "start": (ChooseStart, (_SELF, ("city", "city's number", _is_city))),
    "move": (Move, (_FIGURE, _TICKET, _TO)),
    "pay": (Pay, (_PLAYER, _TICKET)),
    "lay": (Lay, (_SELF, _TICKET, _TO)),
    "investigate": (Investigate, ()),
    "special": (Special, (_DETECTIVE, _TO)),
    "back": (PutBack, (_PLAYER, _TICKET)),
}
