"""What an address of a scheduler shows by itself, and by the look-up of its host."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest
import trio

from arena.tournament.executors.scheduler_address import trouble_with_address


def trouble(address: str, limit_s: float = 60.0) -> str | None:
    return trio.run(lambda: trouble_with_address(address, limit_s=limit_s))


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:1", "127.0.0.1:65535", "tls://[::1]:8786", "inproc://some/where"]
)
def test_an_address_that_a_scheduler_may_have_is_no_trouble(address: str) -> None:
    assert trouble(address) is None


@pytest.mark.parametrize("port", [-3, 0, 65_536, 99_999])
def test_a_port_out_of_range_is_told_before_its_host_is_looked_up(port: int) -> None:
    said = f"there is no port {port}: ports are 1 to 65535"
    assert trouble(f"tcp://no.such.host.invalid:{port}") == said


@pytest.mark.parametrize("place", ["127.0.0.1", "127.0.0.1:some", "::1:8786", "[::1", "a:1:2"])
def test_what_is_no_host_and_port_is_told(place: str) -> None:
    assert trouble(f"tcp://{place}") == f"it has no host and port in {place!r}"


def failing(error: Exception) -> Callable[..., object]:
    def look_up(*_args: object, **_options: object) -> object:
        raise error

    return look_up


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (UnicodeError("label too long"), "no name can be written so"),
    ],
)
def test_a_host_that_is_not_found_is_told_with_the_systems_reason(
    error: Exception, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", failing(error))
    assert trouble("tcp://nowhere:8786") == f"the host 'nowhere' is not found: {why}"


def test_a_look_up_that_does_not_end_is_left_to_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: answer.wait(60))
    assert trouble("tcp://slow:8786", limit_s=0.01) is None
    answer.set()
