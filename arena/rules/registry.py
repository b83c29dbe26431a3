"""Name → Ruleset; a new game adds one line here."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from arena.errors import ConfigError
from arena.rules import europe, london
from arena.rules.ruleset import Option, Preset, Ruleset

__all__ = ["make", "names", "preset", "schemas"]

BOARD = "board"  # the option of rulesets that can be played on a typed-in board

PRESETS: Mapping[str, Preset] = {
    preset.name: preset for preset in (*london.PRESETS, *europe.PRESETS)
}


def names() -> tuple[str, ...]:
    """Return every preset's name, in the order of `arena rulesets`."""
    return tuple(PRESETS)


def preset(name: str) -> Preset:
    """Return a preset: its summary, its options, how it is made.

    Raises:
        ConfigError: if there is none of this name; names the nearest.
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise ConfigError(f"there is no ruleset {name!r}; {_nearest(name, PRESETS)}") from None


def schemas() -> dict[str, Mapping[str, Any]]:
    """Return each family's JSON Schema of plies, views, events, numbers and board.

    A family is what stands before the first hyphen of its presets' names, such as `london`.
    """
    return {name.partition("-")[0]: found.schema() for name, found in PRESETS.items()}


@lru_cache(maxsize=256)
def make(text: str) -> Ruleset[Any, Any]:
    """Return the ruleset that `name[:key=value,…]` names; equal texts give the same object.

    Raises:
        ConfigError: for an unknown name, option or value, or an option given twice; names the
            nearest that there is.
    """
    name, colon, rest = text.partition(":")
    chosen = preset(name)
    options: dict[str, str | int] = {}
    parts = rest.split(",") if colon else []
    if chosen.on_board is not None:
        own = _option(chosen, BOARD).values
        for part in parts:
            key, _, value = part.partition("=")
            if key == BOARD and value and value not in own:
                chosen = chosen.on_board(value)  # what can be chosen there may differ
                break
    for part in parts:
        key, equals, value = part.partition("=")
        option = _option(chosen, key)
        if not equals:
            raise ConfigError(f"{text!r}: {part!r} has no value; write {key}={option.values[0]}")
        if key in options:
            raise ConfigError(f"{text!r}: the option {key} is given twice")
        options[key] = _value(chosen, option, value)
    made = chosen.make(options)
    return made if made.text == text else make(made.text)


def _option(chosen: Preset, key: str) -> Option:
    """The option of that name."""
    for option in chosen.options:
        if option.name == key:
            return option
    known = [option.name for option in chosen.options]
    raise ConfigError(f"{chosen.name} has no option {key!r}; {_nearest(key, known)}")


def _value(chosen: Preset, option: Option, text: str) -> str | int:
    """The value that a text spells."""
    for value in option.values:
        if str(value) == text:
            return value
    known = [str(value) for value in sorted(option.values, key=_in_order)]
    raise ConfigError(
        f"{chosen.name}: {option.name} can't be {text!r}; {_nearest(text, known)} "
        f"(by default {option.values[0]})"
    )


def _in_order(value: str | int) -> int:
    """Numbers by size, and words behind them as they stand: a preset names its default first."""
    return value if isinstance(value, int) else 2**63


def _nearest(text: str, known: Iterable[str]) -> str:
    """What to write instead: the nearest word, if one is near, and all of them."""
    words = list(known)
    near = difflib.get_close_matches(text, words, n=1)
    return (f"the nearest is {near[0]!r}; " if near else "") + f"there are {', '.join(words)}"
