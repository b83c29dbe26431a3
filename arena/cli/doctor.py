"""`arena doctor`: what this machine can hold bots to, what it can't, and why."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from arena.cli import answers
from arena.cli.exits import Exit
from arena.cli.options import data_option, talking
from arena.cli.sandboxing import bwrap_option, look
from arena.cli.talk import Talk, table
from arena.sandbox.finding import Found
from arena.sandbox.limits import not_set_here
from arena.sandbox.refusals import Refusal
from arena.sandbox.seccomp import filter_program, this_machine
from arena.tournament.executors.cpus import cpu_quota, usable_cores, usable_cpus
from arena.tournament.executors.descriptors import games_with

__all__ = ["command"]

ROUTES = {
    "R": "R: we are root, and each bot gets a user id of its own",
    "U": "U: in a user namespace, where a bot is nobody",
}
CGROUP = Path("/sys/fs/cgroup")
INSTRUCTION_BYTES = 8  # of the filter


@click.command("doctor")
@bwrap_option
@data_option
@talking
def command(talk: Talk, bwrap: str | None, data: Path) -> int:
    """Say what this machine can hold bots to, and what not.

    Looks for the sandbox and tries it out, whatever was remembered of it. Ends with 0 if strangers'
    bots can be run here, else with 1.
    """
    found = look(bwrap=bwrap, data=data, remember=False)
    machine = machine_here(sandboxed=isinstance(found, Found))
    talk.result(table(("of this machine", ""), [*rows(found), *machine_rows(machine)]))
    if isinstance(found, Found):
        talk.result("\nA program in the sandbox, just tried:")
        for check in found.checks:
            talk.result(f"  {check.promise}")
        for note in found.notes:
            talk.warn(note)
    else:
        talk.result(f"\n{found.text()}")
    for line in machine.not_held_to:
        talk.say(f"Not held to here: {line}.")
    talk.answer(
        answers.Doctor(
            sandbox=sandbox_shown(found) if isinstance(found, Found) else None,
            refusal=refusal_shown(found) if isinstance(found, Refusal) else None,
            machine=machine,
        )
    )
    if isinstance(found, Found):
        talk.next("arena limits", "what bots are held to")
        return Exit.DONE
    talk.next("the fix above, then `arena doctor` again")
    return Exit.NO


def rows(found: Found | Refusal) -> Iterator[tuple[str, str]]:
    """Yield what is to be said of the sandbox."""
    if isinstance(found, Refusal):
        yield "sandbox", f"none: {found.cause}"
        return
    profile = found.profile
    yield "sandbox", f"bubblewrap {found.version}, {profile.bwrap} ({found.origin})"
    yield "route", ROUTES[profile.route]
    if profile.route == "R":
        yield "user ids", f"{profile.uid_base} to {profile.uid_base + profile.uid_count - 1}"
    yield "self-test", f"{len(found.checks)} checks passed in {found.took_ms:.0f} ms"
    yield "system calls", f"filtered, {instructions()} instructions for {this_machine()}"
    yield "/proc", "masked" if profile.proc else "absent: this container does not let one be made"


def machine_here(*, sandboxed: bool) -> answers.Machine:
    """Look at the machine."""
    cpus = usable_cores()
    return answers.Machine(
        system=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        python=platform.python_version(),
        interpreter=sys.executable,
        cpus=cpus,
        cpu_quota=cpu_quota(),
        games_at_once=games_with(cpus),
        c_compiler=shutil.which("cc") or shutil.which("gcc") or shutil.which("clang"),
        memory_cgroup=has_memory_cgroup(),
        not_held_to=not_set_here(sandboxed=sandboxed),
    )


def machine_rows(machine: answers.Machine) -> Iterator[tuple[str, str]]:
    """Yield what is to be said of the machine."""
    yield "system", f"{machine.system}, {machine.machine}"
    yield "Python", f"{machine.python}, {machine.interpreter}"
    quota = machine.cpu_quota
    held = quota is not None and quota < len(usable_cpus())
    yield "usable cores", f"{machine.cpus:,}" + (f", by a quota of {quota:.3g}" if held else "")
    yield "games at once", f"{machine.games_at_once:,} at most, by the limit of open files"
    yield (
        "memory of bots",
        "looked at ten times a second, all processes of a bot together; control groups are not used"
        + (", though there is one of our own" if machine.memory_cgroup else ""),
    )
    yield "C compiler", machine.c_compiler or "none: `arena bench` needs one, and nothing else"


def has_memory_cgroup() -> bool:
    """Whether a folder of cgroups that counts memory is ours to write to (systemd's delegation)."""
    try:
        place = Path("/proc/self/cgroup").read_text().split("0::", 1)[1].split("\n", 1)[0]
        folder = CGROUP / place.lstrip("/")
        counts = (folder / "cgroup.controllers").read_text().split()
    except (OSError, IndexError):
        return False
    return "memory" in counts and folder != CGROUP and os.access(folder, os.W_OK)


def instructions() -> int:
    """Return the length of the filter of system calls."""
    return len(filter_program(this_machine())) // INSTRUCTION_BYTES


def sandbox_shown(found: Found) -> answers.SandboxShown:
    """Return the sandbox for `--json`."""
    return answers.SandboxShown(
        route=found.profile.route,
        bwrap=found.profile.bwrap,
        origin=found.origin,
        version=found.version,
        took_ms=round(found.took_ms, 1),
        checks=tuple(check.promise for check in found.checks),
        filter_instructions=instructions(),
        proc=found.profile.proc,
        notes=found.notes,
    )


def refusal_shown(refusal: Refusal) -> answers.RefusalShown:
    """Return the refusal for `--json`."""
    return answers.RefusalShown(
        cause=refusal.cause,
        why=refusal.why,
        fix=refusal.fix,
        alternative=refusal.alternative,
    )
