"""Bots that try to reach somebody by sockets: E7 and E8, a row a name."""

from __future__ import annotations

import array
import os
import socket
import struct
from contextlib import suppress

from attempts import Attempt, read

FAMILIES = {
    "UNIX": 1,
    "INET": 2,
    "AX25": 3,
    "IPX": 4,
    "INET6": 10,
    "KEY": 15,
    "NETLINK": 16,
    "PACKET": 17,
    "RDS": 21,
    "CAN": 29,
    "TIPC": 30,
    "BLUETOOTH": 31,
    "ALG": 38,
    "VSOCK": 40,
    "KCM": 41,
    "QIPCRTR": 42,
    "SMC": 43,
    "XDP": 44,
    "MCTP": 45,
}
KINDS = {"stream": 1, "datagram": 2, "raw": 3, "packets": 5}
PROTOCOLS = {"ICMP": 1, "TCP": 6, "DCCP": 33, "SCTP": 132, "UDPLITE": 136, "MPTCP": 262}
WAIT_S = 0.2
HELLO = b"a bot was here"


class Reaching(Attempt):
    """Tries to be heard."""

    def tcp_udp(self) -> None:
        """E7: sockets of every family; the test's own listener; a look-up of a name."""
        for family, number in FAMILIES.items():
            for kind, how in KINDS.items():
                if family != "UNIX":
                    self.tries(f"{family} {kind}", self.makes, number, how, 0)
        for name, number in PROTOCOLS.items():
            for kind, how in KINDS.items():
                self.tries(f"{name} {kind}", self.makes, 2, how, number)
        for address in ("127.0.0.1", "::1", "0.0.0.0"):  # noqa: S104 - where the listener is
            net = socket.AF_INET6 if ":" in address else socket.AF_INET
            self.tries(f"TCP to {address}", self.says, net, address, self.given["tcp"])
            self.tries(f"UDP to {address}", self.sends, net, address, self.given["udp"])
        self.tries("a name", socket.getaddrinfo, "arena.invalid", 80)
        self.tries(
            "the local name", socket.create_connection, ("localhost", self.given["tcp"]), WAIT_S
        )

    def makes(self, family: int, kind: int, protocol: int) -> None:
        """Make a socket."""
        socket.socket(family, kind, protocol).close()

    def says(self, family: int, address: str, port: int) -> None:
        """Connect, and say hello."""
        with socket.socket(family) as it:
            it.settimeout(WAIT_S)
            it.connect((address, port))
            it.send(HELLO)

    def sends(self, family: int, address: str, port: int) -> None:
        """Send a datagram."""
        with socket.socket(family, socket.SOCK_DGRAM) as it:
            it.sendto(HELLO, (address, port))

    def unix_sockets(self) -> None:
        """E8: connect to the test's sockets by name and path; pass open files to whoever hears."""
        for name in (f"\0{self.given['name']}", *self.given["paths"]):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                self.tries(f"reach {name!r}", self.passes, name, kind)
        for fd in range(3):  # pipes: nothing can be passed through them
            self.tries(f"socket at {fd}", self.passes_through, fd)
        one, other = socket.socketpair()
        with one, other:  # its own, which works
            socket.send_fds(one, [b"x"], [0])
            self.saw["own pair"] = len(socket.recv_fds(other, 1, 1)[1])
        with suppress(OSError):
            self.saw["names"] = [
                name for name in read("/proc/net/unix").decode().split() if "@" in name
            ]

    def passes(self, name: str, kind: int) -> None:
        """Connect, and pass the standard input."""
        with socket.socket(socket.AF_UNIX, kind) as it:
            it.settimeout(WAIT_S)
            it.connect(name)
            socket.send_fds(it, [HELLO], [0])

    def passes_through(self, fd: int) -> None:
        """Pass an open file through an open file."""
        with socket.socket(fileno=os.dup(fd)) as it:
            rights = array.array("i", [0]).tobytes()
            it.sendmsg([HELLO], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            it.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))


if __name__ == "__main__":
    Reaching().run()
