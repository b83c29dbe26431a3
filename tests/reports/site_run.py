"""A run whose games have records, for the tests of the report's pages: few bots, strange names."""

from __future__ import annotations

from functools import cache

import msgspec

from arena.referee.record import BotName, GameRecord
from tests.referee.games import honest
from tests.reports.games_of_london import crashing, played, showing_off

__all__ = ["BOTS", "HOSTILE", "RUN"]

HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\">",
    "</script><script>document.title='owned'</script>",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe",
    "x" * 200,
)
BOTS = ("greedy", "belief", *HOSTILE)
DEALS = 2


@cache
def RUN() -> dict[str, GameRecord]:  # noqa: N802 - a constant that takes a second to make
    """Every bot against every other on each deal, both ways: game id → record.

    There are three kinds of games: some won by either side, and some lost by a fault. One is void,
    and some are marked.
    """
    kinds = (
        played(),
        played(honest, honest),
        played(showing_off, crashing),
        played(crashing, showing_off),
    )
    made: dict[str, GameRecord] = {}
    for deal in range(DEALS):
        for i, x in enumerate(BOTS):
            for j, d in enumerate(BOTS):
                if i == j:
                    continue
                index = len(made)
                kind = kinds[(3 * i + j + deal) % 2] if index % 7 else kinds[2 + index % 2]
                core = msgspec.structs.replace(
                    kind.core,
                    game=f"{index:04x}" * 5,
                    index=index,
                    deal=deal,
                    mister_x=BotName(name=x, version="1", hash="0" * 64),
                    detectives=BotName(name=d, version="2", hash="1" * 64),
                )
                aside = msgspec.structs.replace(
                    kind.aside,
                    marks=("overloaded",) if index % 11 == 5 else (),
                    void="the host was out of memory" if index == 8 else None,
                )
                made[core.game] = msgspec.structs.replace(kind, core=core, aside=aside)
    return made
