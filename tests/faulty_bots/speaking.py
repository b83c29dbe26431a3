"""An honest bot for London in the standard library alone, with places where others go wrong.

Run as a program it plays fairly: the first legal step of every figure. The faulty bots take over
one of its `Talk` methods. Everyone who imports it lives 30 seconds at most.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

LIFE_S = 30

Message = dict[str, Any]


def encode(message: Message) -> bytes:
    """A message as one line, its newline included."""
    return json.dumps(message).encode() + b"\n"


def write(data: bytes) -> None:
    """Write all of it to standard output, unbuffered."""
    while data:
        data = data[os.write(1, data) :]


def silence() -> None:
    """Say nothing until the end of life."""
    while True:
        time.sleep(1)


class Talk:
    """A talk with the referee; subclasses go wrong in one place."""

    def __init__(self) -> None:
        signal.alarm(LIFE_S)
        self.turns = 0  # asked for so far
        self.ids: list[str] = []  # of requests, oldest first
        self.row = sys.argv[1] if len(sys.argv) > 1 else ""

    def hello(self, message: Message) -> None:
        """Answer the greeting."""
        write(encode(self.about(message)))

    def about(self, message: Message) -> Message:
        """What the bot says of itself."""
        return {
            "type": "hello",
            "id": message["id"],
            "protocol": 1,
            "name": "bot",
            "rulesets": ["london-2013"],
            "wants": ["legal"],
            "features": ["reuse", "nodes"],
        }

    def deal(self, message: Message) -> None:
        """Get ready."""
        write(encode({"type": "ready", "id": message["id"]}))

    def turn(self, message: Message) -> None:
        """Take a turn."""
        write(self.answer(message))

    def end(self, message: Message) -> None:
        """Hear how the game ended."""

    def answer(self, message: Message) -> bytes:
        """The line of an honest answer."""
        return encode(self.play(message))

    def play(self, message: Message) -> Message:
        """An honest answer: for a team the first step of every figure, and the rest later."""
        legal = message["legal"]
        plies: list[Message] = []
        figures: set[str] = set()
        places: set[int] = set()
        for ply in legal:
            if ply["figure"] not in figures and ply["to"] not in places:
                plies.append(ply)
                figures.add(ply["figure"])
                places.add(ply["to"])
        said: Message = {"type": "play", "id": message["id"], "plies": plies}
        if plies and "x" not in figures:
            said["more"] = True
        return said

    def run(self) -> None:
        """Talk until `bye` or the end of input."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "id" in message:
                self.ids.append(message["id"])
            if message["type"] == "bye":
                return
            if message["type"] == "turn":
                self.turns += 1
            getattr(self, message["type"])(message)


if __name__ == "__main__":
    Talk().run()
