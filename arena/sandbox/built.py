"""What a bot's build left in its copy: weighed while it runs, looked through when it is over."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from arena.errors import BotRefused
from arena.sandbox.copying import KINDS, MAX_DEPTH, check_links, shown
from arena.sandbox.limits import BUILD_BYTES, BUILD_FILES

__all__ = ["check_built", "overweight"]

_BLOCK_BYTES = 512  # what st_blocks counts in, on every file system


def overweight(folder: Path) -> str | None:
    """Return of what a build has put too much into a folder; None if that is not so.

    Never goes through a link, and stops counting once it is too much.
    """
    count = size = 0
    left = [folder]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as entries:  # it may be gone by now
            for entry in entries:
                count += 1
                size += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                if count > BUILD_FILES:
                    return f"more than {BUILD_FILES:,} files and folders"
                if size > BUILD_BYTES:
                    return f"more than {BUILD_BYTES // 1024 // 1024} MiB"
                if entry.is_dir(follow_symlinks=False):
                    left.append(Path(entry.path))
    return None


def check_built(folder: Path) -> None:
    """Refuse what a build may have made and no copy may hold; when nothing of it runs any more.

    Raises:
        BotRefused: for special files, links that lead out, and too much. Rights are set anew.
    """
    much = overweight(folder)
    if much is not None:
        raise BotRefused(f"build: leaves {much}")
    links: list[tuple[str, str]] = []
    left = [(folder, "", 0)]
    while left:
        at, inside, depth = left.pop()
        if depth > MAX_DEPTH:
            raise BotRefused(f"build: folders lie deeper than {MAX_DEPTH} in the bot's folder")
        for file in at.iterdir():
            path, kind = inside + file.name, stat.S_IFMT(file.lstat().st_mode)
            if kind == stat.S_IFDIR:
                left.append((file, path + "/", depth + 1))
            elif kind == stat.S_IFLNK:
                links.append((path, str(file.readlink())))
            elif kind != stat.S_IFREG:
                what = KINDS.get(kind, "a special file")
                raise BotRefused(f"build: leaves {shown(path)}, which is {what}")
    check_links(folder, links)
