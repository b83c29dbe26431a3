"""A small run with everything in it: faults of both kinds, void games, benching, strange names."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from arena.referee.record import SideWord
from reports.frames import GameRow, Seat

STARTS = (35, 45, 51, 71, 78, 104, 170)
NAMES = ("belief", "greedy", "random", "<b>bold</b>")


def small_run(deals: int = 12, names: tuple[str, ...] = NAMES, seed: int = 3) -> list[GameRow]:
    """A round robin; the last bot crashes now and then, and one game is void."""
    return list(stream(deals, names, seed))


def stream(deals: int, names: tuple[str, ...] = NAMES, seed: int = 3) -> Iterator[GameRow]:
    """The same, one by one."""
    rng = np.random.default_rng(seed)
    index = -1
    strength = np.linspace(1.2, -1.2, len(names))
    for deal in range(deals):
        luck = rng.normal(0, 0.8)
        for i, x in enumerate(names):
            for j, d in enumerate(names):
                if i == j:
                    continue
                index += 1
                escaped = rng.random() < 1 / (1 + np.exp(0.9 - luck - strength[i] + strength[j]))
                winner: SideWord | None = "mister_x" if escaped else "detectives"
                reason = "last round" if escaped else "captured"
                rounds = 24 if escaped else int(rng.integers(4, 24))
                seats = [seat(rng, rounds), seat(rng, rounds)]
                if i == len(names) - 1 and rng.random() < 0.3:
                    winner, reason, rounds = "detectives", "fault", 3
                    seats[0] = crashed(rng)
                elif index == 7:
                    winner, reason = None, "void"
                elif index == 20:
                    winner, reason, seats = None, "fault", [crashed(rng), crashed(rng)]
                yield GameRow(
                    game=f"{index:020x}",
                    index=index,
                    deal=str(deal),
                    mister_x=x,
                    detectives=d,
                    winner=winner,
                    reason=reason,
                    rounds=rounds,
                    marks=("unsandboxed",),
                    start=STARTS[deal % len(STARTS)],
                    specials=(7 * i + 3 * j + deal) % 8,
                    x=seats[0],
                    d=seats[1],
                )


def seat(rng: np.random.Generator, answers: int) -> Seat:
    """A seat without a fault."""
    charged = np.round(rng.exponential(3.0, answers), 3)
    return Seat(start_ms=float(round(40 + rng.random(), 2)), charged_ms=tuple(charged.tolist()))


def crashed(rng: np.random.Generator) -> Seat:
    """A seat whose bot ended by itself."""
    return Seat(
        fault="crash",
        phase="turn",
        text="its process ended with exit status 1 in turn 3 <script>alert(1)</script>",
        start_ms=41.0,
        charged_ms=tuple(np.round(rng.exponential(3.0, 2), 3).tolist()),
    )
