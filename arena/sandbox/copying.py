"""What a stranger's folder holds, read and copied so that one made to harm can do none.

Reading never follows a link, never opens anything but regular files, and stops at the limits, so no
folder can hang or fill the host.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from arena.errors import BotRefused

__all__ = [
    "KINDS",
    "LEFT_OUT",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_FILES",
    "Entry",
    "check_links",
    "copied",
    "shown",
    "why",
    "written",
]

MAX_FILES = 2_000
MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 32  # of folders below the bot's own
MAX_LOOKED_AT = 50_000  # names, those left out included
LEFT_OUT = frozenset({".venv", "node_modules", "target", "__pycache__"})  # and every dot file


_CHUNK = 1024 * 1024
_LEADS_OUT = "a link out of the bot's folder; copy the file in"
KINDS = {  # of files that are never copied
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a block device",
    stat.S_IFCHR: "a character device",
}


class Entry(msgspec.Struct, frozen=True, order=True):
    """One thing of a folder: `path` is relative, with slashes; `detail` is a digest or a target."""

    path: str
    kind: str  # "d" folder, "f" file, "x" file that can be executed, "l" link
    detail: str = ""


class _Tally:
    """What was read so far, held against the limits."""

    def __init__(self) -> None:
        self.files = 0
        self.folders = 0
        self.bytes = 0
        self.looked_at = 0
        self.links: dict[tuple[int, int], tuple[str, int, int]] = {}  # inode: path, names, seen


def shown(path: str) -> str:
    """Return a path inside a bot's folder for messages: one line, no control characters, short."""
    text = path.encode("utf-8", "backslashreplace").decode()
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= 80 else text[:40] + "…" + text[-39:]


def why(exc: Exception) -> str:
    """Return the system's own words for an error, without a path."""
    return (exc.strerror or "unreadable") if isinstance(exc, OSError) else "a loop of links"


def copied(folder: Path, copy: Path) -> Iterator[Entry]:
    """Copy a folder; give what was copied."""
    tally = _Tally()
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(folder, flags)
    except OSError as exc:
        raise BotRefused(f"{folder}: can't be read ({why(exc)})") from exc
    try:
        yield from _copied_tree(fd, "", copy, tally, 0)
    finally:
        os.close(fd)
    for path, names, seen in tally.links.values():
        if names > seen:
            raise BotRefused(
                f"{shown(path)}: this file has another name outside the bot's folder (a hard "
                f"link); put a copy of it there instead"
            )


def _copied_tree(fd: int, at: str, copy: Path, tally: _Tally, depth: int) -> Iterator[Entry]:
    """Copy what is in one open folder; `at` is its path, ending in a slash unless it is empty."""
    if depth > MAX_DEPTH:
        raise BotRefused(f"{shown(at)}: folders lie deeper than {MAX_DEPTH} in the bot's folder")
    for name in _names(fd, at, tally):
        path = at + name
        with _reading(path):
            info = os.stat(name, dir_fd=fd, follow_symlinks=False)
        kind = stat.S_IFMT(info.st_mode)
        if kind == stat.S_IFDIR:
            tally.folders += 1
            _check_count(tally)
            (copy / name).mkdir()
            yield Entry(path, "d")
            below = _open(name, fd, path, os.O_DIRECTORY)
            try:
                yield from _copied_tree(below, path + "/", copy / name, tally, depth + 1)
            finally:
                os.close(below)
            continue
        tally.files += 1
        _check_count(tally)
        if kind == stat.S_IFLNK:
            with _reading(path):
                target = os.readlink(name, dir_fd=fd)
            if target.startswith("/"):
                raise BotRefused(f"{shown(path)}: {_LEADS_OUT}")
            (copy / name).symlink_to(target)
            yield Entry(path, "l", target)
        elif kind == stat.S_IFREG:
            yield _copied_file(fd, name, path, copy, tally)
        else:
            what = KINDS.get(kind, "a special file")
            raise BotRefused(f"{shown(path)}: is {what}; only files, folders and links are copied")


def _names(fd: int, at: str, tally: _Tally) -> list[str]:
    """Return the names in an open folder that are to be copied, sorted."""
    names: list[str] = []
    with os.scandir(fd) as entries:
        for entry in entries:
            tally.looked_at += 1
            if tally.looked_at > MAX_LOOKED_AT:
                raise BotRefused(f"more than {MAX_LOOKED_AT:,} names in the bot's folder")
            name = entry.name
            if name.startswith(".") or name in LEFT_OUT:
                continue
            if not name.isprintable():  # newlines, other control characters, bytes not in UTF-8
                raise BotRefused(
                    f"{shown(at + name)}: this name has a control character or is not UTF-8; "
                    f"rename the file"
                )
            names.append(name)
            if len(names) + tally.files + tally.folders > 2 * MAX_FILES:
                tally.files += len(names)
                _check_count(tally)
    return sorted(names)


