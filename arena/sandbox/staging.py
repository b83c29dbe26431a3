"""A bot's folder, copied once by content: the copy is played, whatever becomes of the folder.

A copy lies in a folder that is named by its hash alone, so that a bot learns nothing from its path
and the same content is kept once. Reading never follows a link, never opens anything but regular
files, and stops at the limits, so a folder made to harm can't hang or fill the host.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from arena.errors import BotRefused, cannot_write

__all__ = [
    "KINDS",
    "LEFT_OUT",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_FILES",
    "Staged",
    "check_folder",
    "check_links",
    "shown",
    "stage",
    "stage_files",
    "unstage",
]

MAX_FILES = 2_000
MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 32  # of folders below the bot's own
MAX_LOOKED_AT = 50_000  # names, those left out included
LEFT_OUT = frozenset({".venv", "node_modules", "target", "__pycache__"})  # and every dot file

_CHUNK = 1024 * 1024
_STALE_S = 24 * 3600.0  # a half-made copy older than this was left by a killed run
_HALF_MADE = ".new-"
_LEADS_OUT = "a link out of the bot's folder; copy the file in"
KINDS = {  # of files that are never copied
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a block device",
    stat.S_IFCHR: "a character device",
}


class Staged(msgspec.Struct, frozen=True):
    """A copy that is never written again.

    `hash` is the SHA-256 of the content as it was copied, 64 hex digits: names, execute bits, link
    targets and bytes, and the `salt` it was staged with. `folder` is absolute.
    """

    hash: str
    folder: Path


class _Entry(msgspec.Struct, frozen=True, order=True):
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


def check_folder(folder: Path, data: Path) -> Path:
    """Return the real path of a folder that may be staged.

    Raises:
        BotRefused: if it is no folder, `/`, a home folder or one that holds a home folder, or
            holds the data folder.
    """
    try:
        real = folder.resolve(strict=True)
    except (OSError, RuntimeError) as exc:
        raise BotRefused(f"{folder}: there is no such folder ({_why(exc)})") from exc
    if not real.is_dir():
        raise BotRefused(f"{folder}: is not a folder")
    cure = "put the bot into a folder of its own"
    if real == Path(real.anchor):
        raise BotRefused(f"{folder}: the root folder is never copied; {cure}")
    own = _homes(own_only=True)
    if real in _homes(own_only=False) or any(real in home.parents for home in own):
        raise BotRefused(f"{folder}: a home folder is never copied; {cure}")
    data = data.resolve()
    if data == real or real in data.parents:
        raise BotRefused(
            f"{folder}: holds the data folder {data}, which no bot may see; "
            f"{cure}, or name another data folder with --data"
        )
    return real


def stage(
    folder: Path,
    into: Path,
    *,
    data: Path | None = None,
    more: Mapping[str, bytes] | None = None,
    salt: str = "",
    finish: Callable[[Path], None] | None = None,
) -> Staged:
    """Copy a bot's folder once; the same content gives the same copy, made only the first time.

    Args:
        folder: the bot's folder; left as it is.
        into: where copies lie, a folder each; made with mode 0700 if it is missing.
        data: the data folder, which must not lie in `folder`; by default `into`.
        more: files to put beside what is copied, by name; one that is there is left as it is.
        salt: what else makes a different copy, such as the commands of `finish`.
        finish: called once with the still writable copy (a build); a raise leaves no copy.

    Raises:
        BotRefused: for what can't be copied, with its path inside the bot's folder.
        StoreError: if the disk is full.
        ConfigError: if the copy can't be written there.
    """
    real = check_folder(folder, data if data is not None else into)
    with _half_made(into) as copy:
        try:
            entries = list(_copied(real, copy))
        except FileNotFoundError as exc:
            raise BotRefused(f"{folder}: changed while it was copied; try again") from exc
        for name, content in (more or {}).items():
            if all(entry.path != name for entry in entries):
                entries.append(_written(copy, name, content, executable=False))
        check_links(copy, ((e.path, e.detail) for e in entries if e.kind == "l"))
        return _keep(copy, into, _digest(entries, salt), finish)


def stage_files(
    files: Mapping[str, tuple[bytes, bool]],
    into: Path,
    *,
    finish: Callable[[Path], None] | None = None,
) -> Staged:
    """Lay out files from memory as `stage` does with a folder.

    Args:
        files: name to bytes and whether the file can be executed.
        into: as for `stage`.
        finish: as for `stage`.
    """
    with _half_made(into) as copy:
        entries = [
            _written(copy, path, content, executable=executable)
            for path, (content, executable) in files.items()
        ]
        return _keep(copy, into, _digest(entries, ""), finish)


def unstage(folder: Path) -> None:
    """Delete a copy, read-only folders in it included; nothing happens if it is not there."""
    # Folders are moved up one by one: a build can nest them deeper than a path may be long.
    name = f".left-{secrets.token_hex(8)}-"
    numbers = itertools.count()
    with suppress(FileNotFoundError):
        folder.chmod(0o700)
        while inside := list(os.scandir(folder)):
            for entry in inside:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)  # noqa: PTH108
                    continue
                os.chmod(entry.path, 0o700)  # noqa: PTH101
                for deeper in list(os.scandir(entry.path)):
                    if deeper.is_dir(follow_symlinks=False):
                        os.chmod(deeper.path, 0o700)  # noqa: PTH101 - or it can't be moved
                        os.rename(deeper.path, folder / f"{name}{next(numbers)}")  # noqa: PTH104
                    else:
                        os.unlink(deeper.path)  # noqa: PTH108
                os.rmdir(entry.path)  # noqa: PTH106
        folder.rmdir()


def _homes(*, own_only: bool) -> set[Path]:
    """Return home folders: this user's, or everybody's."""
    import pwd  # Windows has none, and no bots

    homes = {Path(os.path.expanduser("~")).resolve()}  # noqa: PTH111 - there may be none
    users = []
    with suppress(KeyError):  # in a container a user may have a number alone
        users = [pwd.getpwuid(os.getuid())] if own_only else pwd.getpwall()
    homes.update(Path(user.pw_dir).resolve() for user in users if user.pw_dir.startswith("/"))
    return homes - {Path("/")}


def _why(exc: Exception) -> str:
    """Return the system's own words for an error, without a path."""
    return (exc.strerror or "unreadable") if isinstance(exc, OSError) else "a loop of links"


