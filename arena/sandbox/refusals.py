"""Why strangers' programs can't be run here, and what to do about it.

bubblewrap says what failed in words of the kernel; what stands behind them is told apart here, by
facts about the machine that come in as `Surroundings`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from protocol.quoting import quote

__all__ = [
    "NO_SANDBOX_WARNING",
    "Refusal",
    "Surroundings",
    "diagnose",
    "failed_checks",
    "is_proc_masked",
    "look_at_surroundings",
    "no_bubblewrap",
    "no_linux",
    "not_bubblewrap",
    "program_missing",
    "too_old",
    "user_ids_taken",
]

NO_SANDBOX_WARNING = (
    "WARNING: NO SANDBOX. Bots run with your rights: they can read and delete your files. "
    "Results are marked unsandboxed."
)

_INSTALL = (
    'pip install "misterx-arena[sandbox]"',
    "or a distribution's: apt install bubblewrap, dnf install bubblewrap, apk add bubblewrap",
)
_OWN_BOTS = "--sandbox=none if you wrote every bot yourself"
_SHOWN_BYTES = 200
_APPARMOR_PROFILE = "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict"
_DOCKER = (
    "--security-opt seccomp=unconfined --security-opt systempaths=unconfined "
    "--security-opt apparmor=unconfined, and as root --cap-add SYS_ADMIN"
)


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """What a person is told; each field is one line, without a full stop.

    Attributes:
        cause: in a few words.
        why: what the machine said or does.
        fix: one or two commands.
        alternative: what works without it.
    """

    cause: str
    why: str
    fix: tuple[str, ...]
    alternative: str = _OWN_BOTS

    def text(self) -> str:
        """Return all of it, for standard error."""
        lines = [f"Cannot run untrusted bots: {self.cause}. Nothing was started."]
        lines.append(f"Why: {self.why}")
        lines += [f"Fix: {self.fix[0]}", *(f"     {more}" for more in self.fix[1:])]
        lines.append(f"Or:  {self.alternative}")
        return "\n".join(lines)


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What this machine is, as far as it explains a failure.

    Attributes:
        root: whether we run as root.
        container: whether this looks like a container of Docker, podman and the like.
        restricted: whether AppArmor restricts user namespaces (Ubuntu from 23.10 on).
        switched_off: whether Debian's switch for user namespaces is off.
        most_namespaces: how many user namespaces there may be; None if the kernel does not say.
    """

    root: bool
    container: bool
    restricted: bool
    switched_off: bool
    most_namespaces: int | None


def no_linux(system: str, machine: str) -> Refusal | None:
    """Refuse a system that has no sandbox of ours; None for those that do.

    Args:
        system: as `platform.system()` says it.
        machine: as `platform.machine()` says it.
    """
    if system != "Linux":
        return Refusal(
            cause="the sandbox needs Linux",
            why=f"this is {system or 'another system'}, and bots are started on Linux alone",
            fix=("use WSL2, or a Linux container or machine",),
            alternative="all that starts no bot works here: verify, report, games, export, rate, …",
        )
    if machine not in ("x86_64", "aarch64"):
        return Refusal(
            cause=f"the sandbox does not know the system calls of {machine}",
            why="its filter has tables for x86_64 and aarch64 alone",
            fix=("use a machine of these two for other people's bots",),
        )
    return None


def no_bubblewrap(looked_at: Sequence[str]) -> Refusal:
    """Refuse where there is no bubblewrap at all."""
    return Refusal(
        cause="bubblewrap is not installed",
        why=f"bots are shut in by the program bwrap, which is not at {', '.join(looked_at)}",
        fix=_INSTALL,
    )


def not_bubblewrap(path: str, what: str) -> Refusal:
    """Refuse a program that does not behave as bubblewrap does; `what` says how."""
    return Refusal(
        cause=f"{path} does not work as bubblewrap",
        why=f"it {what}",
        fix=("name a working one with --bwrap, or leave that out and install one:", *_INSTALL),
    )


def too_old(path: str, version: str, oldest: str) -> Refusal:
    """Refuse a bubblewrap that lacks options we need."""
    return Refusal(
        cause=f"{path} is too old",
        why=f"it is bubblewrap {version}, and sandboxes need {oldest} or newer",
        fix=_INSTALL[:1],
    )


