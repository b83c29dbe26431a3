"""A staged copy as bytes that travel, and laid out again where they arrive.

The bytes are the same for the same copy, and their hash names the folder in which they are laid
out, so each machine gets a bot once.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from pathlib import Path
from typing import Literal

import msgspec

from arena.errors import HostFault
from arena.sandbox.staging import unstage

__all__ = ["digest_of", "pack", "unpack"]


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    """One thing of a copy; `content` are a file's bytes, or where a link leads."""

    path: bytes  # relative, with slashes; as it lies on the disk, whatever the locale calls it
    kind: Literal["d", "f", "x", "l"]  # folder, file, file that can be executed, link
    content: bytes = b""


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[_Entry])


def pack(folder: Path) -> bytes:
    """Return a copy as bytes: names, contents, execute bits and links, in a fixed order.

    Raises:
        HostFault: if it can't be read.
    """
    entries: list[_Entry] = []
    try:
        for at, folders, files in os.walk(folder, onerror=_fail):
            for name in (*folders, *files):
                path = Path(at, name)
                inside = os.fsencode(path.relative_to(folder).as_posix())
                if path.is_symlink():
                    target = os.readlink(path)  # noqa: PTH115 - as it is written
                    entries.append(_Entry(inside, "l", os.fsencode(target)))
                elif path.is_dir():
                    entries.append(_Entry(inside, "d"))
                else:
                    kind: Literal["f", "x"] = "x" if path.stat().st_mode & 0o111 else "f"
                    entries.append(_Entry(inside, kind, path.read_bytes()))
    except OSError as exc:
        raise HostFault(f"{folder}: the staged bot can't be read ({exc.strerror})") from exc
    entries.sort(key=lambda entry: entry.path)  # a folder comes before what is in it
    return zlib.compress(_encoder.encode(entries), 1)


def _fail(error: OSError) -> None:
    raise error  # `os.walk` would leave out what it can't read


def digest_of(packed: bytes) -> str:
    """Return the SHA-256 of packed bytes, 64 hex digits."""
    return hashlib.sha256(packed).hexdigest()


def unpack(packed: bytes, digest: str, into: Path) -> Path:
    """Lay a packed copy out, unless it lies there already; return its folder, absolute.

    Its files are read-only; its folders are not, so that who owns `into` can delete them.

    Args:
        packed: what `pack` returned.
        digest: what their hash must be; names the folder.
        into: where copies lie; made if it is missing.

    Raises:
        HostFault: if the bytes are not those that were sent, or the disk refuses.
    """
    place = into.absolute() / digest
    if place.is_dir():
        return place
    if digest_of(packed) != digest:
        raise HostFault(f"a bot arrived damaged: its hash is not {digest}")
    try:
        into.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy = Path(tempfile.mkdtemp(prefix=".new-", dir=into))
        try:
            _lay_out(_decoder.decode(zlib.decompress(packed)), copy)
            copy.chmod(0o755)
            copy.rename(place)
        except OSError:
            if not place.is_dir():  # else another run was faster, with the same content
                raise
        finally:
            unstage(copy)
    except OSError as exc:
        raise HostFault(f"{into}: a bot can't be written there ({exc.strerror})") from exc
    return place


def _lay_out(entries: list[_Entry], copy: Path) -> None:
    for entry in entries:
        path = copy / os.fsdecode(entry.path)
        if entry.kind == "d":
            path.mkdir()
            path.chmod(0o755)
        elif entry.kind == "l":
            path.symlink_to(os.fsdecode(entry.content))
        else:
            path.write_bytes(entry.content)
            path.chmod(0o555 if entry.kind == "x" else 0o444)
