"""What a person names as a BOT, found, staged and made ready to be greeted.

In this order: the name of a reference bot; a folder with `bot.toml`; an executable or script file;
a command line. Of the last two the folder of the first existing file named is staged.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.resources
import os
import py_compile
import re
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from arena.errors import BotRefused
from arena.referee.record import BotSpec, SideWord
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.building import build
from arena.sandbox.staging import (
    LEFT_OUT,
    MAX_BYTES,
    Staged,
    check_folder,
    shown,
    stage,
    stage_files,
)
from arena.tournament.bot_toml import FILE, BotToml, check_name, read_bot_toml
from arena.tournament.paths import is_file, kind_of
from protocol.messages import HelloAnswer, Limits

__all__ = ["PYTHON", "STAGED", "Entrant", "equal_names", "find_bot", "reference_names"]

SDK = ("misterx_sdk", "misterx_europe")  # modules; the second for bots that play Europe
_PYTHON = re.compile(r"python[0-9.]*")
_IMPORTS = {
    name: re.compile(rf"^\s*(?:from|import)\b.*\b{name}\b".encode(), re.MULTILINE) for name in SDK
}
PYTHON = "{python}"  # in a command: the arena's own interpreter
STAGED = "staged"  # the folder of copies in the data folder
# What a command line names there is the machine's, not the bot's.
_SYSTEM = ("/bin", "/lib", "/lib64", "/nix", "/opt", "/sbin", "/usr", sys.prefix, sys.base_prefix)


class Entrant(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that was staged and is still to be greeted.

    Attributes:
        spec: how it is started; `greeted` makes the one that games are played with.
        source: what it was found from, as a person would name it.
        author: from `bot.toml`, or empty. Anything may stand in it.
        sides: what `bot.toml` narrows the bot to; None: it doesn't.
        rulesets: likewise.
        talk: lines for the person who named it, such as which folder was staged.
        is_built: whether it can be started; not if its `build` was left out.
    """

    spec: BotSpec
    source: str
    author: str = ""
    sides: tuple[SideWord, ...] | None = None
    rulesets: tuple[str, ...] | None = None
    talk: tuple[str, ...] = ()
    is_built: bool = True

    def greeted(self, hello: HelloAnswer) -> BotSpec:
        """Return the spec with what the bot said of itself, as far as `bot.toml` lets it.

        Raises:
            BotRefused: if nothing is left that the bot both says and may play.
        """
        sides = tuple(side for side in hello.sides if self.sides is None or side in self.sides)
        rulesets = hello.rulesets
        if self.rulesets is not None:
            rulesets = tuple(
                [text for text in self.rulesets if _covers(hello.rulesets, text)]
                or [text for text in hello.rulesets if _covers(self.rulesets, text)]
            )
        for key, left, said, allowed in (
            ("sides", sides, hello.sides, self.sides),
            ("rulesets", rulesets, hello.rulesets, self.rulesets),
        ):
            if not left:
                raise BotRefused(
                    f"{self.source}: {FILE} narrows `{key}` to {', '.join(allowed or ())}, but "
                    f"the bot's hello says {', '.join(said) or 'none'}; make them agree"
                )
        return msgspec.structs.replace(
            self.spec,
            version=self.spec.version or hello.version,
            sides=sides,
            rulesets=rulesets,
        )


def find_bot(
    text: str,
    data: Path,
    *,
    limits: Limits | None = None,
    profile: Profile | None = None,
    into: Path | None = None,
    builds: bool = True,
) -> Entrant:
    """Find, read and stage one bot.

    Args:
        text: a BOT, as a person writes it.
        data: the data folder, which no bot's folder may hold.
        limits: the organiser's; what a bot asks for beyond them is refused.
        profile: of the sandbox that a bot is built in; None to build it with our own rights.
        into: where copies go; left out, below the data folder.
        builds: whether its `build` is run; without it the copy is only good to be looked at.

    Raises:
        BotRefused: if there is no such bot, or it can't be used as it is; with the cure.
    """
    if not text or not text.isprintable():
        raise BotRefused(
            f"'{shown(text)}' names no bot; write a name, a folder, a file or a command"
        )
    into = data / STAGED if into is None else into
    kind = kind_of(text)
    if text in reference_names():
        return _reference(text, into, limits, hides=kind is not None)
    if kind == stat.S_IFDIR:
        return _folder(Path(text), data, into, limits, profile, builds=builds)
    if kind == stat.S_IFREG:
        return _file(Path(text), data, into)
    if kind is not None:
        raise BotRefused(f"{text}: is no file and no folder")
    return _command_line(text, data, into)


def equal_names(entrants: Iterable[Entrant]) -> tuple[str, ...]:
    """Return a line for each bot whose name another one has before it, case left aside.

    Tables, files and people could not tell them apart.
    """
    first: dict[str, Entrant] = {}
    lines: list[str] = []
    for entrant in entrants:
        other = first.setdefault(entrant.spec.name.casefold(), entrant)
        if other is not entrant:
            named = dict.fromkeys((f"'{other.spec.name}'", f"'{entrant.spec.name}'"))
            lines.append(
                f"{other.source} and {entrant.source} have one name, {' and '.join(named)}; "
                f"give one of them another `name` in its {FILE}"
            )
    return tuple(lines)


