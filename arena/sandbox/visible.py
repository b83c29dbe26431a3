"""What of this host a bot gets to see: system folders, interpreters, and a `/proc` without gossip.

Read once a run. What is shown is shown read-only and at its own place, since programs have the
places of their libraries built in. Everything else of the host is absent from a sandbox.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from arena.errors import ConfigError

__all__ = ["Visible", "interpreter_trees", "look_around"]

# A bot of any language runs with what the distribution has installed.
_SYSTEM_TREES = ("/usr", "/nix/store", "/gnu/store")
# Links into /usr on merged systems, folders of their own elsewhere.
_ROOT_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# Of /etc: where the loader finds libraries, which program `java` is, and the settings without
# which a Java machine does not start. Nothing of users, hosts or secrets.
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "java-*")

# Entries of /proc that tell what the hardware and kernel are, not what anybody does right now. All
# others that everybody may read are masked: memory held by one bot showed in another's
# /proc/meminfo, and load, interrupts or free pages would do as well.
_PROC_STILL = frozenset(
    {
        "acpi",
        "bus",
        "cgroups",
        "cmdline",
        "config.gz",
        "consoles",
        "cpuinfo",
        "crypto",
        "devices",
        "dma",
        "driver",
        "dt",
        "execdomains",
        "fb",
        "filesystems",
        "iomem",
        "ioports",
        "kallsyms",
        "misc",
        "modules",
        "mounts",
        "mtrr",
        "net",
        "partitions",
        "scsi",
        "self",
        "sysvipc",
        "thread-self",
        "tty",
        "version",
        "version_signature",
    }
)
# Of an installation of Python or a virtual environment: programs, libraries, and the file that says
# which installation an environment is of. It may lie in a folder that holds other things too, such
# as `~/.local`, or a project whose folder was made an environment.
_PYTHON_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")
_OTHERS_MAY_READ = stat.S_IROTH
_HOMES = frozenset({Path("/"), Path("/home"), Path("/root")})
_MOST_LINKS = 40  # in a chain, as the kernel


class Visible(msgspec.Struct, frozen=True, kw_only=True):
    """The host's side of a sandbox's mounts; every path is absolute.

    Attributes:
        trees: folders and files shown read-only at their own place.
        links: symbolic links to make: target, place.
        masked_files: files of `/proc` that can't be opened.
        masked_folders: folders of `/proc` that are empty.
    """

    trees: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()
    masked_files: tuple[str, ...] = ()
    masked_folders: tuple[str, ...] = ()


def look_around(
    *, interpreters: Iterable[str] = (), more: Sequence[str] = (), secret: Iterable[Path] = ()
) -> Visible:
    """Return what every bot of a run sees of this host.

    Args:
        interpreters: programs that must start inside, with the folders that they need; usually
            `sys.executable`.
        more: further folders that the organiser shows.
        secret: folders of which nothing may be shown, such as the data folder.

    Raises:
        ConfigError: if one of the folders is `/`, holds a home folder or a secret one, or lies in
            a secret one.
    """
    trees = [tree for tree in _SYSTEM_TREES if Path(tree).is_dir()]
    links: list[tuple[str, str]] = []
    for name in _ROOT_FOLDERS:
        place = Path("/", name)
        if place.is_symlink():
            links.append((str(place.readlink()), str(place)))
        elif place.is_dir():
            trees.append(str(place))
    for pattern in _ETC:
        trees += sorted(str(found) for found in Path("/etc").glob(pattern))
    for interpreter in interpreters:
        needed, chain = interpreter_trees(interpreter)
        trees += [folder for folder in needed if not _within(folder, trees)]
        links += [link for link in chain if not _within(link[1], trees) and link not in links]
    for tree in more:
        if not Path(tree).is_absolute() or not os.access(tree, os.F_OK):
            raise ConfigError(f"{tree}: to be shown to bots, but there is no such absolute path")
        if not _within(tree, trees):
            trees.append(tree)
    hidden = [Path(os.path.realpath(path)) for path in secret]
    for tree in trees:
        _check_showable(tree, hidden)
    files, folders = _proc_masks(Path("/proc"))
    return Visible(
        trees=tuple(trees), links=tuple(links), masked_files=files, masked_folders=folders
    )


def interpreter_trees(program: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the folders that an interpreter needs, and the links on the way to its real file.

    For the Python that runs this, the parts of its installation and of its virtual environment; for
    any other program, the folder above the one its real file lies in (`…/bin/python3` → `…`).

    Returns:
        Folders, and those links, as (target, place), that lie in none of them.
    """
    if program == sys.executable:
        prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
        parts = [Path(prefix, part) for prefix in dict.fromkeys(prefixes) for part in _PYTHON_PARTS]
        shown = [str(part) for part in parts if part.exists() and not part.is_symlink()]
        links = [(str(part.readlink()), str(part)) for part in parts if part.is_symlink()]
        targets = [os.path.realpath(place) for _, place in links]
        shown += [target for target in targets if not _within(target, shown)]
    else:
        shown, links = [str(Path(os.path.realpath(program)).parent.parent)], []
    links += [link for link in _links_on_the_way(program) if link not in links]
    return shown, [link for link in links if not _within(link[1], shown)]


def _links_on_the_way(path: str) -> list[tuple[str, str]]:
    """Return each symbolic link that the kernel goes through to open an absolute path."""
    found: list[tuple[str, str]] = []
    at = Path("/")
    left = list(Path(path).parts[1:])
    while left and len(found) < _MOST_LINKS:
        part = left.pop(0)
        if part == "..":
            at = at.parent
            continue
        step = at / part
        if not step.is_symlink():
            at = step
            continue
        target = step.readlink()
        found.append((str(target), str(step)))
        if target.is_absolute():
            at = Path("/")
        left = [word for word in target.parts if word != "/"] + left
    return found


def _within(path: str, trees: Iterable[str]) -> bool:
    """Whether a path is one of the trees or lies in one."""
    return any(path == tree or path.startswith(tree.rstrip("/") + "/") for tree in trees)


def _check_showable(tree: str, hidden: Sequence[Path]) -> None:
    real = Path(os.path.realpath(tree))
    own = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111 - there may be none
    is_home = real in _HOMES or real == own or real in own.parents
    if is_home or real.parent == Path("/home") or real.name == ".local":
        raise ConfigError(
            f"{tree}: would be shown to bots, and is or holds somebody's home folder; install what "
            "bots need of it in a folder of its own"
        )
    for secret in hidden:
        if secret == real or real in secret.parents or secret in real.parents:
            raise ConfigError(
                f"{tree}: would be shown to bots, and holds or lies in {secret}, which no bot may "
                "see; name another data folder with --data"
            )


def _proc_masks(proc: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files and the folders of `/proc` to mask, by what this kernel has."""
    files, folders = [], []
    for entry in sorted(proc.iterdir()):
        name = entry.name
        if name.isdigit() or name in _PROC_STILL:
            continue
        mode = entry.lstat().st_mode
        if stat.S_ISDIR(mode):
            folders.append(f"/proc/{name}")
        elif stat.S_ISREG(mode) and mode & _OTHERS_MAY_READ:
            files.append(f"/proc/{name}")
    return tuple(files), tuple(folders)
