"""What is kept of a bot's standard error: its beginning and its end."""

from __future__ import annotations

import re

from arena.sandbox.limits import STDERR_HEAD_BYTES, STDERR_TAIL_BYTES

__all__ = ["StderrTail"]

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


def _shown(data: bytes) -> str:
    text = data.decode(errors="backslashreplace")
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
