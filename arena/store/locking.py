"""One writer a run: locks that end with the process that holds them, `kill -9` included.

One file holds the locks of all runs: run number n is byte n. They are locks of the open file
(Linux's `F_OFD_SETLK`), so that two databases open in one process exclude each other too.
"""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path
from types import TracebackType

from arena.errors import ConfigError, StoreError

__all__ = ["RunLocks"]


class RunLocks:
    """The locks of one database, as one process sees them.

    Args:
        path: the lock file; made, with mode 0600, when the first run is held.
    """

    class Held:
        """A run's lock as a context: given up at its end, wherever that is."""

        def __init__(self, locks: RunLocks, byte: int, name: str) -> None:
            self._locks = locks
            self._byte = byte
            self._name = name

        def __enter__(self) -> None:
            if not self._locks.take(self._byte):
                raise StoreError(
                    f"run {self._name} is being played by another process: wait for it, or stop it"
                )

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None:
            self._locks.give_up(self._byte)

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def hold(self, byte: int, name: str) -> Held:
        """Return a context in which the run is this process's own.

        Args:
            byte: the run's number in the database.
            name: the run's id, for the error's text.

        Raises:
            StoreError: on entering, if another process (or database object) holds it.
        """
        return self.Held(self, byte, name)

    def take(self, byte: int) -> bool:
        """Take a run's lock; False if it is held elsewhere."""
        try:
            if self._fd is None:
                self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._set(byte, locked=True)
        except BlockingIOError:
            return False
        except OSError as exc:
            if exc.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise ConfigError(
                    f"{self._path} can't be locked, where nothing can be written to: copy the "
                    "folder to a place of your own, and name that with --data"
                ) from exc
            raise StoreError(f"{self._path} can't be locked: {exc.strerror}") from exc
        return True

    def give_up(self, byte: int) -> None:
        """Give a run's lock up; nothing happens if it isn't held."""
        if self._fd is not None:
            self._set(byte, locked=False)

    def close(self) -> None:
        """Give all locks up."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _set(self, byte: int, *, locked: bool) -> None:
        import fcntl  # Windows has none, and plays no runs

        assert self._fd is not None  # noqa: S101 - both callers look first
        kind = fcntl.F_WRLCK if locked else fcntl.F_UNLCK
        flock = struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, 1, 0)  # struct flock of 64 bits
        fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, flock)
