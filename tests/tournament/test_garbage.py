"""A worker's collector: what is loaded is left alone, circles of games are found all the same."""

from __future__ import annotations

import subprocess
import sys

_SCRIPT = """
import gc
from arena.tournament.executors.garbage import look_seldom

class Circle:
    alive = 0
    def __init__(self):
        self.me = self
        Circle.alive += 1
    def __del__(self):
        Circle.alive -= 1

before = gc.get_threshold()[0]
look_seldom()
assert gc.isenabled() and gc.get_threshold()[0] > before
assert gc.get_freeze_count() > 1_000
most = 0
for _ in range(200_000):
    Circle()
    most = max(most, Circle.alive)
print(most)
"""


def test_circles_are_found_after_some_thousands() -> None:
    told = subprocess.run(
        [sys.executable, "-c", _SCRIPT], check=True, capture_output=True, text=True
    )
    assert 700 < int(told.stdout) < 50_000
