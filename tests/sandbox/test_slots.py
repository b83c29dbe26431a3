"""User ids for bots: one for each, on the whole machine."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys

import pytest

from arena.errors import ConfigError, HostFault
from arena.sandbox.slots import UID_BASE, UID_COUNT, UserIds, check_uid_range

BASE = 61_100 + os.getpid() % 50  # apart from the default's beginning, which a run may use now


def test_default_range_is_nobodys() -> None:
    check_uid_range(UID_BASE, UID_COUNT)
    assert UID_BASE + UID_COUNT <= 61_184  # from there on systemd gives ids to services


@pytest.mark.parametrize(("base", "count"), [(0, 10), (-5, 3), (5, 0), (2**32 - 5, 10)])
def test_impossible_ranges_are_refused(base: int, count: int) -> None:
    with pytest.raises(ConfigError, match="can't be given"):
        check_uid_range(base, count)


def test_a_range_with_somebody_in_it_is_refused() -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    with pytest.raises(ConfigError, match="nobody's"):
        check_uid_range(nobody - 3, 10)


def test_ids_are_used_again_oldest_first() -> None:
    ids = UserIds(BASE, 3)
    one, two, three = ids.take(), ids.take(), ids.take()
    assert len({one, two, three}) == 3
    ids.give_back(two)
    ids.give_back(one)
    assert (ids.take(), ids.take()) == (two, one)
    with pytest.raises(HostFault, match="no user id is left"):
        ids.take()
    ids.close()


def test_two_owners_never_hold_the_same_id() -> None:
    one, other = UserIds(BASE, 4), UserIds(BASE, 4)
    taken = [one.take(), other.take(), one.take(), other.take()]
    assert sorted(taken) == list(range(BASE, BASE + 4))
    one.close()
    other.close()


def test_ids_are_free_once_their_owner_is_closed_or_dead() -> None:
    ids = UserIds(BASE, 1)
    uid = ids.take()
    ids.close()
    with pytest.raises(HostFault):
        ids.take()
    code = f"from arena.sandbox.slots import UserIds\nassert UserIds({BASE}, 1).take() == {uid}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    again = UserIds(BASE, 1)
    assert again.take() == uid
    again.close()
