"""The address of a Dask scheduler, looked at before anybody tries to reach it.

Dask tries an address again and again until its time is over, whatever is wrong with it, and takes
a port modulo 65536. What can never be reached is told at once here.
"""

from __future__ import annotations

import re
import socket

import trio

__all__ = ["trouble_with_address"]

_SCHEMES = {"", "tcp", "tls", "ws", "wss"}  # of those that have a host and a port
_PLACE = re.compile(r"(?:\[([^\[\]]+)\]|([^:\[\]]+)):(-?\d{1,9})", re.ASCII)
_LAST_PORT = 65_535


async def trouble_with_address(address: str, *, limit_s: float) -> str | None:
    """Say why no scheduler can have an address; None where one may, or the name tells nothing.

    Args:
        address: such as `tcp://10.0.0.1:8786`; without a scheme it is Dask's usual one.
        limit_s: for the look-up of the host's name; one that takes longer is no trouble here.
    """
    scheme, _, place = address.rpartition("://")
    if scheme not in _SCHEMES:
        return None  # Dask knows which schemes it knows
    found = _PLACE.fullmatch(place)
    if found is None:
        return f"it has no host and port in {place!r}"
    host, port = found[1] or found[2], int(found[3])
    if not 1 <= port <= _LAST_PORT:
        return f"there is no port {port}: ports are 1 to {_LAST_PORT}"
    with trio.move_on_after(limit_s):
        try:
            # A thread of trio's: it may be left behind, since nothing ends a look-up.
            await trio.to_thread.run_sync(
                lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM),
                abandon_on_cancel=True,
            )
        except (OSError, UnicodeError) as exc:
            why = exc.strerror if isinstance(exc, OSError) else "no name can be written so"
            return f"the host {host!r} is not found: {why}"
    return None
