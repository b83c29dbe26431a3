"""The two ways in which the protocol is broken: by us, and by a bot."""

from __future__ import annotations

__all__ = ["LocalProtocolError", "RemoteProtocolError"]


class LocalProtocolError(Exception):
    """The arena itself tried to say what may not come now: our bug."""


class RemoteProtocolError(Exception):
    """A bot's bytes are no valid message now: a `protocol` fault.

    Args:
        text: one line: what was expected and what came, quoted bytes escaped.
        hint: one line that says what to do about it; may be empty.
    """

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint
