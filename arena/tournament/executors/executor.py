"""What every executor does: jobs in, results out, as bytes, in any order.

An executor knows neither plans nor stores. It takes a job when it has room for one more game in
play, and so holds the tournament back by itself.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import msgspec
import trio

from arena.referee.record import GameRecord, GameSpec
from arena.tournament.packed import decode_packed, encode_packed, pack, unpack

__all__ = [
    "MOST_DEATHS",
    "Executor",
    "Finished",
    "Job",
    "decode_record",
    "decode_spec",
    "encode_record",
    "encode_spec",
]

MOST_DEATHS = 3  # a game that was in play at so many deaths of workers is given up


class Job(NamedTuple):
    """A game to be played."""

    number: int  # the game's place in the plan: `0 <= number < 2**63`
    spec: bytes


class Finished(NamedTuple):
    """What became of a job."""

    number: int
    record: (
        bytes | None
    )  # packed, by `encode_record`; None: given up after `MOST_DEATHS` deaths of its workers


class Executor(Protocol):
    """Plays games somewhere: in worker processes of this machine, on a cluster."""

    @property
    def reach(self) -> int:
        """How far past the last judged game it could use others, so that none of its places idles.

        The tournament looks so far ahead if that is more than the plan says; it may grow.
        """

    @property
    def in_play(self) -> int:
        """How many games somebody plays, or has told us nothing of yet, of those that were taken.

        While workers start, or none is there, this is 0: nothing is lost where the run is stopped.
        """

    async def run(
        self, jobs: trio.MemoryReceiveChannel[Job], results: trio.MemorySendChannel[Finished]
    ) -> None:
        """Play every job; return when `jobs` is at its end and every result was sent.

        A game whose worker is lost is played anew elsewhere, and given up at the third loss.
        Cancelled, it ends its workers and their bots before it goes; what was in play is lost.
        Neither channel is closed.

        Raises:
            HostFault: if no worker can be started, or none finishes anything.
        """


_specs = msgspec.json.Decoder(GameSpec)


def encode_spec(spec: GameSpec) -> bytes:
    """Return a game as a job carries it."""
    return msgspec.json.encode(spec)


def decode_spec(text: bytes) -> GameSpec:
    """Return the game that `encode_spec` wrote."""
    return _specs.decode(text)


def encode_record(record: GameRecord) -> bytes:
    """Return a record as a result carries it: packed."""
    return encode_packed(pack(record))


def decode_record(text: bytes) -> GameRecord:
    """Return the record that `encode_record` wrote."""
    return unpack(decode_packed(text))
