"""User ids for bots in route R: one for each that runs, on the whole machine.

A limit of processes counts a user, so two bots never share one. Which ids are taken is kept by the
kernel alone: each holds an abstract socket of its name, which is gone as soon as its owner is, so
two tournaments of root at once, and the workers of one, need not know of each other.
"""

from __future__ import annotations

import socket
from collections import deque
from pathlib import Path

from arena.errors import ConfigError, HostFault

__all__ = ["UID_BASE", "UID_COUNT", "UserIds", "check_uid_range"]

# Of the ids below 65,536 (many containers have no others) the largest block that neither systemd
# (uids-gids) nor Debian's policy gives a use.
UID_BASE = 60_706
UID_COUNT = 478

# The file itself: to list all users by the C library may ask a server on the network.
_PASSWORD_FILE = Path("/etc/passwd")


def check_uid_range(base: int, count: int) -> None:
    """Check that a range of user ids is free for bots.

    Raises:
        ConfigError: if it holds root, an id of the password file, or one that no user can have.
    """
    if base <= 0 or count <= 0 or base + count > 2**32 - 2:
        raise ConfigError(f"user ids {base} to {base + count - 1} can't be given to bots")
    for line in _PASSWORD_FILE.read_text(errors="backslashreplace").splitlines():
        name, _, rest = line.partition(":")
        uid = rest.split(":")[1:2]
        if uid and uid[0].isdigit() and base <= int(uid[0]) < base + count:
            raise ConfigError(
                f"user ids {base} to {base + count - 1} are for bots, but {uid[0]} is {name}'s"
            )


class UserIds:
    """The user ids that one process of ours has taken; used again by those that come later.

    Args:
        base: the first of the range.
        count: how many are in it.
    """

    def __init__(self, base: int = UID_BASE, count: int = UID_COUNT) -> None:
        self._next = base
        self._end = base + count
        self._free: deque[int] = deque()
        self._claims: list[socket.socket] = []

    def take(self) -> int:
        """Return an id that nobody else has; the one that was given back longest ago first.

        Raises:
            HostFault: if all of the range are taken.
        """
        if self._free:
            return self._free.popleft()
        while self._next < self._end:
            uid = self._next
            self._next += 1
            claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                claim.bind(f"\0misterx-arena-bot-{uid}")
            except OSError:
                claim.close()
                continue
            self._claims.append(claim)
            return uid
        raise HostFault("no user id is left for another bot; run fewer games at once")

    def give_back(self, uid: int) -> None:
        """Take an id back, of a bot that has no process left."""
        self._free.append(uid)

    def close(self) -> None:
        """Leave all ids to others."""
        for claim in self._claims:
            claim.close()
        self._claims.clear()
        self._free.clear()
        self._next = self._end
