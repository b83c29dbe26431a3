"""Plays ten stations at random, one ply a part: only the wire, and no SDK."""

from __future__ import annotations

import json
import random
import sys
from typing import Any


def say(**message: Any) -> None:
    """Send one line."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Talk until the referee says good-bye."""
    dice = random.Random()
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["type"] == "hello":
            say(
                type="hello",
                id=asked["id"],
                protocol=1,
                name="walker",
                version="1",
                sides=["mister_x", "detectives"],
                rulesets=["tenstations-1"],
                wants=["legal"],
            )
        elif asked["type"] == "deal":
            dice = random.Random(asked["seed"])
            say(type="ready", id=asked["id"])
        elif asked["type"] == "turn":
            ply = dice.choice(asked["legal"])
            say(type="play", id=asked["id"], plies=[ply], more=True)
        elif asked["type"] == "bye":
            return


if __name__ == "__main__":
    main()
