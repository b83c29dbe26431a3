"""Leaving a Dask cluster: what fails there does not hide why it is left."""

from __future__ import annotations

import asyncio

import pytest
import trio

from arena.errors import HostFault
from arena.tournament.executors.bridge import open_bridge
from arena.tournament.executors.dask_cluster import _ended


@pytest.mark.parametrize("error", [OSError("no answer"), asyncio.CancelledError()])
def test_what_fails_in_closing_a_client_is_hushed(error: BaseException) -> None:
    async def close() -> None:
        raise error

    async def main() -> None:
        async with open_bridge() as bridge:
            try:
                raise HostFault("all workers are gone")
            finally:
                await _ended(bridge, close)

    with pytest.raises(HostFault, match="all workers are gone"):
        trio.run(main)
