"""What every test shares: the hypothesis profiles, an ordinary user, referees apart."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.catalogue.referees import Referees
    from tests.ordinary_user import OrdinaryUser

# What a shell without job control starts in the background ignores Ctrl-C, and so would all that
# tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "arena", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", parent=settings.get_profile("arena"), max_examples=1000)
settings.load_profile(os.environ.get("ARENA_HYPOTHESIS", "arena"))


@pytest.fixture(scope="session")
def ordinary_users() -> Iterator[Callable[[], OrdinaryUser]]:
    """Who gives somebody with no rights, and a Python to run; only where the tests are root's."""
    from tests.ordinary_user import OrdinaryUsers

    with OrdinaryUsers() as users:
        yield users.get


@pytest.fixture(scope="session")
def referees(ordinary_users: Callable[[], OrdinaryUser]) -> Iterator[Referees]:
    """Referees in processes of their own, as root and as an ordinary user."""
    from tests.catalogue.referees import Referees

    with Referees(ordinary_users) as found:
        yield found
