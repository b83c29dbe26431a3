"""tournament.toml → frozen config; unknown keys are refused with line, key and nearest name."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta

from arena.cli.toml_lines import Place, key_lines
from arena.errors import ConfigError
from arena.rules import registry
from reports.names import shown

__all__ = [
    "MOST_DEALS",
    "Clock",
    "Limits",
    "RulesetDeals",
    "Tournament",
    "load",
    "schema",
    "to_toml",
]

MOST_DEALS = 1_000_000_000

Positive = Annotated[int, Meta(ge=1, le=2**53 - 1)]
Deals = Annotated[int, Meta(ge=1, le=MOST_DEALS)]
Milliseconds = Annotated[int, Meta(ge=0, le=86_400_000)]
Wait = Annotated[int, Meta(ge=1, le=86_400_000)]
Amount = Annotated[int, Meta(ge=1, le=2**31 - 1)]  # of MiB too: no system counts further


class Clock(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Time for a turn: `move_ms` are free, then the bank is drawn on."""

    move_ms: Annotated[Milliseconds, Meta(description="free for each turn, milliseconds")] = 1000
    bank_ms: Annotated[
        Milliseconds, Meta(description="for the whole game, drawn on after move_ms")
    ] = 0
    increment_ms: Annotated[
        Milliseconds, Meta(description="added to the bank after each answer")
    ] = 0
    kind: Annotated[
        Literal["wall", "cpu"],
        Meta(description="what is charged: wall time, or CPU time of all of a bot's processes"),
    ] = "wall"
    pondering: Annotated[
        Literal["watch", "freeze", "allow"],
        Meta(
            description="CPU time used off turn: measured, and who does it is stopped; "
            "every bot is stopped off turn; or allowed"
        ),
    ] = "watch"


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a bot is held to, where it differs from what `arena limits` prints."""

    first_ready_ms: Annotated[
        Wait | None, Meta(description="from spawn to the first ready, milliseconds")
    ] = None
    ready_ms: Annotated[Wait | None, Meta(description="each later ready, milliseconds")] = None
    memory_mib: Annotated[Amount | None, Meta(description="memory of one bot, MiB")] = None
    processes: Annotated[Amount | None, Meta(description="processes and threads")] = None
    open_files: Annotated[Amount | None, Meta(description="open files")] = None
    file_mib: Annotated[Amount | None, Meta(description="largest file written, MiB")] = None
    tmp_mib: Annotated[Amount | None, Meta(description="size of /tmp, MiB")] = None
    shm_mib: Annotated[Amount | None, Meta(description="size of /dev/shm, MiB")] = None
    tmp_files: Annotated[Amount | None, Meta(description="files in both")] = None
    sockets: Annotated[Amount | None, Meta(description="sockets")] = None
    nodes_turn_ms: Annotated[
        Wait | None, Meta(description="wall stop of a turn in a game on nodes, milliseconds")
    ] = None


class RulesetDeals(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One ruleset of several in a tournament."""

    name: Annotated[str, Meta(description="name[:key=value,…], see `arena rulesets`")]
    deals: Annotated[
        Deals | None, Meta(description="deals that every pairing plays of it; else `deals` above")
    ] = None