def reference_names() -> tuple[str, ...]:
    """Return the names of the reference bots, sorted."""
    home = importlib.resources.files("bots") / "reference"
    return tuple(sorted(bot.name for bot in home.iterdir() if (bot / FILE).is_file()))


def _covers(names: Sequence[str], text: str) -> bool:
    """Tell whether a ruleset's text, or its name alone, is among those given."""
    return text in names or text.partition(":")[0] in names


def _reference(name: str, into: Path, limits: Limits | None, *, hides: bool) -> Entrant:
    """Stage a bot of our own wheel, with the SDK and the parts that reference bots share."""
    home = importlib.resources.files("bots")
    files: dict[str, tuple[bytes, bool]] = {}
    for folder in (home / "reference" / name, home / "sdk", home / "parts"):
        for file in _files(folder):
            if folder.name == name or file.name.endswith(".py"):
                files[file.name] = (file.read_bytes(), False)
    staged = stage_files(files, into, finish=_compile)
    settings = read_bot_toml(staged.folder / FILE, where=f"{name}/{FILE}", limits=limits)
    talk = (f"{name}: the reference bot; write ./{name} for what lies here",) if hides else ()
    return _entrant(settings, name, staged, f"the reference bot {name}", trusted=True, talk=talk)


def _compile(copy: Path) -> None:
    """Compile our own modules ahead: bots may write nothing, and would do it at every start."""
    for module in copy.glob("*.py"):
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH  # the copy never changes
        py_compile.compile(
            str(module), dfile=module.name, doraise=True, invalidation_mode=mode, quiet=2
        )


def _files(folder: Traversable) -> Iterator[Traversable]:
    """Give the files of a folder of our own wheel that a bot may need."""
    for file in folder.iterdir():
        if file.is_file() and not file.name.startswith((".", "__")):
            yield file


def _sdk_for(folder: Path, shown_as: Path) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return what a folder's scripts import of the SDK and the folder lacks, and the talk."""
    lacking = [name for name in SDK if kind_of(folder / f"{name}.py") is None]
    found: dict[str, bytes] = {}
    talk: tuple[str, ...] = ()
    for script in sorted(folder.glob("*.py")) if lacking else ():
        if is_file(script) and script.stat().st_size <= MAX_BYTES:
            with suppress(OSError):
                text = script.read_bytes()
                for name in lacking:
                    if f"{name}.py" not in found and _IMPORTS[name].search(text):
                        sdk = importlib.resources.files("bots") / "sdk" / f"{name}.py"
                        found[sdk.name] = sdk.read_bytes()
                        one = (
                            f"{shown_as}: {script.name} imports the SDK; the copy gets the arena's"
                        )
                        talk = talk or (one,)
    return found, talk


def _folder(
    path: Path,
    data: Path,
    into: Path,
    limits: Limits | None,
    profile: Profile | None,
    *,
    builds: bool,
) -> Entrant:
    """Stage a folder with its `bot.toml`, and build it if that says how and it is wanted."""
    real = check_folder(path, data)
    sdk, talk = _sdk_for(real, path)
    if not is_file(real / FILE):
        raise BotRefused(_no_settings(path))
    staged = _copied(real, path, into, data, sdk)
    settings = read_bot_toml(staged.folder / FILE, where=str(path / FILE), limits=limits)
    if settings.build and builds:
        commands = [_filled(command) for command in settings.build]
        salt = msgspec.json.encode(["build", settings.build]).decode()

        def build_in(copy: Path) -> None:
            build(commands, copy.absolute(), profile=profile)  # the data folder may be relative

        try:
            staged = stage(staged.folder, into, salt=salt, finish=build_in)
        except BotRefused as exc:
            raise BotRefused(f"{path}: {exc}") from exc
    is_built = builds or not settings.build
    if is_built:  # else what the command names may be yet to be made
        _check_copied(settings.command, staged, real)
    entrant = _entrant(settings, real.name, staged, str(path), talk=talk)
    return msgspec.structs.replace(entrant, is_built=is_built)


def _copied(real: Path, shown_as: Path, into: Path, data: Path, more: dict[str, bytes]) -> Staged:
    """Stage a folder; what can't be copied is told with the folder, for there are many bots."""
    try:
        return stage(real, into, data=data, more=more)
    except BotRefused as exc:
        what = str(exc).removeprefix(f"{real}: ")
        raise BotRefused(f"{shown_as}: {what}") from exc


def _no_settings(path: Path) -> str:
    """Return what a folder lacks that is named as a bot."""
    return (
        f"{path}: has no {FILE}; write one with at least "
        f'command = ["{PYTHON}", "bot.py"], or name the program in it'
    )


