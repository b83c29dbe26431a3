"""A bot's folder, copied once by content: the copy is played, whatever becomes of the folder.

A copy lies in a folder that is named by its hash alone, so that a bot learns nothing from its path
and the same content is kept once. `copying.py` reads the folder.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from arena.errors import BotRefused, cannot_write
from arena.sandbox.copying import (
    LEFT_OUT,
    MAX_BYTES,
    MAX_FILES,
    Entry,
    check_links,
    copied,
    shown,
    why,
    written,
)

__all__ = [
    "LEFT_OUT",
    "MAX_BYTES",
    "MAX_FILES",
    "Staged",
    "check_folder",
    "shown",
    "stage",
    "stage_files",
    "unstage",
]

_STALE_S = 24 * 3600.0  # a half-made copy older than this was left by a killed run
_HALF_MADE = ".new-"


class Staged(msgspec.Struct, frozen=True):
    """A copy that is never written again.

    `hash` is the SHA-256 of the content as it was copied, 64 hex digits: names, execute bits, link
    targets and bytes, and the `salt` it was staged with. `folder` is absolute.
    """

    hash: str
    folder: Path


def check_folder(folder: Path, data: Path) -> Path:
    """Return the real path of a folder that may be staged.

    Raises:
        BotRefused: if it is no folder, `/`, a home folder or one that holds a home folder, or
            holds the data folder.
    """
    try:
        real = folder.resolve(strict=True)
    except (OSError, RuntimeError) as exc:
        raise BotRefused(f"{folder}: there is no such folder ({why(exc)})") from exc
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
            entries = list(copied(real, copy))
        except FileNotFoundError as exc:
            raise BotRefused(f"{folder}: changed while it was copied; try again") from exc
        for name, content in (more or {}).items():
            if all(entry.path != name for entry in entries):
                entries.append(written(copy, name, content, executable=False))
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
            written(copy, path, content, executable=executable)
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


def _digest(entries: list[Entry], salt: str) -> str:
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