def program_missing(name: str) -> Refusal:
    """Refuse where a program that bounds bots from the inside is missing."""
    return Refusal(
        cause=f"the program {name} is missing",
        why="it sets a bot's limits and rights inside the sandbox",
        fix=("apt install util-linux, dnf install util-linux, apk add util-linux-misc setpriv",),
    )


def user_ids_taken(what: str) -> Refusal:
    """Refuse where the user ids for bots are not free; `what` says which."""
    return Refusal(
        cause="the user ids for bots are not free",
        why=what,
        fix=("write another range into a tournament file: user_ids = [FIRST, COUNT]",),
    )


def failed_checks(path: str, checks: Sequence[str]) -> Refusal:
    """Refuse where a program in the sandbox could do what it must not; `checks` says what."""
    return Refusal(
        cause="the sandbox does not hold on this machine",
        why=f"a test program in the sandbox of {path} {'; '.join(checks)}",
        fix=("please report this with the output of `arena doctor`; it should never happen",),
    )


def is_proc_masked(text: str) -> bool:
    """Whether the one thing that failed is to make a `/proc`, which bots can do without."""
    return "Can't mount proc" in text


def diagnose(path: str, text: str, here: Surroundings) -> Refusal:
    """Tell what stands behind a failure of bubblewrap.

    Args:
        path: of bubblewrap.
        text: what it wrote to standard error.
        here: facts of this machine.
    """
    said = f"{path} says: {_last_line(text)}"
    if "max_*_namespaces" in text or here.most_namespaces == 0:
        return Refusal(
            cause="user namespaces are used up or limited to none",
            why=said,
            fix=("sudo sysctl -w user.max_user_namespaces=15000",),
        )
    if here.switched_off and _NO_NAMESPACE.search(text):
        return Refusal(
            cause="user namespaces are switched off",
            why=said,
            fix=("sudo sysctl -w kernel.unprivileged_userns_clone=1",),
        )
    if here.restricted and not here.root and (_APPARMOR.search(text) or _NO_NAMESPACE.search(text)):
        return Refusal(
            cause="AppArmor forbids user namespaces to this bubblewrap",
            why=said,
            fix=(
                "sudo apt install bubblewrap apparmor-profiles",
                f"sudo apparmor_parser -r {_APPARMOR_PROFILE}",
                "in CI alone: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
            ),
        )
    if _NO_NAMESPACE.search(text) or _APPARMOR.search(text):
        if here.container or here.root:
            return Refusal(
                cause="this container may not make namespaces",
                why=said,
                fix=(
                    f"Docker (not tested by us): {_DOCKER}",
                    "podman (not tested by us): --security-opt unmask=ALL",
                ),
            )
        return Refusal(
            cause="this system does not let an ordinary user make namespaces",
            why=said,
            fix=("ask its administrator to allow user namespaces, or run as root",),
        )
    if "Can't fork" in text or "Resource temporarily unavailable" in text:
        return Refusal(
            cause="no more processes may be started",
            why=said,
            fix=("raise the limit of processes (ulimit -u), or end some",),
        )
    return Refusal(
        cause="bubblewrap fails on this machine",
        why=said,
        fix=("please report this with the output of `arena doctor`",),
    )


_NO_NAMESPACE = re.compile(
    r"No permissions to creat(e|ing) (a )?new (user )?namespace|Creating new namespace failed"
)
_APPARMOR = re.compile(r"setting up uid map|Failed RTM_NEWADDR")


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return quote((lines[-1] if lines else "nothing").encode(), _SHOWN_BYTES)


def look_at_surroundings(*, root: bool) -> Surroundings:
    """Read what explains a failure; what can't be read explains nothing."""

    def number(path: str) -> int | None:
        try:
            return int(Path(path).read_text())
        except (OSError, ValueError):
            return None

    return Surroundings(
        root=root,
        container=any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv")),
        restricted=number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1,
        switched_off=number("/proc/sys/kernel/unprivileged_userns_clone") == 0,
        most_namespaces=number("/proc/sys/user/max_user_namespaces"),
    )
