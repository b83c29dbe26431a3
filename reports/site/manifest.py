"""Which files of a folder a report has written: the ones that the next one may remove.

Only files that are listed, lie where a report puts files, and are still as they were written are
ever removed: what a person put or changed there stays.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import msgspec

from arena.errors import ArenaError, cannot_write
from reports.replacing import replace_file

__all__ = ["MANIFEST", "FolderWriter"]

MANIFEST = "manifest.json"
SCHEMA = "arena.report-files/1"
FOLDERS = ("bots", "pairings", "replays", "games-data")
_OURS = re.compile(rf"(({'|'.join(FOLDERS)})/)?[A-Za-z0-9_][A-Za-z0-9_.-]*")


class _Manifest(msgspec.Struct, kw_only=True):
    schema: str
    files: dict[str, str]  # path in the folder → SHA-256 of its content


class FolderWriter:
    """Writes the files of one report into a folder, each as a whole.

    As a context it is closed at the end; where the end is an error, what was written is listed
    beside what was there, so that the next report can remove it.

    Args:
        folder: where to; made where it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, str] = {}
        self.bytes = 0

    def __enter__(self) -> FolderWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        elif self.files:
            with suppress(ArenaError):  # the first error is the one to be told
                self._list({**self._earlier(), **self.files})

    def write(self, file: str, text: str) -> None:
        """Write one file: a reader never sees half of it.

        Args:
            file: its path in the folder.
            text: all of it.

        Raises:
            StoreError, ConfigError, ValueError: as `write_parts`.
        """
        self.write_parts(file, (text,))

    def write_parts(self, file: str, parts: Iterable[str]) -> None:
        """Write one file that is long, a part at a time; a reader never sees half of it.

        Args:
            file: its path in the folder.
            parts: all of it, in order.

        Raises:
            StoreError: if the disk is full.
            ConfigError: if the folder can't be written to.
            ValueError: if a report puts no file there.
        """
        if not _OURS.fullmatch(file):
            raise ValueError(f"{file!r} is no place for a file of a report")
        path = self.folder / file
        digest = hashlib.sha256()
        try:
            size = replace_file(path, _digested(parts, digest), follow_links=False)
        except OSError as exc:
            raise cannot_write(f"the report can't be written to {self.folder}", exc) from exc
        self.files[file] = digest.hexdigest()
        self.bytes += size

    def close(self) -> None:
        """Remove what only an earlier report has written, and list what there is now.

        Raises:
            StoreError, ConfigError: as `write`.
        """
        earlier = self._earlier()
        for file, digest in earlier.items():
            path = self.folder / file
            if file in self.files or not _OURS.fullmatch(file) or path.is_symlink():
                continue
            with suppress(OSError):
                if hashlib.sha256(path.read_bytes()).hexdigest() == digest:
                    path.unlink()
        for name in FOLDERS:
            with suppress(OSError):  # not empty, or not there
                (self.folder / name).rmdir()
        self._list(self.files)

    def _list(self, files: dict[str, str]) -> None:
        listed = _Manifest(schema=SCHEMA, files=dict(sorted(files.items())))
        text = msgspec.json.format(msgspec.json.encode(listed), indent=1).decode() + "\n"
        self.write(MANIFEST, text)

    def _earlier(self) -> dict[str, str]:
        """What the folder's manifest lists; nothing if it has none that can be read."""
        try:
            text = (self.folder / MANIFEST).read_bytes()
            return msgspec.json.decode(text, type=_Manifest).files
        except (OSError, msgspec.DecodeError):
            return {}


def _digested(parts: Iterable[str], digest: hashlib._Hash) -> Iterator[bytes]:
    """Pass the parts of a file on as bytes, and take them into its digest."""
    for part in parts:
        content = part.encode()
        digest.update(content)
        yield content
