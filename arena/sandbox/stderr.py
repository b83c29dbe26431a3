"""A bot's standard error: always drained, and its beginning and its end kept."""

from __future__ import annotations

import os
import re

from arena.sandbox.limits import STDERR_HEAD_BYTES, STDERR_TAIL_BYTES

__all__ = ["StderrPipe", "StderrTail"]

_READ_BYTES = 65_536  # at once: a pipe holds no more
_LAST_BYTES = 1 << 20  # read from the pipe after the end, at most

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class StderrTail:
    """The first 8 KiB and the last 56 KiB of a stream, and how much lay between.

    Memory stays flat however much comes: at most head and twice the tail are held.
    """

    def __init__(self, *, head: int = STDERR_HEAD_BYTES, tail: int = STDERR_TAIL_BYTES) -> None:
        self._head_bytes = head
        self._tail_bytes = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, chunk: bytes) -> None:
        """Take in the next bytes of the stream."""
        self._total += len(chunk)
        room = self._head_bytes - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if chunk:
            self._tail += chunk[-self._tail_bytes :]
            if len(self._tail) > 2 * self._tail_bytes:
                del self._tail[: -self._tail_bytes]

    @property
    def dropped(self) -> int:
        """Bytes between the kept head and the kept tail."""
        return self._total - len(self._head) - min(len(self._tail), self._tail_bytes)

    @property
    def is_empty(self) -> bool:
        """Whether nothing came."""
        return not self._total

    def text(self) -> str:
        r"""Return what is kept, decoded; bad bytes and control characters are shown as `\x1b`.

        Newlines and tabs stay. Where bytes were dropped, a line of its own says how many.
        """
        tail = bytes(self._tail[-self._tail_bytes :])
        if not self.dropped:
            return _shown(bytes(self._head) + tail)
        return f"{_shown(bytes(self._head))}\n[… {self.dropped:,} bytes dropped …]\n{_shown(tail)}"

    def clear(self) -> None:
        """Forget everything: the next game of a kept process begins."""
        self._head.clear()
        self._tail.clear()
        self._total = 0


class StderrPipe:
    """What comes through a pipe that does not block.

    Args:
        fd: our end of it; closed by whoever opened it.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._tail = StderrTail()
        self._open = True

    def read(self) -> bool:
        """Take in what a talkative bot says, or it stalls; False at the end of the stream."""
        try:
            chunk = os.read(self.fd, _READ_BYTES)
        except BlockingIOError:
            return True
        self._tail.add(chunk)
        return bool(chunk)

    def drain(self) -> None:
        """Take in what is there, up to 1 MiB."""
        left = _LAST_BYTES if self._open else 0
        while left > 0:
            try:
                chunk = os.read(self.fd, _READ_BYTES)
            except BlockingIOError:
                return
            if not chunk:
                return
            self._tail.add(chunk)
            left -= len(chunk)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was taken in since it was last told."""
        return self._tail.is_empty

    def leave(self) -> None:
        """Read no more: the pipe is to be closed."""
        self._open = False

    def text(self) -> str:
        """See `StderrTail`; of all that is there by now."""
        self.drain()
        return self._tail.text()

    def take(self) -> tuple[str, int]:
        """Return what came since this was last called, and the bytes dropped."""
        found = self.text(), self._tail.dropped
        self._tail.clear()
        return found


def _shown(data: bytes) -> str:
    text = data.decode(errors="backslashreplace")
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