def _check_count(tally: _Tally) -> None:
    """Refuse more files or folders than are allowed."""
    if tally.files > MAX_FILES or tally.folders > MAX_FILES:
        what = "files" if tally.files > MAX_FILES else "folders"
        raise BotRefused(
            f"more than {MAX_FILES:,} {what} in the bot's folder (dot files and "
            f"{', '.join(sorted(LEFT_OUT))} are not counted)"
        )


def _open(name: str, fd: int, path: str, flags: int) -> int:
    """Open one name of an open folder, through no link and without waiting."""
    with _reading(path):
        return os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | flags, dir_fd=fd
        )


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Tell the bot's author what can't be read; a name that is gone goes on up as it is."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as exc:
        changed = exc.errno in (errno.ELOOP, errno.ENOTDIR)
        reason = "changed into a link" if changed else why(exc)
        raise BotRefused(f"{shown(path)}: can't be read ({reason})") from exc


def _copied_file(fd: int, name: str, path: str, copy: Path, tally: _Tally) -> Entry:
    """Copy one regular file."""
    source = _open(name, fd, path, 0)
    with os.fdopen(source, "rb") as reader:
        info = os.fstat(source)  # of what was opened: the name may stand for something else by now
        if not stat.S_ISREG(info.st_mode):
            raise BotRefused(f"{shown(path)}: changed into something that is no file")
        if info.st_mode & (stat.S_ISUID | stat.S_ISGID):
            raise BotRefused(
                f"{shown(path)}: is setuid or setgid; take that mode away (chmod ug-s)"
            )
        if info.st_nlink > 1:
            inode = (info.st_dev, info.st_ino)
            tally.links[inode] = (path, info.st_nlink, tally.links.get(inode, ("", 0, 0))[2] + 1)
        executable = bool(info.st_mode & 0o111)
        digest = hashlib.sha256()
        tally.bytes += info.st_size  # before reading: a sparse file costs nothing to refuse
        _check_bytes(tally)
        left = info.st_size
        with (copy / name).open("wb") as writer:
            while chunk := reader.read(min(_CHUNK, left + 1)):
                if len(chunk) > left:
                    raise BotRefused(f"{shown(path)}: grew while it was copied; try again")
                left -= len(chunk)
                digest.update(chunk)
                writer.write(chunk)
    (copy / name).chmod(0o755 if executable else 0o644)
    return Entry(path, "x" if executable else "f", digest.hexdigest())


def written(copy: Path, path: str, content: bytes, *, executable: bool) -> Entry:
    """Write a file of our own."""
    (copy / path).write_bytes(content)
    (copy / path).chmod(0o755 if executable else 0o644)
    return Entry(path, "x" if executable else "f", hashlib.sha256(content).hexdigest())


def _check_bytes(tally: _Tally) -> None:
    """Refuse more bytes than are allowed."""
    if tally.bytes > MAX_BYTES:
        raise BotRefused(
            f"more than {MAX_BYTES // 1024 // 1024} MiB in the bot's folder (dot files and "
            f"{', '.join(sorted(LEFT_OUT))} are not counted)"
        )


def check_links(copy: Path, links: Iterable[tuple[str, str]]) -> None:
    """Refuse links that lead out of the copy, to nothing, or in a circle.

    Args:
        copy: the folder.
        links: path in it and target of each.

    Raises:
        BotRefused: with the link's path inside the bot's folder.
    """
    root = Path(os.path.realpath(copy))
    for path, target in links:
        where = shown(path)
        if target.startswith("/"):
            raise BotRefused(f"{where}: {_LEADS_OUT}")
        steps = os.path.normpath(os.path.join(os.path.dirname(path), target))  # noqa: PTH118, PTH120 (pathlib doesn't fold `..`)
        if steps.split("/")[0] == "..":
            raise BotRefused(f"{where}: {_LEADS_OUT}")
        try:
            end = Path(os.path.realpath(copy / path, strict=True))
        except OSError as exc:
            what = "leads in a circle" if exc.errno == errno.ELOOP else "leads to nothing copied"
            raise BotRefused(f"{where}: this link {what}; take it away or copy the file") from exc
        if end != root and root not in end.parents:
            raise BotRefused(f"{where}: {_LEADS_OUT}")
