"""What the rules cost a request: legal plies, view, encoding and play, over whole random games.

Run it by hand: `python tests/benchmarks/bench_rules.py [RULESET…]`. Prints one JSON object: for
each side microseconds of CPU time a request, and the ratio to a fixed loop of plain Python, which
compares between machines. Short blocks of both alternate, and the median counts.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[2]))

from arena.bench.rules import fixed_loop
from arena.rules import registry
from arena.rules.ruleset import Ruleset, Side
from tests.strategies import Trace, play_out

__all__ = ["measure"]

GAMES = 100
ROUNDS = 5  # over all requests
BLOCK = 100  # requests

encode = msgspec.json.Encoder().encode


def requests(trace: Trace, side: Side) -> list[tuple[Any, Any]]:
    """The states at which a side was asked, and what it answered."""
    return [
        (state, plies)
        for state, plies in zip(trace.states, trace.turns, strict=False)
        if trace.ruleset.to_move(state) is side
    ]


def serve(ruleset: Ruleset[Any, Any], side: Side, asked: list[tuple[Any, Any]]) -> None:
    """Do for each request what the referee asks of the rules."""
    for state, plies in asked:
        encode(ruleset.view(state, side))
        encode(ruleset.legal(state))
        played = ruleset.play(state, plies, more=False)
        encode([event.what for event in played.events if event.seen_by is not side])


def measure(text: str, *, games: int = GAMES, rounds: int = ROUNDS) -> dict[str, Any]:
    """Return microseconds a request and the ratio to `fixed_loop`, for each side."""
    ruleset = registry.make(text)
    traces = [play_out(ruleset, number, number) for number in range(games)]
    result: dict[str, Any] = {"ruleset": ruleset.text}
    for side in Side:
        asked = [request for trace in traces for request in requests(trace, side)]
        ours: list[float] = []
        loop: list[float] = []
        for start in range(0, len(asked) * rounds, BLOCK):
            block = [asked[place % len(asked)] for place in range(start, start + BLOCK)]
            began = time.process_time_ns()
            serve(ruleset, side, block)
            middle = time.process_time_ns()
            for _ in range(10):
                fixed_loop()
            ended = time.process_time_ns()
            ours.append((middle - began) / BLOCK / 1000)
            loop.append((ended - middle) / 10 / 1000)
        result[side.value] = {
            "request_us": round(statistics.median(ours), 2),
            "loop_us": round(statistics.median(loop), 2),
            "ratio": round(statistics.median(a / b for a, b in zip(ours, loop, strict=True)), 4),
        }
    return result


def main(texts: list[str]) -> None:
    """Print one JSON object for the rulesets named, or for all presets."""
    rows = [measure(text) for text in texts or registry.names()]
    sys.stdout.write(encode({"schema": "bench-rules/1", "rulesets": rows}).decode() + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