class Tournament(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that decides a run; an option of `arena run` wins over its key here."""

    bots: Annotated[
        tuple[str, ...], Meta(description="bots that play both sides (as far as they can)")
    ] = ()
    mister_x: Annotated[tuple[str, ...], Meta(description="bots that play Mister X only")] = ()
    detectives: Annotated[
        tuple[str, ...], Meta(description="bots that play the detectives only")
    ] = ()
    kind: Annotated[
        Literal["round_robin", "gauntlet"],
        Meta(description="everybody against everybody, or challengers against all others"),
    ] = "round_robin"
    challengers: Annotated[
        tuple[str, ...], Meta(description="names of a gauntlet's challengers")
    ] = ()
    ruleset: Annotated[
        str | Annotated[tuple[RulesetDeals, ...], Meta(min_length=1, max_length=64)],
        Meta(
            description="name[:key=value,…], see `arena rulesets`; or [[ruleset]] tables, each "
            "with its name: every bot plays those that it knows, each has ratings of its own"
        ),
    ] = "london-2013"
    deals: Annotated[Deals, Meta(description="deals that every pairing plays")] = 20
    seed: Annotated[
        str | int | None,
        Meta(description="an open seed; without it the run has a secret of its own"),
    ] = None
    jobs: Annotated[
        Annotated[int, Meta(ge=1, le=1024)] | None,
        Meta(
            description="games in play at once; without it the usable cores, less one from four up"
        ),
    ] = None
    restart: Annotated[
        Literal["game", "keep"],
        Meta(description="a process a game, or one kept for many games (then marked `kept`)"),
    ] = "game"
    executor: Annotated[
        Literal["local", "dask"],
        Meta(description="where games are played: on this machine, or on a Dask cluster"),
    ] = "local"
    sandbox: Annotated[
        Literal["auto", "none"], Meta(description="whether bots are kept in the sandbox")
    ] = "auto"
    bwrap: Annotated[
        str | None,
        Meta(description="path of bubblewrap, or `path` to search PATH too; without it the usual"),
    ] = None
    show: Annotated[
        tuple[str, ...],
        Meta(description="folders that bots in the sandbox see besides the system's"),
    ] = ()
    user_ids: Annotated[
        tuple[Amount, Amount] | None,
        Meta(description="for bots, if root runs them: the first, and how many"),
    ] = None
    self_play: Annotated[bool, Meta(description="whether a bot meets itself")] = False
    bench_after: Annotated[
        Positive, Meta(description="faults in a row, by plan order, that bench a bot")
    ] = 10
    nodes: Annotated[
        Positive | None,
        Meta(description="nodes a turn instead of time; bots must announce `nodes`"),
    ] = None
    clock: Annotated[Clock, Meta(description="time for a turn")] = Clock()
    limits: Annotated[Limits, Meta(description="what a bot is held to")] = Limits()

    @property
    def rulesets(self) -> tuple[tuple[str, int], ...]:
        """Each ruleset as it was named, with its deals."""
        if isinstance(self.ruleset, str):
            return ((self.ruleset, self.deals),)
        return tuple(
            (each.name, self.deals if each.deals is None else each.deals) for each in self.ruleset
        )


def load(path: Path) -> Tournament:
    """Read a tournament file.

    Raises:
        ConfigError: if the file can't be read, is no TOML, has an unknown key or a value that does
            not fit; the text names file, line and key, and for an unknown key the nearest one.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: can't be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start}).") from error
    made = parse(text, str(path))
    check_values(made, text, str(path))
    return made


def parse(text: str, name: str) -> Tournament:
    """Read the text of a tournament file; `name` is the file's, for errors.

    Raises:
        ConfigError: as for `load`.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML: {error}.") from error
    except RecursionError as error:
        raise ConfigError(f"{name}: not valid TOML: nested too deeply.") from error
    except ValueError as error:  # of Python, which reads no number of 5,000 digits
        raise ConfigError(f"{name}: holds a number that is far too long.") from error
    strangers = list(unknown_keys(data, Tournament, ()))
    if strangers:
        lines = key_lines(text)
        raise ConfigError(
            "\n".join(
                f"{name}:{lines[place]}: unknown key `{shown(said(place))}`"
                f"{meant(place[-1], known)}"
                for place, known in strangers
            )
        )
    if "nodes" in data and "clock" in data:
        where = key_lines(text)[("clock",)]
        raise ConfigError(
            f"{name}:{where}: a game runs on `clock` or on `nodes`; leave one of them out."
        )
    try:
        return msgspec.convert(data, Tournament)
    except msgspec.ValidationError as error:
        place, what = sentence(str(error))
        line = f":{key_lines(text)[place]}" if place else ""
        raise ConfigError(f"{name}{line}: `{said(place)}` {what}.") from error


def check_values(made: Tournament, text: str, name: str) -> None:
    """Check values that fit their keys and yet can't be played with.

    Args:
        made: what the file says.
        text: of the file.
        name: of the file, for errors.

    Raises:
        ConfigError: for a ruleset that there is not or that comes twice, an empty seed or `bwrap`,
            or a clock that gives no time.
    """
    if made.seed == "":
        raise ConfigError(
            f"{name}:{key_lines(text)[('seed',)]}: `seed` is empty; leave it out for a secret one."
        )
    if made.bwrap == "":
        raise ConfigError(f"{name}:{key_lines(text)[('bwrap',)]}: `bwrap` is empty; leave it out.")
    if made.nodes is None and made.clock.move_ms == made.clock.bank_ms == 0:
        raise ConfigError(
            f"{name}:{key_lines(text)[('clock',)]}: this `clock` gives a bot no time for its first "
            "turn; set move_ms or bank_ms."
        )
    known: set[str] = set()
    for number, (ruleset, _) in enumerate(made.rulesets):
        place: Place = ("ruleset",)
        if not isinstance(made.ruleset, str):
            place = ("ruleset", number, "name")
        try:
            canonical = registry.make(ruleset).text
        except ConfigError as error:
            raise ConfigError(f"{name}:{key_lines(text)[place]}: {error}") from error
        if canonical in known:
            raise ConfigError(
                f"{name}:{key_lines(text)[place]}: {canonical} is named twice; add up its deals."
            )
        known.add(canonical)


def unknown_keys(
    data: Mapping[str, Any], kind: type[msgspec.Struct], place: Place
) -> Iterator[tuple[Place, list[str]]]:
    """Yield the place of every key that the struct does not have, with the keys that it has."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    hints = get_type_hints(kind)
    for key, value in data.items():
        here = (*place, key)
        if key not in fields:
            yield here, list(fields)
            continue
        inner = hints[fields[key].name]
        if (
            isinstance(value, dict)
            and isinstance(inner, type)
            and issubclass(inner, msgspec.Struct)
        ):
            yield from unknown_keys(value, inner, here)
        elif key == "ruleset" and isinstance(value, list):
            for number, table in enumerate(value):
                if isinstance(table, dict):
                    yield from unknown_keys(table, RulesetDeals, (*here, number))


def meant(key: str | int, known: list[str]) -> str:
    """Return the end of the sentence on an unknown key: the nearest one, or all there are."""
    near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean `{near[0]}`?"
    return f"; the keys here are {', '.join(known)}."


def said(place: Place) -> str:
    """Return a place as people write it: `clock.move_ms`, `bots[2]`."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


KINDS = {
    "int": "a whole number",
    "str": "text in quotes",
    "bool": "true or false",
    "array": "a list in [ ]",
    "object": "a table",
    "null": "nothing",
}


def sentence(text: str) -> tuple[Place, str]:
    """Turn a message of msgspec into the place that it speaks of and the end of a sentence."""
    what, _, path = text.partition(" - at `")
    place: list[str | int] = []
    for key, index in re.findall(r"\.([A-Za-z_]+)|\[(\d+)\]", path):
        place.append(int(index) if index else key)
    wanted = re.fullmatch(r"Expected `([^`]+)`, got `(.+)`", what)
    if wanted:
        must = " or ".join(KINDS.get(kind, kind) for kind in kinds(wanted[1]))
        got = "one with a point" if wanted[2] == "float" else KINDS.get(wanted[2], wanted[2])
        return tuple(place), f"must be {must}, not {got}"
    bound = re.fullmatch(r"Expected `int` ([<>]=) (-?\d+)", what)
    if bound:
        least = "at least" if bound[1] == ">=" else "at most"
        return tuple(place), f"must be {least} {int(bound[2]):,}"
    if what.startswith("Invalid enum value"):
        choices = choices_of(tuple(place))
        value = what.removeprefix("Invalid enum value ").strip("'")
        return tuple(place), f"must be {' or '.join(map(repr, choices))}, not '{value}'"
    return tuple(place), f"does not fit: {what}"


def kinds(text: str) -> list[str]:
    """Return the types of a union as msgspec writes it, without null: TOML has none."""
    return [kind for kind in text.split(" | ") if kind != "null"]


def choices_of(place: Place) -> tuple[str, ...]:
    """Return the words that a key may have."""
    kind: Any = Tournament
    for key in place:
        kind = get_type_hints(kind)[str(key)]
    choices: tuple[str, ...] = get_args(kind)
    return choices


def to_toml(config: Tournament) -> str:
    """Write a config as a file that `load` reads back equal; every key that is set stands in it."""
    data = msgspec.structs.asdict(config)
    if config.nodes is not None:
        del data["clock"]  # a game on nodes has none
    return "".join(toml_lines(data, ""))


def toml_lines(data: Mapping[str, Any], head: str) -> Iterator[str]:
    """Yield the lines of one table: its values, then its tables."""
    tables = {}
    lists = {}
    for key, value in data.items():
        if isinstance(value, msgspec.Struct):
            tables[key] = msgspec.structs.asdict(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
            lists[key] = [msgspec.structs.asdict(one) for one in value]
        elif value is not None:
            yield f"{key} = {toml_value(value)}\n"
    for key, several in lists.items():
        for table in several:
            yield f"\n[[{head}.{key}]]\n" if head else f"\n[[{key}]]\n"
            yield from toml_lines(table, key)
    for key, table in tables.items():
        name = f"{head}.{key}" if head else key
        yield f"\n[{name}]\n"
        yield from toml_lines(table, name)


def toml_value(value: Any) -> str:
    """Write one value: text, whole number, truth or a list of them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + "".join(map(toml_char, value)) + '"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    raise TypeError(f"no TOML for {type(value).__name__}")


def toml_char(char: str) -> str:
    """Write one character of a basic string."""
    if char in '"\\':
        return "\\" + char
    return char if char >= " " and char != "\x7f" else f"\\u{ord(char):04x}"


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a tournament file."""
    made: dict[str, Any] = msgspec.json.schema(Tournament)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tournament.toml",
        **without_null(made),
        "not": {"required": ["nodes", "clock"]},  # a game runs on one of them
    }


def without_null(value: Any) -> Any:
    """Drop `null` from a schema: it is how we say "not set", and TOML can't write it."""
    if isinstance(value, dict):
        if "anyOf" in value:
            rest = [kind for kind in value["anyOf"] if kind != {"type": "null"}]
            others = {key: item for key, item in value.items() if key not in ("anyOf", "default")}
            value = {**others, **(rest[0] if len(rest) == 1 else {"anyOf": rest})}
        return {key: without_null(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_null(item) for item in value]
    return value