def _file(path: Path, data: Path, into: Path) -> Entrant:
    """Stage the folder of an executable or a script."""
    command: tuple[str, ...]
    if os.access(path, os.X_OK):
        command = (f"./{path.name}",)
    elif path.suffix == ".py":
        command = (PYTHON, path.name)
    elif path.name == FILE:
        raise BotRefused(f"{path}: this is a bot's settings; name its folder, {path.parent}")
    else:
        raise BotRefused(f"{path}: has no execute bit and is no .py file; chmod +x it")
    real = check_folder(path.parent, data)
    sdk, talk = _sdk_for(real, path.parent)
    staged = _copied(real, path.parent, into, data, sdk)
    _check_copied(command, staged, real)
    name = check_name(path.stem, f"{path}: the file's name")
    talk = (f"{name}: staged the folder {path.parent} of {path.name}", *talk)
    return _entrant(BotToml(command=command), name, staged, str(path), talk=talk)


def _command_line(text: str, data: Path, into: Path) -> Entrant:
    """Stage the folder of the first existing file that a command line names."""
    words, files, file = _words(text)
    if _PYTHON.fullmatch(file.name):  # of a virtual environment, whose files no copy may hold
        raise BotRefused(
            f"'{shown(text)}': {file} is an interpreter, which no bot takes along; write {PYTHON} "
            "for the arena's own, or python3 for the system's"
        )
    real = check_folder(file.parent, data)
    sdk, about_sdk = _sdk_for(real, file.parent)
    staged = _copied(real, file.parent, into, data, sdk)
    name = check_name(file.stem, f"'{shown(text)}': the file's name")
    talk = [f"{name}: staged the folder {file.parent} of {file.name}", *about_sdk]
    command: list[str] = []
    for index, word in enumerate(words):
        inside = _inside(word, real) if word in files else None
        if inside is not None:
            command.append(f"./{inside}" if index == 0 else inside)
            continue
        if word in files and not _is_system(word):
            talk.append(f"{name}: {word} lies outside that folder, and the bot won't find it")
        command.append(word)
    _check_copied(command, staged, real)
    settings = BotToml(command=tuple(command))
    return _entrant(settings, name, staged, f"'{text}'", talk=tuple(talk))


def _words(text: str) -> tuple[list[str], list[str], Path]:
    """Split a command line; returns its words, those that are files, and the bot's own file."""
    try:
        words = shlex.split(text)
    except ValueError as exc:
        raise BotRefused(f"'{shown(text)}': can't be split into words ({exc})") from exc
    files = [word for word in words if is_file(word)]
    if not files:
        raise BotRefused(_no_such_bot(text, words))
    return words, files, Path(next((word for word in files if not _is_system(word)), files[0]))


def _is_system(word: str) -> bool:
    """Tell whether a file of a command line is the machine's, such as an interpreter."""
    whole = Path(word).absolute()
    return any(whole.is_relative_to(system) for system in _SYSTEM)


def _inside(word: str, folder: Path) -> str | None:
    """Return a file's path from a folder that it lies in, or None."""
    whole = Path(word).parent.resolve() / Path(word).name  # the file itself may be a link
    return str(whole.relative_to(folder)) if whole.is_relative_to(folder) else None


def _no_such_bot(text: str, words: Sequence[str]) -> str:
    """Return why a text names nothing, with the nearest reference bot."""
    if len(words) > 1:
        return f"'{shown(text)}': no word of this command line is a file of the bot; name one"
    near = difflib.get_close_matches(text, reference_names(), n=1)
    cure = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(reference_names())}"
    return f"there is no bot '{shown(text)}': no reference bot, folder or file of that name; {cure}"


def _check_copied(command: Sequence[str], staged: Staged, source: Path) -> None:
    """Refuse a command that runs what lies in the bot's folder and is never copied."""
    for word in command:
        part = next((p for p in Path(word).parts if p in LEFT_OUT or p.startswith(".")), None)
        if part is None or Path(word).is_absolute():
            continue
        if kind_of(staged.folder / word) is None and kind_of(source / word) is not None:
            raise BotRefused(
                f"{source}: the command names '{shown(word)}', but {part} is never copied; move "
                f"the file up, or let `build` in {FILE} make it"
            )


def _filled(command: Sequence[str]) -> tuple[str, ...]:
    """Return a command with the arena's own interpreter filled in."""
    return tuple(word.replace(PYTHON, sys.executable) for word in command)


def _entrant(
    settings: BotToml,
    name: str,
    staged: Staged,
    source: str,
    *,
    trusted: bool = False,
    talk: tuple[str, ...] = (),
) -> Entrant:
    """Put together what was found."""
    if settings.name is None:
        check_name(name, f"{source}: the folder's name")
    identity = msgspec.json.encode(["bot-1", staged.hash, settings.command])
    spec = BotSpec(
        name=settings.name or name,
        version=settings.version,
        hash=hashlib.sha256(identity).hexdigest(),  # of {python}: the same on every machine
        command=_filled(settings.command),
        folder=str(staged.folder),
        trusted=trusted,
        limits=settings.limits,
    )
    return Entrant(
        spec=spec,
        source=source,
        author=settings.author,
        sides=settings.sides,
        rulesets=settings.rulesets,
        talk=talk,
    )
