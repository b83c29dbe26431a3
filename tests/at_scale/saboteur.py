"""A bot for London that plays fairly up to one fault, which its seed of the game draws.

A file of the standard library alone: it is copied into the bot's folder, and tests import it to
know what was drawn. It plays by the rule of the honest bot, and lives half a minute at most.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any, NamedTuple

__all__ = ["LIFE_S", "SABOTAGES", "Sabotage", "sabotage_of"]

LIFE_S = 30
SABOTAGES = (
    "kill",  # SIGKILL to itself
    "leave",  # exit status 0
    "stop",  # SIGSTOP to itself
    "silence",
    "flood",  # bytes without a newline
    "chatter",  # lines that nobody asked for
    "half_line",  # and silence
    "half_line_and_leave",
    "close_output",
    "close_input",
)
_LAST_TURN = 8  # most games are longer
_FLOOD_BYTES = 1_000_000
_CHUNK = b"x" * 10_000

Message = dict[str, Any]


class Sabotage(NamedTuple):
    """What is done, and when.

    Attributes:
        what: one of `SABOTAGES`.
        turn: at which request for a turn, from 1; 0 is the request to get ready.
        after: whether the request is answered before it.
    """

    what: str
    turn: int
    after: bool


def sabotage_of(seed: int) -> Sabotage:
    """Return what a bot with this seed of a game does.

    Args:
        seed: what `deal` brings for the bot's own dice: `0 <= seed < 2**53`.
    """
    rest, what = divmod(seed, len(SABOTAGES))
    rest, turn = divmod(rest, _LAST_TURN + 1)
    return Sabotage(SABOTAGES[what], turn, rest % 2 == 1)


def carry_out(what: str) -> None:
    """Do it; nothing comes afterwards."""
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif what == "flood":
        for _ in range(_FLOOD_BYTES // len(_CHUNK)):
            write(_CHUNK)
    elif what == "chatter":
        write(b'{"type": "play", "id": "no", "plies": []}\n' * 100)
    elif what.startswith("half_line"):
        write(b'{"type": "pl')
    elif what == "close_output":
        os.close(1)
    elif what == "close_input":
        os.close(0)
    if what.endswith("leave"):
        os._exit(0)
    while True:  # until the alarm
        time.sleep(1)


def write(data: bytes) -> None:
    """Write all of it to standard output, unbuffered."""
    while data:
        data = data[os.write(1, data) :]


def say(**message: Any) -> None:
    """Write a message as one line."""
    write(json.dumps(message).encode() + b"\n")


def answer(message: Message) -> None:
    """Answer fairly: for a team the first step of every figure, and the rest later."""
    if message["type"] == "deal":
        say(type="ready", id=message["id"])
        return
    plies: list[Message] = []
    for ply in message["legal"]:
        taken = [(other["figure"], other["to"]) for other in plies]
        if all(ply["figure"] != figure and ply["to"] != to for figure, to in taken):
            plies.append(ply)
    is_team = bool(plies) and plies[0]["figure"] != "x"
    say(type="play", id=message["id"], plies=plies, **({"more": True} if is_team else {}))


def main() -> None:
    """Talk with the referee, until the fault or the end."""
    signal.alarm(LIFE_S)
    name, is_fair = sys.argv[1], sys.argv[2] == "fair"
    sabotage = Sabotage("", 0, after=False)
    turn = 0
    for line in sys.stdin.buffer:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            about = {"name": name, "rulesets": ["london-2013"], "wants": ["legal"]}
            say(type="hello", id=message["id"], protocol=1, **about)
        elif kind in ("deal", "turn"):
            if kind == "deal":
                sabotage = sabotage_of(message["seed"])
            turn += kind == "turn"
            is_now = not is_fair and turn == sabotage.turn
            if is_now and not sabotage.after:
                carry_out(sabotage.what)
            answer(message)
            if is_now:
                carry_out(sabotage.what)


if __name__ == "__main__":
    main()
