"""The workers of a Dask cluster as their coordinator sees them, and the bots that they are sent."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import trio

from arena.tournament.executors.batches import Lengths
from arena.tournament.executors.dask_cluster import Machine
from arena.tournament.executors.executor import Finished, Job
from arena.tournament.executors.packing import digest_of, pack

__all__ = ["PAUSED", "Bots", "Member"]

PAUSED = (
    "is paused by Dask, since it has used most of the memory that it may: give it a larger "
    "--memory-limit"
)

_PAUSED_S = 10.0  # longer than what Dask clears away by itself takes


class Member:
    """A worker that plays, as the coordinator sees it."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine = machine
        self.name = name  # of the run there
        self.scope = trio.CancelScope()
        self.out: dict[int, Job] = {}  # what it has, in the order in which it was sent
        self.come: deque[Finished] = deque()  # what it has finished, still to be told
        self.has_suspects = False
        self.is_ready = False  # to play
        self.most: int | None = None  # games at once, if it is bounded
        self.lengths = Lengths()
        self.bots: set[str] = set()  # folders of ours that it has
        self.is_leaving = False  # of its own will
        self.is_paused = False  # and has been for so long that it is given up
        self._paused_since: float | None = None

    def look(self, *, is_paused: bool) -> None:
        """Note whether Dask has paused it: then it answers no batch, and is given up after all."""
        now = trio.current_time()
        self._paused_since = (self._paused_since or now) if is_paused else None
        if self._paused_since is not None and now - self._paused_since > _PAUSED_S:
            self.is_paused = True
            self.scope.cancel()


class Bots:
    """Staged bots, packed when a worker first needs them; the packing is done once."""

    def __init__(self) -> None:
        self._digests: dict[str, str | None] = {}
        self._last: tuple[str, bytes] = ("", b"")  # the newest: many workers come at one time

    async def of(self, folder: str) -> str | None:
        """Return the hash of a bot's packed folder; None where there is no folder."""
        if folder not in self._digests:
            exists = await trio.to_thread.run_sync(Path(folder).is_dir)
            self._digests[folder] = digest_of(await self.packed(folder)) if exists else None
        return self._digests[folder]

    async def packed(self, folder: str) -> bytes:
        """Return a bot's packed folder."""
        if self._last[0] != folder:
            self._last = (folder, await trio.to_thread.run_sync(pack, Path(folder)))
        return self._last[1]
