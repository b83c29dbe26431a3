"""Name → Ruleset; a new game adds one line here, or an entry point of its own package.

A package of somebody else's plugs its rulesets in under the entry point group `arena.rulesets`,
whose entries name a tuple of `Preset`s. They are looked for only where a name is none of ours.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, cast

from arena.errors import ConfigError
from arena.rules import europe, london
from arena.rules.ruleset import Option, Preset, Ruleset

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "make", "names", "plugged_in", "preset", "schemas"]

GROUP = "arena.rulesets"  # of entry points; each names a tuple of presets
NAME = re.compile(r"[a-z][a-z0-9]*-[a-z0-9-]{1,40}")  # of a preset: family, hyphen, edition

BOARD = "board"  # the option of rulesets that can be played on a typed-in board

PRESETS: Mapping[str, Preset] = {
    preset.name: preset for preset in (*london.PRESETS, *europe.PRESETS)
}


@cache
def plugged_in() -> Mapping[str, Preset]:
    """Return the presets of other installed packages, by name; looked for once a process.

    Raises:
        ConfigError: if one can't be loaded, is no preset, or has a name that stands for another
            game; names the package.
    """
    from importlib.metadata import entry_points  # takes a tenth of what the arena starts in

    found: dict[str, Preset] = {}
    families = {_family(name): "the arena" for name in PRESETS}
    for entry in sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value)):
        place = f"the entry point {entry.name} = {entry.value} of {_package(entry)}"
        for one in _loaded(entry, place):
            if not isinstance(one, Preset) or not NAME.fullmatch(one.name):
                raise ConfigError(
                    f"{place}: it names a tuple of Presets, with names such as chess-1475"
                )
            if families.setdefault(_family(one.name), place) != place:
                raise ConfigError(
                    f"{place}: the name {one.name!r} begins as those of "
                    f"{families[_family(one.name)]}; call the game otherwise"
                )
            found[one.name] = one
    return found


def names() -> tuple[str, ...]:
    """Return every preset's name, in the order of `arena rulesets`; those plugged in are last."""
    return (*PRESETS, *plugged_in())


def preset(text: str) -> Preset:
    """Return a preset: its summary, its options, how it is made.

    Args:
        text: its name, or `name[:key=value,…]`: what there is to choose depends on the board.

    Raises:
        ConfigError: if there is none of this name, which then names the nearest, or no such board.
    """
    name, _, rest = text.partition(":")
    found = PRESETS.get(name) or plugged_in().get(name)
    if found is None:
        raise ConfigError(f"there is no ruleset {name!r}; {_nearest(name, names())}")
    if found.on_board is not None:
        own = _option(found, BOARD).values
        for part in rest.split(","):
            key, _, value = part.partition("=")
            if key == BOARD and value and value not in own:
                return found.on_board(value)
    return found


def schemas() -> dict[str, Mapping[str, Any]]:
    """Return each family's JSON Schema of plies, views, events, numbers and board.

    A family is what stands before the first hyphen of its presets' names, such as `london`.
    """
    return {_family(name): preset(name).schema() for name in names()}


@lru_cache(maxsize=256)
def make(text: str) -> Ruleset[Any, Any]:
    """Return the ruleset that `name[:key=value,…]` names; equal texts give the same object.

    Raises:
        ConfigError: for an unknown name, option or value, or an option given twice; names the
            nearest that there is.
    """
    _, colon, rest = text.partition(":")
    chosen = preset(text)
    options: dict[str, str | int] = {}
    parts = rest.split(",") if colon else []
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


def _loaded(entry: EntryPoint, place: str) -> Sequence[Any]:
    """What an entry point names, which should be presets."""
    try:
        found: Any = entry.load()
    except (ImportError, AttributeError) as exc:
        raise ConfigError(
            f"{place} can't be loaded ({exc}); mend that package or uninstall it"
        ) from exc
    return cast("Sequence[Any]", found) if isinstance(found, tuple | list) else (found,)


def _package(entry: EntryPoint) -> str:
    """The installed package that an entry point stands in."""
    return entry.dist.name if entry.dist is not None else "an installed package"


def _family(name: str) -> str:
    """What a game's presets have in common: its drawing and its schema go by it."""
    return name.partition("-")[0]


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
