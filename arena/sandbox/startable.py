"""Why a bot's command cannot be started, said before the kernel says it in one word."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from arena.errors import BotRefused
from arena.sandbox.limits import BOT_ENVIRONMENT
from protocol.quoting import quote

__all__ = ["check_startable"]

_LOOK_BYTES = 512
_ELF_MACHINE = slice(18, 20)
_X86, _X86_64 = b"\x03\x00", b"\x3e\x00"
_MACHINES = {
    _X86: "x86",
    _X86_64: "x86-64",
    b"\x28\x00": "arm",
    b"\xb7\x00": "aarch64",
    b"\xf3\x00": "riscv",
    b"\x15\x00": "ppc64",
    b"\x16\x00": "s390",
}


def check_startable(
    command: Sequence[str], folder: Path, *, visible: Sequence[str] | None = None
) -> None:
    """Look at the program as the kernel will, and tell the ways apart in which it can't start.

    Args:
        command: the bot's command; a first word with a slash is relative to `folder`, else it is
            searched in the PATH of the bot's environment.
        folder: the bot's folder.
        visible: folders and files that the sandbox shows; None without a sandbox.

    Raises:
        BotRefused: with the cause and its cure, without any path of this host.
    """
    if not command or not command[0]:
        raise BotRefused("the command is empty; name a program in `command`")
    word = command[0]
    shown = f"'{quote(Path(word).name.encode(), 80)}'"
    program = _find(word, folder)
    if program is None:
        if "/" not in word and _is_there(folder / word):
            raise BotRefused(
                f"the program {shown} is not on the PATH; it lies in the bot's folder: "
                f"write './{quote(word.encode(), 80)}'"
            )
        raise BotRefused(f"the program {shown} is missing; is it built, and named as in `command`?")
    if not program.is_file():
        raise BotRefused(f"the program {shown} is no file; name a program in `command`")
    if not os.access(program, os.X_OK):
        raise BotRefused(f"the program {shown} has no execute bit; run `chmod +x` on it")
    _check_content(program, shown, folder)
    if visible is not None:
        _check_visible(program, shown, (*visible, str(folder)))


def _check_visible(program: Path, shown: str, places: Sequence[str]) -> None:
    real = os.path.realpath(program)
    for place in map(os.path.realpath, places):
        if real == place or real.startswith(place.rstrip("/") + "/"):
            return
    raise BotRefused(
        f"the program {shown} lies where bots in the sandbox can't see it; install it for all "
        "users below /usr, copy it into the bot's folder, or name its folder in `show` of the "
        "tournament file"
    )


def _find(word: str, folder: Path) -> Path | None:
    if "/" in word:
        program = folder / word  # an absolute word stays as it is
        return program if _is_there(program) else None
    found = shutil.which(word, path=BOT_ENVIRONMENT["PATH"])
    return Path(found) if found else None


def _is_there(path: Path) -> bool:
    return os.access(path, os.F_OK)  # it never raises: a stranger may have written anything


def _check_content(program: Path, shown: str, folder: Path) -> None:
    try:
        with program.open("rb") as file:
            start = file.read(_LOOK_BYTES)
    except PermissionError:
        return  # a program that may be run but not read, which is fine
    if start.startswith(b"#!"):
        _check_script(start, shown, folder)
    elif start.startswith(b"\x7fELF"):
        machine = start[_ELF_MACHINE]
        ours = _own_machine()
        if machine != ours and (machine, ours) != (_X86, _X86_64):
            name = _MACHINES.get(machine, f"machine {int.from_bytes(machine, 'little')}")
            raise BotRefused(
                f"the program {shown} is built for another architecture ({name}, this machine is "
                f"{_MACHINES.get(ours, 'another')}); build it for this one"
            )
    else:
        what = "a Windows program" if start.startswith(b"MZ") else "no program and has no `#!` line"
        raise BotRefused(
            f"the program {shown} is {what}; build it for Linux, or begin a script with a line "
            "such as `#!/usr/bin/env python3`"
        )


def _check_script(start: bytes, shown: str, folder: Path) -> None:
    line = start[2:].split(b"\n", 1)[0]
    if line.rstrip(b" \t").endswith(b"\r"):
        raise BotRefused(
            f"the `#!` line of {shown} ends with CRLF; save the file with LF line ends "
            "(`dos2unix` does it)"
        )
    words = line.split()
    if not words:
        raise BotRefused(f"the `#!` line of {shown} names no interpreter; name one")
    interpreter = os.fsdecode(words[0])
    wanted = next((os.fsdecode(word) for word in words[1:] if not word.startswith(b"-")), "")
    missing = _find(interpreter if "/" in interpreter else f"./{interpreter}", folder) is None
    if not missing and Path(interpreter).name == "env" and wanted and "=" not in wanted:
        missing, interpreter = _find(wanted, folder) is None, wanted
    if missing:
        name = quote(Path(interpreter).name.encode(errors="surrogateescape"), 80)
        raise BotRefused(
            f"the interpreter '{name}' in the `#!` line of {shown} is not there; "
            "install it or correct the line"
        )


def _own_machine() -> bytes:
    with Path("/proc/self/exe").open("rb") as file:
        return file.read(_LOOK_BYTES)[_ELF_MACHINE]
