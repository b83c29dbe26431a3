"""What came from a bot, made safe to show: one line, escaped, cut."""

from __future__ import annotations

__all__ = ["QUOTED_BYTES", "quote"]

QUOTED_BYTES = 200  # of what came, in any text of ours

_SHOWN = tuple(
    "\\\\" if code == 0x5C else chr(code) if 0x20 <= code < 0x7F else f"\\x{code:02x}"
    for code in range(256)
)


def quote(data: bytes, limit: int = QUOTED_BYTES) -> str:
    r"""Return the first `limit` bytes as printable ASCII, and how many there were if more.

    Control characters, bytes over 0x7E and the backslash itself are escaped (`\x1b`, `\\`), so
    that nothing a bot writes can steer a terminal, end a line, or pass for an escape of ours.
    """
    head = "".join([_SHOWN[code] for code in data[:limit]])
    return head if len(data) <= limit else f"{head}… ({len(data):,} bytes in all)"
