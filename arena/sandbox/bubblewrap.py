"""The argument list of bubblewrap for one bot: a pure function of a profile.

The order is the policy. Mounts are made one after the other, a later one hides an earlier one, and
nothing is made under the bot's own folder: bubblewrap follows a symbolic link in it out to the host
(CVE-2026-87766, reproduced with 0.8.0 and 0.11.0), so that folder comes last, read-only, as a leaf.

Two routes. U, for an ordinary user: a user namespace, in which the bot is nobody. R, for root: no
user namespace, since in one made by root the files of `/proc/sys` stay root's to write and the
limit of processes does not count; `setpriv` gives each running bot a user id of its own instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from arena.errors import HostFault
from arena.sandbox.slots import UID_BASE, UID_COUNT
from arena.sandbox.visible import Visible
from protocol.messages import Limits

__all__ = [
    "BOT_FOLDER",
    "Profile",
    "Route",
    "inner_command",
    "options",
    "outer_command",
]

Route = Literal["U", "R"]

BOT_FOLDER = "/bot"  # a bot's own folder, as it sees it

_NOBODY = "65534"
# Without the terminal, the pseudo-terminals (the host has 4,096 for all) and the rest of `--dev`.
# Nor /dev/zero: shared memory can be made of it, of which no process's count shows most.
_DEVICES = ("null", "random", "urandom")


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """How the bots of one run are held.

    Attributes:
        bwrap: path of bubblewrap.
        version: of it.
        route: `U` for an ordinary user, `R` for root.
        visible: what of the host is shown.
        prlimit, setpriv: paths of the two programs inside; `setpriv` is used in route R alone.
        environment: name and value of every variable that a bot gets; bubblewrap adds PWD.
        proc: whether there is a `/proc` inside; False where a container does not let one be made.
        uid_base, uid_count: the user ids for bots in route R.
    """

    bwrap: str
    version: str = ""
    route: Route
    visible: Visible
    prlimit: str
    setpriv: str
    environment: tuple[tuple[str, str], ...]
    proc: bool = True
    uid_base: int = UID_BASE
    uid_count: int = UID_COUNT

    @property
    def words(self) -> str:
        """In a few words what bots are kept in, such as `bubblewrap 0.11.0, route U`."""
        return f"bubblewrap {self.version}, route {self.route}"


def outer_command(profile: Profile, *, args_fd: int) -> tuple[str, ...]:
    """Return the words to put before `inner_command`.

    All else goes through a descriptor: a bot can read the command line that bubblewrap was started
    with, and sees no path of the host there.
    """
    return (profile.bwrap, "--args", str(args_fd), "--")


def options(
    profile: Profile,
    folder: str,
    *,
    limits: Limits,
    seccomp_fd: int,
    status_fd: int,
    writable: bool = False,
) -> tuple[str, ...]:
    """Return the options for `--args`.

    Args:
        profile: of the run.
        folder: the bot's staged copy, an absolute path.
        limits: which have the sizes of its own file systems.
        seccomp_fd: where bubblewrap reads the filter of system calls.
        status_fd: where it writes the first process's number, and that its setting up was done.
        writable: whether the bot's folder can be written to, for its build.
    """
    return (
        *_namespaces(profile.route),
        *_variables(profile.environment),
        *_system(profile.visible),
        *(_proc(profile.visible) if profile.proc else ()),
        *_devices(limits.shm_mib),
        *_size(limits.tmp_mib, "/tmp"),  # noqa: S108 - the bot's own, empty
        *_interpreters(profile.visible),
        *("--bind" if writable else "--ro-bind", folder, BOT_FOLDER),
        *("--chdir", BOT_FOLDER),
        *("--remount-ro", "/"),
        *("--seccomp", str(seccomp_fd)),
        *("--json-status-fd", str(status_fd)),
    )


def inner_command(
    profile: Profile, command: Sequence[str], *, rlimits: Mapping[str, int], uid: int | None
) -> tuple[str, ...]:
    """Return what bubblewrap starts: the bot's command behind the programs that bound it.

    Args:
        profile: of the run.
        command: the bot's own.
        rlimits: by the option names of `prlimit`; set inside, where a limit of processes counts
            the sandbox alone and not all that its user has running.
        uid: the bot's user and group id in route R, which must have one; None in route U.

    Raises:
        HostFault: if a user id is missing, given to no purpose, or root's.
    """
    words: list[str] = []
    if profile.route == "R":
        if uid is None or uid <= 0:
            raise HostFault("a bot was to be started as root")
        words += [profile.setpriv, f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
        words += ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    elif uid is not None:
        raise HostFault("only root can give a bot a user id")
    words += [profile.prlimit, *(f"--{name}={value}" for name, value in rlimits.items()), "--"]
    return (*words, *command)


def _namespaces(route: Route) -> list[str]:
    words = [
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net"),
        "--unshare-cgroup-try",
        # Only both together leave nobody behind: the namespace takes the grandchildren along, and
        # without the signal it would go on when we are killed.
        "--die-with-parent",
        "--new-session",
        *("--hostname", "bot"),
        *("--cap-drop", "ALL"),
    ]
    if route == "U":
        return ["--unshare-user", "--disable-userns", "--uid", _NOBODY, "--gid", _NOBODY, *words]
    for name in ("SETUID", "SETGID", "SETPCAP"):  # for setpriv, which gives them up
        words += ["--cap-add", f"CAP_{name}"]
    return words


def _variables(environment: Sequence[tuple[str, str]]) -> list[str]:
    words = ["--clearenv"]
    for name, value in environment:
        words += ["--setenv", name, value]
    return words


def _system(visible: Visible) -> list[str]:
    words = ["--perms", "0755", "--dir", "/etc"]
    for tree in visible.trees:
        if _is_system(tree):
            words += ["--ro-bind", tree, tree]
    for target, place in visible.links:
        if _is_system(place):
            words += ["--symlink", target, place]
    return words


def _interpreters(visible: Visible) -> list[str]:
    """Show what lies elsewhere; after `/tmp`, in which a virtual environment may lie."""
    words: list[str] = []
    made: set[str] = set()
    for tree in visible.trees:
        if not _is_system(tree):
            words += [*_parents(tree, made), "--ro-bind", tree, tree]
    for target, place in visible.links:
        if not _is_system(place):
            words += [*_parents(place, made), "--symlink", target, place]
    return words


def _is_system(place: str) -> bool:
    """Whether a place lies directly under `/`, or in `/etc`: its parents need no rights."""
    parts = PurePosixPath(place).parts
    return len(parts) == 2 or parts[1] == "etc"


def _parents(place: str, made: set[str]) -> list[str]:
    """Make the folders above a place, open to all: the host's may be closed, as root's home is."""
    words: list[str] = []
    for parent in reversed(PurePosixPath(place).parents[:-1]):
        folder = str(parent)
        if folder not in made and folder != "/tmp":  # noqa: S108 - made already
            made.add(folder)
            words += ["--perms", "0755", "--dir", folder]
    return words


def _proc(visible: Visible) -> list[str]:
    words = ["--proc", "/proc"]
    # The first process is bubblewrap's own. In route U it has the bot's user, so that its memory
    # could be written: told to go on without its parent, it would outlive the game.
    for folder in ("/proc/1", *visible.masked_folders):
        words += ["--tmpfs", folder, "--remount-ro", folder]
    for file in visible.masked_files:
        words += ["--ro-bind", "/dev/null", file]  # this mount knows no devices: opening fails
    return words


def _devices(shm_mib: int) -> list[str]:
    words = ["--tmpfs", "/dev"]
    for name in _DEVICES:
        words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        words += ["--symlink", f"/proc/self/fd/{fd}", f"/dev/{name}"]
    words += ["--symlink", "/proc/self/fd", "/dev/fd"]
    words += _size(shm_mib, "/dev/shm")  # noqa: S108 - the bot's own, empty
    return [*words, "--remount-ro", "/dev"]


def _size(mib: int, place: str) -> list[str]:
    return ["--perms", "1777", "--size", str(mib * 1024 * 1024), "--tmpfs", place]
