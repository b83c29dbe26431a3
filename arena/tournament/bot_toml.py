"""A bot's settings, `bot.toml`: read strictly, and never more than what a bot may ask for."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, NoReturn

import msgspec
from msgspec import Meta

from arena.errors import BotRefused
from arena.referee.record import AskedLimits
from arena.sandbox.staging import shown
from protocol.messages import Limits, Name, SideWord, Version

__all__ = ["FILE", "MAX_BYTES", "BotToml", "check_name", "read_bot_toml"]

FILE = "bot.toml"
MAX_BYTES = 64 * 1024

_Word = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"\A[^\x00-\x1f\x7f]*\Z")]
_Command = Annotated[tuple[_Word, ...], Meta(min_length=1, max_length=100)]
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|\Z)", re.IGNORECASE)


class BotToml(msgspec.Struct, frozen=True, kw_only=True):
    """What a `bot.toml` says; README.md in `bots/` has the table of it."""

    name: Name | None = None  # None: the folder's name
    version: Version = ""
    command: _Command  # run in the bot's folder; `{python}` stands for the arena's interpreter
    build: Annotated[tuple[_Command, ...], Meta(max_length=20)] = ()
    author: Annotated[str, Meta(max_length=200)] = ""
    sides: Annotated[tuple[SideWord, ...], Meta(min_length=1, max_length=2)] | None = None
    rulesets: (
        Annotated[
            tuple[Annotated[str, Meta(max_length=64)], ...], Meta(min_length=1, max_length=64)
        ]
        | None
    ) = None
    limits: AskedLimits = AskedLimits()


def read_bot_toml(file: Path, *, where: str, limits: Limits | None) -> BotToml:
    """Return a bot's settings.

    Args:
        file: a regular file, most often that of the staged copy.
        where: how messages name it: the author's own path.
        limits: the organiser's; None if nothing is known of them yet.

    Raises:
        BotRefused: naming the file, the line if it can be told, the key and the cure.
    """
    try:
        with file.open("rb") as reader:
            data = reader.read(MAX_BYTES + 1)
    except OSError as exc:
        raise BotRefused(f"{where}: can't be read ({exc.strerror})") from exc
    if len(data) > MAX_BYTES:
        raise BotRefused(f"{where}: larger than {MAX_BYTES // 1024} KiB; settings are short")
    try:
        text = data.decode("utf-8-sig")
        found = tomllib.loads(text)
    except UnicodeDecodeError as exc:
        raise BotRefused(f"{where}: not UTF-8 at byte {exc.start}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise BotRefused(f"{where}: not valid TOML: {shown(str(exc))}") from exc
    except (RecursionError, ValueError) as exc:  # nested without end; a number of 5,000 digits
        raise BotRefused(
            f"{where}: can't be read as TOML; plain keys and values are enough"
        ) from exc
    _refuse_unknown(found, BotToml, "", where, text)
    if isinstance(found.get("limits"), dict):
        _refuse_unknown(found["limits"], AskedLimits, "limits.", where, text)
    if "command" not in found:
        raise BotRefused(
            f'{where}: `command` is missing; write command = ["{{python}}", "bot.py"] or what '
            f"starts your bot"
        )
    if isinstance(found.get("name"), str):
        check_name(found["name"], f"{_at(where, text, 'name')}: `name`")
    try:
        settings = msgspec.convert(found, BotToml)
    except msgspec.ValidationError as exc:
        _refuse_value(exc, where, text)
    _check_limits(settings.limits, limits, where, text)
    return settings


def check_name(name: str, where: str) -> str:
    """Return a bot's name if it may be one.

    Raises:
        BotRefused: if it can't stand in tables, file names and terminals as it is.
    """
    if _DEVICES.match(name):
        raise BotRefused(f"{where} {shown(name)!r} is a device's name on Windows; choose another")
    try:
        msgspec.convert(name, Name)
    except msgspec.ValidationError as exc:
        raise BotRefused(
            f"{where} '{shown(name)}' can't be a bot's name: 1 to 40 letters, digits and . _ + -, "
            f"a letter or digit first"
        ) from exc
    return name


def _at(where: str, text: str, key: str) -> str:
    """Return the file with the line on which a key stands, if one does."""
    last = re.escape(key.rsplit(".", 1)[-1])
    pattern = re.compile(rf"""^\s*(\[\s*)?(\w+\s*\.\s*)?["']?{last}["']?\s*[=\].]""")
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.match(line):
            return f"{where}, line {number}"
    return where


def _refuse_unknown(
    found: dict[str, Any], kind: type[msgspec.Struct], prefix: str, where: str, text: str
) -> None:
    """Refuse keys that nobody reads: most often a slip, or a wish for less supervision."""
    known = kind.__struct_fields__
    for key in found:
        if key not in known:
            near = difflib.get_close_matches(key[:40], known, n=1)
            cure = f"did you mean `{prefix}{near[0]}`?" if near else f"known are {', '.join(known)}"
            raise BotRefused(f"{_at(where, text, key)}: unknown key `{prefix}{shown(key)}`; {cure}")


_CURES = {  # for keys of which every wrong value has one cure
    "sides": 'a list of "mister_x", "detectives" or both',
    "command": 'a list that begins with the program, such as ["{python}", "bot.py"]',
    "rulesets": 'a list of rulesets, such as ["london-2013"]',
}


def _refuse_value(exc: msgspec.ValidationError, where: str, text: str) -> NoReturn:
    """Say in our words what msgspec found."""
    said, _, place = str(exc).partition(" - at `$.")
    key = place.rstrip("`")
    top = key.split("[")[0]
    place = f"{_at(where, text, top)}: `{shown(key)}`" if key else where
    if top in _CURES:
        whole = "" if key == top else f" does not fit: `{top}`"
        raise BotRefused(f"{place}{whole} must be {_CURES[top]}") from exc
    if said.startswith("Expected `str"):
        raise BotRefused(f"{place} must be text in quotes") from exc
    raise BotRefused(f"{place}: {shown(said[:1].lower() + said[1:])}") from exc


def _check_limits(asked: AskedLimits, limits: Limits | None, where: str, text: str) -> None:
    """Refuse a limit that is looser than the organiser's."""
    if limits is None:
        return
    for key in AskedLimits.__struct_fields__:
        value, most = getattr(asked, key), getattr(limits, key)
        if value is not None and value > most:
            raise BotRefused(
                f"{_at(where, text, key)}: `limits.{key}` = {value:,} is more than the "
                f"organiser's {most:,}; ask for at most that"
            )