@contextmanager
def _half_made(into: Path) -> Iterator[Path]:
    """Give an empty folder beside the copies, and see that nothing of it is left."""
    try:
        into.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(into)
        copy = Path(tempfile.mkdtemp(prefix=_HALF_MADE, dir=into))
    except OSError as exc:
        raise cannot_write(f"{into}: bots can't be copied there", exc) from exc
    try:
        yield copy
    except OSError as exc:
        raise cannot_write(f"{into}: a bot can't be copied there", exc) from exc
    finally:
        unstage(copy)


def _sweep(into: Path) -> None:
    """Delete half-made copies that a killed run left behind long ago."""
    now = time.time()
    for left in into.glob(_HALF_MADE + "*"):
        with suppress(OSError):
            if now - left.stat().st_mtime > _STALE_S:
                unstage(left)


def _copied(folder: Path, copy: Path) -> Iterator[_Entry]:
    """Copy a folder; give what was copied."""
    tally = _Tally()
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(folder, flags)
    except OSError as exc:
        raise BotRefused(f"{folder}: can't be read ({_why(exc)})") from exc
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


def _copied_tree(fd: int, at: str, copy: Path, tally: _Tally, depth: int) -> Iterator[_Entry]:
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
            yield _Entry(path, "d")
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
            yield _Entry(path, "l", target)
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
        why = "changed into a link" if exc.errno in (errno.ELOOP, errno.ENOTDIR) else _why(exc)
        raise BotRefused(f"{shown(path)}: can't be read ({why})") from exc


def _copied_file(fd: int, name: str, path: str, copy: Path, tally: _Tally) -> _Entry:
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
    return _Entry(path, "x" if executable else "f", digest.hexdigest())


def _written(copy: Path, path: str, content: bytes, *, executable: bool) -> _Entry:
    """Write a file of our own."""
    (copy / path).write_bytes(content)
    (copy / path).chmod(0o755 if executable else 0o644)
    return _Entry(path, "x" if executable else "f", hashlib.sha256(content).hexdigest())


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


def _digest(entries: list[_Entry], salt: str) -> str:
    """Return the hash of a copy's content; no two contents have the same encoding."""
    content = ["staged-1", salt, sorted(entries)]
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()


def _keep(copy: Path, into: Path, digest: str, finish: Callable[[Path], None] | None) -> Staged:
    """Make a finished copy read-only and give it its name, unless there is one already."""
    place = (into / digest).resolve()
    if place.is_dir():
        return Staged(digest, place)
    if finish is not None:
        finish(copy)
    for path, _, files in os.walk(copy, topdown=False):
        for name in files:
            file = Path(path, name)
            if not file.is_symlink():
                file.chmod(0o555 if file.stat().st_mode & 0o111 else 0o444)
        Path(path).chmod(0o555)
    try:
        copy.rename(place)
    except OSError as exc:  # another run was faster, with the same content
        if exc.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
    return Staged(digest, place)
